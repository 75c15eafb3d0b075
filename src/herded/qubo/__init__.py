"""Quadratic problems in binary variables, sampled and minimised the way dimod expects it."""
