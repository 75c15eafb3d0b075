"""Pictures: denoising with Ising and Potts models."""

from typing import Any

from herded.vision.denoising import Denoised, denoise, restore

__all__ = ["Denoised", "IsingDenoiser", "denoise", "restore"]


def __getattr__(name: str) -> Any:
    if name == "IsingDenoiser":  # needs scikit-learn, so only when asked for
        from herded.vision.estimator import IsingDenoiser

        return IsingDenoiser
    raise AttributeError(f"module 'herded.vision' has no attribute {name!r}")
