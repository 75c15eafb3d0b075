"""The choice of a picture's model: two levels, grey, or none, by the evidence in the picture.

Nothing is changed without evidence that there is noise (`vision.noise.bounds`) and that a model
removes more of the noise than of the picture.

Gaussian noise of variance s2: by Stein's estimate, the squared error of a restored picture f falls
below that of the noisy one, y, if

    mean (y - f)^2  <  2 s2 (1 - mean d f_i / d y_i).

Flips: more of them are planted at random known pixels. The share of these that is undone estimates
how many of the original flips are undone, so that with rate q and C pixels changed of N

    errors after / errors before  =  1 + C / (q N) - 2 (share that is undone).

Two levels and grey are compared by how well they predict held-out pixels from all others, which
needs no estimate of the noise and holds even if the range of the picture cuts the noise off.

Salt and pepper: black and white pixels far from their neighbours count as missing if most of them
must be noise.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from herded.models.lattice_builders import ising_grid
from herded.vision.harm import MAX_HARM, Candidate, is_cut_at_both_ends, judge_restoration
from herded.vision.level_sets import could_be_far, far_from_neighbours, has_salt_and_pepper
from herded.vision.missing_pixels import best_fill, smooth_fill
from herded.vision.noise.bounds import (
    COUNT_SIGMAS,
    TRIAL_NOISE_SEED,
    careful_sigma,
    distribution_bound,
    flip_bound,
    has_gaussian_differences,
    has_predictable_patterns,
    homogeneous_sigma,
    impulse_bound,
    lone_pixels,
    within_clusters,
)
from herded.vision.noise.fit_diagnostic import FitDiagnostic
from herded.vision.noise.initial_guesses import value_step
from herded.vision.noise.models import FlipNoise, range_ends
from herded.vision.noise.scatter import is_random_scatter
from herded.vision.noise.two_level_fit import crop_to_fit
from herded.vision.restoration import (
    TRIAL_PIXELS,
    TRIAL_SWEEPS,
    Denoised,
    HerdRuns,
    restore_grey,
    restore_two_levels,
    two_level_field,
)
from herded.vision.validation import DenoisingOptions, check_denoising_options, has_two_values

MIN_NOISE = 0.012  # of the range: with less, nothing is changed
MIN_STEPS = 1.2  # of the values, as above: less is rounding
MAX_GRAIN_SIGMA = 0.035  # of the range: grain and fur that photographs may have
MAX_RATE = 0.25  # of flips: more are indistinguishable from a pattern
MIN_WARNED_RATE = 0.01  # of flips that no model undoes: fewer lone pixels are normal
MAX_FITTED_RATE = 1.5  # fitted rate of flips over its bound
MAX_CHANGES = 1.3  # changed pixels over flips, by that bound
PLANTED_FLIP_SHARE = 0.02  # share of pixels flipped to test whether they are undone
MIN_IMPULSES = 0.7  # least share of noise among the replaced black (white) pixels
MAX_CLUSTER_VARIANCE = 2.0  # of a clean picture of two levels, over that of the noise
MAX_RISK_RATIO, RISK_TOLERANCE = 1.25, 0.03  # of two levels relative to grey: factor and addend
CLEARLY_LESS_RISK = 0.5  # times that of grey: scattered dots cannot be predicted, only recognised
# times the held-out error of grey: a tie if both levels are ends
HELD_OUT_ERROR_TOLERANCE = 0.02
HELD_OUT_SHARE = 0.06  # share of pixels that are predicted from the others


def restore_by_evidence(
    image: ArrayLike, sigma: float | None, coupling: float | str, noise: str, runs: HerdRuns
) -> Denoised:
    """Restore by the model that the picture supports, or leave it unchanged."""
    two = check_denoising_options(image, sigma, coupling, 2, noise)
    if np.ptp(two.known_pixels) == 0:
        return _leave_unchanged(two, runs)
    if has_two_values(two.known_pixels) and two.noise == "flip":
        return _flips_or_nothing(two, runs)
    grey = check_denoising_options(image, sigma, coupling, "grey", "gauss")
    if noise != "gauss" and (noise == "flip" or has_salt_and_pepper(grey.noisy)):
        return _without_impulses(grey, runs)
    return _levels_or_nothing(replace(two, noise="gauss"), grey, runs)


def _flips_or_nothing(chosen: DenoisingOptions, runs: HerdRuns) -> Denoised:
    low, high = float(chosen.known_pixels.min()), float(chosen.known_pixels.max())
    chosen = replace(chosen, values=np.array([low, high]))
    bright = chosen.noisy > (low + high) / 2
    rate = flip_bound(bright, chosen.missing)
    if rate == 0:
        return _leave_unchanged(chosen, runs)
    misfit: FitDiagnostic | None = FitDiagnostic("no-model", "flip", rate)
    if rate < MIN_WARNED_RATE or has_predictable_patterns(bright, rate, chosen.missing):
        misfit = None  # a clean halftone also seems to have flips
    lone, uniform = lone_pixels(bright, chosen.missing)
    if rate > MAX_RATE or not is_random_scatter(lone, uniform):
        return _leave_unchanged(chosen, runs, misfit)
    least, most = (
        (lone.sum() + sign * COUNT_SIGMAS * np.sqrt(lone.sum())) / max(uniform.sum(), 1)
        for sign in (-1, 1)
    )
    if least > MAX_FITTED_RATE * rate:  # lone pixels belong to the picture
        return _leave_unchanged(chosen, runs)
    most = min(max(rate, most), MAX_FITTED_RATE * rate)
    restored = restore_two_levels(chosen, runs).restored
    if (
        np.ptp(restored.image) > 0  # pixels that a single level would replace may be stars
        and restored.flips <= min(MAX_FITTED_RATE * most, MAX_RATE)
        and _changed(chosen, restored) <= MAX_CHANGES * most * chosen.known_pixels.size
        and _flip_error_ratio(chosen, restored, rate, runs) <= MAX_HARM
    ):
        return restored
    return _leave_unchanged(chosen, runs, misfit)


def _changed(chosen: DenoisingOptions, restored: Denoised) -> int:
    """Count the known pixels that differ from the noisy ones."""
    changed = restored.image != chosen.noisy
    return int(changed.sum() if chosen.missing is None else changed[~chosen.missing].sum())


def _flip_error_ratio(
    chosen: DenoisingOptions, restored: Denoised, rate: float, runs: HerdRuns
) -> float:
    """Estimate the errors after over the errors before, from flips planted at known pixels."""
    low, high = restored.levels
    known = np.ones(chosen.noisy.shape, bool) if chosen.missing is None else ~chosen.missing
    planted = known & (
        np.random.default_rng(TRIAL_NOISE_SEED).random(known.shape) < PLANTED_FLIP_SHARE
    )
    if not planted.any():
        return 1.0
    more = replace(chosen, noisy=np.where(planted, low + high - chosen.noisy, chosen.noisy))
    field = two_level_field(more, FlipNoise((low, high), restored.flips))
    bright = runs.run(ising_grid(field, restored.coupling)).marginals[..., 1] > 0.5
    back = (bright == (chosen.noisy > (low + high) / 2))[planted].mean()
    back = min(back / (1.0 - rate), 1.0)  # a flip planted on a flip should not be undone
    return float(1.0 + _changed(chosen, restored) / (rate * known.sum()) - 2.0 * back)


def _without_impulses(grey: DenoisingOptions, runs: HerdRuns) -> Denoised:
    """Treat salt and pepper as missing pixels, and the rest as a grey picture."""
    noisy = grey.noisy
    known = np.ones(noisy.shape, bool) if grey.missing is None else ~grey.missing
    far = far_from_neighbours(noisy) & known
    impulses = np.zeros(noisy.shape, bool)
    for end in (noisy.min(), noisy.max()):
        at_end = (noisy == end) & known
        odd = far & at_end
        expected = impulse_bound(at_end, noisy) * known.sum()
        scattered = is_random_scatter(odd, could_be_far(noisy, float(end)) & known)
        if odd.any() and expected >= MIN_IMPULSES * odd.sum() and scattered:
            impulses |= odd
    missing = impulses | ~known
    if missing.all() or not impulses.any():
        return _levels_or_nothing(None, grey, runs)
    cleared = replace(grey, noisy=smooth_fill(noisy, missing), missing=missing)
    found = _levels_or_nothing(None, cleared, runs)
    model = "impulses" if found.model == "none" else found.model
    return replace(found, noise="flip", flips=float(impulses.mean()), model=model)


def _levels_or_nothing(
    two: DenoisingOptions | None, grey: DenoisingOptions, runs: HerdRuns
) -> Denoised:
    """Choose two levels or grey under Gaussian noise by prediction; none if neither helps."""
    noise, weight = grey.sigma, 1.0
    if noise is None:
        bound = distribution_bound(grey.known_pixels)
        noise = min(bound, careful_sigma(grey.noisy, grey.missing))
        noise = float(f"{noise:.3g}")  # the last digits differ between machines
        size = float(np.ptp(grey.known_pixels))
        least = max(MIN_NOISE * size, MIN_STEPS * value_step(grey.known_pixels))
        if noise < least or noise == 0:
            return _leave_unchanged(grey, runs)
        evident = min(noise, float(f"{homogeneous_sigma(grey.noisy, grey.missing):.3g}"))
        if evident > 0 and has_gaussian_differences(grey.noisy, grey.missing):
            weight = max(0.0, 1.0 - (MAX_GRAIN_SIGMA * size / evident) ** 2)
        else:
            weight = 0.0
    by_two = by_grey = None
    if two is not None and _may_have_two_levels(grey.known_pixels, noise):
        by_two = _harmless(judge_restoration(restore_two_levels(two, runs), grey, noise))
    if weight > 0 and not is_cut_at_both_ends(grey.known_pixels):
        by_grey = _harmless(
            judge_restoration(restore_grey(replace(grey, sigma=noise), runs), grey, noise, weight)
        )
    if (two is not None and by_two is not None) and (
        by_grey is None or _prefers_two_levels(two, grey, by_two, by_grey)
    ):
        return replace(by_two.attempt.restored, misfit=None)
    if by_grey is None:
        misfit = FitDiagnostic("no-model", "gauss", noise) if weight > 0 else None
        return _leave_unchanged(grey, runs, misfit)
    best = by_grey.attempt.restored
    if grey.missing is not None:
        best = replace(best, image=_fill_missing(grey, best, runs))
    low, high = grey.known_pixels.min(), grey.known_pixels.max()
    return replace(best, image=np.clip(best.image, low, high), misfit=None)


def _harmless(candidate: Candidate) -> Candidate | None:
    return candidate if candidate.harm <= MAX_HARM else None


def _prefers_two_levels(
    two: DenoisingOptions, grey: DenoisingOptions, by_two: Candidate, by_grey: Candidate
) -> bool:
    """Return whether two levels predict held-out pixels better, and the picture is no worse.

    Held-out pixels compare expectations, which two levels may mix from black and white. The result
    is one of them, so its risk counts, too. If both levels are ends of the range, noise is cut off
    at every pixel and the risk is unknown.
    """
    restored = by_two.attempt.restored
    at_ends = restored.levels == range_ends(grey.known_pixels)
    if not at_ends and by_two.risk > MAX_RISK_RATIO * max(by_grey.risk, 0.0) + RISK_TOLERANCE:
        return False
    if not at_ends and by_two.risk < CLEARLY_LESS_RISK * by_grey.risk:
        return True
    error, grey_error = (
        _held_out_error(chosen, found.attempt.restored)
        for chosen, found in ((two, by_two), (grey, by_grey))
    )
    return error < grey_error * (1.0 + HELD_OUT_ERROR_TOLERANCE * at_ends)


def _held_out_error(chosen: DenoisingOptions, restored: Denoised) -> float:
    """Predict some pixels with a model of fixed parameters, and return the mean squared error."""
    noisy = crop_to_fit(chosen.noisy, TRIAL_PIXELS)
    missing = np.zeros(noisy.shape, bool)
    if chosen.missing is not None:
        missing = crop_to_fit(chosen.missing, TRIAL_PIXELS)
    held_out = ~missing & (
        np.random.default_rng(TRIAL_NOISE_SEED).random(noisy.shape) < HELD_OUT_SHARE
    )
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
        predicted = restore_grey(trial, HerdRuns(None, TRIAL_SWEEPS)).restored.image
    else:
        predicted = _two_level_predictions(noisy, trial)
    return float(((predicted - noisy)[held_out] ** 2).mean())


def _two_level_predictions(noisy: np.ndarray, trial: DenoisingOptions) -> np.ndarray:
    """Predict noisy pixels; the ends of the range shift the means of both levels."""
    found = restore_two_levels(trial, HerdRuns(None, TRIAL_SWEEPS)).restored
    assert found.result is not None and trial.missing is not None
    bright = found.image == found.levels[1]
    means = [
        float(noisy[here & ~trial.missing].mean()) if (here & ~trial.missing).any() else level
        for here, level in zip((~bright, bright), found.levels, strict=True)
    ]
    predicted: np.ndarray = means[0] + (means[1] - means[0]) * found.result.marginals[..., 1]
    return predicted


def _may_have_two_levels(pixels: np.ndarray, noise: float) -> bool:
    """Return whether pixels cluster around two levels about as closely as the noise allows."""
    return within_clusters(pixels) <= MAX_CLUSTER_VARIANCE * noise * noise


def _leave_unchanged(
    chosen: DenoisingOptions, runs: HerdRuns, misfit: FitDiagnostic | None = None
) -> Denoised:
    """Return the picture unchanged except for missing pixels, and why, if it has noise."""
    runs.check_options()
    image = chosen.noisy.copy() if chosen.missing is None else _fill_missing(chosen, None, runs)
    sigma, flips = 0.0, 0.0
    if misfit is not None:
        sigma, flips = (0.0, misfit.amount) if misfit.noise == "flip" else (misfit.amount, 0.0)
    return Denoised(image, None, (), chosen.noise, sigma, flips, 0.0, "none", misfit)


def _fill_missing(
    chosen: DenoisingOptions, restored: Denoised | None, runs: HerdRuns
) -> np.ndarray:
    """Fill missing pixels by a model or by smooth surfaces, whichever predicts better.

    The other pixels are those of the restored picture, or unchanged.
    """
    missing = chosen.missing
    assert missing is not None
    picture = chosen.noisy
    if np.ptp(chosen.known_pixels) == 0:
        return picture.copy()
    two_valued = has_two_values(chosen.known_pixels)
    low, high = float(chosen.known_pixels.min()), float(chosen.known_pixels.max())

    coupling = chosen.coupling if restored is None else restored.coupling

    def by_model(noisy: np.ndarray, unknown: np.ndarray) -> np.ndarray:
        nonlocal coupling  # the one that the trial found
        known = replace(chosen, noisy=smooth_fill(noisy, unknown), missing=unknown)
        if two_valued:
            known = replace(known, values=np.array([low, high]), number=2, noise="flip")
            return restore_two_levels(known, runs).restored.image
        if restored is not None:
            known = replace(known, sigma=restored.sigma)
        known = replace(known, noise="gauss", coupling=coupling)
        found = restore_grey(known, runs).restored
        coupling = found.coupling
        return found.image

    def smooth(noisy: np.ndarray, unknown: np.ndarray) -> np.ndarray:
        filled = smooth_fill(noisy, unknown)
        return np.where(filled > (low + high) / 2, high, low) if two_valued else filled

    filled = best_fill(picture, missing, (by_model, smooth), lambda p: crop_to_fit(p, TRIAL_PIXELS))
    return np.where(missing, filled, picture if restored is None else restored.image)
