"""Which weight does a visit use? The `weights=` table: how contexts map to weights.

    blanket  one weight per state of the neighbours (Algorithm 1)
    shared   one per distinct conditional of a variable (the paper's shared version)
    pooled   one per bin of the conditional; the bins split as the run grows; linear memory
    lazy     one per state of the neighbours, hashed when first met
    full     one per state of all other variables, hashed when first met

`blanket` and `shared` need the conditionals tabulated. The theorems cover `full`, and `blanket`
where the graph is empty or complete; there is no proof for the others on sparse graphs.
"""

from typing import NamedTuple

import numpy as np

from herded.errors import MethodError
from herded.jit import jit
from herded.plan.table import row_entries
from herded.stream import mix

DRAW, BLANKET, SHARED, POOLED, LAZY, FULL = range(6)
MODES = {"blanket": BLANKET, "shared": SHARED, "pooled": POOLED, "lazy": LAZY, "full": FULL}
TABULATED = ("blanket", "shared")
HASHED = ("lazy", "full")

MAX_BINS = 32  # of a pooled variable: bounds its memory


class ContextArrays(NamedTuple):
    """How a visit finds its weight; arrays of another mode are empty."""

    mode: tuple[int, ...]  # its length is the mode: a part of its type, so that each mode gets
    # a kernel of its own without the branches of the others
    shared: np.ndarray  # row -> first entry of its weight
    pool_start: np.ndarray  # variable -> first entry of its first bin
    width: np.ndarray  # variable -> entries of one weight
    size: int  # entries of all weights, 0 if hashed


def check_weights(weights: str) -> None:
    if weights not in MODES:
        raise MethodError(f"expected weights to be one of {', '.join(MODES)}, got {weights!r}")


def compile_contexts(weights: str | None, factors, tables, width: np.ndarray) -> ContextArrays:
    """The arrays for `weights`, or for a method that draws and has none."""
    mode = DRAW if weights is None else MODES[weights]
    shared, pool_start = np.empty(0, np.uint32), np.empty(0, np.int64)
    size = 0
    if mode == BLANKET:
        size = len(tables.p)
    elif mode == SHARED:
        shared, size = _share(tables)
    elif mode == POOLED:
        # All variables' first bins lie side by side, then all second bins: few bins, little memory.
        pool_start, size = np.cumsum(width) - width, MAX_BINS * int(width.sum())
    for array in (shared, pool_start, width):
        array.flags.writeable = False
    return ContextArrays((0,) * mode, shared, pool_start, width, size)


def _share(t) -> tuple[np.ndarray, int]:
    """Rows of one variable with equal conditionals get one weight."""
    owner, first = row_entries(t)
    _, representative, group = np.unique(
        _row_hashes(t.p, first, t.width[owner], owner), return_index=True, return_inverse=True
    )
    # Two different rows with one hash are next to impossible; then the second keeps its own weight.
    group = np.where(
        _same_rows(t.p, first, first[representative[group]], t.width[owner]),
        group,
        len(representative) + np.arange(len(owner)),
    )
    _, where, group = np.unique(group, return_index=True, return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(t.width[owner[where]])])
    return starts[group].astype(np.uint32), int(starts[-1])


@jit
def _row_hashes(p, first, width, owner):
    hashes = np.empty(len(first), np.uint64)
    for row in range(len(first)):
        h = mix(np.uint64(owner[row]))
        for k in range(width[row]):
            h = mix(h ^ np.uint64(p[first[row] + k]))
        hashes[row] = h
    return hashes


@jit
def _same_rows(p, first, other, width):
    same = np.ones(len(first), np.bool_)
    for row in range(len(first)):
        for k in range(width[row]):
            if p[first[row] + k] != p[other[row] + k]:
                same[row] = False
    return same
