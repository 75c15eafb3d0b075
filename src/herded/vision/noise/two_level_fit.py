"""Fit the noise, the levels and the coupling of a noisy picture of two levels.

Noise and levels are fitted by EM over the lattice: a herd draws clean pictures from the posterior,
and each pixel's probability of being bright is its weight in the fit of either level. The coupling
is the one that predicts pixels best from all others (`vision.noise.leave_one_out`). Pictures are
not samples of an Ising model: the maximum-likelihood coupling of a clean one is too strong for
strokes of a pixel.
"""

import warnings
from collections.abc import Sequence
from operator import mul, sub
from typing import NamedTuple

import numpy as np

from herded.errors import HerdedWarning
from herded.methods.gibbs import Gibbs
from herded.models.lattice_builders import ising_grid
from herded.run.infer import infer
from herded.run.recording.recorders import Samples
from herded.vision.noise.leave_one_out import leave_one_out_predictions, neighbour_shares
from herded.vision.noise.models import FlipNoise, GaussianNoise

COUPLING_GRID = (0.0, 0.15, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0)
# starting couplings: with weaker ones noise passes for shapes, and levels drift
START_COUPLINGS = (0.45, 0.7, 1.0)
FIT_HERD = 64
SWEEPS_PER_ROUND = 12
TRIAL_ROUNDS = 3  # rounds of EM from each start; the best one continues
MAX_ROUNDS = 10  # most rounds after that
MIN_LEVEL_MOVE = 0.004  # of the gap between levels per round: smaller moves end the fit
# by this much worse predictions are accepted with the usual levels
COMMON_LEVELS_TOLERANCE = 0.004
MAX_MOVE_RATIO = 0.8  # largest ratio of successive moves, which limits the jump
MAX_FIT_PIXELS = 2**16  # pixels to fit on
BAND_ROWS = 64  # rows that stay together in a larger picture

NoiseModel = GaussianNoise | FlipNoise


class NoiseFit(NamedTuple):
    """A noise model and coupling, with their predictions of pixels and the posterior."""

    noise: NoiseModel
    coupling: float
    score: float
    bright: np.ndarray  # (H, W) the probability of the higher level


def fit_noise_model(
    noisy: np.ndarray, starts: Sequence[NoiseModel], coupling: float | None = None
) -> NoiseFit:
    """Return the best fit from any of the starts, with the coupling too unless it is given."""
    part = crop_to_fit(noisy)
    firsts = START_COUPLINGS if coupling is None else (coupling,)
    trials = [_trial(part, start, firsts[0]) for start in starts]
    best = _with_coupling(part, max(trials, key=_score_key), coupling)
    for usual in best.noise.usual():
        there = _with_coupling(part, herd_posterior(part, usual, best.coupling), coupling)
        if there.score > best.score - COMMON_LEVELS_TOLERANCE:
            return there
    return best


def _with_coupling(noisy: np.ndarray, found: NoiseFit, coupling: float | None) -> NoiseFit:
    """Fit at the given coupling, or at the one that predicts best."""
    if coupling is not None:
        return _run_em(noisy, found)
    settled = [_run_em(noisy, found._replace(coupling=first)) for first in START_COUPLINGS]
    return _climb(noisy, max(settled, key=_score_key))


def _score_key(found: NoiseFit) -> float:
    return found.score


def _trial(noisy: np.ndarray, start: NoiseModel, coupling: float) -> NoiseFit:
    found = herd_posterior(noisy, start, coupling)
    for _ in range(1, TRIAL_ROUNDS):
        found = _round(noisy, found)
    return found


def _climb(noisy: np.ndarray, best: NoiseFit) -> NoiseFit:
    """Step along the couplings, to either side, as long as predictions improve."""
    index = COUPLING_GRID.index(best.coupling)
    for step in (1, -1):
        while 0 <= index + step < len(COUPLING_GRID):
            there = _run_em(noisy, best._replace(coupling=COUPLING_GRID[index + step]))
            if there.score <= best.score:
                break
            index, best = index + step, there
    return best


def _run_em(noisy: np.ndarray, found: NoiseFit) -> NoiseFit:
    """Run rounds of EM until nothing moves; two of them extrapolate to the limit."""
    moves = ()
    for _ in range(MAX_ROUNDS):
        before, found = found.noise.parameters, _round(noisy, found)
        last, moves = moves, tuple(map(sub, found.noise.parameters, before))
        if max(map(abs, moves)) < MIN_LEVEL_MOVE * found.noise.scale:
            break
        if last:
            found = found._replace(noise=_ahead(found.noise, last, moves))
            moves = ()
    return found


def _ahead(noise: NoiseModel, last: tuple[float, ...], moves: tuple[float, ...]) -> NoiseModel:
    """Extrapolate moves that shrink by the same factor each time (Aitken)."""
    size = sum(move * move for move in last)
    ratio = sum(map(mul, last, moves)) / size if size > 0 else 0.0
    ratio = min(max(ratio, 0.0), MAX_MOVE_RATIO)
    further = ratio / (1.0 - ratio)
    return noise.at(*(p + further * move for p, move in zip(noise.parameters, moves, strict=True)))


def _round(noisy: np.ndarray, found: NoiseFit) -> NoiseFit:
    """Fit the noise to the posterior, and update the posterior."""
    noise = found.noise.fitted(noisy, found.bright)
    return herd_posterior(noisy, noise, found.coupling, found.bright > 0.5)


def herd_posterior(
    noisy: np.ndarray, noise: NoiseModel, coupling: float, start: np.ndarray | None = None
) -> NoiseFit:
    """Estimate the posterior by a herd after a few sweeps."""
    likelihoods = noise.log_likelihoods(noisy)
    field = (likelihoods[1] - likelihoods[0]) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HerdedWarning)  # few sweeps from a good start
        result = infer(
            ising_grid(field, coupling),
            Gibbs(herd=FIT_HERD),
            sweeps=SWEEPS_PER_ROUND,
            start=(field > 0 if start is None else start).astype(np.int64),
            keep=[Samples(every=SWEEPS_PER_ROUND)],
            progress=False,
        )
    shares = neighbour_shares(result.samples[:, -1].reshape(FIT_HERD, *noisy.shape))
    logs, _, bright = leave_one_out_predictions(shares, likelihoods, coupling)
    return NoiseFit(noise, coupling, float(logs[~np.isnan(noisy)].mean()), bright)


def crop_to_fit(noisy: np.ndarray, pixels: int = MAX_FIT_PIXELS) -> np.ndarray:
    """Return the picture, or bands of rows from all parts of it with enough pixels."""
    if noisy.size <= pixels:
        return noisy
    tall = noisy if noisy.shape[0] >= noisy.shape[1] else noisy.T
    count = max(1, pixels // (BAND_ROWS * tall.shape[1]))
    firsts = [(2 * k + 1) * (len(tall) - BAND_ROWS) // (2 * count) for k in range(count)]
    return np.concatenate([tall[first : first + BAND_ROWS] for first in firsts])
