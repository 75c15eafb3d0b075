"""Pictures: denoising with Ising and Potts models."""

from typing import TYPE_CHECKING, Any

from herded.vision.denoising import Denoised, denoise, restore

_WITH_EXTRAS = {"IsingDenoiser"}  # needs scikit-learn, so only when asked for

__all__ = ["Denoised", "denoise", "restore"]


def _find(name: str) -> Any:
    if name in _WITH_EXTRAS:
        from herded.vision.estimator import IsingDenoiser

        return IsingDenoiser
    raise AttributeError(f"module 'herded.vision' has no attribute {name!r}")


if not TYPE_CHECKING:  # which would take any name for one of ours
    __getattr__ = _find
else:
    from herded.vision.estimator import IsingDenoiser as IsingDenoiser


def __dir__() -> list[str]:
    return sorted({*__all__, *_WITH_EXTRAS})
