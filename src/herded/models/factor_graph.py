"""pi(x) = 1/Z exp sum_f log_table_f[x_f]: any discrete model, as flat read-only arrays.

The target distribution of section 2 of Bornn et al. (2013). Factors may have any arity and any
entry may be -inf (a hard constraint). A table's last variable varies fastest.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from herded.errors import ModelError
from herded.models import evidence as _evidence
from herded.models.arrays import number_array, shown, whole_array
from herded.models.names import check_names, check_state_names

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
        cards = _check_cardinalities(cardinalities)
        scopes, tables = [], []
        for f, factor in enumerate(_listed(factors)):
            variables, table = _read_factor(f, factor)
            scopes.append(variables)
            tables.append(table)
        _check_shapes(cards, scopes, tables)
        self._set(
            cards,
            np.cumsum([0] + [len(scope) for scope in scopes]),
            np.concatenate([np.empty(0, np.int64), *scopes]),
            np.concatenate([np.empty(0), *(table.ravel() for table in tables)]),
            names=names,
            state_names=state_names,
        )

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
    ) -> Self:
        """The same model from flat arrays, for builders with many factors."""
        model = cls.__new__(cls)
        model._set(
            cardinalities,
            factor_start,
            factor_variables,
            log_tables,
            names=names,
            state_names=state_names,
            shape=shape,
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
    ) -> None:
        cardinalities = _check_cardinalities(cardinalities)
        n = len(cardinalities)
        starts = whole_array("factor_start", factor_start)
        variables = whole_array("factor_variables", factor_variables)
        _check_scopes(n, starts, variables)
        strides, sizes = _strides(cardinalities, starts, variables)
        tables = number_array("log_tables", log_tables)
        if tables.size != sizes.sum():
            raise ModelError(
                f"expected {sizes.sum()} table entries for these scopes, got {tables.size}"
            )
        table_start = np.concatenate([[0], np.cumsum(sizes)])
        _check_tables(tables, table_start, lambda f: variables[starts[f] : starts[f + 1]])
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
    """A read-only, contiguous copy: models and plans never change."""
    copy = np.array(array, dtype=kind, order="C")
    copy.flags.writeable = False
    return copy


def as_graph(model: Any) -> FactorGraph:
    """A model of any kind with its factors written out."""
    if not hasattr(model, "as_factor_graph"):
        raise ModelError(f"expected a model, got {type(model).__name__}")
    return model.as_factor_graph()


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


def _check_cardinalities(cardinalities: Any) -> np.ndarray:
    cards = whole_array("cardinalities", cardinalities)
    if cards.ndim != 1 or len(cards) == 0:
        raise ModelError(
            f"expected a list of one or more cardinalities, got {shown(cardinalities)}"
        )
    if (cards < 1).any():
        i = int(np.argmax(cards < 1))
        raise ModelError(f"expected a cardinality of 1 or more for variable {i}, got {cards[i]}")
    return cards


def _check_shapes(cards: np.ndarray, scopes: list[np.ndarray], tables: list[np.ndarray]) -> None:
    n = len(cards)
    for f, (scope, table) in enumerate(zip(scopes, tables, strict=True)):
        if ((scope < 0) | (scope >= n)).any():
            continue  # told better by _check_scopes
        expected = tuple(int(k) for k in cards[scope])
        if table.shape != expected:
            raise ModelError(
                f"expected a log-table of shape {expected} for factor {f} over variables "
                f"{tuple(map(int, scope))}, got shape {table.shape}"
            )


def _check_scopes(n: int, starts: np.ndarray, variables: np.ndarray) -> None:
    arity = np.diff(starts)
    if starts.ndim != 1 or variables.ndim != 1 or not len(starts) or starts[0] != 0:
        raise ModelError(
            "expected factor_start as a flat array from 0, and factor_variables as a flat array, "
            f"got {shown(starts)} and {shown(variables)}"
        )
    if (arity < 0).any() or starts[-1] != len(variables):
        raise ModelError(
            f"expected factor_start to rise to {len(variables)}, the number of factor_variables, "
            f"got {starts[-1]} at its end"
        )
    owner = np.repeat(np.arange(len(arity)), arity)
    outside = (variables < 0) | (variables >= n)
    if outside.any():
        at = int(np.argmax(outside))
        raise ModelError(
            f"expected variables from 0 to {n - 1} in factor {owner[at]}, got {variables[at]}"
        )
    keys = np.sort(owner * n + variables)
    twice = np.flatnonzero(np.diff(keys) == 0)
    if len(twice):
        f, i = divmod(int(keys[twice[0]]), n)
        raise ModelError(f"expected each variable once in factor {f}, got variable {i} twice")


def _strides(
    cards: np.ndarray, starts: np.ndarray, variables: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Strides of every variable in its factor's table, and the tables' sizes."""
    strides = np.ones(len(variables), np.int64)
    sizes = np.ones(len(starts) - 1, np.int64)
    arity = np.diff(starts)
    for back in range(1, int(arity.max(initial=0)) + 1):
        factors = np.flatnonzero(arity >= back)
        slots = starts[factors + 1] - back
        strides[slots] = sizes[factors]
        sizes[factors] *= cards[variables[slots]]
        if (sizes < 1).any() or (sizes > 2**48).any():
            f = int(np.argmax((sizes < 1) | (sizes > 2**48)))
            raise ModelError(
                f"expected factor tables of at most 2^48 entries, got more for factor {f}: "
                "split it into smaller factors"
            )
    return strides, sizes


def _check_tables(tables: np.ndarray, table_start: np.ndarray, scope_of: Any) -> None:
    wrong = np.isnan(tables) | np.isposinf(tables)
    if wrong.any():
        at = int(np.argmax(wrong))
        f = int(np.searchsorted(table_start, at, side="right")) - 1
        raise ModelError(
            f"expected finite or -inf log-potentials, got {tables[at]} in factor {f} over "
            f"variables {tuple(map(int, scope_of(f)))}"
        )
    finite = np.concatenate([[0], np.cumsum(np.isfinite(tables))])
    empty = finite[table_start[1:]] == finite[table_start[:-1]]
    if empty.any():
        f = int(np.argmax(empty))
        raise ModelError(
            f"expected some possible state in every factor, but factor {f} over variables "
            f"{tuple(map(int, scope_of(f)))} is -inf everywhere: the support is empty"
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
