"""Twins of samplers of single chains, of tempering, of block moves and of solvers."""
