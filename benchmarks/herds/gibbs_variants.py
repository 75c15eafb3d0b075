"""Other ways to make Gibbs sampling less noisy, written by hand for any factor graph.

    driven       one chain, driven by a full period of a small congruential generator instead of
                 random numbers (Owen and Tribble 2005, Tribble and Owen 2008): with P the
                 period and d numbers to a sweep, P sweeps use every run of d successive numbers
                 once, as a quadrature rule would. A random shift of each coordinate.
    antithetic   pairs of chains, one of which takes u where the other takes 1 - u

`benchmarks.herds.metropolised_gibbs` has updates that seldom stay, `benchmarks.herds.shared_bins`
herding with few weights. All record averages of conditionals (Rao-Blackwell). They take W updates
of each variable in all, burn-in included; `driven` takes what one period has, which is up to a
thousandth less.
"""

from dataclasses import dataclass

import numpy as np

import herded as hd
from herded.models.factor_graph import to_factor_graph
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits, stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

UNIT = 2.0**-53
_11 = np.uint64(11)


@dataclass(frozen=True)
class Arrays:
    """A factor graph as the loops below read it: for each variable, its factors and their rows."""

    cards: np.ndarray
    free: np.ndarray  # the variables that move, in order
    entry_start: np.ndarray  # of each variable: its entries
    entry_factor: np.ndarray
    entry_slot: np.ndarray  # of each entry: its place in factor_variables
    factor_start: np.ndarray
    factor_variables: np.ndarray
    factor_strides: np.ndarray
    table_start: np.ndarray
    log_tables: np.ndarray
    start: np.ndarray  # a state of positive probability

    @property
    def told(self) -> tuple[np.ndarray, ...]:
        return (
            self.cards,
            self.free,
            self.entry_start,
            self.entry_factor,
            self.entry_slot,
            self.factor_start,
            self.factor_variables,
            self.factor_strides,
            self.table_start,
            self.log_tables,
        )


def arrays(model: hd.FactorGraph, seed: int) -> Arrays:
    graph = to_factor_graph(model)
    slots = np.arange(len(graph.factor_variables))
    order = np.argsort(graph.factor_variables, kind="stable")
    counts = np.bincount(graph.factor_variables, minlength=graph.n_variables)
    of_slot = np.repeat(np.arange(graph.n_factors), np.diff(graph.factor_start))
    first = hd.infer(graph, hd.Gibbs(seed=seed), sweeps=1, keep=[hd.Samples()], progress=False)
    return Arrays(
        graph.cardinalities.astype(np.int64),
        np.flatnonzero((graph.evidence < 0) & (graph.cardinalities > 1)),
        np.concatenate([[0], np.cumsum(counts)]),
        of_slot[order],
        slots[order],
        graph.factor_start.astype(np.int64),
        graph.factor_variables.astype(np.int64),
        graph.factor_strides.astype(np.int64),
        graph.table_start.astype(np.int64),
        np.ascontiguousarray(graph.log_tables, dtype=np.float64),
        first.samples[0, 0].astype(np.int64),
    )


def antithetic(model: hd.FactorGraph, updates: int, seed: int) -> np.ndarray:
    """Marginals (N, K) by one pair of chains."""
    of = arrays(model, seed)
    kept = np.zeros((len(of.cards), of.cards.max()))
    sweeps = updates // 2
    burn_in = sweeps // 10
    other = arrays(model, seed + 1).start
    key = stream_key(seed, 0, StreamPurpose.BENCHMARK_SAMPLERS)
    pair_sweeps(of.told, of.start, other, sweeps, burn_in, key, kept)
    return shares(of, kept)


def driven(model: hd.FactorGraph, updates: int, seed: int) -> np.ndarray:
    """Marginals (N, K) by one chain that runs through all of a small generator."""
    of = arrays(model, seed)
    kept = np.zeros((len(of.cards), of.cards.max()))
    modulus, multiplier = generator(updates)
    shift = np.random.default_rng(seed).random(len(of.free))
    skip = coprime(len(of.free), modulus - 1) - len(of.free)
    sweeps = modulus - 1
    driven_sweeps(of.told, of.start, sweeps, sweeps // 10, modulus, multiplier, skip, shift, kept)
    return shares(of, kept)


def generator(sweeps: int) -> tuple[int, int]:
    """The largest prime up to sweeps + 1, and a multiplier that makes its period full.

    Of 64 such multipliers the one whose worst pair (u_t, u_(t + lag)), lags 1 to 8, lies on the
    lattice with the longest shortest vector.
    """
    modulus = sweeps + 1
    while any(modulus % p == 0 for p in range(2, int(modulus**0.5) + 1)):
        modulus -= 1
    rng = np.random.default_rng(modulus)
    best, merit = 0, -1.0
    factors = _prime_factors(modulus - 1)
    found = 0
    while found < 64:
        a = int(rng.integers(2, modulus))
        if all(pow(a, (modulus - 1) // p, modulus) != 1 for p in factors):
            found += 1
            worst = min(shortest(pow(a, lag, modulus), modulus) for lag in range(1, 9))
            if worst > merit:
                best, merit = a, worst
    return modulus, best


def shortest(a: int, modulus: int) -> float:
    """The squared length of the shortest vector of the lattice of (1, a) and (0, modulus)."""
    u, v = (1, a), (0, modulus)
    while True:
        if u[0] ** 2 + u[1] ** 2 > v[0] ** 2 + v[1] ** 2:
            u, v = v, u
        length = u[0] ** 2 + u[1] ** 2
        times = round((u[0] * v[0] + u[1] * v[1]) / length)
        if times == 0:
            return float(length)
        v = (v[0] - times * u[0], v[1] - times * u[1])


def coprime(least: int, period: int) -> int:
    """The smallest number from `least` on that shares no factor with the period."""
    while np.gcd(least, period) != 1:
        least += 1
    return least


def _prime_factors(n: int) -> list[int]:
    found, p = [], 2
    while n > 1:
        if p * p > n:
            p = n
        if n % p == 0:
            found.append(p)
            while n % p == 0:
                n //= p
        p += 1
    return found


def shares(of: Arrays, kept: np.ndarray) -> np.ndarray:
    marginals: np.ndarray = kept / np.maximum(kept.sum(axis=1, keepdims=True), 1e-300)
    known = np.setdiff1d(np.arange(len(of.cards)), of.free)
    marginals[known] = 0.0
    marginals[known, of.start[known]] = 1.0
    return marginals


@jit
def conditional(told, i, x, p):
    """Fill p with P(x_i | the rest)."""
    cards, _, entry_start, factor, slot, factor_start, variables, strides, table_start, logs = told
    states = cards[i]
    for s in range(states):
        p[s] = 0.0
    for e in range(entry_start[i], entry_start[i + 1]):
        base = table_start[factor[e]]
        for q in range(factor_start[factor[e]], factor_start[factor[e] + 1]):
            if q != slot[e]:
                base += strides[q] * x[variables[q]]
        for s in range(states):
            p[s] += logs[base + strides[slot[e]] * s]
    most = p[0]
    for s in range(1, states):
        most = max(most, p[s])
    total = 0.0
    for s in range(states):
        p[s] = np.exp(p[s] - most)
        total += p[s]
    for s in range(states):
        p[s] /= total


@jit
def pick(p, states, u):
    """The state at u of the distribution p; never one of probability 0."""
    upto, last = 0.0, 0
    for s in range(states):
        upto += p[s]
        if p[s] > 0:
            last = s
            if u < upto:
                return s
    return last


@jit
def pair_sweeps(told, start, other, sweeps, burn_in, key, kept):
    cards, free = told[0], told[1]
    x, y, p, count = start.copy(), other.copy(), np.empty(cards.max()), np.uint64(0)
    for t in range(sweeps):
        for i in free:
            count += np.uint64(1)
            u = np.float64(random_bits(key, count) >> _11) * UNIT
            for one in range(2):
                z = x if one == 0 else y
                conditional(told, i, z, p)
                z[i] = pick(p, cards[i], u if one == 0 else 1.0 - u)
                if t >= burn_in:
                    for s in range(cards[i]):
                        kept[i, s] += p[s]


@jit
def driven_sweeps(told, start, sweeps, burn_in, modulus, multiplier, skip, shift, kept):
    cards, free = told[0], told[1]
    x, p, at = start.copy(), np.empty(cards.max()), 1
    for t in range(sweeps):
        for j in range(len(free)):
            i = free[j]
            conditional(told, i, x, p)
            u = at / modulus + shift[j]
            at = at * multiplier % modulus
            x[i] = pick(p, cards[i], u - np.floor(u))
            if t >= burn_in:
                for s in range(cards[i]):
                    kept[i, s] += p[s]
        for _ in range(skip):
            at = at * multiplier % modulus
