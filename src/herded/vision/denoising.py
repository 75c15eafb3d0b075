"""Denoising: the posterior of a picture of a few levels under Gaussian noise (paper, section 4.2).

p(x | y) is proportional to exp(J sum_(i~j) like(x_i, x_j) - sum_i (y_i - mu_(x_i))^2 / (2 sigma^2))
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import ModelError
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.protocol import Method, Sampler
from herded.models.checks import float_array, number, number_array, shown
from herded.models.grids import denoising_model, potts_grid
from herded.models.lattice import Lattice
from herded.run.infer import infer
from herded.run.result import Result
from herded.system.exp import log
from herded.vision.coupling import estimate_coupling, weights_for
from herded.vision.noise import estimate_flips, estimate_levels, estimate_sigma

SMALLEST = 1e-3  # sigma, in units of half the gap between levels, at least
LARGEST = 1e50  # of pixels, levels, sigma, coupling and their inverses: squares stay finite


@dataclass(frozen=True)
class Denoised:
    """A denoised picture, and what was assumed or estimated to get it: what `restore` returns.

    Attributes
    ----------
    image : ndarray of shape (H, W)
        Bool like the input, or floats.
    result : Result
        The posterior.
    levels : tuple of float
        The values of clean pixels.
    sigma : float
        The standard deviation of the noise.
    coupling : float
        How much neighbours are alike.

    Examples
    --------
    >>> noisy = np.ones((8, 8), bool)
    >>> noisy[3, 3] = False
    >>> found = hd.vision.restore(noisy)
    >>> found.levels, found.coupling
    ((0.0, 1.0), 1.0)
    """

    image: np.ndarray  # as the input: bool, or floats
    result: Result
    levels: tuple[float, ...]
    sigma: float
    coupling: float


def denoise(
    image: ArrayLike,
    sigma: float | None = None,
    coupling: float | str = 1.0,
    *,
    levels: int | Sequence[float] | None = None,
    method: Method | None = None,
    sweeps: int = 30,
) -> np.ndarray:
    """A clean version of a noisy picture.

    Parameters
    ----------
    image : array_like of shape (H, W)
        The noisy picture; bool, or numbers.
    sigma : float, optional
        The standard deviation of the noise, in the picture's units; estimated by default.
    coupling : float or "auto"
        How much neighbours are alike; "auto" estimates it.
    levels : int or sequence of float, optional
        The values that a clean pixel can have. By default False and True for a bool picture, and
        two estimated levels for numbers. A number K gives K levels from the darkest to the
        brightest, for grey pictures.
    method : Sampler or Solver, optional
        By default HerdedGibbs("shared", phases="half"), with "pooled" for more than two levels.
    sweeps : int
        Traversals of the picture.

    Returns
    -------
    ndarray of shape (H, W)
        Bool for a bool picture, else floats.

    Raises
    ------
    ModelError
        If a pixel is not finite, or a parameter is out of range.

    See Also
    --------
    restore : also gives the posterior and the estimates.

    Examples
    --------
    >>> picture = np.ones((8, 8), bool)
    >>> picture[:, :4] = False
    >>> noisy = picture.copy()
    >>> noisy[2, 2], noisy[5, 6] = True, False
    >>> clean = hd.vision.denoise(noisy)
    >>> bool((clean == picture).all())
    True
    """
    return restore(image, sigma, coupling, levels=levels, method=method, sweeps=sweeps).image


def restore(
    image: ArrayLike,
    sigma: float | None = None,
    coupling: float | str = 1.0,
    *,
    levels: int | Sequence[float] | None = None,
    method: Method | None = None,
    sweeps: int = 30,
    progress: bool | None = False,
) -> Denoised:
    """Denoise a picture, and give the posterior and the parameters that were used.

    Parameters
    ----------
    image, sigma, coupling, levels, method, sweeps
        As for `denoise`.
    progress : bool, optional
        Whether a bar may be shown on a terminal.

    Returns
    -------
    Denoised

    Raises
    ------
    ModelError
        If a pixel is not finite, or a parameter is out of range.

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
    noisy = _check(image)
    values = _levels(noisy, np.asarray(image).dtype == bool, levels)
    spread = _sigma(noisy, np.asarray(image).dtype == bool, sigma, values)

    def lattice_of(j: float) -> Lattice:
        return _posterior(noisy, values, spread, j)

    if isinstance(coupling, str):
        if coupling != "auto":
            raise ModelError(f'expected a number or "auto" as coupling, got {coupling!r}')
        strength = estimate_coupling(lattice_of)
    else:
        strength = number("coupling", coupling)
        if not abs(strength) <= LARGEST:
            raise ModelError(f'expected a finite coupling or "auto", got {strength:g}')
    model = lattice_of(strength)
    if method is None:  # few sweeps from half way leave fewer wrong pixels than from random phases
        method = HerdedGibbs(weights=weights_for(len(values)), phases="half")
    # Start at the most likely level of each pixel: from a random start the first sweeps are wasted.
    start = model.log_unary.argmax(axis=2) if isinstance(method, Sampler) else None
    result = infer(model, method, sweeps=sweeps, start=start, progress=progress)
    restored = _picture(result, np.array(values), np.asarray(image).dtype == bool)
    return Denoised(restored, result, tuple(map(float, values)), spread, strength)


def _check(image: ArrayLike) -> np.ndarray:
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


def _levels(
    noisy: np.ndarray, two_valued: bool, levels: int | Sequence[float] | None
) -> np.ndarray:
    values = number_array("levels", 2 if levels is None else levels)
    if values.ndim == 0:
        if values not in range(2, 257):
            raise ModelError(f"expected 2 to 256 levels, got {levels}")
        values = _spread_levels(noisy, two_valued, int(values))
    if not (np.abs(values) <= LARGEST).all():
        raise ModelError(f"expected finite levels, got {shown(values.tolist())}")
    if values.ndim != 1 or len(values) < 2 or not (np.diff(values) > 1 / LARGEST).all():
        raise ModelError(f"expected two or more rising levels, got {shown(values.tolist())}")
    return values


def _spread_levels(noisy: np.ndarray, two_valued: bool, number_of: int) -> np.ndarray:
    if number_of == 2:
        return np.array([0.0, 1.0] if two_valued else estimate_levels(noisy))
    low, high = np.quantile(noisy, [0.01, 0.99])
    return np.linspace(low, high, number_of) if high > low else low + np.arange(number_of)


def _sigma(noisy: np.ndarray, two_valued: bool, sigma: float | None, levels: np.ndarray) -> float:
    half = float(levels[1] - levels[0]) / 2
    if sigma is None:
        if two_valued:  # flips at rate e look like noise whose log-odds are log((1 - e) / e)
            flips = estimate_flips(noisy > 0.5)
            return half * float(np.sqrt(2.0 / log((1.0 - flips) / flips)))
        return max(estimate_sigma(noisy), SMALLEST * half)
    spread = number("sigma", sigma)
    if not 1 / LARGEST <= spread <= LARGEST:
        raise ModelError(f"expected a finite noise level sigma above 0, got {spread:g}")
    return spread


def _posterior(noisy: np.ndarray, levels: np.ndarray, sigma: float, coupling: float) -> Lattice:
    if len(levels) == 2:
        middle, half = levels.mean(), (levels[1] - levels[0]) / 2
        return denoising_model((noisy - middle) / half, sigma / half, coupling)
    return potts_grid(-((noisy[..., None] - levels) ** 2) / (2 * sigma * sigma), coupling)


def _picture(result: Result, levels: np.ndarray, two_valued: bool) -> np.ndarray:
    """The more probable level of two; of more, their mean under the posterior."""
    marginals = result.marginals
    if len(levels) > 2:
        parts = marginals * levels  # no product of matrices: BLAS adds as it likes
        found: np.ndarray = parts.sum(axis=-1)
        return found
    chosen = marginals[..., 1] > 0.5
    return chosen if two_valued else levels[chosen.astype(np.int64)]
