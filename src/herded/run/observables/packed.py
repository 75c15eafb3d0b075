"""Built-in observables of herds whose members are bits: the same numbers, for all at once.

Each is made of terms: things that are true of a member or not, and that count. The words of 64
members (`layouts.packing.member_bits`) are never spread out to states.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from herded.layouts.base import Layout
from herded.layouts.packing.member_bits import WORD_BITS, unpack_states
from herded.layouts.state import EMPTY_INTEGERS
from herded.models.factor_graph import FactorGraph
from herded.models.lattice import Lattice
from herded.models.protocol import Model
from herded.run.observables.batched import lattice_energy_units, to_integer_units
from herded.run.observables.functions import (
    Correlations,
    common_cardinality,
    energy,
    magnetisation,
    order_parameter,
    periodic_axes,
)
from herded.run.observables.large_lattices import axis_ends, is_large, lattice_units
from herded.run.observables.packed_kernels import (
    COUNT_LISTED_PAIRS,
    COUNT_OFFSET_PAIRS,
    COUNT_STATE,
    add_counts_where_true,
    alike_words,
    count_members,
)
from herded.system.argument_checks import as_integer_array


class CountTerm(NamedTuple):
    """Variables in a state, or pairs that are alike: each counts `scale`, or has a weight."""

    kind: int
    value: int = 0  # the state, or how far pairs are apart
    first: np.ndarray = EMPTY_INTEGERS
    second: np.ndarray = EMPTY_INTEGERS
    holes: np.ndarray = EMPTY_INTEGERS
    weights: np.ndarray = EMPTY_INTEGERS
    scale: int = 1

    def add(self, words: np.ndarray, totals: np.ndarray) -> None:
        """Add to the totals (rows, members) of a block of words."""
        mine = np.zeros_like(totals)
        what = self.kind, self.value, self.first, self.second, self.holes, self.weights
        add_counts_where_true(words, *what, mine)
        totals += self.scale * mine


def with_weights(term: CountTerm, weights: np.ndarray) -> list[CountTerm]:
    """Return a term with these weights: none where all are 0, a count where others are equal."""
    some, holes = np.flatnonzero(weights), np.flatnonzero(weights == 0)
    if not len(some):
        return []
    scale = int(weights[some[0]])
    if (weights[some] == scale).all():
        return [term._replace(holes=holes, scale=scale)]
    return [term._replace(weights=np.ascontiguousarray(weights))]


def state_terms(state: int, weights: np.ndarray) -> list[CountTerm]:
    """Return terms that count variables in a state."""
    return with_weights(CountTerm(COUNT_STATE, state), weights)


def pair_terms(first: np.ndarray, second: np.ndarray, weights: np.ndarray) -> list[CountTerm]:
    """Return terms that count the listed pairs that are alike."""
    some = np.flatnonzero(weights)
    return with_weights(
        CountTerm(COUNT_LISTED_PAIRS, first=first[some], second=second[some]), weights[some]
    )


def offset_pair_terms(step: int, weights: np.ndarray) -> list[CountTerm]:
    """Return terms for pairs (i, i + step) that are alike, with weights (N - step,)."""
    some = np.flatnonzero(weights)
    if 2 * len(some) < len(weights):
        return pair_terms(some, some + step, weights[some])
    return with_weights(CountTerm(COUNT_OFFSET_PAIRS, step), weights)


@dataclass(frozen=True, eq=False)
class PackedObservable:
    """A function of the sums (rows, members, G) of G groups of terms: `finish`."""

    groups: list[list[CountTerm]]
    finish: Callable[[np.ndarray], np.ndarray]

    def values(self, words: np.ndarray, members: int) -> np.ndarray:
        """Return the values (rows, members, ...)."""
        totals = np.zeros((len(self.groups), len(words), WORD_BITS * words.shape[1]), np.int64)
        for terms, mine in zip(self.groups, totals, strict=True):
            for term in terms:
                term.add(words, mine)
        return self.finish(np.moveaxis(totals[:, :, :members], 0, -1))

    def sums(self, words: np.ndarray, members: int) -> np.ndarray:
        """Sum the values (rows, ...) over the members."""
        found: np.ndarray = self.values(words, members).sum(axis=1)
        return found


@dataclass(frozen=True, eq=False)
class PackedPairObservable(PackedObservable):
    """An observable of separate pairs."""

    first: np.ndarray
    second: np.ndarray

    def values(self, words: np.ndarray, members: int) -> np.ndarray:
        return self.finish(unpack_states(self._alike(words), members))

    def sums(self, words: np.ndarray, members: int) -> np.ndarray:
        return self.sums_of(self.member_counts(words, members), members)

    def member_counts(self, words: np.ndarray, members: int) -> np.ndarray:
        """Count the members in which each pair is alike, (rows, E)."""
        counts = np.zeros((len(words), len(self.first)), np.int64)
        count_members(self._alike(words), members, counts)
        return counts

    def sums_of(self, counts: np.ndarray, members: int) -> np.ndarray:
        """Sum over the members, (rows, E)."""
        return members * self.finish(counts / members)

    def _alike(self, words: np.ndarray) -> np.ndarray:
        found = np.empty((*words.shape[:2], 1, len(self.first)), np.uint64)
        alike_words(words, self.first, self.second, found)
        return found


def find_packed_observable(f: Callable[..., Any], layout: Layout) -> PackedObservable | None:
    """Find a built-in function for packed herds, if their bits can be counted."""
    if layout.bit_places is None:
        return None
    if f is energy:
        return packed_energy(layout.model)
    if f is magnetisation:
        return packed_magnetisation(layout.model)
    return packed_correlations(f, layout.model) if isinstance(f, Correlations) else None


# -- energies -------------------------------------------------------------------------------------


def packed_energy(model: Model) -> PackedObservable | None:
    """Return the energy of a lattice, or of a graph of pairs of binary variables without zeros."""
    if isinstance(model, Lattice) and is_large(model):
        if not lattice_units(model).is_even:
            return None
        constant, unit, terms = _large_lattice_terms(model)
    elif isinstance(model, Lattice):
        constant, unit, terms = _lattice_terms(model)
    elif isinstance(model, FactorGraph) and _is_of_pairs(model):
        constant, unit, terms = _graph_terms(model)
    else:
        return None
    return PackedObservable([terms], lambda units: 0.0 - (constant + unit * units[..., 0]))


def _large_lattice_terms(model: Lattice) -> tuple[float, float, list[CountTerm]]:
    """Return the same terms, where fields are equal everywhere, and couplings along each axis."""
    units, shape, n = lattice_units(model), model.shape, model.n_variables
    assert units.fields is not None
    first = model.log_unary.shape[-1] - len(units.fields)  # state 1 of two, or state 0
    terms = [
        CountTerm(COUNT_STATE, first + k, scale=int(w)) for k, w in enumerate(units.fields) if w
    ]
    axes = range(len(shape) - 1, -1, -1)
    for axis, scale, is_joined in zip(
        axes, units.couplings, model.is_periodic_by_axis, strict=True
    ):
        if not scale:
            continue
        step, (ends, starts) = math.prod(shape[axis + 1 :]), axis_ends(shape, axis)
        terms.append(CountTerm(COUNT_OFFSET_PAIRS, step, holes=ends[ends < n - step], scale=scale))
        if is_joined:
            terms.append(CountTerm(COUNT_LISTED_PAIRS, first=ends, second=starts, scale=scale))
    return units.constant, units.unit, terms


def _lattice_terms(model: Lattice) -> tuple[float, float, list[CountTerm]]:
    constant, unit, arrays = lattice_energy_units(model)
    sites, slopes, steps, axes, first, second, ends = arrays
    if len(slopes):
        terms = state_terms(1, slopes)
    else:
        terms = [term for k in range(sites.shape[1]) for term in state_terms(k, sites[:, k])]
    for step, weights in zip(steps.tolist(), axes, strict=True):
        terms += offset_pair_terms(step, weights[: len(weights) - step])
    return constant, unit, terms + pair_terms(first, second, ends)


def _is_of_pairs(graph: FactorGraph) -> bool:
    return bool(
        (graph.cardinalities == 2).all()
        and np.diff(graph.factor_start).max(initial=0) <= 2
        and np.isfinite(graph.log_tables).all()
    )


def _graph_terms(graph: FactorGraph) -> tuple[float, float, list[CountTerm]]:
    """Return log-potentials as a constant, slopes of variables, and gains of equal pairs."""
    constant, slope, tables = 0.0, np.zeros(graph.n_variables), graph.log_tables
    first, second, gains = [EMPTY_INTEGERS], [EMPTY_INTEGERS], [np.zeros(0)]
    for factors, variables, strides in graph.by_arity():
        at = graph.table_start[factors]
        zero = tables[at]
        constant += float(zero.sum())
        if variables.shape[1] == 1:
            np.add.at(slope, variables[:, 0], tables[at + strides[:, 0]] - zero)
        elif variables.shape[1] == 2:
            (i, j), (own, other) = variables.T, strides.T
            a, b, both = tables[at + own], tables[at + other], tables[at + own + other]
            gain = (both - a - (b - zero)) / 2
            constant -= float(gain.sum())
            np.add.at(slope, i, a - zero + gain)
            np.add.at(slope, j, b - zero + gain)
            first, second, gains = [*first, i], [*second, j], [*gains, gain]
    gain = np.concatenate(gains)
    unit, (slopes, weights) = to_integer_units((slope, gain), len(slope) + len(gain))
    pairs = pair_terms(np.concatenate(first), np.concatenate(second), weights)
    return constant, unit, state_terms(1, slopes) + pairs


# -- shares of states, and of pairs that are alike ------------------------------------------------


def packed_magnetisation(model: Model) -> PackedObservable:
    k, n = common_cardinality(model), model.n_variables
    if k == 2:
        ones = [[CountTerm(COUNT_STATE, 1)]]
        return PackedObservable(
            ones, lambda c: order_parameter(np.concatenate([n - c, c], axis=-1) / n)
        )
    return PackedObservable(
        [[CountTerm(COUNT_STATE, state)] for state in range(k)], lambda c: order_parameter(c / n)
    )


def packed_correlations(f: Correlations, model: Model) -> PackedObservable:
    k, at = (
        common_cardinality(model),
        as_integer_array("the distances or pairs of Correlations", f.at),
    )
    if at.ndim == 2:
        first, second = (np.ascontiguousarray(side) for side in at.T)
        return PackedPairObservable([], lambda alike: (k * alike - 1.0) / (k - 1.0), first, second)
    found = [_pairs_at_distance(model, int(distance)) for distance in at.reshape(-1)]
    counts = np.array([count for _, count in found])
    return PackedObservable(
        [terms for terms, _ in found], lambda c: (k * (c / counts) - 1.0) / (k - 1.0)
    )


def _pairs_at_distance(model: Model, distance: int) -> tuple[list[CountTerm], int]:
    """Yield pairs at a distance along each axis of a lattice, once, and their number."""
    shape, terms, count = model.shape, [], 0
    for axis, (size, is_joined) in enumerate(zip(shape, periodic_axes(model), strict=True)):
        if distance >= size:
            continue
        stride = math.prod(shape[axis + 1 :])
        near = np.arange(model.n_variables) // stride % size
        ways = [distance]
        if is_joined and 2 * distance != size:
            ways.append(size - distance)  # round the other way
        for far in ways:
            weights = (near < size - far).astype(np.int64)
            count += int(weights.sum())
            terms += offset_pair_terms(far * stride, weights[: model.n_variables - far * stride])
    return terms, count
