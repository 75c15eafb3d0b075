"""Herding in time on single variables: its counts are bounded, not random.

Lemma 1: a binary variable is in state 1 as often as its conditionals add up to, give or take 1, for
ever and for every weight that it has. Its weights are those of the contexts that it meets: on a
grid, of the numbers of neighbours in state 1. For several states weights are bounded too, by about
the number of states.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import herded as hd
from benchmarks.accuracy.bias.single_variables import Known, grid, potts, stars

SWEEPS, QUICK_SWEEPS = 200_000, 5_000
FINEST, COARSE = 2.0**-32, 2.0**-24  # how far conditionals are rounded: two states, and more


def cases() -> list[tuple[str, Any, Any, str | None, float]]:
    two, more = (lambda: grid(18, 16)), (lambda: potts(18, 16, states=3))
    pooled = hd.HerdedGibbs("pooled")
    herd = hd.HerdedGibbs(herd=20)
    found: list[tuple[str, Any, Any, str | None, float]] = [
        ("grid, herd of 20", two, herd, None, FINEST),
        ("pair graph, herd of 20", lambda: stars(96, 2), herd, "field", FINEST),
        ("grid", two, hd.HerdedGibbs(), None, FINEST),
        ("grid, pooled weights", two, pooled, None, FINEST),
        ("Potts grid, 3 states", more, pooled, None, COARSE),
    ]
    found += [
        ("pair graph", lambda: stars(96, 2), method, layout, FINEST)
        for layout, method in (("table", hd.HerdedGibbs()), ("factor", pooled), ("field", pooled))
    ]
    found += [
        ("pair graph, 5 states", lambda: stars(96, 5), method, layout, COARSE)
        for layout, method in (("table", hd.HerdedGibbs()), ("factor", pooled), ("pairs", pooled))
    ]
    return found


def largest_distance(known: Known, method: Any, layout: str | None, sweeps: int) -> float:
    """Of a count from what the probabilities add up to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = hd.infer(
            known.model, method, sweeps=sweeps, burn_in=4, chains=1, layout=layout, threads=1,
            keep=[hd.Marginals(rao_blackwell=False)],
        )  # fmt: skip
    found = np.asarray(result.marginals).reshape(known.model.n_variables, -1)
    visits = sweeps * method.herd
    counts = found[known.variables, known.states] * visits
    return float(np.abs(counts - known.p * visits).max())


def lines(quick: bool) -> Iterator[str]:
    sweeps = QUICK_SWEEPS if quick else SWEEPS
    yield f"| model | layout | weights | largest distance of {sweeps:,} visits |"
    yield "|---|---|---|---|"
    for name, make, method, layout, _ in cases():
        known = make()
        distance = largest_distance(known, method, layout, sweeps)
        yield f"| {name} | {layout or 'auto'} | {method.weights} | {distance:.2f} |"
