"""Random models of the families that are hard to sample: strong grids, layers, or-gates, pedigrees.

They are what the models of the UAI competitions are, with other numbers, and small enough for exact
answers: what was chosen on files is checked on these.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import herded as hd
from benchmarks.support.held_out_models import between
from benchmarks.support.random_models import SPINS, grid, ising

LARGEST = 2**25  # bytes of exact inference
Rng = np.random.Generator
Maker = Callable[[Rng], hd.FactorGraph]
OR = np.full((2, 2, 2), -np.inf)  # the third is the or of the other two
for _a, _b in itertools.product(range(2), repeat=2):
    OR[_a, _b, _a | _b] = 0.0


def strong_grid(rng: Rng) -> hd.FactorGraph:
    """Spins in a picture with couplings of either sign, from moderate to frozen."""
    side = int(rng.integers(8, 15))
    return ising(grid(side, side), between(1.0, 5.0, rng), rng, field=between(0.2, 1.0, rng))


def ordered_grid(rng: Rng) -> hd.FactorGraph:
    """Spins that attract each other: two modes, of which fields prefer one."""
    side = int(rng.integers(6, 13))
    return ising(grid(side, side), between(0.8, 3.0, rng), rng, field=0.2, attract=True)


def cube_of_spins(rng: Rng) -> hd.FactorGraph:
    """A glass of three dimensions."""
    side = int(rng.integers(3, 5))
    place = np.arange(side**3).reshape((side,) * 3)
    edges = [
        pair
        for axis in range(3)
        for pair in zip(
            place.take(range(side - 1), axis).ravel().tolist(),
            place.take(range(1, side), axis).ravel().tolist(),
            strict=True,
        )
    ]
    return ising(edges, between(0.8, 2.0, rng), rng, field=0.4)


def layers(rng: Rng) -> hd.FactorGraph:
    """Two layers, every spin of one tied to all of the other, as in deep belief networks."""
    above, below = int(rng.integers(6, 15)), int(rng.integers(10, 25))
    edges = [(i, above + j) for i in range(above) for j in range(below)]
    couplings = rng.normal(0, between(0.2, 1.2, rng), len(edges))
    fields = rng.normal(0, between(0.2, 2.0, rng), above + below)
    return hd.pairwise_model(
        np.stack([-fields, fields], axis=1), edges, couplings[:, None, None] * SPINS
    )


def strong_states(rng: Rng) -> hd.FactorGraph:
    """A ring with chords, of several states, and strong random tables."""
    n, states = int(rng.integers(15, 50)), int(rng.integers(3, 6))
    edges = [(i, (i + step) % n) for step in (1, 2) for i in range(n)]
    scale = between(0.7, 3.0, rng)
    return hd.FactorGraph(
        [states] * n, [(e, scale * rng.normal(size=(states, states))) for e in edges]
    )


def diagnoses(rng: Rng, window: int = 6, fewest: int = 8, most: int = 30) -> hd.FactorGraph:
    """Rare diseases, findings that are noisy ors of some near each other, by gates; some found."""
    diseases, findings = int(rng.integers(8, 25)), int(rng.integers(fewest, most))
    factors: list[Any] = [((d,), _odds(between(0.005, 0.2, rng))) for d in range(diseases)]
    seen, n = {}, diseases
    for _ in range(findings):
        far = int(rng.integers(0, diseases))
        causes = np.unique((far + rng.integers(0, window, int(rng.integers(2, 6)))) % diseases)
        factors.append(((n,), _odds(between(0.001, 0.1, rng))))
        at, n = n, n + 1
        for d in causes.tolist():
            works = between(0.2, 0.95, rng)
            acts = np.array([[0.0, -np.inf], [np.log(1 - works), np.log(works)]])
            factors += [((d, n), acts), ((at, n, n + 1), OR)]
            at, n = n + 1, n + 2
        if rng.random() < 0.5:
            seen[at] = int(rng.random() < 0.6)
    return hd.FactorGraph([2] * n, factors).given(seen)


def _odds(p: float) -> np.ndarray:
    return np.log([1.0 - p, p])


def pedigree(rng: Rng) -> hd.FactorGraph:
    """Alleles at linked places of a family's chromosomes, and what was measured of some members.

    Every member has two alleles at each place; a child gets one of each parent's two, and at
    neighbouring places mostly from the same chromosome.
    """
    people, places, alleles = int(rng.integers(6, 14)), int(rng.integers(2, 5)), 3
    founders = max(3, people // 3)
    parents = {
        child: rng.choice(child, 2, replace=False).tolist() for child in range(founders, people)
    }
    cards: list[int] = []
    factors: list[Any] = []
    gene: dict[tuple[int, int, int], int] = {}  # of a member, at a place, of either parent
    chosen: dict[tuple[int, int, int], int] = {}
    drawn: list[int] = []  # a state that is possible

    def variable(states: int, value: int) -> int:
        cards.append(states)
        drawn.append(value)
        return len(cards) - 1

    passes = np.full((2, alleles, alleles, alleles), -np.inf)
    for s, a, b in itertools.product(range(2), range(alleles), range(alleles)):
        passes[s, a, b, (a, b)[s]] = 0.0
    for place in range(places):
        often = rng.dirichlet(np.full(alleles, 2.0))
        crosses = between(0.02, 0.3, rng)
        stays = np.log([[1 - crosses, crosses], [crosses, 1 - crosses]])
        for one, side in itertools.product(range(people), range(2)):
            if one < founders:
                gene[one, place, side] = i = variable(alleles, int(rng.choice(alleles, p=often)))
                factors.append(((i,), np.log(often)))
                continue
            s = variable(2, int(rng.integers(2)))
            chosen[one, place, side] = s
            if place:
                factors.append(((chosen[one, place - 1, side], s), stays))
            ours = [gene[parents[one][side], place, k] for k in range(2)]
            gene[one, place, side] = i = variable(alleles, drawn[ours[drawn[s]]])
            factors.append(((s, *ours, i), passes))
    seen = {}
    for one, place in itertools.product(range(people), range(places)):
        if rng.random() < 0.5:  # both alleles are measured, not which is whose
            a, b = gene[one, place, 0], gene[one, place, 1]
            pairs = [*itertools.combinations_with_replacement(range(alleles), 2)]
            table = np.full((alleles, alleles, len(pairs)), -np.inf)
            for x, y in itertools.product(range(alleles), repeat=2):
                table[x, y, pairs.index((min(x, y), max(x, y)))] = 0.0
            found = variable(len(pairs), pairs.index(tuple(sorted((drawn[a], drawn[b])))))
            factors.append(((a, b, found), table))
            seen[found] = drawn[found]
    return hd.FactorGraph(cards, factors).given(seen)


MAKERS: tuple[Maker, ...] = (
    strong_grid,
    ordered_grid,
    cube_of_spins,
    layers,
    strong_states,
    diagnoses,
    pedigree,
)


def hard_models(count: int, seed: int = 0) -> Iterator[tuple[str, hd.FactorGraph]]:
    """Models by name, the families in turn; all have exact answers within 32 MB."""
    for k in range(count):
        make, rng = MAKERS[k % len(MAKERS)], np.random.default_rng([17, seed, k])
        model = make(rng)
        while not is_soon(model):
            model = make(rng)
        yield f"{make.__name__.replace('_', ' ')} {k // len(MAKERS)}", model


def is_soon(model: hd.FactorGraph) -> bool:
    """Whether exact inference is cheap, and there is something to answer."""
    try:
        hd.infer(model, hd.Exact(), max_memory=LARGEST, progress=False)
    except hd.HerdedError:
        return False
    return True
