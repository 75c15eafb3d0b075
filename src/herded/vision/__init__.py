"""Pictures: denoising with Ising and Potts models."""

from typing import Any

from herded.vision.denoising import Denoised, denoise, restore

_WITH_EXTRAS = {"IsingDenoiser"}  # needs scikit-learn, so only when asked for

__all__ = ["Denoised", "denoise", "restore"]


def __getattr__(name: str) -> Any:
    if name in _WITH_EXTRAS:
        from herded.vision.estimator import IsingDenoiser

        return IsingDenoiser
    raise AttributeError(f"module 'herded.vision' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_WITH_EXTRAS})
