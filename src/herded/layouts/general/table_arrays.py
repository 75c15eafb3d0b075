"""Tabulated conditionals: one row for every state of a variable's free neighbours.

    row = (..(x_a * K_b + x_b) * K_c + ..) over the neighbours a < b < c .., by Horner's rule

This is the memory of Algorithm 1, exponential in the degree; `system.memory_limits` estimates it
first.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from herded.draws.fixed_point import VECTOR_ONE, WEIGHT_ONE, fixed_scalar, fixed_vector
from herded.errors import MemoryLimitError
from herded.layouts.factor_arrays import FactorArrays, log_conditional, log_conditional_pair
from herded.system import memory_limits
from herded.system.aligned_arrays import make_read_only, start_offsets
from herded.system.compilation.jit import jit
from herded.system.diagnostics.phrases import RAISE_MAX_MEMORY, Phrase, Remedy, Term
from herded.system.memory_limits import Size
from herded.system.numerics.argmax_kernel import max_value

MAX_NEAR_NEIGHBOURS = 8  # neighbours that are read without looking for the end of their list
ROWS_PER_CHUNK = 2**20  # rows that are filled at once
SLOW_FILL_VALUES = 2**29  # values of factors in tables that take ten seconds or more to fill


class TableArrays(NamedTuple):
    """The rows of each variable, and the fixed-point conditionals in them."""

    width: np.ndarray  # (N,) entries of a row: 1 (scalar rule) or the cardinality
    row_start: np.ndarray  # (N+1,) numbers of the variable's rows among all rows
    entry_start: np.ndarray  # (N+1,) its first entry in p
    neighbour_start: np.ndarray
    neighbour: np.ndarray  # uint32
    radix: np.ndarray  # cardinality of each neighbour
    # (N, MAX_NEAR_NEIGHBOURS) uint32, scalar rule: its first neighbours, from the right
    near: np.ndarray
    near_mask: np.ndarray  # (N,) the bits of a row that they are
    p: np.ndarray  # uint32 (scalar rule) or int32 (vector rule)


USE_OTHER_WEIGHTS = Phrase(
    "Use ",
    Term('weights="pooled" or "lazy"', "{weights} pooled or lazy"),
    " (",
    Term('HerdedGibbs(weights="pooled", slack=4)', "{weights} pooled {slack} 4"),
    " is a good choice)",
)


def check_table_memory(
    need: float,
    max_memory: Size | None,
    rows: np.ndarray,
    name_of: Callable[[int], str],
    start: np.ndarray,
    herded: bool,
) -> None:
    """Refuse tables above the limit, naming the variable to blame and the way out.

    `rows` are those of each variable's table, `start` where its neighbours are.
    """
    if memory_limits.fits_in_memory(need, max_memory):
        return
    i = int(np.argmax(rows))
    expected = (
        "expected tables of at most "
        f"{memory_limits.size_text(memory_limits.memory_limit(max_memory))}, "
        "but they need "
        f"{memory_limits.size_text(need)}: variable {name_of(i)} has {start[i + 1] - start[i]} "
        "neighbours "
        f"in {rows[i]:.3g} states. "
    )
    way_out = USE_OTHER_WEIGHTS if herded else 'Drop layout="table"'
    raise MemoryLimitError(Phrase(expected, Remedy(way_out, RAISE_MAX_MEMORY)))


def compile_table(
    factors: FactorArrays, rows: np.ndarray, x: np.ndarray, scalar: bool, herded_in_time: bool
) -> TableArrays:
    """Tabulate every conditional in `rows` rows; `x` has the values of clamped variables."""
    rows = rows.astype(np.int64)
    width = np.ones_like(rows) if scalar else factors.cardinalities
    row_start, entry_start = start_offsets(rows), start_offsets(rows * width)
    p = np.empty(entry_start[-1], np.uint32 if scalar else np.int32)
    if float(row_start[-1]) * float(factors.entry_start[-1]) > SLOW_FILL_VALUES:
        _warn_of_large(factors, rows)
    scratch, fill = np.array(x), _fill_scalar if scalar else _fill_vector
    scale = WEIGHT_ONE if herded_in_time else VECTOR_ONE  # of the vector rule
    for begin in range(0, int(row_start[-1]), ROWS_PER_CHUNK):  # Ctrl-C is heard between two
        end = min(begin + ROWS_PER_CHUNK, int(row_start[-1]))
        first = int(np.searchsorted(row_start, begin, side="right")) - 1
        fill(factors, row_start, entry_start, first, begin, end, scratch, p, scale)
    n = len(rows) if scalar else 0
    near, near_mask = _near_neighbours(factors.neighbour_start, factors.neighbour, n)
    return make_read_only(
        TableArrays(
            width,
            row_start,
            entry_start,
            factors.neighbour_start,
            factors.neighbour,
            factors.cardinalities[factors.neighbour],
            near,
            near_mask,
            p,
        )
    )


def _warn_of_large(factors: FactorArrays, rows: np.ndarray) -> None:
    """Warn of a fill that will take long, before it starts."""
    work = float(rows @ np.diff(factors.entry_start))
    if work > SLOW_FILL_VALUES:
        warnings.warn(
            f"tables of {float(rows.sum()):.2g} rows are filled before the first sweep, which may "
            f"take {10 * work / SLOW_FILL_VALUES:.0f} seconds or more: Gibbs(herd=64) and "
            'HerdedGibbs(weights="pooled") need none',
            stacklevel=2,
        )


@jit
def _near_neighbours(start, neighbour, n):
    """Return the first MAX_NEAR_NEIGHBOURS neighbours of n variables at the right ends of rows, and
    their masks.
    """
    near, mask = np.zeros((n, MAX_NEAR_NEIGHBOURS), np.uint32), np.zeros(n, np.int64)
    for i in range(n):
        count = min(start[i + 1] - start[i], MAX_NEAR_NEIGHBOURS)
        mask[i] = (1 << count) - 1
        for e in range(count):
            near[i, MAX_NEAR_NEIGHBOURS - count + e] = neighbour[start[i] + e]
    return near, mask


@jit
def _set_neighbours(factors, i, row, x):
    """Set the neighbours of variable `i` as in its row number `row`."""
    for n in range(factors.neighbour_start[i + 1] - 1, factors.neighbour_start[i] - 1, -1):
        j = factors.neighbour[n]
        x[j] = row % factors.cardinalities[j]
        row //= factors.cardinalities[j]


@jit
def _next_neighbours(factors, i, x):
    """Step from one row to the next, like a counter: the last digit first."""
    for n in range(factors.neighbour_start[i + 1] - 1, factors.neighbour_start[i] - 1, -1):
        j = factors.neighbour[n]
        x[j] += 1
        if x[j] < factors.cardinalities[j]:
            return
        x[j] = 0


@jit
def _fill_scalar(factors, row_start, entry_start, i, begin, end, x, p, _):
    """Fill rows `begin` to `end` among those of all variables, from variable `i` on."""
    while begin < end:
        _set_neighbours(factors, i, begin - row_start[i], x)
        last = min(end, row_start[i + 1])
        for row in range(begin, last):
            zero, one = log_conditional_pair(*factors[1:9], i, x)
            p[entry_start[i] + row - row_start[i]] = fixed_scalar(zero, one, 1.0)
            _next_neighbours(factors, i, x)
        i, begin = i + 1, last


@jit
def _fill_vector(factors, row_start, entry_start, i, begin, end, x, p, scale):
    """Do the same for more than two states."""
    logits = np.empty(max_value(factors.cardinalities))
    while begin < end:
        _set_neighbours(factors, i, begin - row_start[i], x)
        last, states = min(end, row_start[i + 1]), factors.cardinalities[i]
        for row in range(begin, last):
            log_conditional(*factors[1:9], states, i, x, logits)
            at = entry_start[i] + (row - row_start[i]) * states
            fixed_vector(logits, 1.0, states, p, at, scale)
            _next_neighbours(factors, i, x)
        i, begin = i + 1, last


@jit
def row_of_bits(near, near_mask, neighbour_start, neighbour, i, x):
    """Return the row of variable `i` that the state `x` of binary variables selects.

    The loop over the near ones always has MAX_NEAR_NEIGHBOURS turns, so that no end must be
    guessed; what it reads where there are fewer is masked.
    """
    row = 0
    for e in range(MAX_NEAR_NEIGHBOURS):
        row |= np.int64(x[near[i, e]]) << (MAX_NEAR_NEIGHBOURS - 1 - e)
    row &= near_mask[i]
    n = neighbour_start[i] + MAX_NEAR_NEIGHBOURS
    while n < neighbour_start[i + 1]:
        row = (row << 1) | np.int64(x[neighbour[n]])
        n += 1
    return row


@jit
def context_row(neighbour_start, neighbour, radix, i, x):
    """Return the row of variable `i` that the state `x` selects."""
    row = 0
    for n in range(neighbour_start[i], neighbour_start[i + 1]):
        row = row * radix[n] + np.int64(x[neighbour[n]])
    return row


def row_entries(t: TableArrays) -> tuple[np.ndarray, np.ndarray]:
    """Return for every row the variable it belongs to, and its first entry in p."""
    owner = np.repeat(np.arange(len(t.width)), np.diff(t.row_start))
    row = np.arange(len(owner)) - t.row_start[owner]
    return owner, t.entry_start[owner] + row * t.width[owner]
