"""Cut rows into jobs that share a plan and fit in memory, and run them.

Rows that know the same variables share one plan and one elimination with an axis of rows. Rows with
rare sets of known variables are pooled: a variable that only some of them know is summed out in
all, after a table of zeros and ones for those that know it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from herded.errors import MemoryLimitError
from herded.methods.exact.elimination_order import exact_refusal_error
from herded.methods.row_queries.row_elimination import (
    RowElimination,
    RowPlan,
    Target,
    most_probable_states,
    plan_rows,
)
from herded.methods.row_queries.row_evidence import RowEvidence, RowTargets
from herded.methods.row_queries.row_tables import Arithmetic, LogMaxArithmetic, LogSumArithmetic
from herded.models.data_frames import MISSING
from herded.models.factor_graph import FactorGraph
from herded.system.memory_limits import size_text

CHUNK_ENTRIES = 2**20  # of the largest bucket, for all rows of a chunk: it stays in a near cache
MIN_CHUNK_ROWS = 256  # below it, Python takes longer than arithmetic
CHUNKS_AT_ONCE = 2  # that must fit into memory; more run only where they fit, too
MIN_OWN_ROWS = 64  # rows that know the same variables, for a plan of their own
PLAN_ENTRIES = 2**20  # entries that are worked through in the time of another plan


@dataclass(eq=False)
class RowAnswers:
    """Room for all answers, filled chunk by chunk."""

    tables: dict[Any, np.ndarray]
    log_probability: np.ndarray
    best_states: np.ndarray | None

    @property
    def memory(self) -> float:
        """Bytes of all answers."""
        best = 0 if self.best_states is None else self.best_states.nbytes
        tables = sum(table.nbytes for table in self.tables.values())
        return float(tables + self.log_probability.nbytes + best)

    @classmethod
    def allocate(
        cls, graph: FactorGraph, wanted: RowTargets, n_rows: int, limit: float
    ) -> "RowAnswers":
        cards = graph.cardinalities
        shapes = {
            label: tuple(int(cards[i]) for i in target)
            for label, target in wanted.variables.items()
        }
        need = 8.0 * n_rows * (1 + sum(math.prod(shape) for shape in shapes.values()))
        need += 8.0 * n_rows * graph.n_variables * wanted.asks_best_state
        if need > limit:
            raise MemoryLimitError(
                f"expected answers of at most {size_text(limit)}, but {n_rows:,} rows of them need "
                f"{size_text(need)}: ask for fewer rows or targets at a time, or raise max_memory="
            )
        return cls(
            {label: np.full((n_rows, *shape), np.nan) for label, shape in shapes.items()},
            np.empty(n_rows),
            np.full((n_rows, graph.n_variables), MISSING) if wanted.asks_best_state else None,
        )


@dataclass(frozen=True, eq=False)
class RowJob:
    """Some rows that are answered by one elimination."""

    rows: np.ndarray
    plan: RowPlan
    whole_plan: RowPlan | None  # for the best state
    evidence: RowEvidence
    wanted: RowTargets

    @property
    def memory(self) -> float:
        """Bytes that this job takes at most."""
        plans = [self.plan] if self.whole_plan is None else [self.plan, self.whole_plan]
        return len(self.rows) * max(plan.row_bytes for plan in plans)

    def run(self, answers: RowAnswers) -> int:
        """Fill in the answers of these rows; gives their number."""
        found = self._eliminate(self.plan, self.rows, Arithmetic)
        self._fill(answers, found, self.rows, np.arange(len(self.rows)))
        doubtful = np.flatnonzero(found.doubtful)
        if len(doubtful):  # products were so small that others may have been lost
            again = self._eliminate(self.plan, self.rows[doubtful], LogSumArithmetic)
            self._fill(answers, again, self.rows[doubtful], np.arange(len(doubtful)))
        if self.whole_plan is not None and answers.best_states is not None:
            best = self._eliminate(self.whole_plan, self.rows, LogMaxArithmetic)
            possible = ~np.isneginf(answers.log_probability[self.rows])
            answers.best_states[self.rows[possible]] = most_probable_states(best)[possible]
        return len(self.rows)

    def _eliminate(
        self, plan: RowPlan, rows: np.ndarray, arithmetic: type[Arithmetic]
    ) -> RowElimination:
        columns = {i: self.evidence.columns[i][rows] for i in plan.observed}
        likelihoods = {}
        for i, column in self.evidence.columns.items():
            if i not in columns and i in plan.place:
                states = np.arange(plan.graph.cardinalities[i])[:, None]
                agrees = (column[rows] == states) | (column[rows] == MISSING)
                likelihoods[i] = np.where(agrees, 0.0, -np.inf)
        for i, logs in self.evidence.likelihoods.items():
            own = np.broadcast_to(logs, (self.evidence.n_rows, logs.shape[1]))[rows].T
            likelihoods[i] = likelihoods[i] + own if i in likelihoods else own
        return RowElimination(plan, columns, len(rows), likelihoods, arithmetic).collect()

    def _fill(
        self, answers: RowAnswers, found: RowElimination, rows: np.ndarray, within: np.ndarray
    ) -> None:
        totals = found.log_totals()
        answers.log_probability[rows] = totals[within]
        impossible = np.isneginf(totals)
        for label, target in self.wanted.variables.items():
            table = found.posterior(target)
            table[impossible] = np.nan
            answers.tables[label][rows] = table


def row_jobs(
    graph: FactorGraph, evidence: RowEvidence, wanted: RowTargets, limit: float
) -> Iterator[RowJob]:
    """Yield all rows, in groups that share a plan, cut into chunks that fit in memory."""
    targets = list(wanted.variables.values())
    soft = [(i,) for i in evidence.likelihoods]  # they must stay in the plan
    for rows, observed in _row_sets(graph, evidence, targets, limit):
        plan = plan_rows(graph, observed, [*targets, *soft, *_pooled(evidence, observed)], limit)
        whole = None
        if wanted.asks_best_state:
            whole = plan_rows(graph, observed, (), limit, whole=True)
        plans = [plan] if whole is None else [plan, whole]
        entries = max(each.bucket_entries for each in plans)
        row_bytes = max(each.row_bytes for each in plans)
        if row_bytes > limit:
            raise exact_refusal_error(row_bytes, len(max(plan.scopes, key=len)), limit)
        most = int(max(1, limit / (CHUNKS_AT_ONCE * row_bytes)))
        size = min(most, max(MIN_CHUNK_ROWS, CHUNK_ENTRIES // entries))
        for first in range(0, len(rows), size):
            yield RowJob(rows[first : first + size], plan, whole, evidence, wanted)


def _pooled(evidence: RowEvidence, observed: Sequence[int]) -> list[Target]:
    """Return variables that only some of the rows know."""
    return [(i,) for i in evidence.columns if i not in observed]


def _row_sets(
    graph: FactorGraph, evidence: RowEvidence, targets: list[Target], limit: float
) -> Iterator[tuple[np.ndarray, list[int]]]:
    """Yield rows that share a plan, and the variables that all of them know."""
    variables = list(evidence.columns)
    known = np.zeros((evidence.n_rows, len(variables)), bool)
    for place, i in enumerate(variables):
        known[:, place] = evidence.columns[i] != MISSING
    packed = np.packbits(known, axis=1)
    _, inverse, counts = np.unique(packed, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(inverse, kind="stable")
    sets = np.split(order, np.cumsum(counts)[:-1])
    rare = [n for n, count in enumerate(counts.tolist()) if count < MIN_OWN_ROWS]
    if len(rare) > 1:
        rows = np.concatenate([sets[n] for n in rare])
        observed = [i for place, i in enumerate(variables) if known[rows, place].all()]
        if _pays_to_pool(graph, evidence, observed, targets, len(rows), len(rare), limit):
            yield np.sort(rows), observed
            sets = [rows for n, rows in enumerate(sets) if counts[n] >= MIN_OWN_ROWS]
    for rows in sets:
        yield rows, [i for place, i in enumerate(variables) if known[rows[0], place]]


def _pays_to_pool(
    graph: FactorGraph,
    evidence: RowEvidence,
    observed: list[int],
    targets: list[Target],
    n_rows: int,
    n_sets: int,
    limit: float,
) -> bool:
    """Return whether one elimination of many rows takes less time than many of few rows."""
    try:
        plan = plan_rows(graph, observed, [*targets, *_pooled(evidence, observed)], limit)
    except MemoryLimitError:
        return False
    return float(plan.work) * n_rows < float(PLAN_ENTRIES) * n_sets
