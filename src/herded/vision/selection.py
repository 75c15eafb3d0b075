"""Which model is a picture's? Two levels, grey, or none, by the evidence in the picture itself.

Nothing is changed without evidence that there is noise (`noise_bounds`) and that a model takes away
more of it than of the picture.

Gaussian noise of variance s2: by Stein's estimate, the squared error of a restored picture f falls
below that of the noisy one, y, if

    mean (y - f)^2  <  2 s2 (1 - mean d f_i / d y_i).

Flips: more of them are planted at random pixels, which are known. The share that comes back tells
how many of the flips that were there before do, so that with rate q and C pixels changed of N

    errors after / errors before  =  1 + C / (q N) - 2 (share that comes back).

Two levels and grey are compared by how well they predict held-out pixels from all others, which
needs no estimate of the noise, and is right also where the range of the picture cuts it off.

Salt and pepper: black and white pixels far from their neighbours are taken as missing where most
of them must be noise.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from herded.models.grids import ising_grid
from herded.vision.choices import Choices, checked, has_two_values
from herded.vision.fit import enough
from herded.vision.level_sets import far_from_neighbours, is_salted
from herded.vision.missing import best_fill, smooth_fill
from herded.vision.noise import Flip
from herded.vision.noise_bounds import SEED, careful_sigma, flip_bound, impulse_bound
from herded.vision.restoration import (
    TRIAL_PIXELS,
    TRIAL_SWEEPS,
    Attempt,
    Denoised,
    Runs,
    restore_grey,
    restore_two_levels,
    two_level_field,
)

MIN_NOISE = 0.012  # of the range: grain that photographs have themselves is not taken away
MAX_HARM = 0.9  # of what Stein's estimate allows, and of errors after over errors before
PLANTED = 0.02  # share of pixels flipped to see whether they come back
MIN_IMPULSES = 0.7  # of the black (white) pixels that are replaced, so many must be noise
TWO_LEVEL_TRIAL = 2**13  # pixels to see on whether two levels are plausible
IMPLAUSIBLE = 1.3  # times the variance of the noise: what two levels leave over at most
HELD_OUT = 0.06  # share of pixels that are predicted from the others


def restore_by_evidence(
    image: ArrayLike, sigma: float | None, coupling: float | str, noise: str, runs: Runs
) -> Denoised:
    """Restore by the model that the picture gives evidence for, or leave it as it is."""
    two = checked(image, sigma, coupling, 2, noise)
    if np.ptp(two.known_pixels) == 0:
        return _left_alone(two, runs)
    if has_two_values(two.known_pixels) and two.noise == "flip":
        return _flips_or_nothing(two, runs)
    grey = checked(image, sigma, coupling, "grey", "gauss")
    if noise != "gauss" and (noise == "flip" or is_salted(grey.noisy)):
        return _without_impulses(grey, runs)
    return _levels_or_nothing(replace(two, noise="gauss"), grey, runs)


def _flips_or_nothing(chosen: Choices, runs: Runs) -> Denoised:
    low, high = float(chosen.known_pixels.min()), float(chosen.known_pixels.max())
    chosen = replace(chosen, values=np.array([low, high]))
    rate = flip_bound(chosen.noisy > (low + high) / 2, chosen.missing)
    if rate == 0:
        return _left_alone(chosen, runs)
    restored = restore_two_levels(chosen, runs).restored
    if _flip_error_ratio(chosen, restored, rate, runs) <= MAX_HARM:
        return restored
    return _left_alone(chosen, runs, "flips", rate)


def _flip_error_ratio(chosen: Choices, restored: Denoised, rate: float, runs: Runs) -> float:
    """Estimate the errors after over the errors before, from flips planted at known pixels."""
    low, high = restored.levels
    known = np.ones(chosen.noisy.shape, bool) if chosen.missing is None else ~chosen.missing
    planted = known & (np.random.default_rng(SEED).random(known.shape) < PLANTED)
    if not planted.any():
        return 1.0
    changed = (restored.image != chosen.noisy) & known
    more = replace(chosen, noisy=np.where(planted, low + high - chosen.noisy, chosen.noisy))
    field = two_level_field(more, Flip((low, high), restored.flips))
    bright = runs.run(ising_grid(field, restored.coupling)).marginals[..., 1] > 0.5
    back = (bright == (chosen.noisy > (low + high) / 2))[planted].mean()
    back = min(back / (1.0 - rate), 1.0)  # a flip planted on a flip is rightly not undone
    return float(1.0 + changed.sum() / (rate * known.sum()) - 2.0 * back)


def _without_impulses(grey: Choices, runs: Runs) -> Denoised:
    """Take salt and pepper as missing pixels, and the rest as a grey picture."""
    noisy = grey.noisy
    known = np.ones(noisy.shape, bool) if grey.missing is None else ~grey.missing
    far = far_from_neighbours(noisy) & known
    impulses = np.zeros(noisy.shape, bool)
    for end in (noisy.min(), noisy.max()):
        at_end = (noisy == end) & known
        odd = far & at_end
        expected = impulse_bound(at_end, noisy) * known.sum()
        if odd.any() and expected >= MIN_IMPULSES * odd.sum():
            impulses |= odd
    missing = impulses | ~known
    if missing.all() or not impulses.any():
        return _levels_or_nothing(None, grey, runs)
    cleared = replace(grey, noisy=smooth_fill(noisy, missing), missing=missing)
    found = _levels_or_nothing(None, cleared, runs)
    model = "impulses" if found.model == "none" else found.model
    return replace(found, noise="flip", flips=float(impulses.mean()), model=model)


class _Candidate(NamedTuple):
    attempt: Attempt
    changed: float  # mean squared difference to the noisy picture
    harm: float  # the same over what noise allows to change


def _levels_or_nothing(two: Choices | None, grey: Choices, runs: Runs) -> Denoised:
    """Two levels or grey under Gaussian noise, whichever predicts better; none if neither helps."""
    noise = grey.sigma
    if noise is None:
        noise = careful_sigma(grey.noisy, grey.missing)
        noise = float(f"{noise:.3g}")  # the last digits differ between machines
        if noise < MIN_NOISE * float(np.ptp(grey.known_pixels)):
            return _left_alone(grey, runs)
    candidates = []
    if two is not None and _two_levels_are_plausible(two, noise):
        candidates.append(_judged(restore_two_levels(two, runs), grey, noise))
    candidates.append(_judged(restore_grey(replace(grey, sigma=noise), runs), grey, noise))
    harmless = [found for found in candidates if found.harm <= MAX_HARM]
    if not harmless:
        return _left_alone(grey, runs, "Gaussian noise", noise)
    best = harmless[0].attempt.restored
    if two is not None and len(harmless) == 2:
        errors = [
            _held_out_error(chosen, found.attempt.restored)
            for chosen, found in zip((two, grey), harmless, strict=True)
        ]
        best = harmless[int(np.argmin(errors))].attempt.restored
    if best.model == "grey" and grey.missing is not None:
        best = replace(best, image=_filled(grey, best, runs))
    low, high = grey.known_pixels.min(), grey.known_pixels.max()
    image = best.image if best.model == "two-level" else np.clip(best.image, low, high)
    return replace(best, image=image, hint="")


def _judged(attempt: Attempt, chosen: Choices, noise: float) -> _Candidate:
    """What Stein's estimate says of a restored picture under noise of that sigma."""
    restored, divergence = attempt
    left = (chosen.noisy - restored.image).astype(float)
    known = np.ones(left.shape, bool) if chosen.missing is None else ~chosen.missing
    if restored.model == "two-level":  # a range that ends moves means, which the model knows
        for level in restored.levels:
            here = (restored.image == level) & known
            left[here] -= left[here].mean() if here.any() else 0.0
    changed = float((left[known] ** 2).mean())
    allowed = 2.0 * noise * noise * (1.0 - divergence)
    harm = changed / allowed if allowed > 0 else np.inf
    if restored.model == "two-level" and changed > IMPLAUSIBLE * noise * noise:
        harm = np.inf
    return _Candidate(attempt, changed, harm)


def _held_out_error(chosen: Choices, restored: Denoised) -> float:
    """The mean squared error of some pixels as a model with fixed parameters predicts them."""
    noisy = enough(chosen.noisy, TRIAL_PIXELS)
    missing = np.zeros(noisy.shape, bool)
    if chosen.missing is not None:
        missing = enough(chosen.missing, TRIAL_PIXELS)
    held_out = ~missing & (np.random.default_rng(SEED).random(noisy.shape) < HELD_OUT)
    if not held_out.any():
        return 0.0
    trial = replace(
        chosen,
        noisy=smooth_fill(noisy, missing | held_out),
        missing=missing | held_out,
        values=np.array(restored.levels),
        sigma=restored.sigma,
        coupling=restored.coupling,
    )
    if restored.model == "grey":
        predicted = restore_grey(trial, Runs(None, TRIAL_SWEEPS)).restored.image
    else:
        predicted = _two_level_predictions(noisy, trial)
    return float(((predicted - noisy)[held_out] ** 2).mean())


def _two_level_predictions(noisy: np.ndarray, trial: Choices) -> np.ndarray:
    """What noisy pixels are expected to be: a range that ends moves the means of both levels."""
    found = restore_two_levels(trial, Runs(None, TRIAL_SWEEPS)).restored
    assert found.result is not None and trial.missing is not None
    bright = found.image == found.levels[1]
    means = [
        float(noisy[here & ~trial.missing].mean()) if (here & ~trial.missing).any() else level
        for here, level in zip((~bright, bright), found.levels, strict=True)
    ]
    predicted: np.ndarray = means[0] + (means[1] - means[0]) * found.result.marginals[..., 1]
    return predicted


def _two_levels_are_plausible(two: Choices, noise: float) -> bool:
    """Whether two levels leave about the noise over on a part of the picture."""
    part = enough(two.noisy, TWO_LEVEL_TRIAL)
    if part.size == two.noisy.size:
        return True
    missing = None if two.missing is None else enough(two.missing, TWO_LEVEL_TRIAL)
    if missing is not None and missing.all():
        return False
    trial = replace(two, noisy=part, missing=missing)
    found = _judged(restore_two_levels(trial, Runs(None, 6)), trial, noise)
    return found.changed <= 1.5 * IMPLAUSIBLE * noise * noise  # parts differ


def _left_alone(chosen: Choices, runs: Runs, kind: str = "", amount: float = 0.0) -> Denoised:
    """The picture as it is, with missing pixels filled; and why, if it has noise."""
    runs.check_options()
    image = chosen.noisy.copy() if chosen.missing is None else _filled(chosen, None, runs)
    hint = ""
    if kind:
        how_much = f"{amount:.2%} of its pixels" if kind == "flips" else f"sigma {amount:.3g}"
        hint = (
            f"no model fits this picture: it seems to have {kind} ({how_much}), but neither two "
            "levels nor grey levels reduce it, so it was left as it is. levels=2 or "
            'levels="grey" restores it all the same'
        )
    sigma, flips = (0.0, amount) if kind == "flips" else (amount, 0.0)
    return Denoised(image, None, (), chosen.noise, sigma, flips, 0.0, hint, "none")


def _filled(chosen: Choices, restored: Denoised | None, runs: Runs) -> np.ndarray:
    """Missing pixels by a model or by smooth surfaces, whichever predicts held-out pixels better.

    The others are those of the restored picture, or as they are.
    """
    missing = chosen.missing
    assert missing is not None
    picture = chosen.noisy
    if np.ptp(chosen.known_pixels) == 0:
        return picture.copy()
    two_valued = has_two_values(chosen.known_pixels)
    low, high = float(chosen.known_pixels.min()), float(chosen.known_pixels.max())

    def by_model(noisy: np.ndarray, unknown: np.ndarray) -> np.ndarray:
        known = replace(chosen, noisy=smooth_fill(noisy, unknown), missing=unknown)
        if two_valued:
            known = replace(known, values=np.array([low, high]), number=2, noise="flip")
            return restore_two_levels(known, runs).restored.image
        if restored is not None:
            known = replace(known, sigma=restored.sigma, coupling=restored.coupling)
        return restore_grey(replace(known, noise="gauss"), runs).restored.image

    def smooth(noisy: np.ndarray, unknown: np.ndarray) -> np.ndarray:
        filled = smooth_fill(noisy, unknown)
        return np.where(filled > (low + high) / 2, high, low) if two_valued else filled

    filled = best_fill(picture, missing, (by_model, smooth))
    return np.where(missing, filled, picture if restored is None else restored.image)
