"""Pictures: denoising with Ising and Potts models."""

from herded.system.lazy_imports import attach

__getattr__, __dir__, __all__ = attach(__name__, extras=["IsingDenoiser"])  # needs scikit-learn
