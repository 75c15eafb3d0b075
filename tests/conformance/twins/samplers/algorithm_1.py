"""Algorithm 1 and its baselines, with dictionaries and whole numbers.

Written from the paper and from what the modules document, not from the kernels. Every twin
gives (samples, tally): the state after each sweep, and the sums of the conditionals it saw.
"""

import math

import numpy as np

from tests.conformance.twins.counter_rng import naive_draw, naive_key
from tests.conformance.twins.draw_rules import naive_choose, naive_pick
from tests.conformance.twins.herded_weights import NaiveWeights
from tests.conformance.twins.integer_conditionals import VECTOR, WEIGHT, entries
from tests.conformance.twins.plain_model import Naive


def naive_herded_gibbs(
    model,
    *,
    weights="blanket",
    slack=0.0,
    scan="sequential",
    phases="random",
    seed=0,
    chain=0,
    x0,
    sweeps,
    kind="table",
    schedule=lambda sweep, total: 1.0,
    callback=None,
):
    """Algorithm 1. `callback` is called with (i, context, p, x_i, weight) after every visit."""
    naive = Naive(model, vector=slack > 0, kind=kind)
    key, phase_key = naive_key(seed, chain, 1), naive_key(seed, chain, 2)
    random = phases == "random" or chain > 0
    memory = NaiveWeights(naive, weights, kind, phase_key if random else None)
    strict = round(slack * WEIGHT)
    x, samples, tally = [int(k) for k in x0], [], empty_tally(naive)
    for sweep in range(sweeps):
        memory.split(sweep)
        beta = naive_beta(schedule, sweep, sweeps)
        read = list(x) if scan == "jacobi" else x
        for i in naive.order(scan, sweep, phase_key, weights == "full"):
            p = naive.conditional(i, read, beta)
            context, name = memory.context(i, read, p, sweep)
            bits = naive_draw(key, sweep * naive.n + i)
            w = memory.get(i, context, name)
            x[i], memory.of[context] = naive_choose(w, p, strict, bits)
            add_to_tally(tally, i, p)
            if callback is not None:
                callback(i, context, p, x[i], memory.of[context])
        samples.append(list(x))
    return np.array(samples).reshape(sweeps, naive.n), np.array(tally)


def naive_annealed_herded_gibbs(model, schedule, *, weights="lazy", **options):
    """Algorithm 1 with pi(x_i | x_N(i))^(1/T), T = schedule(sweep, sweeps), on the same weights."""
    return naive_herded_gibbs(model, weights=weights, kind="factor", schedule=schedule, **options)


def naive_beta(schedule, sweep, total):
    """1 / T."""
    temperature = schedule(sweep, total)
    return 1.0 / temperature if temperature > 0 else math.inf


def naive_gibbs(model, **options):
    """Each x_i drawn from pi(x_i | x_N(i))."""
    return naive_annealed_gibbs(model, lambda sweep, total: 1.0, **options)


def naive_annealed_gibbs(
    model, schedule, *, scan="sequential", seed=0, chain=0, x0, sweeps, kind=None
):
    """Each x_i drawn from pi(x_i | x_N(i))^(1/T), T = schedule(sweep, sweeps)."""
    naive = Naive(model, vector=False, kind=kind)
    key, scan_key = naive_key(seed, chain, 1), naive_key(seed, chain, 2)
    x, samples, tally = [int(k) for k in x0], [], empty_tally(naive)
    for sweep in range(sweeps):
        beta = naive_beta(schedule, sweep, sweeps)
        read = list(x) if scan == "jacobi" else x
        for i in naive.order(scan, sweep, scan_key, False):
            p = naive.conditional(i, read, beta, VECTOR)
            x[i] = naive_pick(p, naive_draw(key, sweep * naive.n + i))
            add_to_tally(tally, i, p)
        samples.append(list(x))
    return np.array(samples).reshape(sweeps, naive.n), np.array(tally)


def empty_tally(naive):
    """Sums of conditionals, one row for each variable."""
    width = 1 if naive.scalar else max(naive.cards)
    return [[0] * width for _ in range(naive.n)]


def add_to_tally(tally, i, p):
    """Variable i has seen the conditional p."""
    for k, q in enumerate(entries(p)):
        tally[i][k] += q
