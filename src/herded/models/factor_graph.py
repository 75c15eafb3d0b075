"""pi(x) = 1/Z exp sum_f log_table_f[x_f]: any discrete model, as flat read-only arrays.

The target distribution of section 2 of Bornn et al. (2013). Factors may have any arity and any
entry may be -inf (a hard constraint). A table's last variable varies fastest.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import MethodError, ModelError
from herded.models import evidence as _evidence
from herded.models import summary
from herded.models.protocol import Model, ModelCapabilities, model_capabilities
from herded.models.validation import (
    FactorLabel,
    as_factor_list,
    check_cardinalities,
    check_log_tables,
    check_model,
    check_names,
    check_scopes,
    check_state_names,
    check_states,
    check_unaries,
    factor_label,
    flatten_factors,
    read_factor,
    table_strides,
)
from herded.system.argument_checks import (
    as_float_array,
    as_integer_array,
    describe_value,
    read_only_copy,
    short_repr,
)
from herded.system.html import html_table
from herded.system.last_value_cache import cache_last

FactorPair = tuple[Sequence[int], Any]


@dataclass(frozen=True, eq=False, init=False, repr=False)
class FactorGraph:
    """A discrete model made of factors: pi(x) = 1/Z exp sum_f log_table_f[x_f].

    A factor may be over any number of variables, and an entry of -inf forbids its states. A factor
    graph is frozen; its arrays are read-only. Graphs are equal if all their numbers and names are.

    Parameters
    ----------
    cardinalities : array_like of int, shape (N,)
        The number of states of each variable.
    factors : iterable of (variables, log_table)
        The indices of each factor's variables and its log-potentials, one axis per variable in
        the same order.
    names : sequence of str, optional
        A name for each variable, which evidence and results may use.
    state_names : sequence of sequence of str, optional
        Names for the states of every variable.

    Attributes
    ----------
    cardinalities : ndarray of shape (N,)
    evidence : ndarray of shape (N,)
        The state of each observed variable, -1 elsewhere.
    names, state_names : tuple or None
    shape : tuple of int
        The shape of the variables: (N,), or that of a picture.
    factor_start, factor_variables, factor_strides, table_start, log_tables : ndarray
        All factors, flat. The variables of factor f are
        ``factor_variables[factor_start[f]:factor_start[f + 1]]``, its log-potentials
        ``log_tables[table_start[f]:table_start[f + 1]]`` with the last variable varying fastest.

    Raises
    ------
    ModelError
        If a table has the wrong shape, an index is out of range, or an entry is NaN or +inf.

    Examples
    --------
    Rain makes the ground damp (state 1) or wet (state 2):

    >>> rain = np.log([0.8, 0.2])
    >>> ground = np.log([[0.90, 0.09, 0.01], [0.10, 0.30, 0.60]])
    >>> model = hd.FactorGraph([2, 3], [((0,), rain), ((0, 1), ground)], names=["rain", "ground"])
    >>> hd.infer(model, hd.Exact()).marginals.round(3)
    array([[0.8  , 0.2  , 0.   ],
           [0.74 , 0.132, 0.128]])

    Observations are evidence, by name or by index:

    >>> hd.infer(model.given({"ground": 2}), hd.Exact()).marginals[0].round(2)
    array([0.06, 0.94, 0.  ])
    """

    cardinalities: np.ndarray  # (N,)
    factor_start: np.ndarray  # (F+1,) offsets into the next two
    factor_variables: np.ndarray
    factor_strides: np.ndarray  # of each variable in its factor's table
    table_start: np.ndarray  # (F+1,) offsets into `log_tables`
    log_tables: np.ndarray
    evidence: np.ndarray  # (N,) the clamped value, or -1 where free
    names: tuple[str, ...] | None
    state_names: tuple[tuple[str, ...], ...] | None  # of every variable
    shape: tuple[int, ...]  # of the variables, for display; (N,) unless they form a picture

    def __init__(
        self,
        cardinalities: ArrayLike,
        factors: Iterable[FactorPair],
        *,
        names: Sequence[str] | None = None,
        state_names: Sequence[Sequence[str]] | None = None,
    ) -> None:
        cards = check_cardinalities(cardinalities)
        scopes, tables = [], []
        for f, factor in enumerate(as_factor_list(factors)):
            variables, table = read_factor(f, factor)
            scopes.append(variables)
            tables.append(table)
        built = FactorGraph.from_arrays(
            *flatten_factors(cards, scopes, tables), names=names, state_names=state_names
        )
        self.__dict__.update(built.__dict__)

    @classmethod
    def from_arrays(
        cls,
        cardinalities: ArrayLike,
        factor_start: np.ndarray,
        factor_variables: np.ndarray,
        log_tables: np.ndarray,
        *,
        names: Sequence[str] | None = None,
        state_names: Sequence[Sequence[str]] | None = None,
        shape: tuple[int, ...] | None = None,
        called: FactorLabel = factor_label,
    ) -> Self:
        """Build the same model from flat arrays, for builders with many factors.

        Parameters
        ----------
        cardinalities : array_like of int, shape (N,)
        factor_start : ndarray of int, shape (F+1,)
            Where the variables of each factor begin in `factor_variables`.
        factor_variables : ndarray of int
            The variables of all factors, one factor after another.
        log_tables : ndarray of float
            The log-potentials of all factors, one after another, last variable varying fastest.
        names, state_names : optional
            As in `FactorGraph`.
        shape : tuple of int, optional
            The shape in which the variables are displayed, such as (H, W).
        called : callable, optional
            How errors name factor f: a function from f to a text such as "edge 3".

        Returns
        -------
        FactorGraph

        Examples
        --------
        >>> flat = hd.FactorGraph.from_arrays([2, 2], [0, 1, 3], [0, 0, 1], [0, 1, 1, 0, 0, 1])
        >>> flat.factor(1)[1]
        array([[1., 0.],
               [0., 1.]])
        """
        cards = check_cardinalities(cardinalities)
        n = len(cards)
        starts = as_integer_array("factor_start", factor_start)
        variables = as_integer_array("factor_variables", factor_variables)
        check_scopes(n, starts, variables, called)
        strides, sizes = table_strides(cards, starts, variables, called)
        tables = as_float_array("log_tables", log_tables)
        if tables.size != sizes.sum():
            raise ModelError(
                f"expected {sizes.sum()} table entries for these scopes, got {tables.size}"
            )
        table_start = np.concatenate([[0], np.cumsum(sizes)])
        check_log_tables(
            tables, table_start, lambda f: variables[starts[f] : starts[f + 1]], called
        )
        model = cls.__new__(cls)
        model.__dict__.update(
            cardinalities=read_only_copy(cards, np.int64),
            factor_start=read_only_copy(starts, np.int64),
            factor_variables=read_only_copy(variables, np.int64),
            factor_strides=read_only_copy(strides, np.int64),
            table_start=read_only_copy(table_start, np.int64),
            log_tables=read_only_copy(tables, np.float64),
            evidence=read_only_copy(np.full(n, -1), np.int64),
            names=check_names(names, n),
            state_names=check_state_names(state_names, cards),
            shape=shape or (n,),
        )
        check_unaries(model)
        return model

    def __repr__(self) -> str:
        return f"FactorGraph({summary.one_line_summary(self, self.n_factors)})"

    def _repr_html_(self) -> str:
        return html_table(repr(self), summary.summary_rows(summary.model_features(self)))

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self is other or self._equality_key() == other._equality_key()

    def __hash__(self) -> int:
        return hash(self._equality_key())

    def _equality_key(self) -> tuple[Any, ...]:
        return self.content_hash, self.names, self.state_names, self.shape

    # -- properties and queries -----------------------------------------------------------

    @property
    def n_variables(self) -> int:
        """N, the number of variables."""
        return len(self.cardinalities)

    @property
    def n_factors(self) -> int:
        """The number of factors."""
        return len(self.factor_start) - 1

    capabilities: ClassVar[ModelCapabilities] = ModelCapabilities(has_factors=True)
    zeros_tie_variables: ClassVar[bool] = True  # hard zeros may be of several variables at once

    @cached_property
    def has_hard_zeros(self) -> bool:
        """Whether some log-potential is -inf."""
        return bool(np.isneginf(self.log_tables).any())

    def as_factor_graph(self) -> "FactorGraph":
        """Return the model itself; a lattice returns its factors, written out."""
        return self

    def factor(self, f: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the variables of factor `f` and its log-table, with one axis per variable.

        Examples
        --------
        >>> model = hd.FactorGraph([2, 3], [((0, 1), np.arange(6).reshape(2, 3))])
        >>> variables, table = model.factor(0)
        >>> variables, table.shape
        (array([0, 1]), (2, 3))
        """
        variables = self.factor_variables[self.factor_start[f] : self.factor_start[f + 1]]
        table = self.log_tables[self.table_start[f] : self.table_start[f + 1]]
        return variables, table.reshape(self.cardinalities[variables])

    def neighbours(self, i: int) -> np.ndarray:
        """Return the variables that share a factor with variable `i`, sorted.

        Examples
        --------
        >>> model = hd.chain_model(np.zeros((4, 2)), np.zeros((2, 2)))
        >>> model.neighbours(2)
        array([1, 3])
        """
        start, members = self.adjacency
        i = range(self.n_variables)[i]
        return members[start[i] : start[i + 1]]

    @cached_property
    def adjacency(self) -> tuple[np.ndarray, np.ndarray]:
        """Neighbour lists of all variables: (start, members).

        The neighbours of variable i are ``members[start[i]:start[i + 1]]``.
        """
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
        return read_only_copy(start, np.int64), read_only_copy(keys % max(n, 1), np.int64)

    def by_arity(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Group factors by arity: (factors (G,), variables (G, a), strides (G, a)) for each."""
        arity = np.diff(self.factor_start)
        groups = []
        for a in np.unique(arity):
            factors = np.flatnonzero(arity == a)
            slots = self.factor_start[factors][:, None] + np.arange(a)
            groups.append((factors, self.factor_variables[slots], self.factor_strides[slots]))
        return groups

    def log_score(self, states: ArrayLike) -> Any:
        """Compute the unnormalised log-probability of states: the sum of all log-potentials.

        Parameters
        ----------
        states : array_like of int, shape (N,) or (..., N)
            One state or several. The variables of a picture may come in its shape.

        Returns
        -------
        float or ndarray of shape (...)
            -inf for states that are impossible or contradict the evidence.

        Examples
        --------
        >>> model = hd.FactorGraph([2, 2], [((0, 1), [[0.5, 0.0], [0.0, 1.5]])])
        >>> model.log_score([1, 1])
        1.5
        >>> model.log_score([[0, 0], [0, 1]])
        array([0.5, 0. ])
        """
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
        """Sixteen hex digits, equal for equal numbers, whatever the names."""
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

    def given(self, evidence: Mapping[Any, int | str]) -> Self:
        """Return the same model with more variables observed.

        Parameters
        ----------
        evidence : mapping
            From variables (by index, by name, or as a pixel such as (row, column)) to states (by
            index, or by name where states have names).

        Returns
        -------
        FactorGraph

        Raises
        ------
        ModelError
            If a variable or state does not exist, or the evidence is impossible in some factor.

        Examples
        --------
        >>> rain, wet = np.log([0.8, 0.2]), np.log([[0.9, 0.1], [0.3, 0.7]])
        >>> model = hd.FactorGraph(
        ...     [2, 2], [((0,), rain), ((0, 1), wet)],
        ...     names=["rain", "wet"], state_names=[["no", "yes"]] * 2,
        ... )
        >>> seen = model.given({"wet": "yes"})
        >>> seen.evidence
        array([-1,  1])
        >>> hd.infer(seen, hd.Exact()).marginals[0].round(3)
        array([0.364, 0.636])
        """
        model = self.with_evidence(_evidence.merge_evidence(self, evidence))
        _evidence.check_possible(model)
        return model

    def with_evidence(self, states: ArrayLike) -> Self:
        """Return the same model with only this evidence, by indices.

        Parameters
        ----------
        states : array_like of int, shape (N,)
            The index of the state of each variable, -1 where it is not known.

        Examples
        --------
        >>> model = hd.FactorGraph([2, 2], [], state_names=[["0", "1"], ["1", "0"]])
        >>> model.with_evidence([-1, 1]).evidence, model.given({1: 1}).evidence
        (array([-1,  1]), array([-1,  0]))
        """
        evidence = as_integer_array("evidence", states).reshape(-1)
        wrong = (
            evidence.shape != (self.n_variables,)
            or ((evidence < -1) | (evidence >= self.cardinalities)).any()
        )
        if wrong:
            raise ModelError(
                f"expected the states of {self.n_variables} variables, -1 where one is not known, "
                f"got {short_repr(states)}"
            )
        model = object.__new__(type(self))
        model.__dict__.update(self.array_fields())
        model.__dict__["evidence"] = read_only_copy(evidence, np.int64)
        return model

    def array_fields(self) -> dict[str, Any]:
        """Return the fields that define the model, without derived ones."""
        return {field.name: self.__dict__[field.name] for field in fields(FactorGraph)}


@cache_last
def to_factor_graph(model: Model) -> FactorGraph:
    """Write out the factors of a model, for methods that need a factor graph."""
    check_model(model)
    if not has_factors(model):
        remedy = model_capabilities(model).suitable_methods
        raise MethodError(
            f"expected a factor graph, or a model that can be written as one, got "
            f"{describe_value(model)}: use {remedy}"
        )
    return model.as_factor_graph()


class FactorModel(Model, Protocol):
    """A model that can be written as a factor graph."""

    def as_factor_graph(self) -> FactorGraph:
        """Return the model with its factors written out."""


def has_factors(model: Model) -> TypeGuard[FactorModel]:
    """Return whether a model can be written as a factor graph."""
    return model_capabilities(model).has_factors
