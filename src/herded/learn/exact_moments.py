"""log Z and the expected entries of all factors' tables, by elimination.

Rows that know some variables are eliminated all at once: the row is one more variable, summed out
last, and a factor with known variables becomes one of the row and of its unknown variables.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from herded.learn.parameters import retabled
from herded.methods.elimination_order import ENTRY, elimination_order, fixed_states
from herded.methods.exact import (
    Scope,
    Step,
    cluster_marginals,
    eliminate,
    pair_marginals,
    sum_out,
)
from herded.models.factor_graph import FactorGraph


class ExactMoments:
    """log Z of a graph and the expected entries of its tables, whatever these are."""

    def __init__(self, graph: FactorGraph, max_memory: float) -> None:
        self.graph = graph
        self.order = elimination_order(graph, max_memory).order

    def of(self, tables: np.ndarray) -> tuple[float, np.ndarray]:
        """log Z, and (E,) the probability of each entry: that its factor is in this state."""
        steps, log_z = eliminate(retabled(self.graph, tables), self.order, sum_out)
        expected = np.zeros(len(tables))
        wanted = factors_by_place(self.graph, self.order, expected)
        for scope, joint in cluster_marginals(steps):
            fill(scope, joint, wanted.get(scope[0], ()))
        return log_z, expected


Wanted = dict[int, list[tuple[Scope, np.ndarray]]]


def factors_by_place(graph: FactorGraph, order: np.ndarray, expected: np.ndarray) -> Wanted:
    """By the place of a factor's first variable: its scope and the part of `expected` to fill."""
    place = np.full(graph.n_variables, -1)
    place[order] = np.arange(len(order))
    fixed = fixed_states(graph)
    wanted: Wanted = {}
    for f in range(graph.n_factors):
        slots = slice(graph.factor_start[f], graph.factor_start[f + 1])
        variables, strides = graph.factor_variables[slots], graph.factor_strides[slots]
        known = place[variables] < 0
        first = int(graph.table_start[f] + (fixed[variables] * strides)[known].sum())
        axes = sorted(zip(place[variables][~known].tolist(), strides[~known].tolist(), strict=True))
        if not axes:
            expected[first] = 1.0
            continue
        scope = tuple(p for p, _ in axes)
        view: np.ndarray = np.ndarray(
            [int(graph.cardinalities[order[p]]) for p in scope],
            buffer=expected,
            offset=ENTRY * first,
            strides=[ENTRY * stride for _, stride in axes],
        )
        wanted.setdefault(scope[0], []).append((scope, view))
    return wanted


def fill(scope: Scope, joint: np.ndarray, wanted: Iterable[tuple[Scope, np.ndarray]]) -> None:
    """The marginals of a cluster that are `wanted`."""
    pairs: dict[int, list[np.ndarray]] = {}
    for own, view in wanted:
        if len(own) == 2:
            pairs.setdefault(scope.index(own[1]), []).append(view)
        else:
            gone = tuple(axis for axis, p in enumerate(scope) if p not in own)
            view[...] = joint.sum(axis=gone)
    for axis, table in pair_marginals(joint, set(pairs)):
        for view in pairs[axis]:
            view[...] = table


class KnownRows:
    """Rows that know the same variables, and what is expected of the others."""

    def __init__(
        self, graph: FactorGraph, rows: np.ndarray, weight: np.ndarray, max_memory: float
    ) -> None:
        self.total, self.size = float(weight.sum()), len(graph.log_tables)
        self.weight = weight / self.total
        self.graph, self.entry = beside_rows(graph, rows)
        unknown = self.graph.given({self.graph.n_variables - 1: 0})  # the row comes last
        order = elimination_order(unknown, max_memory / max(1, len(rows))).order
        self.order = np.append(order, self.graph.n_variables - 1)

    def of(self, tables: np.ndarray) -> tuple[float, np.ndarray]:
        """The weighted sum of the rows' log Z, and of the expected entries of tables."""
        steps, of_rows = self._eliminated(tables)
        expected = np.zeros(len(self.entry))
        wanted = factors_by_place(self.graph, self.order, expected)
        for scope, joint in cluster_marginals(steps):
            fill(scope, joint, wanted.get(scope[0], ()))
        into = np.bincount(self.entry, expected, minlength=self.size)
        return self.total * float((self.weight * of_rows).sum()), self.total * into

    def log_z(self, tables: np.ndarray) -> np.ndarray:
        """(rows,) log of the sum over what each row does not know."""
        return self._eliminated(tables)[1]

    def marginals(self, tables: np.ndarray) -> np.ndarray:
        """(rows, unknown, states) of the unknown variables, given what each row knows."""
        steps, _ = self._eliminated(tables)
        rows, last = len(self.weight), len(self.order) - 1
        states = self.graph.cardinalities
        found = np.zeros((rows, last, int(states[:-1].max(initial=1))))
        found[:, states[:-1] == 1, 0] = 1.0
        for scope, joint in cluster_marginals(steps):
            i = int(self.order[scope[0]])
            if scope[0] < last and scope[-1] == last:
                one = joint.reshape(states[i], -1, rows).sum(axis=1) / self.weight
                found[:, i, : states[i]] = one.T
            elif scope[0] < last:  # no row tells anything of it
                found[:, i, : states[i]] = joint.reshape(states[i], -1).sum(axis=1)
        return found

    def _eliminated(self, tables: np.ndarray) -> tuple[list[Step], np.ndarray]:
        """Steps in which rows are as probable as their weights say, and (rows,) their log Z."""
        graph = retabled(self.graph, tables[self.entry])
        last: list[np.ndarray] = []  # of the row: what is left when all others are summed out

        def collapse(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            row = table.copy() if len(table) == len(self.weight) else table
            message, kept = sum_out(table)
            last[:] = row, message
            return message, kept

        steps, log_z = eliminate(graph, self.order, collapse)
        apart = log_z - float(last[1][0])  # constants, and variables that no known one is tied to
        steps[-1] = steps[-1]._replace(kept=self.weight.copy())
        return steps, last[0].reshape(-1) + apart


def beside_rows(graph: FactorGraph, rows: np.ndarray) -> tuple[FactorGraph, np.ndarray]:
    """A graph of the unknown variables and, last, of the row; where its entries come from."""
    unknown = np.flatnonzero(rows[0] < 0)
    number = np.full(graph.n_variables, -1)
    number[unknown] = np.arange(len(unknown))
    row = len(unknown)
    cards = np.append(graph.cardinalities[unknown], len(rows))
    scopes: list[np.ndarray] = []
    entries: list[np.ndarray] = []
    for variables, strides, first in _factors(graph):
        free = number[variables] >= 0
        entry = np.asarray(first)
        scope = number[variables[free]]
        if not free.all():
            entry = entry + (rows[:, variables[~free]] * strides[~free]).sum(axis=1)
            scope = np.append(row, scope)
        for i, stride in zip(variables[free], strides[free], strict=True):
            entry = entry[..., None] + stride * np.arange(graph.cardinalities[i])
        scopes.append(scope)
        entries.append(np.ravel(entry))
    flat = np.concatenate(entries)
    sizes = [len(scope) for scope in scopes]
    built = FactorGraph.from_arrays(
        cards,
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate(scopes),
        graph.log_tables[flat],
    )
    return built, flat


def _factors(graph: FactorGraph) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    for f in range(graph.n_factors):
        slots = slice(graph.factor_start[f], graph.factor_start[f + 1])
        yield (
            graph.factor_variables[slots],
            graph.factor_strides[slots],
            int(graph.table_start[f]),
        )
