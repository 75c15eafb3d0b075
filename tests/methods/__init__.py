"""Tests of `herded.methods`: solvers, annealed herding, weights, and options of all methods."""
