"""Deterministic inference for discrete graphical models: herded Gibbs sampling, made practical.

Everything public is here, and imported when first used: `import herded` loads no numpy.
"""

from herded.system.lazy_imports import attach

__getattr__, __dir__, __all__ = attach(__name__)
