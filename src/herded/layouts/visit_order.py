"""Step 2 of Algorithm 1, "pick a node i according to some policy": the order of moves of a sweep.

Components (parts of the graph that share no factor) never feel each other, so a scan is stored
component by component: a block of sweeps runs over one component while it is in cache, and over
several components at once, and the bits are those of whole sweeps.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from herded.errors import MethodError
from herded.layouts.factor_arrays import FactorArrays
from herded.system.aligned_arrays import make_read_only, start_offsets
from herded.system.argument_checks import short_repr
from herded.system.compilation.jit import jit

Scan = str | Sequence[int]  # a word, or a permutation of the variables
SEQUENTIAL, RANDOM, JACOBI = 0, 1, 2


class ScanArrays(NamedTuple):
    """The free variables in order of visit, in segments that may run one after another."""

    policy: np.ndarray  # one number: SEQUENTIAL, RANDOM or JACOBI
    order: np.ndarray
    segment_start: np.ndarray

    @property
    def n_segments(self) -> int:
        return len(self.segment_start) - 1

    @property
    def segments(self) -> np.ndarray:
        """How many variables each segment has."""
        found: np.ndarray = self.segment_start[1:] - self.segment_start[:-1]
        return found


def compile_scan(scan: Scan, factors: FactorArrays, free: np.ndarray, whole: bool) -> ScanArrays:
    """Read `scan`: a word, or a permutation of the variables. `whole` keeps one segment."""
    n = len(free)
    policy, order = SEQUENTIAL, np.arange(n)
    if not isinstance(scan, str):
        order = _permutation(scan, n)
    elif scan in ("checkerboard", "colour"):
        order = np.argsort(greedy_colouring(factors), kind="stable")
    elif scan == "random":
        policy = RANDOM
    elif scan == "jacobi":
        policy = JACOBI
    elif scan not in ("auto", "sequential"):
        raise MethodError(
            'expected scan="sequential", "checkerboard", "random", "jacobi" or a permutation of '
            f"the variables, got {scan!r}"
        )
    order = order[free[order]]
    part = np.zeros(n, np.int64) if whole else connected_components(factors, free)
    order = order[np.argsort(part[order], kind="stable")]
    return make_read_only(
        ScanArrays(np.array([policy]), order, start_offsets(np.bincount(part[order])))
    )


def _permutation(scan: Scan, n: int) -> np.ndarray:
    try:
        order = np.asarray(scan)
        wrong = order.ndim != 1 or not np.array_equal(np.sort(order), np.arange(n))
    except (TypeError, ValueError):
        wrong = True
    if wrong:
        raise MethodError(
            f"expected the scan as a permutation of the variables 0 to {n - 1}, got "
            f"{short_repr(scan)}"
        )
    return order.astype(np.int64)


@jit
def connected_components(factors, free):
    """Number the connected component of each free variable; -1 where clamped."""
    n = len(free)
    part = np.full(n, -1)
    stack = np.empty(n, np.int64)
    found = 0
    for first in range(n):
        if part[first] >= 0 or not free[first]:
            continue
        part[first] = found
        stack[0] = first
        depth = 1
        while depth:
            depth -= 1
            i = stack[depth]
            for e in range(factors.neighbour_start[i], factors.neighbour_start[i + 1]):
                j = factors.neighbour[e]
                if part[j] < 0:
                    part[j] = found
                    stack[depth] = j
                    depth += 1
        found += 1
    return part


@jit
def greedy_colouring(factors):
    """Colour a graph greedily: variables of one colour do not interact."""
    n = len(factors.cardinalities)
    colours = np.full(n, -1)
    taken_by = np.full(n + 1, -1)
    for i in range(n):
        for e in range(factors.neighbour_start[i], factors.neighbour_start[i + 1]):
            c = colours[factors.neighbour[e]]
            if c >= 0:
                taken_by[c] = i
        c = 0
        while taken_by[c] == i:
            c += 1
        colours[i] = c
    return colours
