"""What `denoise` is asked for: pictures and options, checked."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import ModelError
from herded.models.checks import float_array, number, number_array, shown
from herded.vision.level_sets import is_salted

LARGEST = 1e50  # of pixels, levels, sigma, coupling and their inverses: squares stay finite
NOISES = ("auto", "gauss", "flip")
MOST_LEVELS = 256


@dataclass(frozen=True)
class Choices:
    """A picture and what is known of it; None for what is to be estimated."""

    noisy: np.ndarray
    sigma: float | None
    coupling: float | None
    number: int | None  # of levels
    values: np.ndarray | None  # of levels
    noise: str  # "gauss" or "flip"

    @property
    def grey(self) -> bool:
        """Whether there are more levels than two."""
        if self.values is not None:
            return len(self.values) > 2
        return self.number != 2

    @property
    def two_levels(self) -> tuple[float, float] | None:
        """The two levels, if they are known: given, or those of a picture that has no others."""
        if self.values is not None:
            return float(self.values[0]), float(self.values[1])
        low, high = float(self.noisy.min()), float(self.noisy.max())
        if low == high:  # one level, and the other at 0
            return (min(low, 0.0), max(low, 0.0)) if low else (0.0, 1.0)
        return None

    def coupling_or(self, default: float) -> float:
        """The coupling given, or another one."""
        return default if self.coupling is None else self.coupling


def checked(
    image: ArrayLike,
    sigma: float | None,
    coupling: float | str,
    levels: int | str | Sequence[float] | None,
    noise: str,
) -> Choices:
    """The choices, or one sentence on what is wrong with them."""
    noisy = _picture(image)
    two_valued = np.asarray(image).dtype == bool
    spread = None if sigma is None else _sigma(sigma)
    number_of, values = _levels(levels)
    if noise not in NOISES:
        raise ModelError(f"expected noise {', '.join(NOISES)}, got {shown(noise)}")
    grey = number_of != 2 if values is None else len(values) > 2
    if noise == "auto":
        seen = is_salted(noisy) if grey else two_valued or _has_two_values(noisy)
        noise = "flip" if seen and (grey or spread is None) else "gauss"
    elif noise == "flip" and spread is not None and not grey:
        raise ModelError(
            f"expected no sigma with flips on two levels, got {spread:g}: leave it out, or give "
            'noise="gauss"'
        )
    if two_valued and values is None and not grey:
        values = np.array([0.0, 1.0])
    return Choices(noisy, spread, _coupling(coupling), number_of, values, noise)


def _has_two_values(noisy: np.ndarray) -> bool:
    low, high = noisy.min(), noisy.max()
    return bool(low < high and ((noisy == low) | (noisy == high)).all())


def _picture(image: ArrayLike) -> np.ndarray:
    noisy = float_array("the picture", image, 2)
    if not np.isfinite(noisy).all():
        raise ModelError(
            f"expected finite pixels, got {int((~np.isfinite(noisy)).sum())} that are NaN or "
            "infinite: replace them first"
        )
    size = float(np.abs(noisy).max())
    if size > LARGEST or 0 < np.ptp(noisy) < 1 / LARGEST:
        raise ModelError(
            "expected pixels below 1e50 that differ by more than 1e-50, got "
            f"{shown(float(noisy.min()))} to {shown(float(noisy.max()))}: rescale the picture"
        )
    return noisy


def _sigma(sigma: float) -> float:
    spread = number("sigma", sigma)
    if not 1 / LARGEST <= spread <= LARGEST:
        raise ModelError(f"expected a finite noise level sigma above 0, got {spread:g}")
    return spread


def _coupling(coupling: float | str) -> float | None:
    if isinstance(coupling, str):
        if coupling != "auto":
            raise ModelError(f'expected a number or "auto" as coupling, got {shown(coupling)}')
        return None
    strength = number("coupling", coupling)
    if not abs(strength) <= LARGEST:
        raise ModelError(f'expected a finite coupling or "auto", got {strength:g}')
    return strength


def _levels(levels: int | str | Sequence[float] | None) -> tuple[int | None, np.ndarray | None]:
    """Their number and their values; neither for "grey"."""
    if isinstance(levels, str):
        if levels != "grey":
            raise ModelError(
                f'expected a number of levels, their values, or "grey", got {shown(levels)}'
            )
        return None, None
    values = number_array("levels", 2 if levels is None else levels)
    if values.ndim == 0:
        if values not in range(2, MOST_LEVELS + 1):
            raise ModelError(f"expected 2 to {MOST_LEVELS} levels, got {levels}")
        return int(values), None
    if not (np.abs(values) <= LARGEST).all():
        raise ModelError(f"expected finite levels, got {shown(values.tolist())}")
    if values.ndim != 1 or len(values) < 2 or not (np.diff(values) > 1 / LARGEST).all():
        raise ModelError(f"expected two or more rising levels, got {shown(values.tolist())}")
    return len(values), values
