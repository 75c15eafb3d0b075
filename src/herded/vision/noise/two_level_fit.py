"""Fit the noise, the levels and the coupling of a noisy picture of two levels.

Noise and levels by EM with the lattice in it: a herd draws clean pictures from the posterior, each
pixel's probability to be bright weighs it in the fit of either level. The coupling is the one that
predicts pixels best from all others (`vision.noise.leave_one_out`). Pictures are no samples of an
Ising model: the coupling that a clean one would have by its likelihood is too strong for strokes of
a pixel.
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
from herded.vision.noise.leave_one_out import neighbour_shares, predictions
from herded.vision.noise.models import FlipNoise, GaussianNoise

COUPLINGS = (0.0, 0.15, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0)
FIRST = (0.45, 0.7, 1.0)  # to climb from: weaker ones let noise pass for shapes, and levels drift
HERD = 64
SWEEPS = 12
TRIALS = 3  # rounds of EM from each start; the best one goes on
MAX_ROUNDS = 10  # rounds after that, at most, until nothing moves by more than
MIN_LEVEL_MOVE = 0.004  # of the gap between levels in a round
DOUBT = 0.004  # levels that pictures usually have may predict so much worse, and are believed
FARTHEST = 0.8  # moves shrink by no less than this from round to round: how far a jump goes
MAX_FIT_PIXELS = 2**16  # pixels to fit on
BAND = 64  # rows that stay together where a picture has more

Noise = GaussianNoise | FlipNoise


class Fit(NamedTuple):
    """A noise and a coupling, how well they predict a pixel from the others, and what they say."""

    noise: Noise
    coupling: float
    score: float
    bright: np.ndarray  # (H, W) the probability of the higher level


def fit_noise_model(
    noisy: np.ndarray, starts: Sequence[Noise], coupling: float | None = None
) -> Fit:
    """The best fit from any of the starts; the coupling too unless it is given."""
    part = crop_to_fit(noisy)
    firsts = FIRST if coupling is None else (coupling,)
    trials = [_trial(part, start, firsts[0]) for start in starts]
    best = _with_coupling(part, max(trials, key=_by_score), coupling)
    for usual in best.noise.usual():
        there = _with_coupling(part, posterior(part, usual, best.coupling), coupling)
        if there.score > best.score - DOUBT:
            return there
    return best


def _with_coupling(noisy: np.ndarray, found: Fit, coupling: float | None) -> Fit:
    """Settled at the coupling given, or at the one that predicts best."""
    if coupling is not None:
        return _settled(noisy, found)
    settled = [_settled(noisy, found._replace(coupling=first)) for first in FIRST]
    return _climb(noisy, max(settled, key=_by_score))


def _by_score(found: Fit) -> float:
    return found.score


def _trial(noisy: np.ndarray, start: Noise, coupling: float) -> Fit:
    found = posterior(noisy, start, coupling)
    for _ in range(1, TRIALS):
        found = _round(noisy, found)
    return found


def _climb(noisy: np.ndarray, best: Fit) -> Fit:
    """Step along the couplings, to either side, for as long as predictions get better."""
    index = COUPLINGS.index(best.coupling)
    for step in (1, -1):
        while 0 <= index + step < len(COUPLINGS):
            there = _settled(noisy, best._replace(coupling=COUPLINGS[index + step]))
            if there.score <= best.score:
                break
            index, best = index + step, there
    return best


def _settled(noisy: np.ndarray, found: Fit) -> Fit:
    """Rounds of EM until nothing moves; two of them tell where the others would lead."""
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


def _ahead(noise: Noise, last: tuple[float, ...], moves: tuple[float, ...]) -> Noise:
    """Where moves that shrink by the same factor each time come to (Aitken)."""
    size = sum(move * move for move in last)
    ratio = sum(map(mul, last, moves)) / size if size > 0 else 0.0
    ratio = min(max(ratio, 0.0), FARTHEST)
    further = ratio / (1.0 - ratio)
    return noise.at(*(p + further * move for p, move in zip(noise.parameters, moves, strict=True)))


def _round(noisy: np.ndarray, found: Fit) -> Fit:
    """Fit the noise to what the lattice says; and ask the lattice again."""
    noise = found.noise.fitted(noisy, found.bright)
    return posterior(noisy, noise, found.coupling, found.bright > 0.5)


def posterior(
    noisy: np.ndarray, noise: Noise, coupling: float, start: np.ndarray | None = None
) -> Fit:
    """What a herd says after a few sweeps of its own."""
    likelihoods = noise.log_likelihoods(noisy)
    field = (likelihoods[1] - likelihoods[0]) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HerdedWarning)  # few sweeps from a good start
        result = infer(
            ising_grid(field, coupling),
            Gibbs(herd=HERD),
            sweeps=SWEEPS,
            start=(field > 0 if start is None else start).astype(np.int64),
            keep=[Samples(every=SWEEPS)],
            progress=False,
        )
    shares = neighbour_shares(result.samples[:, -1].reshape(HERD, *noisy.shape))
    logs, _, bright = predictions(shares, likelihoods, coupling)
    return Fit(noise, coupling, float(logs[~np.isnan(noisy)].mean()), bright)


def crop_to_fit(noisy: np.ndarray, pixels: int = MAX_FIT_PIXELS) -> np.ndarray:
    """The picture, or bands of rows from all over it that have pixels enough."""
    if noisy.size <= pixels:
        return noisy
    tall = noisy if noisy.shape[0] >= noisy.shape[1] else noisy.T
    count = max(1, pixels // (BAND * tall.shape[1]))
    firsts = [(2 * k + 1) * (len(tall) - BAND) // (2 * count) for k in range(count)]
    return np.concatenate([tall[first : first + BAND] for first in firsts])
