"""Tables over few variables each: their storage, and their products block by block.

All of it is NumPy: nothing waits for a compiler. What counts is that inmost loops are long, since
tables have many axes of few states, and that blocks stay in a near cache. Sums run in an order that
shapes alone decide.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from herded.methods.exact.elimination_order import BYTES_PER_ENTRY
from herded.models.factor_graph import FactorGraph
from herded.system.numerics.exp_log import exp_array, log_array

TABLE_BLOCK_ENTRIES = 2**16  # entries of a block: half a megabyte
MIN_LOOP_STEPS = 16  # loops of fewer steps cost NumPy more than their arithmetic
MAX_COLUMNS_ADDED_SINGLY = 64  # columns that are added one by one rather than row by row
SMALL_TABLE_ENTRIES = 512  # entries, for which no loop is long
LOG_2 = math.log(2.0)

Scope = tuple[int, ...]  # places in the order of elimination, ascending
Index = tuple[int, ...]


@dataclass
class ScopedTable:
    """Numbers over a scope: probabilities, or their logarithms where these spread too widely.

    The true ones are 2^exponent e^shift times as large. `low` and `high` bound the logarithms of
    all that are above 0.
    """

    scope: Scope
    values: np.ndarray
    low: float
    high: float = 0.0
    exponent: int = 0
    shift: float = 0.0
    in_logs: bool = False
    is_measured: bool = True
    given_logs: np.ndarray | None = None  # of a factor, whose logarithms are known

    def measure(self) -> None:
        """Scale the largest entry to between 1/2 and 1, and find the smallest."""
        if self.is_measured:
            return
        self.is_measured, self.low, self.high = True, 0.0, 0.0
        top = float(self.values.max())
        if top > 0.0:
            self.exponent = math.frexp(top)[1]
            np.ldexp(self.values, -self.exponent, out=self.values)
            self.low = math.log(np.min(self.values, initial=1.0, where=self.values > 0.0))

    @property
    def scale(self) -> float:
        """The logarithm of what its entries are to be multiplied by."""
        return self.exponent * LOG_2 + self.shift

    def logs(self) -> np.ndarray:
        """Return the logarithms of the entries, without their scale."""
        if self.in_logs:
            return self.values
        return log_array(self.values) if self.given_logs is None else self.given_logs


@dataclass(frozen=True)
class TableBuckets:
    """The tables of a model by the first place of their scopes, and the way messages go."""

    tables: list[list[ScopedTable]]
    states: list[int]  # of the variable at each place
    scopes: tuple[Scope, ...]  # of each bucket: its own place, and the scope of its message
    constant: float  # the logarithm of what multiplies all tables
    has_zeros: bool

    def shape(self, k: int) -> tuple[int, ...]:
        """Return the shape of the product of a bucket."""
        return tuple(self.states[p] for p in self.scopes[k])


def fill_buckets(
    graph: FactorGraph,
    order: np.ndarray,
    scopes: tuple[Scope, ...],
    possible: np.ndarray,
    x: np.ndarray,
) -> TableBuckets:
    """Put every factor into the bucket of its first variable in the `order`, given `x`.

    Tables are scaled to have 1 as their largest entry. Those of one scope are one.
    """
    domains = [np.flatnonzero(row) for row in possible[order]]
    constant, views = _views(graph, order, domains, x)
    tables: list[list[ScopedTable]] = [[] for _ in order]
    has_zeros = False
    if views:
        sizes = np.array([view.size for view in views.values()])
        logs = np.concatenate([view.reshape(-1) for view in views.values()])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        tops = np.maximum.reduceat(logs, starts[:-1])
        constant = math.fsum([constant, *tops.tolist()])
        logs -= np.repeat(np.where(np.isneginf(tops), 0.0, tops), sizes)
        impossible = np.isneginf(logs)
        has_zeros = bool(impossible.any())
        lows = np.minimum.reduceat(np.where(impossible, 0.0, logs), starts[:-1]).tolist()
        values = exp_array(logs)
        for (scope, view), first, low in zip(views.items(), starts.tolist(), lows, strict=False):
            own = slice(first, first + view.size)
            table = ScopedTable(scope, values[own].reshape(view.shape), low)
            table.given_logs = logs[own].reshape(view.shape)
            tables[scope[0]].append(table)
    return TableBuckets(tables, [len(d) for d in domains], scopes, constant, has_zeros)


def _views(
    graph: FactorGraph, order: np.ndarray, domains: list[np.ndarray], x: np.ndarray
) -> tuple[float, dict[tuple[int, ...], np.ndarray]]:
    """Return log-tables by their scopes, and the sum of those without any."""
    place = np.full(graph.n_variables, -1)
    place[order] = np.arange(len(order))
    slots_place = place[graph.factor_variables]
    offset = np.concatenate(
        [
            [0],
            np.cumsum(
                np.where(slots_place < 0, x[graph.factor_variables], 0) * graph.factor_strides
            ),
        ]
    )
    base = (graph.table_start[:-1] + np.diff(offset[graph.factor_start])).tolist()
    places, strides = slots_place.tolist(), graph.factor_strides.tolist()
    starts, states = graph.factor_start.tolist(), graph.cardinalities[order].tolist()
    cut = [len(domain) < n for domain, n in zip(domains, states, strict=True)]
    views: dict[tuple[int, ...], np.ndarray] = {}
    constants = [0.0]
    for f, first in enumerate(base):
        axes = sorted(
            (places[s], strides[s]) for s in range(starts[f], starts[f + 1]) if places[s] >= 0
        )
        if not axes:
            constants.append(float(graph.log_tables[first]))
            continue
        scope = tuple(p for p, _ in axes)
        view: np.ndarray = np.ndarray(
            [states[p] for p in scope],
            buffer=graph.log_tables,
            offset=BYTES_PER_ENTRY * first,
            strides=[BYTES_PER_ENTRY * stride for _, stride in axes],
        )
        if any(cut[p] for p in scope):
            view = view[np.ix_(*[domains[p] for p in scope])]
        views[scope] = views[scope] + view if scope in views else view
    return math.fsum(constants), views


# -- blocks ----------------------------------------------------------------------------------------


def fixed_axes(shape: Sequence[int]) -> int:
    """Return how many axes behind the first are fixed in a block, so that it is not too large."""
    entries, count = math.prod(shape), 0
    while entries > TABLE_BLOCK_ENTRIES and count < len(shape) - 1:
        count += 1
        entries //= shape[count]
    return count


def message_part(array: np.ndarray, index: Index) -> np.ndarray:
    """Return the part of a message that a block has: a view, also where it is a single number."""
    where: tuple[Any, ...] = (*index, ...)
    found: np.ndarray = array[where]
    return found


def broadcast_to_scope(values: np.ndarray, own: Scope, scope: Scope) -> np.ndarray:
    """Give a table over the places `own` an axis for every place in `scope`."""
    if own == scope:
        return values
    sizes = iter(values.shape)
    return values.reshape([next(sizes) if p in own else 1 for p in scope])


def iterate_blocks(
    parts: list[np.ndarray], shape: tuple[int, ...], together: np.ufunc
) -> Iterator[tuple[Index, np.ndarray]]:
    """Yield the product (or sum) of tables, for each state of the axes that are fixed.

    Tables have as many axes as `shape`, of length 1 where they do not depend on them. Every block
    takes the memory of the one before.
    """
    fixed = fixed_axes(shape)
    if not fixed:
        yield (), combine_tables(parts, shape, together)
        return
    inside, outside, across = _by_axes(parts, fixed)
    rest = (shape[0], *shape[1 + fixed :])
    base = combine_tables(inside, (shape[0], *(1,) * fixed, *rest[1:]), together).reshape(rest)
    lead = combine_tables(outside, (*shape[: 1 + fixed], *(1,) * (len(rest) - 1)), together)
    table = np.empty(rest)
    for index in np.ndindex(shape[1 : 1 + fixed]):
        together(base, lead[(slice(None), *index)], out=table)
        for part in across:
            at = (i if n > 1 else 0 for i, n in zip(index, part.shape[1:], strict=False))
            combine_two_tables(together, table, part[(slice(None), *at)], out=table)
        yield index, table


def _by_axes(parts: list[np.ndarray], fixed: int) -> tuple[list[np.ndarray], ...]:
    """Split tables by fixed axes: none, only the first ones, and the rest."""
    inside: list[np.ndarray] = []
    outside: list[np.ndarray] = []
    across: list[np.ndarray] = []
    for part in parts:
        if math.prod(part.shape[1 : 1 + fixed]) == 1:
            inside.append(part)
        elif math.prod(part.shape[1 + fixed :]) == 1:
            outside.append(part)
        else:
            across.append(part)
    return inside, outside, across


def combine_tables(
    parts: list[np.ndarray], shape: tuple[int, ...], together: np.ufunc
) -> np.ndarray:
    """Return the product (or sum) of tables over all axes, in memory of its own.

    Small tables come first, so that few steps run at full size; among them those that reach
    furthest back, so that rows are long.
    """
    if not parts:
        return np.full(shape, float(together.identity))
    first, *others = sorted(parts, key=_size_and_reach) if len(parts) > 2 else parts
    table, is_own = first, False
    for part in others:
        table = combine_two_tables(
            together, table, part, table if is_own and table.shape == shape else None
        )
        is_own = True
    if table.shape != shape or not is_own:
        table = np.array(np.broadcast_to(table, shape), order="C")
    return table


def _size_and_reach(part: np.ndarray) -> tuple[int, int]:
    return part.size, -max((axis for axis, n in enumerate(part.shape) if n > 1), default=0)


def combine_two_tables(
    together: np.ufunc, a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None
) -> np.ndarray:
    """Return the product (or sum) of two tables, over the axes of both.

    Where one of them has no last axes, and these are short, it is found column by column.
    """
    if a.size + b.size < SMALL_TABLE_ENTRIES:
        return together(a, b, out=out)  # type: ignore[no-any-return]
    shape = np.broadcast_shapes(a.shape, b.shape)
    missing = max(_ones_at_end(a.shape), _ones_at_end(b.shape))
    width = math.prod(shape[len(shape) - missing :])
    if not 1 < width < MIN_LOOP_STEPS:
        return together(a, b, out=out)  # type: ignore[no-any-return]
    found = np.empty(shape) if out is None else out
    columns = found.reshape(*shape[: len(shape) - missing], width)
    ours, theirs = (_columns(table, shape, missing, width) for table in (a, b))
    for column in range(width):
        together(ours[column], theirs[column], out=columns[..., column])
    return found


def _ones_at_end(shape: tuple[int, ...]) -> int:
    count = 0
    while count < len(shape) and shape[-1 - count] == 1:
        count += 1
    return count


def _columns(
    table: np.ndarray, shape: tuple[int, ...], missing: int, width: int
) -> list[np.ndarray]:
    """Return a table for each state of the last axes."""
    lead = table.shape[: len(shape) - missing]
    if _ones_at_end(table.shape) >= missing:
        return [table.reshape(lead)] * width
    full = np.broadcast_to(table, (*lead, *shape[len(shape) - missing :])).reshape(*lead, width)
    return [full[..., column] for column in range(width)]


def sum_over(table: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """Sum over some axes, first ones first: their sums have long rows and leave less to do."""
    kept = tuple(n for axis, n in enumerate(table.shape) if axis not in axes)
    done = 0  # axes that are gone
    for first, count in _runs(axes):
        at = first - done
        width = math.prod(table.shape[at : at + count])
        behind = math.prod(table.shape[at + count :])
        rows = table.reshape(-1, width, behind)
        few = (
            width * behind <= MAX_COLUMNS_ADDED_SINGLY
            and behind < MIN_LOOP_STEPS
            and len(rows) >= MIN_LOOP_STEPS
        )
        total = _sum_of_columns(rows) if few else np.add.reduce(rows, axis=1)
        table = total.reshape(*table.shape[:at], *table.shape[at + count :])
        done += count
    return table.reshape(kept)


def _runs(axes: Sequence[int]) -> list[tuple[int, int]]:
    """Yield runs of consecutive axes: the first axis, and how many."""
    runs: list[tuple[int, int]] = []
    for axis in sorted(axes):
        if runs and sum(runs[-1]) == axis:
            runs[-1] = runs[-1][0], runs[-1][1] + 1
        else:
            runs.append((axis, 1))
    return runs


def _sum_of_columns(rows: np.ndarray) -> np.ndarray:
    """Return the sum over the middle axis, in loops over the first."""
    total = rows[:, 0].copy()
    for behind in range(rows.shape[2]):
        for k in range(1, rows.shape[1]):
            total[:, behind] += rows[:, k, behind]
    return total


def sums_of_rows(table: np.ndarray) -> np.ndarray:
    """Return the sum of all entries for each state of the first axis."""
    found: np.ndarray = np.add.reduce(table.reshape(len(table), -1), axis=1)
    return found


def pair_sums(table: np.ndarray, axes: set[int]) -> Iterator[tuple[int, np.ndarray]]:
    """Sum all entries for each pair of states of the first axis and each of `axes`.

    Axes are summed out from the back, and each sum leaves a smaller table: all pairs together
    cost about as much as one.
    """
    first = len(table)
    for axis in range(table.ndim - 1, min(axes, default=table.ndim) - 1, -1):
        if axis in axes:
            columns = table.reshape(first, -1, table.shape[axis])
            each = [sums_of_rows(columns[:, :, k]) for k in range(columns.shape[2])]
            yield axis, np.stack(each, axis=1)
        table = sum_over(table, (axis,))
