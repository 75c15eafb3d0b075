"""The two models of a picture, run on it: two levels, and grey by level sets."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from herded.errors import HerdedWarning
from herded.methods.gibbs import Gibbs
from herded.methods.protocol import Method, Sampler
from herded.models.lattice import Lattice
from herded.models.lattice_builders import ising_grid
from herded.run.execute import execute
from herded.run.infer import infer
from herded.run.interrupted_result import settle_interruption
from herded.run.query import build_query
from herded.run.recording.recorders import Marginals
from herded.run.result import Result
from herded.vision.level_sets import (
    MISSING_PIXEL_FIELD,
    GreyFit,
    best_coupling,
    grey_levels,
    odd_ends,
    posterior_mean,
)
from herded.vision.noise.fit_diagnostic import FitDiagnostic, find_other_levels
from herded.vision.noise.initial_guesses import flip_rate, level_guesses, local_mean, local_sigma
from herded.vision.noise.models import FlipNoise, GaussianNoise, range_ends
from herded.vision.noise.two_level_fit import FIT_HERD, crop_to_fit, fit_noise_model
from herded.vision.validation import DenoisingOptions

TRIAL_SWEEPS = 10  # to find the coupling of a grey picture
TRIAL_PIXELS = 2**14


@dataclass(frozen=True)
class Denoised:
    """The result of `restore`: a denoised picture, with the parameters assumed or estimated.

    Attributes
    ----------
    image : ndarray of shape (H, W)
        In the input's dtype.
    result : Result or None
        The posterior of a picture of two levels. A grey picture has one posterior per threshold,
        whose mean alone is kept.
    levels : tuple of float
        The values of clean pixels; empty for a picture that was left unchanged.
    noise : str
        "gauss" or "flip".
    sigma : float
        The standard deviation of the noise; 0 for flips on two levels.
    flips : float
        The share of flipped pixels; 0 for Gaussian noise.
    coupling : float
        The similarity of neighbours.
    model : {"two-level", "grey", "impulses", "none"}
        The model that was used; "impulses" if only salt and pepper were replaced, "none" for a
        picture that was left unchanged, apart from missing pixels.
    misfit : FitDiagnostic or None
        The reason why no model fits, or not the one asked for.
    hint : str
        The reason as a sentence, which is also a warning; otherwise empty.

    Examples
    --------
    >>> noisy = np.ones((16, 16), bool)
    >>> noisy[3, 3] = False
    >>> found = hd.vision.restore(noisy, levels=2)
    >>> found.levels, found.noise, bool(found.image.all())
    ((0.0, 1.0), 'flip', True)
    >>> hd.vision.restore(noisy).model  # one odd pixel is no evidence of noise
    'none'
    """

    image: np.ndarray
    result: Result | None
    levels: tuple[float, ...]
    noise: str
    sigma: float
    flips: float
    coupling: float
    model: str = "two-level"
    misfit: FitDiagnostic | None = None

    @property
    def hint(self) -> str:
        """The sentence of `misfit`; empty if it is None."""
        return "" if self.misfit is None else str(self.misfit)


class Restoration(NamedTuple):
    """A restored picture, and how strongly its pixels follow their own noise."""

    restored: Denoised
    divergence: float  # the mean of d found_i / d y_i


def restore_two_levels(chosen: DenoisingOptions, runs: "HerdRuns") -> Restoration:
    """Restore a picture of two levels, fitting the parameters that are not given."""
    noisy = chosen.noisy
    starts = _starts(chosen)
    known = chosen.coupling is not None and starts[0].known
    if known or np.ptp(noisy) == 0:  # no parameters to fit, or no data
        noise, strength = starts[0], chosen.coupling_or(1.0)
    else:
        noise, strength, _, _ = fit_noise_model(chosen.observed, starts, chosen.coupling)
    result = runs.run(ising_grid(two_level_field(chosen, noise), strength))
    share = result.marginals[..., 1]
    bright: np.ndarray = share > 0.5
    restored = Denoised(
        np.array(noise.levels)[bright.astype(np.int64)],
        result,
        noise.levels,
        "flip" if isinstance(noise, FlipNoise) else "gauss",
        noise.sigma,
        noise.rate,
        strength,
        misfit=find_other_levels(noisy, noise, bright),
    )
    spread: np.ndarray = share * (1.0 - share)
    gap = (noise.levels[1] - noise.levels[0]) / noise.sigma if noise.sigma else 0.0
    if chosen.missing is not None:
        spread = spread[~chosen.missing]
    return Restoration(restored, float(gap * gap * spread.mean()))


def two_level_field(chosen: DenoisingOptions, noise: GaussianNoise | FlipNoise) -> np.ndarray:
    """Compute half the log-odds of each pixel alone; for a missing one, only a start."""
    likelihoods = noise.log_likelihoods(chosen.observed)
    field: np.ndarray = (likelihoods[1] - likelihoods[0]) / 2
    if chosen.missing is not None:
        above = chosen.noisy[chosen.missing] > sum(noise.levels) / 2
        field[chosen.missing] = np.where(above, MISSING_PIXEL_FIELD, -MISSING_PIXEL_FIELD)
    return field


def _starts(chosen: DenoisingOptions) -> Sequence[GaussianNoise | FlipNoise]:
    """Return where the fit starts, or the noise itself as far as it is known."""
    noisy, known = chosen.noisy, chosen.two_levels
    if chosen.noise == "flip":
        levels = known or (float(noisy.min()), float(noisy.max()))
        return [FlipNoise(levels, *flip_rate(noisy > (levels[0] + levels[1]) / 2))]
    pairs = [known] if known else level_guesses(noisy)
    spread = chosen.sigma or local_sigma(noisy)
    floor, ceiling = range_ends(noisy)
    range_ = float(chosen.known_pixels.min()), float(chosen.known_pixels.max())
    return [
        GaussianNoise(
            pair, spread, floor, ceiling, known is not None, chosen.sigma is not None, range_=range_
        ).at(*pair, max(spread, 1e-50))
        for pair in pairs
    ]


def restore_grey(chosen: DenoisingOptions, runs: "HerdRuns") -> Restoration:
    """Restore a grey picture: the mean over its level sets."""
    noisy, missing = chosen.noisy, chosen.missing
    odd = odd_ends(noisy) if chosen.noise == "flip" else (0.0, 0.0)
    inside = (noisy > noisy.min()) & (noisy < noisy.max()) if any(odd) else None
    if missing is not None:
        inside = ~missing if inside is None else inside & ~missing
    sigma = chosen.sigma or local_sigma(noisy, inside)
    levels = chosen.values
    if levels is None:
        smooth = local_mean(noisy)
        low, high = float(smooth.min()), float(smooth.max())
        high = high if high > low else low + 1.0
        levels = grey_levels(low, high, sigma)
        if chosen.number is not None:
            levels = np.linspace(low, high, chosen.number)
    picture = GreyFit(noisy, levels, sigma, odd, missing)
    strength, slope = chosen.coupling, 1.0
    if np.ptp(noisy) == 0:
        found, strength = noisy.copy(), chosen.coupling_or(1.0)
    else:
        if strength is None:
            part = picture._replace(
                noisy=crop_to_fit(noisy, TRIAL_PIXELS),
                missing=None if missing is None else crop_to_fit(missing, TRIAL_PIXELS),
            )
            strength = best_coupling(part, HerdRuns(None, TRIAL_SWEEPS).run)
        found, slope = posterior_mean(picture, strength, runs.run)
    flips = float((odd[0] * (noisy == noisy.min()) + odd[1] * (noisy == noisy.max())).mean())
    values = tuple(map(float, levels))
    kind = "flip" if chosen.noise == "flip" else "gauss"
    restored = Denoised(found, None, values, kind, sigma, flips, strength, model="grey")
    return Restoration(restored, slope)


@dataclass(frozen=True)
class HerdRuns:
    """Runs of one method on the lattices of a picture."""

    method: Method | None
    sweeps: int
    progress: bool | None = False

    def check_options(self) -> None:
        """Raise errors for a wrong method or number of sweeps, even if no picture is run."""
        self.run(ising_grid(np.zeros((2, 2)), 0.0))

    def run(self, model: Lattice, number: int = 0) -> Result:
        """Run the method from the most likely level of each pixel, which saves the first sweeps.

        Warnings about pixels that have not moved stay in the result, not shown: in a picture, whole
        regions rightly do not move.
        """
        method = self.method or Gibbs(seed=number, herd=FIT_HERD)
        start = model.log_unary.argmax(axis=2) if isinstance(method, Sampler) else None
        counts = self.method is None and isinstance(
            self.sweeps, int
        )  # otherwise infer raises an error
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HerdedWarning)
            if self.method is None:  # this start needs no comparison with others
                query = build_query(
                    model,
                    method,
                    sweeps=self.sweeps,
                    burn_in=self.sweeps // 3 if counts else 0,
                    start=start,
                    keep=[Marginals(rao_blackwell=True)],
                    progress=self.progress,
                )
                return settle_interruption(execute(query), "raise")
            return infer(
                model,
                method,
                sweeps=self.sweeps,
                burn_in=0,
                start=start,
                progress=self.progress,
            )
