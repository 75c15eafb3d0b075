"""Quadratic problems in binary variables, sampled and minimised through dimod's interface.

`dimod_sampler.py` has `HerdedSampler`. It takes a binary quadratic model, scales its biases
(`spin_biases.py`), cools herds of Gibbs chains along a schedule (`beta_schedule.py`), and returns a
dimod sample set.

Start reading at `dimod_sampler.py`.
"""

from herded.system.lazy_imports import attach

__getattr__, __dir__, __all__ = attach(__name__, extras=["HerdedSampler"])  # a class of dimod
