"""The probable effect of a restoration on the errors, judged from the noisy picture alone.

Stein's estimate bounds the errors if the noise is Gaussian and of the assumed size. The rest of
this module tests that assumption on what a model removes: neighbours share little of it, large
changes do not keep a distance from each other, and levels explain no more than the range can have
cut off.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from herded.vision.noise.bounds import COUNT_SIGMAS
from herded.vision.noise.initial_guesses import shared_variance
from herded.vision.noise.models import range_ends
from herded.vision.noise.scatter import is_random_scatter
from herded.vision.restoration import Denoised, Restoration
from herded.vision.validation import DenoisingOptions

MAX_HARM = 0.9  # limit for Stein's estimate, and for errors after over errors before
# times the variance of wrong pixels: the most that neighbours may share of the rest
MAX_UNEXPLAINED_RATIO = 1.5
MAX_AT_END = 0.2  # of the pixels at either end of the range, for a grey picture
CUT_SHIFT = 0.7  # of observed sigmas: the mean of cut noise is 0.4 sigma, of which 0.58 is observed
DISTANCE_SHIFT = 0.5  # subtracted, as a share of a level's distance from the end of the range
OUTLIER = 2.5  # in sigmas: changes of this size must not keep a distance
MAX_VARIANCE_RATIO = 1.3  # largest residual of two levels, over the variance of the noise
# the same if both levels are ends of the range, which cut it off
MAX_VARIANCE_RATIO_AT_ENDS = 1.6


class Candidate(NamedTuple):
    """A restored picture and estimates of its errors."""

    attempt: Restoration
    changed: float  # mean squared difference to the noisy picture
    risk: float  # Stein's estimate of the mean squared error, over the variance of the noise
    harm: float  # the same over the change that the noise allows


def is_cut_at_both_ends(pixels: np.ndarray) -> bool:
    """Return whether the picture is black and white under noise that its range cuts off.

    Black and white pixels are then right as they are, while means of neighbours are wrong.
    """
    return all((pixels == end).mean() > MAX_AT_END for end in (pixels.min(), pixels.max()))


def _is_cut(pixels: np.ndarray) -> bool:
    """Return whether many pixels are at an end of the range, where noise looks too weak."""
    return any((pixels == end).mean() > MAX_AT_END for end in (pixels.min(), pixels.max()))


def judge_restoration(
    attempt: Restoration, chosen: DenoisingOptions, noise: float, weight: float = 1.0
) -> Candidate:
    """Estimate the errors of a restored picture by Stein's method, under noise of that sigma.

    A weight below 1 keeps a share of the noisy picture in the restored one: photographs have grain
    and fur of their own, which look like noise. If a part g2 of a variance n2 belongs to the
    picture, the best share to remove is 1 - g2 / n2.
    """
    restored, divergence = attempt
    if weight < 1:
        mixed = weight * restored.image + (1.0 - weight) * chosen.noisy
        restored = replace(restored, image=mixed)
        divergence = weight * divergence + 1.0 - weight
        attempt = Restoration(restored, divergence)
    left = (chosen.noisy - restored.image).astype(float)
    known = np.ones(left.shape, bool) if chosen.missing is None else ~chosen.missing
    if (
        restored.model == "two-level"
    ):  # the ends of the range shift means, which the model accounts for
        for level in restored.levels:
            here = (restored.image == level) & known
            if here.any():
                left[here] -= _shift_by_range(
                    level, float(left[here].mean()), noise, range_ends(chosen.known_pixels)
                )
    changed = float((left[known] ** 2).mean())
    allowed = 2.0 * noise * noise * (1.0 - divergence)
    harm = changed / allowed if allowed > 0 else np.inf
    at_ends = restored.levels == range_ends(chosen.known_pixels)
    most = MAX_VARIANCE_RATIO_AT_ENDS if at_ends else MAX_VARIANCE_RATIO
    if restored.model == "two-level" and (
        changed > most * noise * noise
        or _has_other_levels(restored, np.where(known, left, 0.0), known)
        or _expected_error_ratio(restored, chosen, known) > MAX_HARM
    ):
        harm = np.inf
    if restored.model == "grey" and (
        restored.coupling == 0  # neighbours carry no information
        or (_is_cut(chosen.known_pixels) and changed > MAX_VARIANCE_RATIO * (weight * noise) ** 2)
    ):
        harm = np.inf
    if not _has_scattered_outliers(np.where(known, left, 0.0), known, noise):
        harm = np.inf
    risk = changed / (noise * noise) - 1.0 + 2.0 * divergence
    return Candidate(attempt, changed, risk, harm)


def _shift_by_range(
    level: float, shift: float, noise: float, range_ends: tuple[float, float]
) -> float:
    """Return the part of a level's mean residual that noise cut off by the range explains."""
    most = CUT_SHIFT * noise
    down, up = (
        max(most - DISTANCE_SHIFT * abs(end - level), 0.0) if np.isfinite(end) else 0.0
        for end in range_ends
    )
    return float(np.clip(shift, -up, down))


def _has_scattered_outliers(left: np.ndarray, known: np.ndarray, noise: float) -> bool:
    """Return whether strongly changed pixels do not keep a distance, as dots of a screen do."""
    return all(
        is_random_scatter(sign * left > OUTLIER * noise, known, lattices=False) for sign in (-1, 1)
    )


def _expected_error_ratio(restored: Denoised, chosen: DenoisingOptions, known: np.ndarray) -> float:
    """Return the squared errors after over those before, by the posterior of two levels."""
    assert restored.result is not None
    low, high = restored.levels
    bright = restored.result.marginals[..., 1][known]
    noisy = chosen.noisy[known]
    after = (high - low) ** 2 * np.minimum(bright, 1.0 - bright).mean()
    before = (bright * (noisy - high) ** 2 + (1.0 - bright) * (noisy - low) ** 2).mean()
    return float(after / before) if before > 0 else np.inf


def _has_other_levels(restored: Denoised, left: np.ndarray, known: np.ndarray) -> bool:
    """Return whether neighbours share more of the residual than wrong pixels explain.

    Noise is not shared. Pixels of the wrong level may be, as often as the posterior predicts.
    """
    assert restored.result is not None
    if min(left.shape) < 3:
        return False
    bright = restored.result.marginals[..., 1][known]
    gap = restored.levels[1] - restored.levels[0]
    expected = gap * gap * float(np.minimum(bright, 1.0 - bright).mean())
    chance = float(left.var()) * np.sqrt(2.5 / left.size)  # of 2 C(1) - C(2), two directions each
    return bool(shared_variance(left) > MAX_UNEXPLAINED_RATIO * expected + COUNT_SIGMAS * chance)
