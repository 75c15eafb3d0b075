"""Grey pictures by their level sets: for every threshold t, whether a pixel is brighter.

A step from one grey level to another crosses the thresholds between them, and each adds its
coupling to the cost: the prior is linear in the difference of levels, unlike that of a Potts model.
Each threshold is a separate Ising model whose field is the log-odds of "brighter than t" for the
pixel alone,

    f_i = 1/2 log P(x_i > t | y_i) / P(x_i < t | y_i),   x_i = y_i + sigma z,

and the result is the lowest level plus, for every threshold, its step times P(brighter | picture):
a posterior mean. The coupling is that of the least risk by Stein's estimate, which needs no clean
picture:  mean (y - found)^2 + 2 sigma^2 mean d found_i / d y_i - sigma^2.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from herded.models.lattice import Lattice
from herded.models.lattice_builders import ising_grid
from herded.run.result import Result
from herded.system.numerics.exp_log import exp_array, log_array
from herded.vision.noise.initial_guesses import local_median, local_sigma, value_step
from herded.vision.noise.normal_distribution import log_odds_above
from herded.vision.noise.scatter import is_random_scatter

GREY_COUPLING_GRID = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.1, 1.4, 1.8)
FIRST_COUPLING = GREY_COUPLING_GRID.index(0.6)
# levels of a picture, and steps within one sigma
MIN_GREY_LEVELS, MAX_GREY_LEVELS, LEVELS_PER_SIGMA = 16, 64, 1.3
# least sigma, in steps between thresholds: coarser ones round the picture
MIN_SIGMA_IN_STEPS = 0.7
DERIVATIVE_STEP = 1e-3  # step of the numerical derivative, in sigmas
# field of a missing pixel: chains start from the guess, and it has no other effect
MISSING_PIXEL_FIELD = 1e-6
# of the range: an end pixel this far from its neighbours' median is noise
MIN_OUTLIER_DISTANCE = 0.25
MIN_GREY_SHARE = 0.5  # least share of pixels that are neither black nor white in a grey picture
OUTLIER_SIGMAS = 4.0  # in sigmas of the other noise, which does not reach as far
MIN_SALT_SHARE = 0.003  # least share of pixels this far and at an end, if there is salt or pepper
END_RANGE_SHARE = 0.1  # share of the range near that end, which has few pixels
LONELY = 0.8  # share of the ends in a picture of few values whose black and white are noise
SCATTER_MARGIN = 0.1  # by how much more often their neighbours may be at an end than others

RunHerd = Callable[[Lattice, int], Result]


class GreyFit(NamedTuple):
    """A noisy grey picture and what is known about it."""

    noisy: np.ndarray
    levels: np.ndarray
    sigma: float
    odd: tuple[float, float] = (0.0, 0.0)  # the share of noise among the darkest, the brightest
    missing: np.ndarray | None = None  # pixels without information; `noisy` has a guess there


def grey_levels(low: float, high: float, sigma: float) -> np.ndarray:
    """Return the levels from `low` to `high` that can be distinguished under this noise."""
    number = (high - low) / sigma * LEVELS_PER_SIGMA if sigma > 0 else MAX_GREY_LEVELS
    return np.linspace(low, high, int(min(max(number, MIN_GREY_LEVELS), MAX_GREY_LEVELS)))


def posterior_mean(picture: GreyFit, coupling: float, run: RunHerd) -> tuple[np.ndarray, float]:
    """Compute the posterior mean of every pixel, and the mean slope d found / d y."""
    noisy, levels, sigma, _, missing = picture
    found, slope = np.full(noisy.shape, levels[0]), 0.0
    for number, (below, above) in enumerate(pairwise(levels)):
        step = float(above - below)
        if step == 0:  # for a picture of one value
            continue
        soft = max(sigma, MIN_SIGMA_IN_STEPS * step)
        off = (noisy - (below + above) / 2) / soft
        field = _doubt_end_pixels(picture, log_odds_above(off)) / 2
        if missing is not None:
            field[missing] = np.where(off[missing] > 0, MISSING_PIXEL_FIELD, -MISSING_PIXEL_FIELD)
        bright = run(ising_grid(field, coupling), number).marginals[..., 1]
        found += step * bright
        bend = (log_odds_above(off + DERIVATIVE_STEP) - log_odds_above(off - DERIVATIVE_STEP)) / (
            4 * DERIVATIVE_STEP * soft
        )
        slopes = 2.0 * step * bright * (1.0 - bright) * bend
        slope += float(slopes.mean() if missing is None else slopes[~missing].mean())
    return np.clip(found, levels[0], levels[-1]), slope


def _doubt_end_pixels(picture: GreyFit, odds: np.ndarray) -> np.ndarray:
    """Return log-odds that discount black and white pixels which may be salt and pepper."""
    noisy = picture.noisy
    for odd, end in zip(picture.odd, (noisy.min(), noisy.max()), strict=True):
        if odd > 0:
            at = noisy == end
            bright = 1.0 / (1.0 + exp_array(-odds[at]))
            bright = (1.0 - odd) * bright + odd / 2
            odds[at] = log_array(bright / (1.0 - bright))
    return odds


def odd_ends(noisy: np.ndarray) -> tuple[float, float]:
    """Return the shares of the darkest and brightest pixels that are salt and pepper."""
    far = far_from_neighbours(noisy)
    return float(far[noisy == noisy.min()].mean()), float(far[noisy == noisy.max()].mean())


def has_salt_and_pepper(noisy: np.ndarray) -> bool:
    """Return whether a grey picture shows salt or pepper.

    Then many black or white pixels are farther from their neighbours than the other noise explains,
    few are nearly so, and they are scattered, unlike thin strokes.
    """
    size, ends = float(np.ptp(noisy)), (float(noisy.min()), float(noisy.max()))
    inside = (noisy > ends[0]) & (noisy < ends[1])
    if (
        inside.mean() < MIN_GREY_SHARE
        or OUTLIER_SIGMAS * local_sigma(noisy, inside) > MIN_OUTLIER_DISTANCE * size
    ):
        return False
    far = far_from_neighbours(noisy)
    # rounding would be far
    if MIN_OUTLIER_DISTANCE * size <= value_step(noisy) and far[~inside].mean() < LONELY:
        return False
    for end in ends:
        odd = far & (noisy == end)
        nearly = far & (np.abs(noisy - end) < END_RANGE_SHARE * size) & ~odd
        scattered = (
            _count_odd_neighbours(odd) <= (float(odd.mean()) + SCATTER_MARGIN) * 4 * odd.sum()
        )
        scattered = scattered and is_random_scatter(odd, could_be_far(noisy, end))
        if odd.mean() >= MIN_SALT_SHARE and 2 * nearly.sum() < odd.sum() and scattered:
            return True
    return False


def _count_odd_neighbours(odd: np.ndarray) -> int:
    """Count the neighbours of odd pixels that are odd, too."""
    return 2 * int((odd[1:] & odd[:-1]).sum() + (odd[:, 1:] & odd[:, :-1]).sum())


def far_from_neighbours(noisy: np.ndarray) -> np.ndarray:
    """Return which pixels are far from the median of their neighbours."""
    far: np.ndarray = np.abs(noisy - local_median(noisy)) > MIN_OUTLIER_DISTANCE * float(
        np.ptp(noisy)
    )
    return far


def could_be_far(noisy: np.ndarray, end: float) -> np.ndarray:
    """Return where a pixel at that end would be far from the median of its neighbours."""
    far: np.ndarray = np.abs(end - local_median(noisy)) > MIN_OUTLIER_DISTANCE * float(
        np.ptp(noisy)
    )
    return far


def best_coupling(picture: GreyFit, run: RunHerd) -> float:
    """Find the coupling of least risk; not a weak one if some pixels carry no information."""
    index, best = FIRST_COUPLING, _risk(picture, GREY_COUPLING_GRID[FIRST_COUPLING], run)
    unknown = any(picture.odd) or picture.missing is not None
    for step in (1,) if unknown else (1, -1):
        while 0 <= index + step < len(GREY_COUPLING_GRID):
            there = _risk(picture, GREY_COUPLING_GRID[index + step], run)
            if there >= best:
                break
            index, best = index + step, there
    return GREY_COUPLING_GRID[index]


def _risk(picture: GreyFit, coupling: float, run: RunHerd) -> float:
    """Stein's estimate of the mean squared error, without its constant.

    Pixels at the ends are excluded if they may be salt and pepper: there y is no measurement.
    """
    found, slope = posterior_mean(picture, coupling, run)
    off = (picture.noisy - found) ** 2
    if any(picture.odd):
        inside = (picture.noisy > picture.noisy.min()) & (picture.noisy < picture.noisy.max())
        inside &= True if picture.missing is None else ~picture.missing
        off = off[inside] if inside.any() else off
    elif picture.missing is not None:
        off = off[~picture.missing]
    return float(off.mean()) + 2.0 * picture.sigma**2 * slope
