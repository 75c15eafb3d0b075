"""Naive mean field: the product distribution closest to the model, and a lower bound of log Z.

`solver.py` is the method `MeanField`: it starts the distribution, repeats damped sweeps until they
stop changing, and computes the bound. `update_kernels.py` holds the compiled sweeps.

Start reading at `solver.py`.
"""
