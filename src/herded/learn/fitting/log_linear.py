"""Log-linear models: log_tables[e] = fixed[e] + weight[e] * parameter[group[e]].

Every entry of every factor's table names the parameter that it is a multiple of, or none (-1). An
Ising coupling is one parameter with weight 1 where two spins are alike and -1 where they are not;
parameters that several factors share are tied.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from herded.errors import ModelError
from herded.learn.fitting.conditional_kernels import FactorLinks, links_of
from herded.models.factor_graph import FactorGraph, to_factor_graph
from herded.models.lattice import ISING, Lattice
from herded.models.protocol import Model
from herded.system.argument_checks import (
    as_float_array,
    as_integer_array,
    read_only_copy,
    short_repr,
)

SPIN = np.array([-1.0, 1.0])
PARAMETRISATIONS = ("tied", "ising")


@dataclass(frozen=True, eq=False)
class LogLinear:
    """A model whose tables are linear in its parameters."""

    model: FactorGraph | Lattice  # as it was given
    graph: FactorGraph
    group: np.ndarray  # (E,) the parameter of each entry of log_tables, -1 where it is fixed
    weight: np.ndarray  # (E,)
    fixed: np.ndarray  # (E,) log-potentials of fixed entries, 0 elsewhere

    @cached_property
    def count(self) -> int:
        """How many parameters there are."""
        return int(self.group.max()) + 1

    @cached_property
    def links(self) -> FactorLinks:
        """The graph in the form that visits read."""
        return links_of(self.graph)

    @cached_property
    def learned(self) -> np.ndarray:
        """Which entries of the tables have a parameter."""
        return np.flatnonzero(self.group >= 0)

    @cached_property
    def has_hard_zeros(self) -> bool:
        """Whether some states are impossible for any parameters."""
        return bool(np.isneginf(self.fixed).any())

    @cached_property
    def start(self) -> np.ndarray:
        """The parameters of the given model; for tied ones the nearest."""
        tables = self.graph.log_tables[self.learned]
        above, below = self.gathered_by(tables), self.gathered_by(self.weight[self.learned])
        return above / np.where(below > 0.0, below, 1.0)

    def normalised(self) -> tuple["LogLinear", np.ndarray]:
        """Return the family with largest weights near 1, and the units (P,) of its parameters.

        Tolerances of slopes then do not depend on the units of weights. Units are powers of two, so
        that nothing is rounded; they are 1 where the largest weight is near 1.
        """
        largest = np.zeros(self.count)
        entries = self.learned
        np.maximum.at(largest, self.group[entries], np.abs(self.weight[entries]))
        exponents = np.round(np.log2(np.where(largest > 0.0, largest, 1.0)))
        if not exponents.any():
            return self, np.ones(self.count)
        units = np.ldexp(1.0, exponents.astype(np.int64))
        weight = self.weight.copy()
        weight[entries] /= units[self.group[entries]]
        return replace(self, weight=read_only_copy(weight, np.float64)), 1.0 / units

    @cached_property
    def alone(self) -> np.ndarray:
        """Which parameters (P,) belong to factors of single variables only."""
        return ~self._of_some(np.diff(self.graph.factor_start) > 1)

    def touching(self, variables: np.ndarray) -> np.ndarray:
        """Return which parameters (P,) belong to a factor of some of these variables (N,)."""
        owner = np.repeat(np.arange(self.graph.n_factors), np.diff(self.graph.factor_start))
        touched = owner[variables[self.graph.factor_variables]]
        return self._of_some(np.isin(np.arange(self.graph.n_factors), touched))

    def _of_some(self, factors: np.ndarray) -> np.ndarray:
        """Return which parameters (P,) belong to some of these factors (F,)."""
        of_them = np.repeat(factors, np.diff(self.graph.table_start))
        found = np.zeros(self.count, bool)
        found[self.group[of_them & (self.group >= 0)]] = True
        return found

    def tables(self, parameters: np.ndarray) -> np.ndarray:
        """Compute the log-tables of all factors."""
        tables = self.fixed.copy()
        tables[self.learned] = self.weight[self.learned] * parameters[self.group[self.learned]]
        return tables

    def gathered(self, entries: np.ndarray) -> np.ndarray:
        """Sum over entries (P,), each with its weight: statistics, or a gradient."""
        return self.gathered_by(entries[self.learned])

    def gathered_by(self, learned: np.ndarray) -> np.ndarray:
        """Sum in the same way, given only the entries that have a parameter."""
        weighted = learned * self.weight[self.learned]
        return np.bincount(self.group[self.learned], weighted, minlength=self.count)

    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute bounds (P,) of each statistic in one row, which no data exceed."""
        low, high = np.zeros(self.count), np.zeros(self.count)
        for first, last in itertools.pairwise(self.graph.table_start.tolist()):
            possible = first + np.flatnonzero(np.isfinite(self.graph.log_tables[first:last]))
            group, weight = self.group[possible], self.weight[possible]
            for p in set(group.tolist()) - {-1}:
                one = np.where(group == p, weight, 0.0)
                low[p] += one.min()
                high[p] += one.max()
        return low, high

    @cached_property
    def span(self) -> np.ndarray:
        """Compute how far (P,) the entries of a table differ at most per unit of a parameter."""
        found = np.zeros(self.count)
        for first, last in itertools.pairwise(self.graph.table_start.tolist()):
            group, weight = self.group[first:last], self.weight[first:last]
            for p in set(group.tolist()) - {-1}:
                one = np.where(group == p, weight, 0.0)
                found[p] = max(found[p], one.max() - one.min())
        return found

    def factor_of(self, parameter: int) -> int:
        """Return the first factor with this parameter."""
        entry = int(np.argmax(self.group == parameter))
        return int(np.searchsorted(self.graph.table_start, entry, side="right")) - 1

    def rebuilt(self, parameters: np.ndarray) -> FactorGraph | Lattice:
        """Build the model with these parameters, of the same kind as the given one."""
        tables = self.tables(parameters)
        if isinstance(self.model, Lattice):
            return _lattice_of(self.model, tables)
        g = self.graph
        return FactorGraph.from_arrays(
            g.cardinalities,
            g.factor_start,
            g.factor_variables,
            tables,
            names=g.names,
            state_names=g.state_names,
            shape=g.shape,
        )


def _lattice_of(lattice: Lattice, tables: np.ndarray) -> Lattice:
    states = lattice.log_unary.shape[-1]
    unary, pairs = np.split(tables, [lattice.log_unary.size])
    strengths = pairs.reshape(-1, states * states)[:, 0]  # both ends in state 0: alike
    sizes = [along.size for along in lattice.couplings]
    parts = np.split(strengths, np.cumsum(sizes)[:-1])
    return replace(
        lattice,
        log_unary=read_only_copy(unary.reshape(lattice.log_unary.shape), np.float64),
        couplings=tuple(
            read_only_copy(part.reshape(along.shape), np.float64)
            for part, along in zip(parts, lattice.couplings, strict=True)
        ),
    )


def build_log_linear(model: Model, groups: object = None, weights: object = None) -> LogLinear:
    """Write a model as log-linear in the parameters that `groups` and `weights` define."""
    graph = to_factor_graph(model)
    if (graph.evidence >= 0).any():
        raise ModelError(
            "expected a model without evidence, got one with some states observed: write them into "
            "the rows of data"
        )
    if isinstance(groups, str) and groups not in PARAMETRISATIONS:
        raise ModelError(
            f'expected groups as "tied", "ising" or arrays of whole numbers, got {groups!r}'
        )
    named = groups is None or isinstance(groups, str)
    if weights is not None and named:
        raise ModelError("expected groups as arrays together with weights, got only weights")
    if isinstance(model, Lattice) and named and groups != "ising":
        return _check_groups(model, graph, *_lattice_groups(model, tied=groups == "tied"))
    if isinstance(groups, str):
        group, weight = _ising_groups(graph, groups)
    elif groups is None:
        group = np.arange(len(graph.log_tables))
        weight = np.ones(len(group))
    else:
        group = _entries(graph, "groups", groups, as_integer_array).astype(np.int64)
        weight = np.ones(len(group))
        if weights is not None:
            weight = _entries(graph, "weights", weights, as_float_array)
    return _check_groups(graph, graph, group, weight)  # a lattice cannot have arbitrary tables


def _check_groups(
    model: FactorGraph | Lattice, graph: FactorGraph, group: np.ndarray, weight: np.ndarray
) -> LogLinear:
    """Number the parameters without gaps; impossible states stay impossible, constants are
    ignored.
    """
    constant = np.repeat(np.diff(graph.factor_start) == 0, np.diff(graph.table_start))
    group = np.where(np.isneginf(graph.log_tables) | constant, -1, group)
    if (group < -1).any() or not np.isfinite(weight).all():
        raise ModelError(
            "expected groups of -1 (fixed) or more and finite weights, got "
            f"{short_repr(int(group.min()))} and "
            f"{short_repr(float(weight[~np.isfinite(weight)].sum()))}"
        )
    learned = group >= 0
    if not learned.any():
        raise ModelError("expected a parameter to learn, got only groups of -1")
    numbered = np.unique(group[learned], return_inverse=True)[1]
    group = group.copy()
    group[learned] = numbered
    fixed = np.where(learned, 0.0, graph.log_tables)
    return LogLinear(
        model,
        graph,
        read_only_copy(group, np.int64),
        read_only_copy(weight, np.float64),
        read_only_copy(fixed, np.float64),
    )


def _lattice_groups(lattice: Lattice, tied: bool) -> tuple[np.ndarray, np.ndarray]:
    """Fields and couplings, one for each place or one for all."""
    n, states = lattice.n_variables, lattice.log_unary.shape[-1]
    edges = len(lattice.all_couplings)
    if lattice.unlike == ISING and states == 2:
        fields = 1
        unary_group = np.zeros((n, 2), np.int64) if tied else np.arange(n)[:, None] + [0, 0]
        unary_weight = np.tile(SPIN, (n, 1))
    else:  # the first state has field 0
        fields = states - 1
        place = np.zeros((n, 1), np.int64) if tied else np.arange(n)[:, None]
        unary_group = place * fields + np.arange(states) - 1
        unary_group[:, 0] = -1
        unary_weight = np.ones((n, states))
    hard = np.isneginf(lattice.log_unary.reshape(n, states)).any(axis=1)
    unary_group[hard] = -1
    pair = np.zeros(edges, np.int64) if tied else np.arange(edges)
    like = np.where(np.eye(states, dtype=bool), 1.0, lattice.unlike)
    pair_group = fields * (1 if tied else n) + np.repeat(pair, states * states)
    return (
        np.concatenate([unary_group.ravel(), pair_group]),
        np.concatenate([unary_weight.ravel(), np.tile(like.ravel(), edges)]),
    )


def _ising_groups(graph: FactorGraph, groups: str) -> tuple[np.ndarray, np.ndarray]:
    """A field for each factor of one variable, a coupling for each factor of two."""
    arity = np.diff(graph.factor_start)
    if groups == "tied":
        raise ModelError('expected groups="tied" with a lattice, got another model: pass arrays')
    if (graph.cardinalities != 2).any() or ((arity != 1) & (arity != 2)).any():
        raise ModelError(
            "expected a model of two-state variables with factors of one or two for "
            'groups="ising", got another: pass arrays'
        )
    sizes = np.diff(graph.table_start)
    pair = np.outer(SPIN, SPIN).ravel()
    weight = np.concatenate([SPIN if a == 1 else pair for a in arity])
    return np.repeat(np.arange(graph.n_factors), sizes), weight


def _entries(
    graph: FactorGraph, name: str, given: object, read: Callable[..., np.ndarray]
) -> np.ndarray:
    """(E,) one number for each entry of every table: a flat array, or one array per factor."""
    size = len(graph.log_tables)
    if isinstance(given, Sequence) and len(given) == graph.n_factors:
        parts = [read(f"{name} of factor {f}", part) for f, part in enumerate(given)]
        for f, part in enumerate(parts):
            shape = graph.factor(f)[1].shape
            if part.shape != shape:
                raise ModelError(
                    f"expected {name} of shape {shape} for factor {f}, got {part.shape}"
                )
        found = np.concatenate([part.ravel() for part in parts])
    else:
        found = read(name, given).ravel()
    if len(found) != size:
        raise ModelError(
            f"expected {name} for each of {size} table entries, or an array for each of "
            f"{graph.n_factors} factors, got {len(found)}"
        )
    return np.asarray(found)


def replace_tables(graph: FactorGraph, tables: np.ndarray) -> FactorGraph:
    """Return the same graph with other tables, unchecked, for one evaluation of many."""
    other = object.__new__(FactorGraph)
    fields = FactorGraph.__dataclass_fields__
    own = {name: value for name, value in graph.__dict__.items() if name in fields}
    other.__dict__.update({**own, "log_tables": tables})
    return other
