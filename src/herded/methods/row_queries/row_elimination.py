"""Exact answers for many rows of evidence at once: one bucket elimination with an axis of rows.

`plan_rows` finds, for one set of observed variables, an order in which the others are summed out;
it depends on which variables are observed and not on their states. `RowElimination` then runs the
order for all rows together: messages go up from bucket to bucket (`collect`), and down again only
to buckets that hold a target.

Products of probabilities may underflow where the evidence is unlikely. Every message is scaled to a
largest entry of 1. A product of positive numbers that is smaller than floats can hold with all
digits makes its row `doubtful`, since a later factor may remove the larger products beside it; the
caller repeats such rows with logarithms.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from herded.methods.exact.elimination_order import elimination_order
from herded.methods.row_queries.row_tables import (
    LOG_SMALLEST_TRUSTED,
    Arithmetic,
    GroupMerger,
    LogMaxArithmetic,
    RowGroups,
    RowTable,
    multiply_tables,
    renumber,
    smallest_log,
)
from herded.models.factor_graph import FactorGraph
from herded.system.numerics.exp_log import exp_array, log_array

MAX_SUM_ERROR = 4e-15  # of the probabilities of a row, as floats
Target = tuple[int, ...]  # variables whose joint distribution is asked for


@dataclass(frozen=True, eq=False)
class RowPlan:
    """The plan by which unobserved variables are summed out.

    Attributes
    ----------
    graph : FactorGraph
        What is left of the model; it has the evidence that all rows share.
    observed : tuple of int
        Variables whose state each row knows.
    order : tuple of int
        The other variables.
    scopes : tuple
        Of each bucket, its own place in the order and those of the variables of its message.
    bucket_entries : int
        Entries of the largest bucket, for one row.
    work : int
        Entries of all buckets, for one row.
    """

    graph: FactorGraph
    observed: tuple[int, ...]
    order: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]
    bucket_entries: int
    work: int

    @cached_property
    def row_bytes(self) -> float:
        """Bytes that one row takes at most: messages both ways, products and groups of rows."""
        tables = 2.0 * self.work + 4.0 * self.bucket_entries
        return 8.0 * (tables + 6.0 * len(self.order) + 2.0 * self.graph.n_factors)

    @cached_property
    def place(self) -> dict[int, int]:
        """Where each variable is in the order."""
        return {variable: k for k, variable in enumerate(self.order)}


def plan_rows(
    graph: FactorGraph,
    observed: Iterable[int],
    targets: Iterable[Target] = (),
    max_memory: float = np.inf,
    *,
    whole: bool = False,
) -> RowPlan:
    """Plan the elimination for rows that all know the same variables.

    Variables of one target end in one bucket. With `whole` no variable is left out, as the most
    probable state of all needs it.
    """
    known = tuple(sorted(set(observed)))
    needed = {variable for target in targets for variable in target}
    reduced = graph if whole else drop_barren(graph, {*known, *needed})
    evidence = np.where(reduced.cardinalities == 1, 0, reduced.evidence)
    reduced = reduced.with_evidence(evidence)
    evidence[list(known)] = 0  # which state does not matter here
    free = [tuple(i for i in target if evidence[i] < 0) for target in targets]
    reduced = join_scopes(reduced, [each for each in free if len(each) > 1])
    found = elimination_order(reduced.with_evidence(evidence), max_memory, prune=False)
    order = tuple(found.clusters)
    place = {variable: k for k, variable in enumerate(order)}
    scopes = tuple(
        (place[i], *sorted(place[j] for j in later)) for i, later in found.clusters.items()
    )
    sizes = [math.prod(found.states[order[p]] for p in scope) for scope in scopes]
    return RowPlan(
        reduced,
        known,
        order,
        scopes,
        max(sizes, default=1),
        sum(sizes),
    )


def join_scopes(graph: FactorGraph, scopes: Sequence[Target]) -> FactorGraph:
    """Add a factor of ones over each scope to the graph, so that one bucket holds it."""
    if not scopes:
        return graph
    sizes = [int(np.prod(graph.cardinalities[list(scope)])) for scope in scopes]
    ends = graph.factor_start[-1] + np.cumsum([*map(len, scopes)])
    joined = FactorGraph.from_arrays(
        graph.cardinalities,
        np.concatenate([graph.factor_start, ends]),
        np.concatenate([graph.factor_variables, *map(np.array, scopes)]),
        np.concatenate([graph.log_tables, np.zeros(sum(sizes))]),
    )
    return joined.with_evidence(graph.evidence)


def drop_barren(graph: FactorGraph, needed: set[int]) -> FactorGraph:
    """Return the graph without conditional probabilities of variables that nothing asks for.

    Such a variable is in one factor alone, whose sum over it is 1 whatever the others are. It goes
    with its factor, and others may become barren then: the leaves of a Bayes net.
    """
    factors_of: list[set[int]] = [set() for _ in range(graph.n_variables)]
    for f in range(graph.n_factors):
        for i in graph.factor(f)[0].tolist():
            factors_of[i].add(f)
    kept, summed = set(range(graph.n_factors)), set[int]()
    fixed = graph.evidence >= 0
    waiting = [i for i, of in enumerate(factors_of) if len(of) == 1]
    while waiting:
        i = waiting.pop()
        if i in needed or fixed[i] or len(factors_of[i]) != 1:
            continue
        (f,) = factors_of[i]
        variables, table = graph.factor(f)
        sums = np.exp(table).sum(axis=variables.tolist().index(i))
        if np.abs(sums - 1.0).max() > MAX_SUM_ERROR or fixed[variables].any():
            continue
        kept.discard(f)
        summed.add(i)
        for j in variables.tolist():
            factors_of[j].discard(f)
            if len(factors_of[j]) == 1:
                waiting.append(j)
    if len(kept) == graph.n_factors:
        return graph
    order = sorted(kept)
    evidence = graph.evidence.copy()
    evidence[list(summed)] = 0  # others without a factor are summed over all their states
    arity = np.diff(graph.factor_start)
    slots = np.repeat(np.isin(np.arange(graph.n_factors), order), arity)
    entries = np.repeat(np.isin(np.arange(graph.n_factors), order), np.diff(graph.table_start))
    smaller = FactorGraph.from_arrays(
        graph.cardinalities,
        np.concatenate([[0], np.cumsum(arity[order])]),
        graph.factor_variables[slots],
        graph.log_tables[entries],
    )
    return smaller.with_evidence(evidence)


class RowElimination:
    """A single elimination for all rows.

    Parameters
    ----------
    plan : RowPlan
    columns : mapping from int to ndarray of shape (R,)
        The state of every observed variable in each row.
    n_rows : int
    likelihoods : mapping from int to ndarray of shape (K, R), optional
        Logarithms of soft evidence: how likely what was seen is in each state of a variable.
    arithmetic : type of Arithmetic
    """

    def __init__(
        self,
        plan: RowPlan,
        columns: Mapping[int, np.ndarray],
        n_rows: int,
        likelihoods: Mapping[int, np.ndarray] | None = None,
        arithmetic: type[Arithmetic] = Arithmetic,
    ) -> None:
        self.plan, self.columns, self.arithmetic = plan, columns, arithmetic
        self.merger = GroupMerger(n_rows)
        self.doubtful = np.zeros(n_rows, bool)
        self.log_scales: list[tuple[RowGroups, np.ndarray]] = []
        self.known_groups: dict[tuple[int, ...], RowGroups] = {}
        self.combinations: dict[tuple[int, ...], np.ndarray] = {}  # of states, that occur
        self.factors: list[list[RowTable]] = [[] for _ in plan.order]
        self.messages: list[RowTable | None] = [None] * len(plan.order)
        self.children: list[list[int]] = [[] for _ in plan.order]
        self.parent = [-1] * len(plan.order)
        self.down: dict[int, RowTable] = {}
        for f in range(plan.graph.n_factors):
            self._add(*self._restrict(f))
        for i, likelihood in (likelihoods or {}).items():
            self._add_likelihood(i, likelihood)

    # -- factors ----------------------------------------------------------------------------------

    def _restrict(self, f: int) -> tuple[list[int], np.ndarray, RowGroups]:
        """Restrict factor `f` to the states that rows know; return it with its groups."""
        variables, table = self.plan.graph.factor(f)
        fixed = self.plan.graph.evidence[variables]
        scope = variables[fixed < 0].tolist()
        table = table[tuple(int(state) if state >= 0 else slice(None) for state in fixed)]
        known = [i for i in scope if i in self.columns]
        free = sorted((i for i in scope if i not in self.columns), key=self.plan.place.__getitem__)
        table = table.transpose([scope.index(i) for i in (*free, *known)])
        sizes = table.shape[len(free) :]
        groups, present = self._groups(tuple(known), sizes)
        values = table.reshape(*table.shape[: len(free)], -1)
        return free, values if present is None else values[..., present], groups

    def _groups(
        self, known: tuple[int, ...], sizes: Sequence[int]
    ) -> tuple[RowGroups, np.ndarray | None]:
        """Group rows that agree on some observed variables; return combinations that occur."""
        if not known:
            return self.merger.all_rows, None
        if known not in self.known_groups:
            dense = RowGroups.of_columns([self.columns[i] for i in known], sizes)
            codes, present = renumber(dense.codes, dense.count)
            self.known_groups[known] = RowGroups(codes, len(present))
            self.combinations[known] = present
        return self.known_groups[known], self.combinations[known]

    def _add_likelihood(self, i: int, likelihood: np.ndarray) -> None:
        """Multiply by the likelihoods (K, R) of the states of a variable."""
        if i in self.plan.place:
            self._add([i], likelihood, self.merger.each_row)
        else:  # the state is known already
            rows = np.arange(self.merger.n_rows)
            self._add([], likelihood[self._known_state(i), rows], self.merger.each_row)

    def _add(self, free: list[int], logs: np.ndarray, groups: RowGroups) -> None:
        """Scale a log-table, and put it into the bucket of its first variable."""
        axes = tuple(range(len(free)))
        top = logs.max(axis=axes) if axes else logs
        self.log_scales.append((groups, top))
        if not axes:
            return
        values, low = logs - np.where(np.isneginf(top), 0.0, top), 0.0
        if self.arithmetic.is_scaled:
            finite = values > -np.inf
            low = float(np.min(values, initial=0.0, where=finite))
            if low < LOG_SMALLEST_TRUSTED:
                lost = finite & (values < LOG_SMALLEST_TRUSTED)
                self._report_loss(groups, np.asarray(lost.any(axis=axes)))
                low = LOG_SMALLEST_TRUSTED
            values = exp_array(values)
        scope = tuple(self.plan.place[i] for i in free)
        self.factors[scope[0]].append(RowTable(scope, values, groups, low))

    def _report_loss(self, groups: RowGroups, lost: np.ndarray) -> None:
        """Mark the rows whose products were too small for floats."""
        if lost.any():
            self.doubtful |= lost[groups.codes]

    # -- up ---------------------------------------------------------------------------------------

    def collect(self) -> "RowElimination":
        """Sum all variables out, from the first to the last."""
        for k in range(len(self.plan.order)):
            product = self._product(k)
            self._send(k, RowTable(product.scope[1:], self._remove(product, 1), product.groups))
        return self

    def _product(self, k: int, *, without: int = -1, with_down: bool = False) -> RowTable:
        """Return the product of what is in bucket `k`, except for the message of one child."""
        tables = [*self.factors[k]]
        tables += [self.messages[c] for c in self.children[k] if c != without]  # type: ignore[misc]
        if with_down and k in self.down:
            tables.append(self.down[k])
        if k not in {p for table in tables for p in table.scope}:  # nothing is known of it
            size = int(self.plan.graph.cardinalities[self.plan.order[k]])
            one = 1.0 if self.arithmetic.is_scaled else 0.0
            tables.append(RowTable((k,), np.full((size, 1), one), self.merger.all_rows))
        return multiply_tables(tables, self.merger, self.arithmetic, self._report_loss)

    def _remove(self, table: RowTable, count: int) -> np.ndarray:
        """Return the values without the first `count` variables of a table."""
        return self.arithmetic.remove(table.values, tuple(range(count)))

    def _send(self, k: int, message: RowTable) -> None:
        scaled = self._scale(message)
        if not message.scope:
            return
        self.parent[k] = message.scope[0]
        self.children[message.scope[0]].append(k)
        self.messages[k] = scaled

    def _scale(self, table: RowTable, *, counted: bool = True) -> RowTable:
        """Return the table with a largest entry of 1 in each group; `counted` in the total."""
        values, axes = table.values, tuple(range(len(table.scope)))
        top = values.max(axis=axes) if axes else values
        if not self.arithmetic.is_scaled:
            if counted and not axes:
                self.log_scales.append((table.groups, values))
            return table
        if counted:
            self.log_scales.append((table.groups, log_array(top)))
        if axes:
            values = values / np.where(top > 0.0, top, 1.0)
        return RowTable(table.scope, values, table.groups, smallest_log(values))

    def log_totals(self) -> np.ndarray:
        """Return (R,) the logarithm of the sum over all states that agree with each row."""
        total = np.zeros(self.merger.n_rows)
        for groups, scale in self.log_scales:
            total += scale[0] if groups.count == 1 else scale[groups.codes]
        return total

    # -- down -------------------------------------------------------------------------------------

    def _message_down(self, k: int) -> None:
        """Return the message from its parent to bucket `k`, after those above it."""
        path = [k]
        while self.parent[path[-1]] >= 0 and self.parent[path[-1]] not in self.down:
            path.append(self.parent[path[-1]])
        for child in reversed(path):
            parent = self.parent[child]
            if parent < 0 or child in self.down:
                continue
            wanted = self.messages[child].scope  # type: ignore[union-attr]
            product = self._product(parent, without=child, with_down=True)
            self.down[child] = self._scale(self._keep(product, wanted), counted=False)

    def _keep(self, table: RowTable, wanted: Sequence[int]) -> RowTable:
        """Return the table summed over all variables that are not wanted."""
        axes = tuple(a for a, p in enumerate(table.scope) if p not in wanted)
        values = self.arithmetic.remove(table.values, axes) if axes else table.values
        kept = tuple(p for p in table.scope if p in wanted)
        return RowTable(kept, values, table.groups, table.low)

    def posterior(self, target: Target) -> np.ndarray:
        """Return (R, K, ...) the joint distribution of a target, an axis for each variable."""
        scope = sorted(self.plan.place[i] for i in target if i in self.plan.place)
        n_rows = self.merger.n_rows
        if scope:
            self._message_down(scope[0])
            table = self._keep(self._product(scope[0], with_down=True), scope)
            table = self._scale(table, counted=False)
            values, axes = table.values, tuple(range(len(table.scope)))
            if not self.arithmetic.is_scaled:
                top = values.max(axis=axes)
                values = exp_array(values - np.where(np.isneginf(top), 0.0, top))
            total = values.sum(axis=axes)
            values = values / np.where(total > 0.0, total, np.nan)
            found = np.moveaxis(values.take(table.groups.codes, axis=-1), -1, 0)
        else:
            found = np.ones(n_rows)
        return self._with_known(target, scope, found)

    def _with_known(self, target: Target, scope: list[int], found: np.ndarray) -> np.ndarray:
        """Return the distribution of all variables of a target, where rows know some of them."""
        free = [self.plan.order[p] for p in scope]
        cards = self.plan.graph.cardinalities
        known = [i for i in target if i not in free]
        if known:
            whole = np.zeros((len(found), *(int(cards[i]) for i in (*free, *known))))
            rows = np.arange(len(found))
            index = [self._known_state(i) for i in known]
            moved = np.moveaxis(whole, range(1 + len(free), whole.ndim), range(1, 1 + len(known)))
            moved[(rows, *index)] = found
            found = whole
        given = [*free, *known]
        return found.transpose(0, *(1 + given.index(i) for i in target))

    def _known_state(self, i: int) -> np.ndarray:
        column = self.columns.get(i)
        if column is not None:
            return column
        return np.full(self.merger.n_rows, self.plan.graph.evidence[i])


def most_probable_states(elimination: RowElimination) -> np.ndarray:
    """Return (R, N) the best state of all variables that agrees with each row."""
    plan = elimination.plan
    assert elimination.arithmetic is LogMaxArithmetic
    x = np.tile(plan.graph.evidence, (elimination.merger.n_rows, 1))
    for i, column in elimination.columns.items():
        x[:, i] = column
    for k in reversed(range(len(plan.order))):
        table = elimination._product(k)
        later = [plan.order[p] for p in table.scope[1:]]
        index = (*(x[:, i] for i in later), table.groups.codes)
        x[:, plan.order[k]] = table.values.argmax(axis=0)[index]
    return x
