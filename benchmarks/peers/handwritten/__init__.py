"""Gibbs samplers as an expert would write them for one kind of model.

`grid`, `grid_3d`, `potts`, `spin_graph` and `bayesian` are Numba loops, `numpy_rbm` is NumPy. They
share no code with `herded`. Their times show how far from a specialised program the package
is; tests compare each with a slow twin (`tests/repository/benchmarks`). Start at `grid`.
"""
