"""pi(x) = 1/Z exp sum_f log_table_f[x_f]: any discrete model, as flat read-only arrays.

The target distribution of section 2 of Bornn et al. (2013). Factors may have any arity and any
entry may be -inf (a hard constraint). A table's last variable varies fastest.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from herded.errors import MethodError, ModelError
from herded.models import evidence as _evidence
from herded.models.checks import described, number_array, shown, whole_array
from herded.models.factor_checks import (
    Called,
    by_number,
    check_cardinalities,
    check_scopes,
    check_tables,
    laid_out,
    table_strides,
)
from herded.models.names import check_names, check_state_names
from herded.models.protocol import Model
from herded.system.last import keeps_last

Factor = tuple[Sequence[int], Any]


@dataclass(frozen=True, eq=False, init=False)
class FactorGraph:
    """Variables with `cardinalities`, and factors: pairs (variables, log-table)."""

    cardinalities: np.ndarray  # (N,)
    factor_start: np.ndarray  # (F+1,) into the next two
    factor_variables: np.ndarray
    factor_strides: np.ndarray  # of each variable in its factor's table
    table_start: np.ndarray  # (F+1,) into the next
    log_tables: np.ndarray
    evidence: np.ndarray  # (N,) the clamped value, or -1 where free
    names: tuple[str, ...] | None
    state_names: tuple[tuple[str, ...], ...] | None  # of every variable
    shape: tuple[int, ...]  # of the variables, for what is shown; (N,) unless they form a picture

    def __init__(
        self,
        cardinalities: Any,
        factors: Iterable[Factor],
        *,
        names: Sequence[str] | None = None,
        state_names: Sequence[Sequence[str]] | None = None,
    ) -> None:
        cards = check_cardinalities(cardinalities)
        scopes, tables = [], []
        for f, factor in enumerate(_listed(factors)):
            variables, table = _read_factor(f, factor)
            scopes.append(variables)
            tables.append(table)
        self._set(*laid_out(cards, scopes, tables), names=names, state_names=state_names)

    @classmethod
    def from_arrays(
        cls,
        cardinalities: Any,
        factor_start: np.ndarray,
        factor_variables: np.ndarray,
        log_tables: np.ndarray,
        *,
        names: Sequence[str] | None = None,
        state_names: Sequence[Sequence[str]] | None = None,
        shape: tuple[int, ...] | None = None,
        called: Called = by_number,
    ) -> Self:
        """The same model from flat arrays, for builders with many factors.

        `called` is how errors name factor f: as what it was made of.
        """
        model = cls.__new__(cls)
        model._set(
            cardinalities,
            factor_start,
            factor_variables,
            log_tables,
            names=names,
            state_names=state_names,
            shape=shape,
            called=called,
        )
        return model

    def _set(
        self,
        cardinalities: Any,
        factor_start: np.ndarray,
        factor_variables: np.ndarray,
        log_tables: np.ndarray,
        *,
        names: Sequence[str] | None = None,
        state_names: Sequence[Sequence[str]] | None = None,
        shape: tuple[int, ...] | None = None,
        called: Called = by_number,
    ) -> None:
        cardinalities = check_cardinalities(cardinalities)
        n = len(cardinalities)
        starts = whole_array("factor_start", factor_start)
        variables = whole_array("factor_variables", factor_variables)
        check_scopes(n, starts, variables, called)
        strides, sizes = table_strides(cardinalities, starts, variables, called)
        tables = number_array("log_tables", log_tables)
        if tables.size != sizes.sum():
            raise ModelError(
                f"expected {sizes.sum()} table entries for these scopes, got {tables.size}"
            )
        table_start = np.concatenate([[0], np.cumsum(sizes)])
        check_tables(tables, table_start, lambda f: variables[starts[f] : starts[f + 1]], called)
        fields = {
            "cardinalities": cardinalities,
            "factor_start": starts,
            "factor_variables": variables,
            "factor_strides": strides,
            "table_start": table_start,
            "log_tables": tables,
            "evidence": np.full(n, -1),
        }
        for name, array in fields.items():
            kind = np.float64 if name == "log_tables" else np.int64
            object.__setattr__(self, name, locked(array, kind))
        object.__setattr__(self, "names", check_names(names, n))
        object.__setattr__(self, "state_names", check_state_names(state_names, cardinalities))
        object.__setattr__(self, "shape", shape or (n,))
        _check_unaries(self)

    # -- what a model can tell ------------------------------------------------------------

    @property
    def n_variables(self) -> int:
        return len(self.cardinalities)

    @property
    def n_factors(self) -> int:
        return len(self.factor_start) - 1

    zeros_tie_variables: ClassVar[bool] = True  # hard zeros may be of several variables at once

    @cached_property
    def has_hard_zeros(self) -> bool:
        """Whether some log-potential is -inf."""
        return bool(np.isneginf(self.log_tables).any())

    def as_factor_graph(self) -> "FactorGraph":
        """Itself; lattices answer the same question."""
        return self

    def factor(self, f: int) -> tuple[np.ndarray, np.ndarray]:
        """The variables of factor `f` and its log-table, shaped."""
        variables = self.factor_variables[self.factor_start[f] : self.factor_start[f + 1]]
        table = self.log_tables[self.table_start[f] : self.table_start[f + 1]]
        return variables, table.reshape(self.cardinalities[variables])

    def neighbours(self, i: int) -> np.ndarray:
        """The variables that share a factor with `i`, sorted."""
        start, members = self.adjacency
        i = range(self.n_variables)[i]
        return members[start[i] : start[i + 1]]

    @cached_property
    def adjacency(self) -> tuple[np.ndarray, np.ndarray]:
        """Neighbour lists of all variables: (start, members)."""
        pairs = [np.empty((0, 2), np.int64)]
        for _, variables, _ in self.by_arity():
            arity = variables.shape[1]
            for a in range(arity):
                for b in range(arity):
                    if a != b:
                        pairs.append(variables[:, [a, b]])
        n = self.n_variables
        both = np.concatenate(pairs)
        keys = np.sort(both[:, 0] * n + both[:, 1])
        keys = keys[np.diff(keys, prepend=-1) > 0]  # each pair once; np.unique is slower
        start = np.searchsorted(keys, np.arange(n + 1) * n)
        return locked(start, np.int64), locked(keys % max(n, 1), np.int64)

    def by_arity(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Factors grouped by arity: (factors (G,), variables (G, a), strides (G, a)) for each."""
        arity = np.diff(self.factor_start)
        groups = []
        for a in np.unique(arity):
            factors = np.flatnonzero(arity == a)
            slots = self.factor_start[factors][:, None] + np.arange(a)
            groups.append((factors, self.factor_variables[slots], self.factor_strides[slots]))
        return groups

    def log_score(self, states: Any) -> Any:
        """log of the unnormalised probability of one state (N,) or of many (..., N)."""
        x = check_states(self, states)
        flat = x.reshape(-1, self.n_variables)
        scores = np.zeros(len(flat))
        rows = max(1, 2**22 // max(1, self.n_factors))  # bounds the memory of the gather
        for first in range(0, len(flat), rows):
            part = flat[first : first + rows]
            for factors, variables, strides in self.by_arity():
                entries = self.table_start[factors] + (part[:, variables] * strides).sum(axis=2)
                scores[first : first + rows] += self.log_tables[entries].sum(axis=1)
        clamped = self.evidence >= 0
        scores[(flat[:, clamped] != self.evidence[clamped]).any(axis=1)] = -np.inf
        return scores.reshape(x.shape[:-1]) if x.ndim > 1 else float(scores[0])

    @cached_property
    def content_hash(self) -> str:
        """The same for the same numbers, whatever the names."""
        digest = hashlib.sha256()
        for array in (
            self.cardinalities,
            self.factor_start,
            self.factor_variables,
            self.log_tables,
            self.evidence,
        ):
            digest.update(str(array.shape).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def given(self, evidence: Mapping[Any, int | str]) -> "FactorGraph":
        """The same model with variables (by index, name or pixel) clamped to states (by index, or
        by name where states have names)."""
        model = object.__new__(FactorGraph)
        model.__dict__.update(
            {k: v for k, v in self.__dict__.items() if k in self.__dataclass_fields__}
        )
        clamped = locked(_evidence.merge(self, evidence), np.int64)
        object.__setattr__(model, "evidence", clamped)
        _evidence.check_possible(model)
        return model


def locked(array: Any, kind: Any) -> np.ndarray:
    """A read-only, contiguous copy: models and layouts never change."""
    copy = np.array(array, dtype=kind, order="C")
    copy.flags.writeable = False
    return copy


@keeps_last
def as_graph(model: Model) -> FactorGraph:
    """A model with its factors written out, for those who can ask only factor graphs."""
    check_model(model)
    written_out = getattr(model, "as_factor_graph", None)
    if written_out is None:
        raise MethodError(
            f"expected a factor graph, or a model that can be written as one, got "
            f"{described(model)}: use a sampler that works on such models"
        )
    return written_out()


def check_model(model: object) -> None:
    """Refuse what is none, and say how to get one."""
    if isinstance(model, (str, os.PathLike)):
        raise ModelError(f"expected a model, got {shown(model)}: read it first, with read_model")
    if isinstance(model, type) or not hasattr(type(model), "content_hash"):
        raise ModelError(
            f"expected a model, got {described(model)}: build one, such as FactorGraph(...) or "
            "ising_grid(field)"
        )


def check_states(model: Any, states: Any) -> np.ndarray:
    """States as integers (..., N), checked against the cardinalities."""
    x = whole_array("states", states)
    n = model.n_variables
    if _shaped(model, x):
        x = x.reshape(*x.shape[: x.ndim - len(model.shape)], n)
    if x.ndim == 0 or x.shape[-1] != n:
        raise ModelError(f"expected states of {n} variables, got an array of shape {x.shape}")
    bad = (x < 0) | (x >= model.cardinalities)
    if bad.any():
        i = int(np.argwhere(bad)[0][-1])
        raise ModelError(
            f"expected states of variable {i} from 0 to {model.cardinalities[i] - 1}, "
            f"got {x[..., i][bad[..., i]].flat[0]}"
        )
    return x


def _shaped(model: Any, x: np.ndarray) -> bool:
    dims = len(model.shape)
    return dims > 1 and x.ndim >= dims and x.shape[x.ndim - dims :] == model.shape


def _listed(factors: Any) -> list[Any]:
    try:
        return list(factors)
    except TypeError as error:
        raise ModelError(
            f"expected a list of factors (variables, log_table), got {shown(factors)}"
        ) from error


def _read_factor(f: int, factor: Any) -> tuple[np.ndarray, np.ndarray]:
    try:
        variables, table = factor
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"expected factor {f} as (variables, log_table), got {shown(factor)}"
        ) from error
    scope = list(variables) if isinstance(variables, (set, range)) else variables
    return (
        whole_array(f"the variables of factor {f}", scope).reshape(-1),
        number_array(f"the log-table of factor {f}", table),
    )


def _check_unaries(model: FactorGraph) -> None:
    """The unary factors of one variable must leave it a state."""
    if not model.has_hard_zeros:
        return
    possible: dict[int, np.ndarray] = {}
    zeros = np.flatnonzero(np.isneginf(model.log_tables))
    hard = np.unique(np.searchsorted(model.table_start, zeros, side="right") - 1)
    for f in hard[np.diff(model.factor_start)[hard] == 1].tolist():
        (i,), table = model.factor(f)
        possible[int(i)] = np.isfinite(table) & possible.get(int(i), True)
    stuck = [i for i, states in possible.items() if not states.any()]
    if stuck:
        raise ModelError(
            f"expected a possible state for every variable, but the unary factors of variable "
            f"{min(stuck)} forbid all of its states: the support is empty"
        )
