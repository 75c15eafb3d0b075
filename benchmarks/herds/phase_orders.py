"""The order in which a herd's phase goes round: what shuffling costs energies, and sorting gains.

Ising models with one coupling J and one field h. Members draw together with fresh phases, beside
independent chains: in a shuffled order; sorted by their conditionals, shuffled among equals; or in
a shuffled order with two phases, one for those with p < 1/2 and one for the others.
"""

from collections.abc import Iterator
from textwrap import wrap

import numpy as np

from benchmarks.support.model_families import ring, torus
from benchmarks.support.random_models import Edges
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits, stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

TITLE = "# The order of a herd's members"
INDEPENDENT, SHUFFLED, SORTED, TWO_PHASES = 0, 1, 2, 3
GRAPHS: dict[str, tuple[Edges, tuple[tuple[float, float], ...]]] = {
    "pair": ([(0, 1)], ((0.5, 0.0), (0.3, 0.2))),
    "ring of 8": (ring(8), ((0.5, 0.0), (0.3, 0.2))),
    "torus 6x6": (torus(6, 6), ((0.3, 0.0), (0.5, 0.0), (0.3, 0.2))),
}
MEMBERS, QUICK_MEMBERS = (16, 64), (4,)
UPDATES, QUICK_UPDATES = 600_000, 4_000  # of each spin, all members together
BATCHES, BURN_IN = 100, 200
_11 = np.uint64(11)


def lines(quick: bool) -> Iterator[str]:
    yield from wrap(
        "Variance of long-run averages (energy, magnetisation, its square) over that of as many "
        f"independent chains, from {BATCHES} batches of one run: a ratio is uncertain by a fifth.",
        100,
    )
    yield ""
    names = ("shuffled", "sorted", "two phases")
    head = " | ".join(f"{name}: energy | M | M^2" for name in names)
    yield f"| model | J, h | members | {head} |"
    yield "|---" * 12 + "|"
    for name, (edges, strengths) in GRAPHS.items():
        for coupling, field in strengths:
            for members in QUICK_MEMBERS if quick else MEMBERS:
                sweeps = max(2 * BATCHES, (QUICK_UPDATES if quick else UPDATES) // members)
                found = [
                    batch_variance(run(edges, coupling, field, members, sweeps, how))
                    for how in (INDEPENDENT, SHUFFLED, SORTED, TWO_PHASES)
                ]
                cells = [f"{r:.2f}" for some in found[1:] for r in some / found[0]]
                row = " | ".join(cells)
                yield f"| {name} | {coupling}, {field:g} | {members} | {row} |"


def run(
    edges: Edges, coupling: float, field: float, members: int, sweeps: int, how: int, seed: int = 1
) -> np.ndarray:
    """(sweeps, 3): the herd's averages after each sweep."""
    ends = np.array(edges)
    n = int(ends.max()) + 1
    both = np.concatenate([ends, ends[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    start = np.searchsorted(both[:, 0], np.arange(n + 1))
    spins = np.random.default_rng(seed).choice(np.array([-1, 1]), (n, members))
    averages = np.empty((BURN_IN + sweeps, 3))
    key = stream_key(seed, StreamPurpose.BENCHMARK_ORDERS)
    herd_sweeps(spins, start, both[:, 1].copy(), coupling, field, how, key, averages)
    return averages[BURN_IN:]


def batch_variance(averages: np.ndarray) -> np.ndarray:
    whole = len(averages) // BATCHES * BATCHES
    means = averages[:whole].reshape(BATCHES, -1, averages.shape[1]).mean(axis=1)
    found: np.ndarray = means.var(axis=0, ddof=1)
    return found


@jit
def uniform(key, count):
    return np.float64(random_bits(key, np.uint64(count)) >> _11) * 2.0**-53


@jit
def by_chance(order, p):
    """Members in the order of p, equal ones as they come.

    p takes few values, as many as there are sums of neighbours: each is looked for in turn.
    """
    found, level, at = np.empty_like(order), -np.inf, 0
    while at < len(order):
        above = np.inf
        for k in order:
            if level < p[k] < above:
                above = p[k]
        for k in order:
            if p[k] == above:
                found[at] = k
                at += 1
        level = above
    return found


@jit
def herd_sweeps(spins, start, who, coupling, field, how, key, averages):
    variables, members = spins.shape
    order, p, phases, count = np.arange(members), np.empty(members), np.empty(2), 0
    for t in range(len(averages)):
        for i in range(variables):
            for k in range(members):
                local = field
                for e in range(start[i], start[i + 1]):
                    local += coupling * spins[who[e], k]
                p[k] = 1 / (1 + np.exp(-2 * local))
            for last in range(members - 1, 0, -1):
                count += 1
                other = int(uniform(key, count) * (last + 1))
                order[last], order[other] = order[other], order[last]
            if how == SORTED:
                order = by_chance(order, p)
            count += 2
            phases[0], phases[1] = uniform(key, count - 1), uniform(key, count)
            for k in order:
                if how == INDEPENDENT:
                    count += 1
                    phases[0] = uniform(key, count)
                own = 1 if how == TWO_PHASES and p[k] >= 0.5 else 0
                phases[own] += p[k]
                spins[i, k] = 1 if phases[own] >= 1 else -1
                phases[own] -= phases[own] >= 1
        energy, mean, square = 0.0, 0.0, 0.0
        for k in range(members):
            total = 0
            for i in range(variables):
                total += spins[i, k]
                for e in range(start[i], start[i + 1]):
                    energy += 0.5 * spins[i, k] * spins[who[e], k]
            mean += total
            square += total * total
        averages[t, 0] = energy / members
        averages[t, 1] = mean / members
        averages[t, 2] = square / members
