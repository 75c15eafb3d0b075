"""Quadratic problems in binary variables, sampled and minimised the way dimod expects it."""

from herded.system.lazy_imports import attach

__getattr__, __dir__, __all__ = attach(__name__, extras=["HerdedSampler"])  # a class of dimod
