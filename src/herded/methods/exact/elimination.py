"""Elimination of variables by sum or maximum, and the way back for marginals or the best state.

    message_k(x_S) = sum over x_k of the product of the tables in bucket k,   S = the later ones

A bucket is never there as a whole: its blocks are multiplied and summed at once
(`methods/exact/elimination_tables.py`), only messages are kept, and the way back makes the blocks
again.

Products of probabilities underflow where sums of logarithms do not. So every table knows between
which powers of e its entries lie: while the product of a bucket cannot leave the range of doubles,
nothing that is possible becomes 0. Where it could, messages are measured and scaled, and a bucket
that is too wide even so is summed as logarithms.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from herded.methods.exact.elimination_tables import (
    Index,
    Scope,
    ScopedTable,
    TableBuckets,
    broadcast_to_scope,
    combine_tables,
    fixed_axes,
    iterate_blocks,
    message_part,
    pair_sums,
    sum_over,
    sums_of_rows,
)
from herded.system.numerics.exp_log import exp_array, log_array

MAX_LOG_RANGE = 690.0  # doubles from e^-690 to e^690 are normal
MESSAGE_FACTS = {  # of a message, in addition to its values
    "low": float,
    "high": float,
    "exponent": int,
    "shift": float,
    "in_logs": bool,
    "is_measured": bool,
}


class Elimination:
    """The base of both kinds: messages that wait."""

    def __init__(self, buckets: TableBuckets, children: list[list[int]]) -> None:
        self.buckets, self.children = buckets, children
        self.ends = np.zeros(len(buckets.scopes))  # logarithms of what is left without later places
        self.messages: dict[int, ScopedTable] = {}

    def tables(self, k: int) -> list[ScopedTable]:
        """Return all tables of a bucket: those of factors, and messages."""
        return self.buckets.tables[k] + [self.messages[c] for c in self.children[k]]

    def forget(self, places: list[int]) -> None:
        """Let messages go that nobody waits for."""
        for k in places:
            self.messages.pop(k, None)

    def is_impossible(self) -> bool:
        """Return whether nothing is left, once all were summed or maximised out."""
        return bool(np.isneginf([self.buckets.constant, *self.ends]).any())

    def own_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that change apart from messages, not copies."""
        raise NotImplementedError

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays that change, by name."""
        found = self.own_arrays()
        for k, table in self.messages.items():
            found[f"message/{k}"] = table.values
            found[f"facts/{k}"] = np.array([float(vars(table)[name]) for name in MESSAGE_FACTS])
        return found

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Restore `arrays` of another elimination; raise ValueError if none could have them."""
        for name, own in self.own_arrays().items():
            own[...] = _as(arrays[name], own.shape, own.dtype)
        for name, array in arrays.items():
            kind, _, number = name.partition("/")
            if kind == "message":
                k = int(number)
                shape, facts = (
                    self.buckets.shape(k)[1:],
                    _as(arrays[f"facts/{k}"], (len(MESSAGE_FACTS),)),
                )
                self.messages[k] = ScopedTable(self.buckets.scopes[k][1:], _as(array, shape), 0.0)
                for fact, value in zip(MESSAGE_FACTS, facts.tolist(), strict=True):
                    setattr(self.messages[k], fact, MESSAGE_FACTS[fact](value))
            elif kind == "choice":
                self._restore_choice(int(number), array)

    def _restore_choice(self, k: int, array: np.ndarray) -> None:
        raise ValueError("no choices are made where variables are summed out")


class SumElimination(Elimination):
    """Elimination by sums: log Z, and marginals of variables and pairs on the way back."""

    def __init__(
        self, buckets: TableBuckets, children: list[list[int]], wanted: Iterable[Scope] = ()
    ) -> None:
        super().__init__(buckets, children)
        n = len(buckets.scopes)
        self.scales = np.zeros(n)  # of messages, as far as they were scaled
        self.marginals = [np.zeros(states) for states in buckets.states]
        self.joints = {
            scope: np.zeros([buckets.states[p] for p in scope]) for scope in dict.fromkeys(wanted)
        }
        self.wanted: list[list[Scope]] = [[] for _ in range(n)]  # by their first places
        for scope in self.joints:
            self.wanted[scope[0]].append(scope)
        self.prescribed: dict[int, np.ndarray] = {}  # marginals that are given, not found
        self.wide = np.zeros(n, np.bool_)  # buckets that are summed as logarithms

    def own_arrays(self) -> dict[str, np.ndarray]:
        """Return marginals, and the known sums of discarded messages."""
        found = {"scales": self.scales, "ends": self.ends, "wide": self.wide}
        found |= {f"marginal/{k}": row for k, row in enumerate(self.marginals)}
        return found | {f"joint/{scope}": table for scope, table in self.joints.items()}

    def log_z(self) -> float:
        """Return log Z, once all variables are summed out."""
        return math.fsum([self.buckets.constant, *self.scales.tolist(), *self.ends.tolist()])

    def logs_at(self, k: int) -> np.ndarray:
        """Return log Z by the state at the last place `k`, once all before it are summed out."""
        logs = np.sum([table.logs() for table in self._prepared(k)], axis=0)
        apart = np.delete(self.ends + self.scales, k).tolist()
        found: np.ndarray = logs + math.fsum([self.buckets.constant, *apart])
        return found

    def forward(self, k: int) -> None:
        """Sum the variable at place `k` out."""
        scope, shape = self.buckets.scopes[k], self.buckets.shape(k)
        tables = self._prepared(k)
        message = np.empty(shape[1:])
        if self.wide[k]:
            parts = [broadcast_to_scope(t.logs(), t.scope, scope) for t in tables]
            for index, table in iterate_blocks(parts, shape, np.add):
                message_part(message, index)[...] = _log_sum_exp(table)
            found = _from_logs(scope[1:], message)
        else:
            parts = [broadcast_to_scope(t.values, t.scope, scope) for t in tables]
            for index, table in iterate_blocks(parts, shape, np.multiply):
                np.add.reduce(table, axis=0, out=message_part(message, index))
            low, high = sum(t.low for t in tables), sum(t.high for t in tables)
            high += math.log(shape[0])
            found = ScopedTable(scope[1:], message, low, high, is_measured=False)
        self.messages[k], self.scales[k] = found, found.scale
        if len(scope) == 1:
            self.ends[k] = float(found.logs())

    def _prepared(self, k: int) -> list[ScopedTable]:
        """Return the tables of a bucket, scaled if needed, and whether it is too wide."""
        tables = self.tables(k)
        if _are_wide(tables):
            for table in tables:
                table.measure()
            for c in self.children[k]:
                self.scales[c] = self.messages[c].scale
            self.wide[k] = _are_wide(tables)
        return tables

    def backward(self, k: int) -> None:
        """Return the marginal at place `k`, and set the weights of its bucket.

        The message of `k` has been weighed: multiplied by it, the bucket's product is the joint
        distribution of its scope.
        """
        scope, shape = self.buckets.scopes[k], self.buckets.shape(k)
        if len(scope) == 1:
            self._weigh(k, (...,), np.ones(()))
        tables, in_logs = self._prepared(k), bool(self.wide[k])
        parts = [
            broadcast_to_scope(t.logs() if in_logs else t.values, t.scope, scope) for t in tables
        ]
        weight = self.messages[k].values
        fixed = scope[1 : 1 + fixed_axes(shape)]
        summed = {
            c: np.zeros_like(self.messages[c].values)
            for c in self.children[k]
            if not set(fixed) <= set(self.buckets.scopes[c])
        }
        for index, table in iterate_blocks(parts, shape, np.add if in_logs else np.multiply):
            if in_logs:
                table += message_part(weight, index)
                exp_array(table, out=table)
            else:
                table *= message_part(weight, index)
            if k in self.prescribed:
                table[...] = self.prescribed[k]
            self._count(k, index, table, fixed)
            for c in self.children[k]:
                where, piece = self._onto(self.buckets.scopes[c][1:], k, index, table, fixed)
                if c in summed:
                    summed[c][where] += piece
                else:  # no other block contributes to these entries
                    self._weigh(c, where, piece)
        for c, total in summed.items():
            self._weigh(c, (...,), total)
        del self.messages[k]

    def _count(self, k: int, index: Index, table: np.ndarray, fixed: Scope) -> None:
        """Add a block of a joint distribution to the marginals."""
        rows = sums_of_rows(table)
        self.marginals[k] += rows
        places = self.buckets.scopes[k][1 + len(fixed) :]
        pairs: dict[int, Scope] = {}  # by their axes in the block
        for scope in self.wanted[k]:
            if len(scope) == 2 and scope[1] not in fixed:
                pairs[1 + places.index(scope[1])] = scope
            else:
                where, piece = self._onto(scope, k, index, table, fixed)
                self.joints[scope][where] += piece
        for axis, found in pair_sums(table, set(pairs)):
            self.joints[pairs[axis]] += found

    def _onto(
        self, own: Scope, k: int, index: Index, table: np.ndarray, fixed: Scope
    ) -> tuple[tuple[Any, ...], np.ndarray]:
        """Return which entries of a table over `own` a block of bucket `k` covers."""
        state = dict(zip(fixed, index, strict=True))
        where = tuple(state.get(p, slice(None)) for p in own)
        places = (k, *self.buckets.scopes[k][1 + len(fixed) :])
        gone = [axis for axis, p in enumerate(places) if p not in own]
        return where, sum_over(table, gone)

    def _weigh(self, c: int, where: tuple[Any, ...], marginal: np.ndarray) -> None:
        """Turn entries of a message into what makes its bucket a joint distribution."""
        message = self.messages[c]
        values = message.values[where]
        if self.wide[c]:
            logs = values if message.in_logs else log_array(values)
            weight = log_array(marginal)
            np.subtract(weight, logs + message.shift, out=weight, where=logs > -np.inf)
            message.values[where] = weight
        else:
            weight = np.empty_like(values)
            with np.errstate(divide="ignore", invalid="ignore"):
                np.divide(marginal, values, out=weight)
            if self.buckets.has_zeros:
                np.copyto(weight, 0.0, where=values == 0.0)
            message.values[where] = (
                np.ldexp(weight, -message.exponent) if message.exponent else weight
            )


class MaxElimination(Elimination):
    """Elimination by maxima: the log-score, and the best state on the way back."""

    def __init__(self, buckets: TableBuckets, children: list[list[int]]) -> None:
        super().__init__(buckets, children)
        self.choices: dict[int, np.ndarray] = {}  # the best state at k for each of the later ones
        self.x = np.zeros(len(buckets.scopes), np.int64)

    def own_arrays(self) -> dict[str, np.ndarray]:
        """Return the state so far."""
        return {"ends": self.ends, "x": self.x}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays, with the choices that are still needed."""
        return super().arrays() | {f"choice/{k}": array for k, array in self.choices.items()}

    def _restore_choice(self, k: int, array: np.ndarray) -> None:
        shape = self.buckets.shape(k)
        self.choices[k] = _as(array, shape[1:], np.min_scalar_type(shape[0] - 1))
        if int(array.max(initial=0)) >= shape[0]:
            raise ValueError("a choice of a state that there is not")

    def log_score(self) -> float:
        """Return the log-score of the best state, once all are maximised out."""
        return math.fsum([self.buckets.constant, *self.ends.tolist()])

    def forward(self, k: int) -> None:
        """Maximise the variable at place `k` out."""
        scope, shape = self.buckets.scopes[k], self.buckets.shape(k)
        parts = [broadcast_to_scope(t.logs(), t.scope, scope) for t in self.tables(k)]
        message = np.empty(shape[1:])
        choice = np.empty(shape[1:], np.min_scalar_type(shape[0] - 1))
        for index, table in iterate_blocks(parts, shape, np.add):
            _max_out(table, message_part(message, index), message_part(choice, index))
        self.messages[k] = ScopedTable(scope[1:], message, 0.0, in_logs=True)
        self.choices[k] = choice
        if len(scope) == 1:
            self.ends[k] = float(message)

    def backward(self, k: int) -> None:
        """Choose the best state at place `k`, given those of all later ones."""
        self.x[k] = self.choices.pop(k)[tuple(self.x[list(self.buckets.scopes[k][1:])])]
        self.messages.pop(k, None)


def _as(array: np.ndarray, shape: tuple[int, ...], kind: DTypeLike = np.float64) -> np.ndarray:
    """Return the array if it has this shape and type; refuse others."""
    if array.shape != shape or array.dtype != kind:
        raise ValueError(f"an array of {array.shape} and {array.dtype}")
    return array


def _max_out(table: np.ndarray, best: np.ndarray, choice: np.ndarray) -> None:
    """Return max_k table[k], and the lowest k that attains it."""
    best[...], choice[...] = table[0], 0
    for k in range(1, len(table)):
        better = table[k] > best
        np.copyto(best, table[k], where=better)
        np.copyto(choice, k, where=better, casting="unsafe")


def _are_wide(tables: list[ScopedTable]) -> bool:
    """Return whether their product could leave the range of doubles."""
    return (
        sum(t.low for t in tables) < -MAX_LOG_RANGE
        or sum(t.high for t in tables) > MAX_LOG_RANGE
        or any(t.in_logs for t in tables)
    )


def _log_sum_exp(table: np.ndarray) -> np.ndarray:
    """Return log sum_k exp table[k]; the table is overwritten."""
    top = table.max(axis=0)
    top = np.where(np.isneginf(top), 0.0, top)
    table -= top
    exp_array(table, out=table)
    found: np.ndarray = top + log_array(np.add.reduce(table, axis=0))
    return found


def _from_logs(scope: Scope, logs: np.ndarray) -> ScopedTable:
    """Return a table of logarithms, as probabilities where these can be told from 0."""
    top = float(logs.max())
    if top == -math.inf:
        return ScopedTable(scope, np.zeros_like(logs), 0.0)
    logs -= top
    low = float(np.min(logs, initial=0.0, where=logs > -np.inf))
    if low < -MAX_LOG_RANGE:
        return ScopedTable(scope, logs, low, shift=top, in_logs=True)
    exp_array(logs, out=logs)
    return ScopedTable(scope, logs, low, shift=top)


def joint_distribution(buckets: TableBuckets) -> np.ndarray:
    """Return the joint distribution of all places, an axis for each: of small models.

    Logarithms are added from the last place to the first, so that few steps run at full size.
    """
    n = len(buckets.states)
    logs = np.zeros((1,) * 0)
    for k in range(n - 1, -1, -1):
        scope = tuple(range(k, n))
        parts = [broadcast_to_scope(t.logs(), t.scope, scope) for t in buckets.tables[k]]
        shape = tuple(buckets.states[k:])
        logs = combine_tables([*parts, logs.reshape(1, *logs.shape)], shape, np.add)
    logs -= logs.max()
    joint = exp_array(logs)
    joint /= joint.sum()
    return joint
