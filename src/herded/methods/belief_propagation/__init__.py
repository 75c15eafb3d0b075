"""Loopy belief propagation: estimates of marginals and log Z from messages between factors.

`solver.py` is the method `BeliefPropagation`: it prepares messages, repeats damped sweeps until
they stop changing, and reads marginals and the Bethe estimate of log Z. `message_kernels.py` holds
the compiled sweeps.

Start reading at `solver.py`.
"""
