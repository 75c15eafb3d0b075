"""Structure learning: which variables interact, by sparse Ising models.

`structure_search.py` (`find_structure`) maximises the pseudo-likelihood with an L1 penalty along a
path of penalties and picks a point on it. `ising_pseudolikelihood.py` is the compiled
pseudo-likelihood and its gradient. The steps are those of `herded.learn.fitting.lbfgs`.

Start reading at `structure_search.py`.
"""
