"""Denoising: the posterior of a picture of two levels, or of a grey one, under noise.

p(x | y) is proportional to exp(J sum_(i~j) x_i x_j) prod_i p(y_i | x_i), with p(y_i | x_i) of
`herded.vision.noise` (the paper's section 4.2 has Gaussian noise on -1 and 1); grey pictures are
cut into such pictures of two levels by `herded.vision.level_sets`.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import HerdedWarning
from herded.methods.gibbs import Gibbs
from herded.methods.protocol import Method, Sampler
from herded.models.grids import ising_grid
from herded.models.lattice import Lattice
from herded.run.infer import infer
from herded.run.keep import Marginals
from herded.run.result import Result
from herded.vision.choices import Choices, checked
from herded.vision.fit import HERD, enough, fit
from herded.vision.hints import hint
from herded.vision.level_sets import Grey, best_coupling, grey_levels, odd_ends, posterior_mean
from herded.vision.noise import Flip, Gauss, ends
from herded.vision.starts import flip_rate, level_guesses, local_mean, local_sigma

TRIAL_SWEEPS = 24  # to find the coupling of a grey picture
TRIAL_PIXELS = 2**14


@dataclass(frozen=True)
class Denoised:
    """A denoised picture, and what was assumed or estimated to get it: what `restore` returns.

    Attributes
    ----------
    image : ndarray of shape (H, W)
        Bool like the input, or floats.
    result : Result or None
        The posterior of a picture of two levels. A grey one has one for every threshold, of which
        only the mean is kept.
    levels : tuple of float
        The values of clean pixels.
    noise : str
        "gauss" or "flip".
    sigma : float
        The standard deviation of the noise; 0 for flips on two levels.
    flips : float
        The share of flipped pixels; 0 for Gaussian noise.
    coupling : float
        How much neighbours are alike.
    hint : str
        A sentence where the model does not fit the picture; else empty.

    Examples
    --------
    >>> noisy = np.ones((16, 16), bool)
    >>> noisy[3, 3] = False
    >>> found = hd.vision.restore(noisy)
    >>> found.levels, found.noise, bool(found.image.all())
    ((0.0, 1.0), 'flip', True)
    """

    image: np.ndarray  # as the input: bool, or floats
    result: Result | None
    levels: tuple[float, ...]
    noise: str
    sigma: float
    flips: float
    coupling: float
    hint: str = ""


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
    """A clean version of a noisy picture.

    Parameters
    ----------
    image : array_like of shape (H, W)
        The noisy picture; bool, or numbers.
    sigma : float, optional
        The standard deviation of the noise, in the picture's units; estimated by default.
    coupling : float or "auto"
        How much neighbours are alike; "auto" estimates it.
    levels : int, "grey" or sequence of float, optional
        The values that a clean pixel can have. By default two: False and True for a bool picture,
        those that occur if no others do, else estimated. "grey" is for grey pictures, with as many
        levels as the noise leaves to tell apart, a number K for K levels from the darkest to the
        brightest; more than two are averaged under the posterior.
    noise : {"auto", "gauss", "flip"}
        Gaussian noise, cut to the range of the picture if many pixels are at its ends; or flips: a
        share of pixels has the other level, or is black or white in a grey picture (salt and
        pepper). "auto" means flips where there are only two values and no sigma is given, and in
        a grey picture where scattered black and white pixels are far from their neighbours.
    method : Sampler or Solver, optional
        By default Gibbs(herd=64).
    sweeps : int
        Traversals of the picture, after a third as many that do not count.

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
    >>> picture = np.ones((16, 16), bool)
    >>> picture[:, :8] = False
    >>> noisy = picture.copy()
    >>> noisy[2, 2], noisy[5, 12] = True, False
    >>> clean = hd.vision.denoise(noisy)
    >>> bool((clean == picture).all())
    True
    """
    return restore(
        image, sigma, coupling, levels=levels, noise=noise, method=method, sweeps=sweeps
    ).image


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
    """Denoise a picture, and give the posterior and the parameters that were used.

    Parameters
    ----------
    image, sigma, coupling, levels, noise, method, sweeps
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
    chosen = checked(image, sigma, coupling, levels, noise)
    runs = _Runs(method, sweeps, progress)
    if chosen.grey:
        return _restore_grey(chosen, runs)
    return _restore_two(chosen, runs, np.asarray(image).dtype == bool)


def _restore_two(chosen: Choices, runs: "_Runs", two_valued: bool) -> Denoised:
    noisy = chosen.noisy
    starts = _starts(chosen)
    known = chosen.coupling is not None and starts[0].known
    if known or np.ptp(noisy) == 0:  # nothing to fit, or to fit to
        noise, strength = starts[0], chosen.coupling_or(1.0)
    else:
        noise, strength, _, _ = fit(noisy, starts, chosen.coupling)
    likelihoods = noise.log_likelihoods(noisy)
    result = runs.run(ising_grid((likelihoods[1] - likelihoods[0]) / 2, strength))
    bright = result.marginals[..., 1] > 0.5
    restored = bright if two_valued else np.array(noise.levels)[bright.astype(np.int64)]
    return Denoised(
        restored,
        result,
        noise.levels,
        "flip" if isinstance(noise, Flip) else "gauss",
        noise.sigma,
        noise.rate,
        strength,
        hint(noisy, noise, bright),
    )


def _starts(chosen: Choices) -> Sequence[Gauss | Flip]:
    """Where the fit starts; or what it is, as far as it is known."""
    noisy, known = chosen.noisy, chosen.two_levels
    if chosen.noise == "flip":
        levels = known or (float(noisy.min()), float(noisy.max()))
        return [Flip(levels, *flip_rate(noisy > (levels[0] + levels[1]) / 2))]
    pairs = [known] if known else level_guesses(noisy)
    spread = chosen.sigma or local_sigma(noisy)
    floor, ceiling = ends(noisy)
    return [
        Gauss(pair, spread, floor, ceiling, known is not None, chosen.sigma is not None).at(
            *pair, max(spread, 1e-50)
        )
        for pair in pairs
    ]


def _restore_grey(chosen: Choices, runs: "_Runs") -> Denoised:
    noisy = chosen.noisy
    odd = odd_ends(noisy) if chosen.noise == "flip" else (0.0, 0.0)
    inside = (noisy > noisy.min()) & (noisy < noisy.max()) if any(odd) else None
    sigma = chosen.sigma or local_sigma(noisy, inside)
    levels = chosen.values
    if levels is None:
        smooth = local_mean(noisy)
        low, high = float(smooth.min()), float(smooth.max())
        high = high if high > low else low + 1.0
        levels = grey_levels(low, high, sigma)
        if chosen.number is not None:
            levels = np.linspace(low, high, chosen.number)
    picture = Grey(noisy, levels, sigma, odd)
    strength = chosen.coupling
    if np.ptp(noisy) == 0:
        found, strength = noisy.copy(), chosen.coupling_or(1.0)
    else:
        if strength is None:
            part = enough(noisy, TRIAL_PIXELS)
            strength = best_coupling(Grey(part, levels, sigma, odd), _Runs(None, TRIAL_SWEEPS).run)
        found, _ = posterior_mean(picture, strength, runs.run)
    flips = float((odd[0] * (noisy == noisy.min()) + odd[1] * (noisy == noisy.max())).mean())
    values = tuple(map(float, levels))
    kind = "flip" if chosen.noise == "flip" else "gauss"
    return Denoised(found, None, values, kind, sigma, flips, strength)


@dataclass(frozen=True)
class _Runs:
    """Runs of one method on the lattices of a picture."""

    method: Method | None
    sweeps: int
    progress: bool | None = False

    def run(self, model: Lattice, number: int = 0) -> Result:
        """The posterior, from the most likely level of each pixel: others waste the first sweeps.

        What a herd says of pixels that have not moved on stays in the result: on a picture, whole
        regions rightly do not.
        """
        method = self.method or Gibbs(seed=number, herd=HERD)
        start = model.log_unary.argmax(axis=2) if isinstance(method, Sampler) else None
        counts = self.method is None and isinstance(self.sweeps, int)  # else infer will object
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HerdedWarning)
            return infer(
                model,
                method,
                sweeps=self.sweeps,
                burn_in=self.sweeps // 3 if counts else 0,
                start=start,
                keep=[Marginals(rao_blackwell=True)] if self.method is None else None,
                progress=self.progress,
            )
