"""Denoising: the posterior of a picture of two levels, or of a grey one, under noise.

p(x | y) is proportional to exp(J sum_(i~j) x_i x_j) prod_i p(y_i | x_i), with p(y_i | x_i) of
`herded.vision.noise.models` (the paper's section 4.2 has Gaussian noise on -1 and 1); grey pictures
are cut into such pictures of two levels by `herded.vision.level_sets`. By default
`herded.vision.model_selection` decides between them.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import HerdedWarning
from herded.methods.protocol import Method
from herded.run.interrupts import raises_interrupted, stop_all_runs_on_interrupt
from herded.vision.model_selection import restore_by_evidence
from herded.vision.restoration import Denoised, HerdRuns, restore_grey, restore_two_levels
from herded.vision.validation import check_denoising_options

__all__ = ["Denoised", "denoise", "restore"]


@raises_interrupted
def denoise(
    image: ArrayLike,
    sigma: float | None = None,
    coupling: float | str = "auto",
    *,
    levels: int | str | Sequence[float] | None = None,
    noise: str = "auto",
    method: Method | None = None,
    sweeps: int = 30,
) -> np.ndarray:
    """Return a clean version of a noisy picture.

    By default the picture itself decides between two levels, grey levels, and no change at all: a
    model is used only if the picture shows noise that the model would reduce. A clean picture is
    returned unchanged.

    Parameters
    ----------
    image : array_like of shape (H, W)
        The noisy picture, as bools or numbers. Masked pixels of a masked array and NaN count as
        missing, and are filled.
    sigma : float, optional
        The standard deviation of the noise, in the picture's units; estimated by default.
    coupling : float or "auto"
        The similarity of neighbours; "auto" estimates it.
    levels : int, "grey" or sequence of float, optional
        The values of clean pixels, instead of a decision by evidence. 2 means False and True for a
        bool picture, the values that occur if there are only two, else two estimated ones.
        "grey" means a grey picture with as many levels as the noise lets one distinguish, and a
        number K means K levels from the darkest to the brightest. More than two levels are
        averaged under the posterior.
    noise : {"auto", "gauss", "flip"}
        Gaussian noise, cut to the range of the picture if many pixels are at its ends; or flips,
        which give a share of pixels the other level, or make it black or white in a grey
        picture (salt and pepper). "auto" means flips if there are only two values and no sigma
        is given, and in a grey picture with scattered black and white pixels far from their
        neighbours.
    method : Sampler or Solver, optional
        By default Gibbs(herd=64).
    sweeps : int
        The number of sweeps over the picture, after a burn-in of a third as many.

    Returns
    -------
    ndarray of shape (H, W)
        A plain array without a mask or NaN, of the picture's dtype, rounded for whole numbers, and
        within its range. If the dtype cannot hold the levels, the result has floats.

    Raises
    ------
    ModelError
        If a pixel is infinite, all are missing, or a parameter is out of range.

    Warns
    -----
    HerdedWarning
        If the model does not fit: the picture has noise that no model reduces, and is returned
        unchanged, or it does not have the two levels asked for.

    See Also
    --------
    restore : also returns the posterior and the estimates.

    Examples
    --------
    >>> picture = np.ones((40, 40), bool)
    >>> picture[:, :20] = False
    >>> noisy = picture ^ (np.random.default_rng(0).random(picture.shape) < 0.05)
    >>> int((noisy != picture).sum()), int((hd.vision.denoise(noisy) != picture).sum())
    (85, 7)
    >>> checkerboard = np.indices((40, 40)).sum(axis=0) % 2 == 0
    >>> bool((hd.vision.denoise(checkerboard) == checkerboard).all())
    True
    """
    found = _restore_silently(image, sigma, coupling, levels, noise, HerdRuns(method, sweeps))
    if found.misfit is not None:
        warnings.warn(str(found.misfit), HerdedWarning, stacklevel=3)
    return found.image


def restore(
    image: ArrayLike,
    sigma: float | None = None,
    coupling: float | str = "auto",
    *,
    levels: int | str | Sequence[float] | None = None,
    noise: str = "auto",
    method: Method | None = None,
    sweeps: int = 30,
    progress: bool | None = False,
) -> Denoised:
    """Denoise a picture, and return the posterior and the parameters as well.

    Parameters
    ----------
    image, sigma, coupling, levels, noise, method, sweeps
        As for `denoise`.
    progress : bool, optional
        Whether to show a progress bar on a terminal: only in long runs (None), or never (False).

    Returns
    -------
    Denoised

    Raises
    ------
    ModelError
        If a pixel is infinite, all are missing, or a parameter is out of range.

    Warns
    -----
    HerdedWarning
        If the model does not fit: the picture has noise that no model reduces, and is returned
        unchanged, or it does not have the two levels asked for.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> picture = np.where(np.arange(40) < 20, -1.0, 1.0) * np.ones((40, 1))
    >>> noisy = picture + rng.normal(scale=0.7, size=picture.shape)
    >>> found = hd.vision.restore(noisy)
    >>> found.levels, float(round(found.sigma, 1))
    ((-1.0, 1.0), 0.7)
    >>> float((found.image != picture).mean()) < 0.01
    True
    """
    found = _restore_silently(
        image, sigma, coupling, levels, noise, HerdRuns(method, sweeps, progress)
    )
    if found.misfit is not None:
        warnings.warn(str(found.misfit), HerdedWarning, stacklevel=2)
    return found


@stop_all_runs_on_interrupt()  # partial runs are useless by themselves
def _restore_silently(
    image: ArrayLike,
    sigma: float | None,
    coupling: float | str,
    levels: int | str | Sequence[float] | None,
    noise: str,
    runs: HerdRuns,
) -> Denoised:
    """Restore without a warning, which must name the line of the caller."""
    if levels is None:
        found = restore_by_evidence(image, sigma, coupling, noise, runs)
    else:
        chosen = check_denoising_options(image, sigma, coupling, levels, noise)
        found = (restore_grey if chosen.grey else restore_two_levels)(chosen, runs).restored
    return replace(found, image=_as_input(found, np.asarray(image).dtype, _given_values(levels)))


def _given_values(levels: int | str | Sequence[float] | None) -> np.ndarray | None:
    """Return the values of levels if they were given one by one, else None."""
    one_word = levels is None or isinstance(levels, str) or np.ndim(levels) == 0
    return None if one_word else np.asarray(levels, np.float64)


def _as_input(found: Denoised, kind: np.dtype, given: np.ndarray | None) -> np.ndarray:
    """Convert the picture to the input's dtype, or to floats if that cannot hold the levels."""
    image = found.image
    if kind.kind == "b":
        if found.model == "grey":
            return image
        middle = sum(found.levels) / 2 if found.levels else 0.5
        bright: np.ndarray = image > middle
        return bright
    if kind.kind == "f" and kind.itemsize < image.itemsize:
        narrow_range = np.finfo(kind)
        fits = narrow_range.min <= image.min() and image.max() <= narrow_range.max
        return image.astype(kind) if fits else image
    if kind.kind not in "iu":
        return image
    ends = np.iinfo(kind)
    if given is not None and not _are_whole_numbers(given, ends.min, ends.max):
        return image
    return _round_to_dtype(image, kind)


def _are_whole_numbers(values: np.ndarray, low: int, high: int) -> bool:
    inside = low <= values[0] and values[-1] <= high
    return bool(inside and (values == np.round(values)).all())


def _round_to_dtype(image: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Round to whole numbers of the dtype; a float next to 2^64 is not one of them."""
    ends = np.iinfo(kind)
    whole = np.round(image)
    inside = np.clip(whole, ends.min, np.nextafter(float(ends.max), 0) if ends.bits > 53 else None)
    exact: np.ndarray = np.clip(inside, ends.min, ends.max).astype(kind)
    exact[whole >= ends.max] = ends.max
    return exact
