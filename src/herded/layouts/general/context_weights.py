"""The weights of contexts: which weight a visit uses, by the option `weights=`.

    blanket  one weight per state of the neighbours (Algorithm 1)
    shared   one per distinct conditional of a variable (the paper's shared version)
    pooled   one per bin of the conditional; the bins split as the run grows; linear memory
    lazy     as blanket, but hashed when first met where conditionals are not tabulated
    full     one per state of all other variables, hashed when first met

`blanket` and `shared` need the conditionals tabulated. The theorems cover `full`, and `blanket`
where the graph is empty or complete; there is no proof for the others on sparse graphs.
"""

from typing import NamedTuple

import numpy as np

from herded.draws.weight_modes import BLANKET, FULL, LAZY, MAX_BINS, POOLED, RANDOM_DRAW, SHARED
from herded.errors import MethodError
from herded.layouts.general.table_arrays import TableArrays
from herded.layouts.hashed_weights import initial_slot_counts
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import mix64
from herded.system.suggestions import did_you_mean

WEIGHT_MODES = {"blanket": BLANKET, "shared": SHARED, "pooled": POOLED, "lazy": LAZY, "full": FULL}
TABULATED_WEIGHTS = ("blanket", "shared")


class ContextArrays(NamedTuple):
    """The arrays by which a visit finds its weight; those of other modes are empty."""

    mode: tuple[int, ...]  # its length is the mode: a part of its type, so that each mode gets
    # a kernel of its own without the branches of the others
    shared: np.ndarray  # row -> first entry of its weight
    pool_start: np.ndarray  # variable -> first entry of its first bin
    width: np.ndarray  # variable -> entries of one weight
    size: int  # entries of all weights, 0 if hashed


def is_hashed(weights: str | None, kind: str) -> bool:
    """Return whether contexts are looked up by hash: tabulated ones have their places already."""
    return weights == "full" or (weights == "lazy" and kind != "table")


def weight_bytes(
    weights: str | None, kind: str, entries: float, width: np.ndarray, segments: np.ndarray
) -> float:
    """Return an upper bound for the weights of one chain; hashed ones may grow from here."""
    if is_hashed(weights, kind):
        slots = float(initial_slot_counts(segments).sum())
        return slots * (8.0 + 4.0 * float(width.max())) + 24.0 * len(segments)
    if weights in TABULATED_WEIGHTS or weights == "lazy":
        return 4.0 * entries
    if weights == "pooled":
        return 4.0 * MAX_BINS * float(width.sum())
    return 0.0


def check_weights(weights: str) -> None:
    if not isinstance(weights, str) or weights not in WEIGHT_MODES:
        hint = did_you_mean(weights, WEIGHT_MODES)
        raise MethodError(
            f"expected weights to be one of {', '.join(WEIGHT_MODES)}, got {weights!r}{hint}"
        )


def compile_contexts(
    weights: str | None, tables: TableArrays | None, width: np.ndarray
) -> ContextArrays:
    """Return the arrays for `weights`, or for a method that draws and has none."""
    mode = RANDOM_DRAW if weights is None else WEIGHT_MODES[weights]
    if mode == LAZY and tables is not None:
        mode = BLANKET
    shared, pool_start = np.empty(0, np.uint32), np.empty(0, np.int64)
    size = 0
    if tables is not None and mode == BLANKET:
        size = len(tables.p)
    elif tables is not None and mode == SHARED:
        shared, size = _merge_equal_rows(tables)
    elif mode == POOLED:
        # All variables' first bins lie side by side, then all second bins: few bins, little memory.
        pool_start, size = np.cumsum(width) - width, MAX_BINS * int(width.sum())
    for array in (shared, pool_start, width):
        array.flags.writeable = False
    return ContextArrays((0,) * mode, shared, pool_start, width, size)


def _merge_equal_rows(t: TableArrays) -> tuple[np.ndarray, int]:
    """Give rows of one variable with equal conditionals one weight."""
    shared = np.empty(t.row_start[-1], np.uint32)
    size = _share_rows(t.p, t.row_start, t.entry_start, t.width, shared)
    return shared, int(size)


@jit
def _share_rows(p, row_start, entry_start, width, shared):
    """Write the first entry of each row's weight; give the entries of all weights.

    A small hash table per variable finds the rows met before; equal hashes are compared, so that
    equal conditionals, and only they, are merged.
    """
    most = 1
    for i in range(len(width)):
        while most < 2 * (row_start[i + 1] - row_start[i]):
            most *= 2
    met = np.empty(most, np.int64)
    size = 0
    for i in range(len(width)):
        rows = row_start[i + 1] - row_start[i]
        cells = 1
        while cells < 2 * rows:
            cells *= 2
        met[:cells] = -1
        for row in range(rows):
            at = entry_start[i] + row * width[i]
            cell = _row_hash(p, at, width[i]) & (cells - 1)
            while met[cell] >= 0 and not _are_rows_equal(
                p, at, entry_start[i] + met[cell] * width[i], width[i]
            ):
                cell = (cell + 1) & (cells - 1)
            if met[cell] < 0:
                met[cell] = row
                shared[row_start[i] + row] = size
                size += width[i]
            else:
                shared[row_start[i] + row] = shared[row_start[i] + met[cell]]
    return size


@jit
def _row_hash(p, at, width):
    h = np.uint64(0)
    for k in range(width):
        h = mix64(h ^ np.uint64(p[at + k]))
    return np.int64(h >> np.uint64(1))


@jit
def _are_rows_equal(p, at, other, width):
    same = True
    for k in range(width):
        same &= p[at + k] == p[other + k]
    return same
