"""Herding in time with few weights: contexts share them by their conditionals.

    centred     discretised herded Gibbs (Eskelinen 2013): one weight for each of `BINS` equal bins
                of a conditional, moved by the centre of the bin. The centre is not the
                conditional, which is one bias; that contexts share a weight is another.
    exactly     the weight moves by the conditional itself, so that the first bias is gone: weight
                sharing as Yamashita and Suzuki (2019) look at it. `HerdedGibbs("pooled")` does so
                too, with more bins as a run goes on.
    rounded     one weight for each k / BINS, and a conditional goes to the one below or above it at
                random, in proportion: its mean is kept, and every weight moves by one number.

Yamashita and Suzuki take the error of such algorithms apart by what the conditional, the herding
and the sharing add to it, and propose variants with less bias. `exactly` and `rounded` are written
from that description, not from their programs. More than two states are taken apart one by one: is
it the first, else is it the second, and so on. All record averages of conditionals (Rao-Blackwell).
"""

import numpy as np

import herded as hd
from benchmarks.herds.gibbs_variants import UNIT, _11, arrays, conditional, shares
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits, stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

CENTRED, EXACTLY, ROUNDED = 0, 1, 2
BINS = 16


def centred(model: hd.FactorGraph, updates: int, seed: int) -> np.ndarray:
    """Marginals (N, K), weights moved by the centre of a bin."""
    return run(model, updates, seed, CENTRED)[0]


def exactly(model: hd.FactorGraph, updates: int, seed: int) -> np.ndarray:
    """Marginals (N, K), weights moved by the conditional."""
    return run(model, updates, seed, EXACTLY)[0]


def rounded(model: hd.FactorGraph, updates: int, seed: int) -> np.ndarray:
    """Marginals (N, K), conditionals rounded at random."""
    return run(model, updates, seed, ROUNDED)[0]


def run(
    model: hd.FactorGraph, updates: int, seed: int, how: int, joint: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Marginals (N, K), and how often each joint state was met, if asked for."""
    of = arrays(model, seed)
    kept = np.zeros((len(of.cards), of.cards.max()))
    met = np.zeros(int(of.cards.prod()) if joint else 0)
    weights = np.random.default_rng(seed).random((*kept.shape, BINS + 1))
    key = stream_key(seed, 0, StreamPurpose.BENCHMARK_SAMPLERS)
    binned_sweeps(of.told, of.start, updates, updates // 10, key, how, weights, kept, met)
    return shares(of, kept), met


@jit
def is_due(p, u, how, weights):
    """Whether a state of probability p comes now; its weight is moved."""
    if p <= 0.0 or p >= 1.0:
        return p >= 1.0
    if how == ROUNDED:
        place = np.int64(np.floor(p * BINS + u))
        step = place / BINS
    else:
        place = min(np.int64(p * BINS), BINS - 1)
        step = p if how == EXACTLY else (place + 0.5) / BINS
    weights[place] += step
    if weights[place] >= 1.0:
        weights[place] -= 1.0
        return True
    return False


@jit
def binned_sweeps(told, start, sweeps, burn_in, key, how, weights, kept, met):
    cards, free = told[0], told[1]
    x, p, count = start.copy(), np.empty(cards.max()), np.uint64(0)
    for t in range(sweeps):
        for i in free:
            conditional(told, i, x, p)
            rest, last = 1.0, 0
            for s in range(cards[i]):
                if p[s] > 0:
                    last = s
            for s in range(cards[i]):
                count += np.uint64(1)
                u = np.float64(random_bits(key, count) >> _11) * UNIT
                if p[s] > 0 and (s == last or is_due(min(p[s] / rest, 1.0), u, how, weights[i, s])):
                    x[i] = s
                    break
                rest -= p[s]
            if t >= burn_in:
                for s in range(cards[i]):
                    kept[i, s] += p[s]
        if t >= burn_in and len(met):
            place = 0
            for i in range(len(cards)):
                place = place * cards[i] + x[i]
            met[place] += 1
