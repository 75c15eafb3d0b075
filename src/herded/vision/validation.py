"""Checks of the pictures and options of `denoise`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import ModelError
from herded.system.argument_checks import as_float, as_float_array, float_array, short_repr
from herded.vision.level_sets import has_salt_and_pepper
from herded.vision.missing_pixels import smooth_fill, split_mask

# of pixels, levels, sigma, coupling and their inverses: squares stay finite
MAX_INPUT_NUMBER = 1e50
NOISE_KINDS = ("auto", "gauss", "flip")
MAX_LEVELS = 256


@dataclass(frozen=True)
class DenoisingOptions:
    """A picture and the given parameters; None stands for one to be estimated."""

    noisy: np.ndarray
    sigma: float | None
    coupling: float | None
    number: int | None  # of levels
    values: np.ndarray | None  # of levels
    noise: str  # "gauss" or "flip"
    missing: np.ndarray | None = None  # missing pixels; `noisy` has a smooth guess there

    @property
    def observed(self) -> np.ndarray:
        """The picture with NaN for missing pixels."""
        return self.noisy if self.missing is None else np.where(self.missing, np.nan, self.noisy)

    @property
    def known_pixels(self) -> np.ndarray:
        """The pixels that are not missing, as a flat array."""
        return self.noisy.ravel() if self.missing is None else self.noisy[~self.missing]

    @property
    def grey(self) -> bool:
        """Whether there are more levels than two."""
        if self.values is not None:
            return len(self.values) > 2
        return self.number != 2

    @property
    def two_levels(self) -> tuple[float, float] | None:
        """The two levels if known: given, or those of a picture that has no others."""
        if self.values is not None:
            return float(self.values[0]), float(self.values[1])
        low, high = float(self.known_pixels.min()), float(self.known_pixels.max())
        if low == high:  # one level, and the other at 0
            return (min(low, 0.0), max(low, 0.0)) if low else (0.0, 1.0)
        return None

    def coupling_or(self, default: float) -> float:
        """Return the given coupling, or else `default`."""
        return default if self.coupling is None else self.coupling


def check_denoising_options(
    image: ArrayLike,
    sigma: float | None,
    coupling: float | str,
    levels: int | str | Sequence[float] | None,
    noise: str,
) -> DenoisingOptions:
    """Check the options, or raise an error that says what is wrong."""
    noisy, missing = _picture(image)
    two_valued = np.asarray(image).dtype == bool
    spread = None if sigma is None else _sigma(sigma)
    number_of, values = _levels(levels)
    if noise not in NOISE_KINDS:
        raise ModelError(f"expected noise {', '.join(NOISE_KINDS)}, got {short_repr(noise)}")
    grey = number_of != 2 if values is None else len(values) > 2
    if noise == "auto":
        known = noisy if missing is None else noisy[~missing]
        seen = has_salt_and_pepper(noisy) if grey else two_valued or has_two_values(known)
        noise = "flip" if seen and (grey or spread is None) else "gauss"
    elif noise == "flip" and spread is not None and not grey:
        raise ModelError(
            f"expected no sigma with flips on two levels, got {spread:g}: leave it out, or use "
            'noise="gauss"'
        )
    if two_valued and values is None and not grey:
        values = np.array([0.0, 1.0])
    return DenoisingOptions(noisy, spread, _coupling(coupling), number_of, values, noise, missing)


def has_two_values(noisy: np.ndarray) -> bool:
    """Return whether exactly two values occur."""
    low, high = noisy.min(), noisy.max()
    return bool(low < high and ((noisy == low) | (noisy == high)).all())


def _picture(image: ArrayLike) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the picture with missing pixels filled, and which these are; None if none."""
    numbers, mask = split_mask(image)
    noisy = float_array("the picture", numbers, 2)
    if np.isinf(noisy).any():
        raise ModelError(
            f"expected finite pixels, got {int(np.isinf(noisy).sum())} that are infinite: mask "
            "them, or make them NaN, to have them filled"
        )
    missing = np.isnan(noisy) if mask is None else mask | np.isnan(noisy)
    if missing.all():
        raise ModelError(
            f"expected a picture with known pixels, but all {noisy.size} are masked or NaN"
        )
    known = noisy[~missing]
    if np.abs(known).max() > MAX_INPUT_NUMBER or 0 < np.ptp(known) < 1 / MAX_INPUT_NUMBER:
        raise ModelError(
            "expected pixels below 1e50 that differ by more than 1e-50, got "
            f"{short_repr(float(known.min()))} to {short_repr(float(known.max()))}: rescale the "
            "picture"
        )
    if missing.any():
        return smooth_fill(noisy, missing), missing
    return noisy, None


def _sigma(sigma: float) -> float:
    spread = as_float("sigma", sigma)
    if not 1 / MAX_INPUT_NUMBER <= spread <= MAX_INPUT_NUMBER:
        raise ModelError(f"expected a finite noise level sigma above 0, got {spread:g}")
    return spread


def _coupling(coupling: float | str) -> float | None:
    if isinstance(coupling, str):
        if coupling != "auto":
            raise ModelError(f'expected a number or "auto" as coupling, got {short_repr(coupling)}')
        return None
    strength = as_float("coupling", coupling)
    if not abs(strength) <= MAX_INPUT_NUMBER:
        raise ModelError(f'expected a finite coupling or "auto", got {strength:g}')
    return strength


def _levels(levels: int | str | Sequence[float] | None) -> tuple[int | None, np.ndarray | None]:
    """Return the number of levels and their values; neither for "grey"."""
    if isinstance(levels, str):
        if levels != "grey":
            raise ModelError(
                f'expected a number of levels, their values, or "grey", got {short_repr(levels)}'
            )
        return None, None
    values = as_float_array("levels", 2 if levels is None else levels)
    if values.ndim == 0:
        if values not in range(2, MAX_LEVELS + 1):
            raise ModelError(f"expected 2 to {MAX_LEVELS} levels, got {levels}")
        return int(values), None
    if not (np.abs(values) <= MAX_INPUT_NUMBER).all():
        raise ModelError(f"expected finite levels, got {short_repr(values.tolist())}")
    if values.ndim != 1 or len(values) < 2 or not (np.diff(values) > 1 / MAX_INPUT_NUMBER).all():
        raise ModelError(f"expected two or more rising levels, got {short_repr(values.tolist())}")
    return len(values), values
