"""The best state of models whose free variables form chains, by dynamic programming.

`solver.py` is the method `Viterbi`: it checks that free variables form chains, orders them, and
decodes each chain. `kernels.py` holds the compiled walk along chains and the decoder.

Start reading at `kernels.py`, whose docstring has the recursion.
"""
