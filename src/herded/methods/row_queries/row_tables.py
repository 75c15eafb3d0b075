"""Tables with an axis of rows: one number for each state of a scope, and for each group of rows.

Rows that agree on all the evidence below a message share that message, so a table holds one column
for each *group* of rows that agree, not one for each row. Products of two tables need the groups
that both distinguish; `GroupMerger` finds them once for each pair.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from herded.system.numerics.exp_log import exp_array, log_array

# Groups are renumbered through a table of all pairs where it has at most this many entries a row,
# else by sorting.
MAX_PAIRS_PER_ROW = 8
# From this share of the rows on, groups are no longer worth their index: each row is its own.
MAX_GROUP_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class RowGroups:
    """A partition of the rows: `codes[r]` is the group of row r, from 0 to `count` - 1."""

    codes: np.ndarray  # (R,) int
    count: int

    @classmethod
    def of_columns(cls, columns: Sequence[np.ndarray], sizes: Sequence[int]) -> "RowGroups":
        """Make one group for each combination of states, also those without rows."""
        codes = np.zeros(len(columns[0]), np.int64)
        count = 1
        for column, size in zip(columns, sizes, strict=True):
            codes = codes * size + column
            count *= size
        return cls(codes, count)


class Merged(NamedTuple):
    """The groups that two partitions distinguish; None where a partition is that one already."""

    groups: RowGroups
    of_first: np.ndarray | None  # (count,) the group of the first partition
    of_second: np.ndarray | None


class GroupMerger:
    """A cache of intersections of partitions of the same rows."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self.all_rows = RowGroups(np.zeros(n_rows, np.int64), 1)
        self.each_row = RowGroups(np.arange(n_rows), n_rows)
        self._known: dict[tuple[int, int], tuple[RowGroups, RowGroups, Merged]] = {}

    def merge(self, first: RowGroups, second: RowGroups) -> Merged:
        """Return the coarsest partition that refines both."""
        if first is second or second.count == 1:
            return Merged(first, None, None if first is second else np.zeros(first.count, np.int64))
        if first.count == 1:
            return Merged(second, np.zeros(second.count, np.int64), None)
        if first is self.each_row:
            return Merged(first, None, second.codes)
        if second is self.each_row:
            return Merged(second, first.codes, None)
        key = id(first), id(second)
        if key not in self._known:  # the partitions are kept, so that no other gets their id
            self._known[key] = first, second, self._intersect(first, second)
        return self._known[key][2]

    def _intersect(self, first: RowGroups, second: RowGroups) -> Merged:
        pairs = first.codes * second.count + second.codes
        codes, present = renumber(pairs, first.count * second.count)
        if len(present) > MAX_GROUP_SHARE * self.n_rows:
            return Merged(self.each_row, first.codes, second.codes)
        of_first, of_second = np.divmod(present, second.count)
        groups = RowGroups(codes, len(present))
        if groups.count == first.count and (of_first == np.arange(first.count)).all():
            return Merged(first, None, of_second)
        return Merged(groups, of_first, of_second)


def renumber(codes: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Return codes below `limit` as places in the sorted list of those that occur, and the list."""
    if limit <= MAX_PAIRS_PER_ROW * len(codes) + 64:
        present = np.flatnonzero(np.bincount(codes, minlength=limit))
        place = np.empty(limit, np.int64)
        place[present] = np.arange(len(present))
        return place[codes], present
    present, found = np.unique(codes, return_inverse=True)
    return found, present


class Arithmetic:
    """The arithmetic of factors: products and sums of probabilities."""

    is_scaled = True  # whether products may underflow, so that the largest entry is kept at 1

    @staticmethod
    def multiply(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the product, entry by entry."""
        product: np.ndarray = first * second
        return product

    @staticmethod
    def remove(values: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        """Return the sum over some axes."""
        found: np.ndarray = values.sum(axis=axes)
        return found


class LogSumArithmetic(Arithmetic):
    """The arithmetic of logarithms, which never underflow, but are slower."""

    is_scaled = False

    @staticmethod
    def multiply(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the sum of logarithms."""
        total: np.ndarray = first + second
        return total

    @staticmethod
    def remove(values: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        """Return the logarithm of the sum of exponentials."""
        top = values.max(axis=axes, keepdims=True)
        top[np.isneginf(top)] = 0.0
        total = exp_array(values - top).sum(axis=axes)
        found: np.ndarray = log_array(total) + top.squeeze(axes)
        return found


class LogMaxArithmetic(LogSumArithmetic):
    """The arithmetic of the largest logarithm: for the most probable state."""

    @staticmethod
    def remove(values: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        """Return the maximum over some axes."""
        found: np.ndarray = values.max(axis=axes)
        return found


SMALLEST_TRUSTED = 1e-290  # products below it may have lost digits, or underflowed to 0
LOG_SMALLEST_TRUSTED = -667.0

ReportLoss = Callable[["RowGroups", np.ndarray], None]  # groups, and which of them have lost digits


@dataclass(frozen=True, eq=False)
class RowTable:
    """Numbers for all states of `scope` (places in the elimination order), and for each group."""

    scope: tuple[int, ...]  # ascending
    values: np.ndarray  # one axis for each variable of the scope, then one of groups
    groups: RowGroups
    low: float = 0.0  # no positive entry has a smaller logarithm; 0 for tables of logarithms

    def along(self, scope: Sequence[int], index: np.ndarray | None) -> np.ndarray:
        """Return the values with an axis for each variable of a larger scope, for merged groups."""
        values = self.values if index is None else self.values.take(index, axis=-1)
        if len(scope) == len(self.scope):
            return values
        own = iter(values.shape)
        mine = set(self.scope)
        return values.reshape([next(own) if p in mine else 1 for p in scope] + [values.shape[-1]])


def multiply_tables(
    tables: Iterable[RowTable],
    merger: GroupMerger,
    arithmetic: type[Arithmetic],
    report_loss: ReportLoss,
) -> RowTable:
    """Multiply tables, those of few groups first; products that may underflow are reported."""
    first, *rest = sorted(tables, key=lambda table: (table.groups.count, table.values.size))
    for table in rest:
        merged = merger.merge(first.groups, table.groups)
        scope = tuple(sorted({*first.scope, *table.scope}))
        one = first.along(scope, merged.of_first)
        other = table.along(scope, merged.of_second)
        values, low = arithmetic.multiply(one, other), first.low + table.low
        if low < LOG_SMALLEST_TRUSTED:
            lost = (values < SMALLEST_TRUSTED) & (one > 0.0) & (other > 0.0)
            report_loss(merged.groups, np.asarray(lost.any(axis=tuple(range(len(scope))))))
            low = LOG_SMALLEST_TRUSTED  # of the other rows
        first = RowTable(scope, values, merged.groups, low)
    return first


def smallest_log(values: np.ndarray) -> float:
    """Return the logarithm of the smallest positive entry, 0 if there is none."""
    least = float(np.min(values, initial=1.0, where=values > 0.0))
    return float(np.log(least))
