"""Built-in observables of whole blocks of samples, compiled: the same numbers, faster.

The functions of `run.observables.functions` check and copy what they get, which on fast layouts
takes longer than the sweeps.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from herded.models.factor_graph import has_factors, to_factor_graph
from herded.models.lattice import Lattice
from herded.models.protocol import Model
from herded.run.observables.functions import (
    common_cardinality,
    energy,
    magnetisation,
    order_parameter,
)
from herded.run.observables.kernels import count_row_states, factor_scores, lattice_scores
from herded.run.observables.large_lattices import energies_in_bands, is_large
from herded.system.last_value_cache import cache_last


def batched_energy(samples: np.ndarray, model: Model) -> np.ndarray:
    """Compute `energy` for samples (rows, N)."""
    if isinstance(model, Lattice) and is_large(model):
        return energies_in_bands(samples, model)
    if isinstance(model, Lattice):
        constant, unit, arrays = lattice_energy_units(model)
        units = np.zeros(len(samples), np.int64)
        lattice_scores(samples, *arrays, units)
        return 0.0 - (constant + unit * units)
    if has_factors(model):
        graph, scores = to_factor_graph(model), np.zeros(len(samples))
        factor_scores(
            np.ascontiguousarray(samples.T),
            graph.factor_start,
            graph.factor_variables,
            graph.factor_strides,
            graph.table_start,
            graph.log_tables,
            scores,
        )
        return 0.0 - scores
    return 0.0 - np.asarray(model.log_score(samples))


@cache_last
def lattice_energy_units(model: Lattice) -> tuple[float, float, tuple[np.ndarray, ...]]:
    """Return the constant part, a unit, and the terms of `lattice_scores` in units."""
    shape, n = model.shape, model.n_variables
    unary = model.log_unary.reshape(n, -1)
    constant, table, slope = 0.0, np.where(np.isneginf(unary), 0.0, unary), np.zeros(0)
    if unary.shape[1] == 2:
        constant, slope = float(table[:, 0].sum()), table[:, 1] - table[:, 0]
    index, steps, axes, ends = np.arange(n).reshape(shape), [], [], [np.zeros((3, 0))]
    for axis, along in zip(range(len(shape) - 1, -1, -1), model.couplings, strict=True):
        constant += model.unlike * float(along.sum())
        values = np.moveaxis((1.0 - model.unlike) * along, axis, 0)
        sites, last = np.moveaxis(index, axis, 0), shape[axis] - 1
        steps.append(math.prod(shape[axis + 1 :]))
        axes.append(np.zeros(n))
        axes[-1][sites[:last]] = values[:last]
        if len(values) > last:  # the last site is a neighbour of the first
            ends.append(np.stack([sites[last].ravel(), sites[0].ravel(), values[last].ravel()]))
    couplings, (first, second, joined) = np.stack(axes), np.concatenate(ends, axis=1)
    terms = table, slope, couplings, joined
    unit, (of_sites, slopes, along_axes, of_ends) = to_integer_units(terms, n * (2 + len(shape)))
    pairs = first.astype(np.int64), second.astype(np.int64), of_ends
    return constant, unit, (of_sites, slopes, np.array(steps), along_axes, *pairs)


def to_integer_units(
    terms: tuple[np.ndarray, ...], count: int
) -> tuple[float, tuple[np.ndarray, ...]]:
    """Round terms to whole numbers of a unit, as fine as sums of `count` terms allow.

    That is finer than the last digits of a sum of floats.
    """
    largest = max(float(np.abs(term).max(initial=0.0)) for term in terms) or 1.0
    unit = 2.0 ** (math.ceil(math.log2(largest)) + math.ceil(math.log2(max(count, 1))) - 62)
    return unit, tuple(np.rint(term / unit).astype(np.int64) for term in terms)


def batched_magnetisation(samples: np.ndarray, model: Model) -> np.ndarray:
    """Compute `magnetisation` for samples (rows, N)."""
    counts = np.zeros((len(samples), common_cardinality(model)), np.int64)
    count_row_states(samples, counts)
    return order_parameter(counts / samples.shape[1])


def bytes_of_terms(f: Callable[..., Any], model: Model) -> float:
    """Return the bytes of the terms of a built-in function, and of their sources."""
    if not (f is energy and isinstance(model, Lattice)) or is_large(model):
        return 0.0
    numbers = 3 * model.log_unary.shape[-1] + 6 * len(model.shape)
    return 8.0 * model.n_variables * float(numbers)


def find_batched_observable(
    f: Callable[..., Any],
) -> Callable[[np.ndarray, Model], np.ndarray] | None:
    """Return the same for samples (rows, N) of many sweeps at once, where there is such."""
    return batched_energy if f is energy else batched_magnetisation if f is magnetisation else None
