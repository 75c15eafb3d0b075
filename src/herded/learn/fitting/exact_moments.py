"""log Z and the expected entries of all tables, by elimination.

All rows with known variables are eliminated in one pass: the row index becomes an extra variable,
summed out last, and a factor with known variables becomes one of the row and its unknown variables.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from herded.learn.fitting.log_linear import replace_tables
from herded.methods.exact.elimination import SumElimination
from herded.methods.exact.elimination_order import BYTES_PER_ENTRY, cost_of_order, elimination_order
from herded.methods.exact.elimination_plan import EliminationPlan, child_buckets, plan_elimination
from herded.methods.exact.elimination_tables import Scope, fill_buckets
from herded.models.factor_graph import FactorGraph


class ExactMoments:
    """log Z of a graph and the expected entries of its tables, for any tables."""

    def __init__(self, graph: FactorGraph, max_memory: float) -> None:
        self.graph = graph
        order = elimination_order(graph, max_memory, prune=False)
        self.plan = plan_elimination(order, max_memory, whole=True)
        self.places = places_of(graph, self.plan)

    def of(self, tables: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute log Z, and the probability (E,) of each table entry."""
        sums, expected = eliminate_all(replace_tables(self.graph, tables), self.plan, self.places)
        log_z = sums.log_z()
        compute_marginals(sums)
        scatter_marginals(sums, expected)
        return log_z, expected.entries

    def log_z(self, tables: np.ndarray) -> float:
        """Compute log Z alone, in about half the time."""
        return float(
            eliminate_all(replace_tables(self.graph, tables), self.plan, self.places)[0].log_z()
        )


@dataclass(frozen=True)
class EntryView:
    """The entries of a factor for its unknown variables, as a view into all entries."""

    scope: Scope
    start: int
    shape: list[int]
    strides: list[int]  # in bytes


def places_of(graph: FactorGraph, plan: EliminationPlan) -> list[EntryView]:
    """Return the entries of all factors, which are the same for any tables."""
    place = np.full(graph.n_variables, -1)
    place[plan.order] = np.arange(len(plan.order))
    fixed = plan.possible.argmax(axis=1)
    states = graph.cardinalities[plan.order].tolist()
    found = []
    for variables, strides, first in _factors(graph):
        known = place[variables] < 0
        start = int(first + (fixed[variables] * strides)[known].sum())
        axes = sorted(zip(place[variables][~known].tolist(), strides[~known].tolist(), strict=True))
        scope = tuple(p for p, _ in axes)
        steps = [BYTES_PER_ENTRY * stride for _, stride in axes]
        found.append(EntryView(scope, start, [states[p] for p in scope], steps))
    return found


class ExpectedEntries:
    """The expected entries of all tables, and the part of each factor by its scope."""

    def __init__(self, size: int, places: Iterable[EntryView]) -> None:
        self.entries = np.zeros(size)
        self.parts: list[tuple[Scope, np.ndarray]] = []
        for place in places:
            if not place.scope:
                self.entries[place.start] = 1.0
                continue
            view: np.ndarray = np.ndarray(
                place.shape,
                buffer=self.entries,
                offset=BYTES_PER_ENTRY * place.start,
                strides=place.strides,
            )
            self.parts.append((place.scope, view))


def eliminate_all(
    graph: FactorGraph,
    plan: EliminationPlan,
    places: Iterable[EntryView],
    extra_scopes: Iterable[Scope] = (),
) -> tuple[SumElimination, ExpectedEntries]:
    """Sum out everything, and map expected entries; `extra_scopes` get marginals, too."""
    expected, x = ExpectedEntries(len(graph.log_tables), places), plan.possible.argmax(axis=1)
    buckets = fill_buckets(graph, plan.order, plan.scopes, plan.possible, x)
    wanted = [*extra_scopes, *(scope for scope, _ in expected.parts if len(scope) > 1)]
    sums = SumElimination(buckets, child_buckets(plan.scopes), wanted)
    for k in range(len(plan.order)):
        sums.forward(k)
    return sums, expected


def compute_marginals(sums: SumElimination) -> None:
    """Compute all marginals."""
    for k in reversed(range(len(sums.marginals))):
        sums.backward(k)


def scatter_marginals(sums: SumElimination, expected: ExpectedEntries) -> None:
    """Write the marginals of all factors to their entries."""
    for scope, view in expected.parts:
        view[...] = sums.marginals[scope[0]] if len(scope) == 1 else sums.joints[scope]


class KnownRows:
    """Rows with the same known variables, and the expectations of the others."""

    def __init__(
        self, graph: FactorGraph, rows: np.ndarray, weight: np.ndarray, max_memory: float
    ) -> None:
        self.total, self.size = float(weight.sum()), len(graph.log_tables)
        self.weight = weight / self.total
        self.graph, self.entry = add_row_variable(graph, rows)
        unknown = self.graph.given({self.graph.n_variables - 1: 0})  # the row comes last
        order = elimination_order(unknown, max_memory / max(1, len(rows)), prune=False).order
        if len(rows) > 1:  # everything is known about a single row
            order = np.append(order, self.graph.n_variables - 1)
        self.plan = plan_elimination(cost_of_order(self.graph, order), max_memory, whole=True)
        self.places = places_of(self.graph, self.plan)

    def of(self, tables: np.ndarray) -> tuple[float, np.ndarray]:
        """Sum the rows' log Z and the expected entries of tables, with weights."""
        sums, expected = self._summed(tables, self.plan)
        value = float((self.weight * self._log_z(sums)).sum())
        self._go_back(sums)
        scatter_marginals(sums, expected)
        into = np.bincount(self.entry, expected.entries, minlength=self.size)
        return self.total * value, self.total * into

    def log_z(self, tables: np.ndarray) -> np.ndarray:
        """Compute the log of the sum (rows,) over each row's unknown variables."""
        return self._log_z(self._summed(tables, self.plan)[0])

    def marginals(self, tables: np.ndarray) -> np.ndarray:
        """Compute marginals (rows, unknown, states) of the unknown variables of each row."""
        order, scopes, states = self.plan.order.tolist(), self.plan.scopes, self.graph.cardinalities
        last = self._row
        plan, extra_scopes = self.plan, list[Scope]()
        if last >= 0:  # the row stays with every variable, also with those it tells of by others
            tied = tuple(scope if scope[-1] == last else (*scope, last) for scope in scopes)
            plan, extra_scopes = plan._replace(scopes=tied), [(k, last) for k in range(last)]
        sums, _ = self._summed(tables, plan, extra_scopes)
        self._go_back(sums)
        unknown = states[:-1]
        found = np.zeros((len(self.weight), len(unknown), int(unknown.max(initial=1))))
        found[:, unknown == 1, 0] = 1.0
        for k, i in enumerate(order):
            if (k, last) in sums.joints:
                found[:, i, : states[i]] = (sums.joints[k, last] / self.weight).T
            elif last < 0:
                found[:, i, : states[i]] = sums.marginals[k]
        return found

    def _summed(
        self, tables: np.ndarray, plan: EliminationPlan, extra_scopes: Iterable[Scope] = ()
    ) -> tuple[SumElimination, ExpectedEntries]:
        return eliminate_all(
            replace_tables(self.graph, tables[self.entry]), plan, self.places, extra_scopes
        )

    @property
    def _row(self) -> int:
        """The index of the row variable, the last; none if there is only one row."""
        return len(self.plan.order) - 1 if len(self.weight) > 1 else -1

    def _log_z(self, sums: SumElimination) -> np.ndarray:
        return np.array([sums.log_z()]) if self._row < 0 else sums.logs_at(self._row)

    def _go_back(self, sums: SumElimination) -> None:
        """Set rows as probable as in the data, not as in the model."""
        if self._row >= 0:
            sums.prescribed[self._row] = self.weight
        compute_marginals(sums)


def add_row_variable(graph: FactorGraph, rows: np.ndarray) -> tuple[FactorGraph, np.ndarray]:
    """Build a graph of the unknown variables and the row, and map its entries to the old ones."""
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
