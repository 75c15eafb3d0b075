"""The objectives of fits: the mean log-likelihood of rows, or their mean pseudo-likelihood.

The gradient of the likelihood is the mean of each statistic over the rows minus the model's
expectation; with unknown variables, minus the expectation given the known ones.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from herded.errors import MemoryLimitError, ModelError
from herded.learn.fitting.conditional_kernels import (
    FactorLinks,
    count_entries,
    pseudo_likelihood,
    squared_statistics,
)
from herded.learn.fitting.exact_moments import ExactMoments, KnownRows
from herded.learn.fitting.herd_moments import MomentHerd, UnknownParts
from herded.learn.fitting.log_linear import LogLinear
from herded.models.constraints.start_states import is_impossible


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows of data, together with the family of models to be learned from them."""

    family: LogLinear
    states: np.ndarray  # (R, N), -1 where unknown

    @property
    def links(self) -> FactorLinks:
        return self.family.links

    @cached_property
    def complete(self) -> bool:
        """Whether every state is known."""
        return bool((self.states >= 0).all())

    @cached_property
    def columns(self) -> np.ndarray:
        """The rows as columns (N, R) for kernels; unknown states are 0."""
        return np.ascontiguousarray(np.maximum(self.states, 0).T).astype(np.uint16)

    @cached_property
    def weight(self) -> np.ndarray:
        """Equal weights (R,) that sum to 1."""
        return np.full(len(self.states), 1.0 / len(self.states))

    @cached_property
    def met(self) -> np.ndarray:
        """The share (E,) of rows in which each table entry occurs, if all is known."""
        graph = self.family.graph
        constant = np.diff(graph.factor_start) == 0  # factors without variables occur in every row
        counts = np.repeat(constant, np.diff(graph.table_start)).astype(np.float64)
        count_entries(self.links, self.columns, self.weight, counts)
        return counts

    def taken(self, at: np.ndarray) -> "TrainingRows":
        """Return some of the rows."""
        return TrainingRows(self.family, self.states[at])

    def check_possible(self, name: str = "data") -> None:
        """Raise if a row of `name` is impossible in the model for any parameters."""
        graph, hard = self.family.graph, np.isneginf(self.family.fixed)
        if not hard.any():
            return
        if self.complete:
            wrong = np.flatnonzero(np.isneginf(graph.log_score(self.states)))
        else:  # for any values of the unknown states
            rows, first = np.unique(self.states, axis=0, return_index=True)
            wrong = first[[is_impossible(graph, row) for row in rows]]
        if len(wrong):
            raise ModelError(
                f"expected rows of positive probability, but the model forbids row {wrong.min()} "
                f"of {name}: correct its hard constraints, or drop the row"
            )

    def pseudo(self, parameters: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute the mean pseudo-likelihood of the rows, and its gradient."""
        graph = self.family.graph
        expected = np.zeros(len(self.family.group))
        tables = self.family.tables(parameters)
        value = pseudo_likelihood(self.links, tables, self.columns, self.weight, expected)
        arity = np.repeat(np.diff(graph.factor_start), np.diff(graph.table_start))
        return float(value), self.family.gathered(arity * (self.met - expected))

    def variances(self, states: np.ndarray | None = None) -> np.ndarray:
        """Compute the variance (P,) of each statistic over the rows, or over complete `states`."""
        x = self.columns if states is None else states
        squares, counts = np.zeros(self.family.count), np.zeros(len(self.family.group))
        count_entries(self.links, x, self.weight, counts)
        family = self.family
        squared_statistics(self.links, family.group, family.weight, x, self.weight, squares)
        found: np.ndarray = np.maximum(squares - family.gathered(counts) ** 2, 0.0)
        found += 1.0 / len(self.states)
        return found


class ObservedStatistics:
    """The statistics of the rows: counted, or expected for unknown states."""

    def __init__(self, rows: TrainingRows, max_memory: float, sweeps: int, seed: int) -> None:
        self.rows, self.max_memory, self.sweeps = rows, max_memory, sweeps
        self.parts: list[KnownRows] = []
        self.drawn: UnknownParts | None = None
        if rows.complete:
            return
        try:
            self.parts = exact_parts(rows, max_memory)
        except MemoryLimitError:
            size = len(rows.family.group)
            self.drawn = UnknownParts(rows.links, rows.states, size, seed)

    def of(self, tables: np.ndarray, at: np.ndarray | None = None) -> tuple[float, np.ndarray]:
        """Return the mean log sum exp over unknowns (NaN if drawn), and expected entries (E,).

        `at` are the rows of a batch; without it, all are used.
        """
        rows = self.rows if at is None else self.rows.taken(at)
        if self.drawn is not None:
            return np.nan, self.drawn.of(tables, rows.weight, self.sweeps, at)
        if rows.complete:
            possible = rows.met > 0.0
            return float((tables[possible] * rows.met[possible]).sum()), rows.met
        parts = self.parts if at is None else exact_parts(rows, self.max_memory)
        found = [part.of(tables) for part in parts]
        return sum(value for value, _ in found), np.sum([met for _, met in found], axis=0)


def exact_parts(rows: TrainingRows, max_memory: float) -> list[KnownRows]:
    """Group distinct rows by their known variables."""
    unique, index = np.unique(rows.states, axis=0, return_inverse=True)
    weight = np.bincount(index.reshape(-1), rows.weight)
    patterns, which = np.unique(unique < 0, axis=0, return_inverse=True)
    which = which.reshape(-1)
    graph = rows.family.graph
    return [
        KnownRows(graph, unique[which == p], weight[which == p], max_memory)
        for p in range(len(patterns))
    ]


class Objective(Protocol):
    """A function to maximise."""

    def __call__(
        self, parameters: np.ndarray, at: np.ndarray | None = None
    ) -> tuple[float, np.ndarray]:
        """Return the value (NaN if unknown) and gradient, on all rows or those of a batch."""


@dataclass(frozen=True, eq=False)
class PseudoLikelihood:
    """The mean over rows of sum_i log p(x_i | all others)."""

    rows: TrainingRows

    def __call__(
        self, parameters: np.ndarray, at: np.ndarray | None = None
    ) -> tuple[float, np.ndarray]:
        rows = self.rows if at is None else self.rows.taken(at)
        return rows.pseudo(parameters)


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The mean log-likelihood; by elimination, or its gradient by a herd."""

    known: ObservedStatistics
    model: ExactMoments | None
    herd: MomentHerd | None

    def __call__(
        self, parameters: np.ndarray, at: np.ndarray | None = None
    ) -> tuple[float, np.ndarray]:
        family = self.known.rows.family
        tables = family.tables(parameters)
        value, met = self.known.of(tables, at)
        if self.model is not None:
            log_z, expected = self.model.of(tables)
        else:
            assert self.herd is not None
            log_z, expected = np.nan, self.herd.of(parameters)
        return value - log_z, family.gathered(met - expected)
