"""Energies of large lattices, bit for bit the same, without arrays of all their terms.

`block_measures.lattice_terms` writes out whole numbers for every site and coupling, which take more
memory than the lattice. Here they are made band by band; where all couplings of an axis are equal,
or all fields, there is one number for all. Sums of whole numbers do not depend on the order.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from herded.models.lattice import Lattice
from herded.system.last_value_cache import cache_last

LARGE_LATTICE_SITES = 2**20  # sites
# sites of lattices whose terms differ, and are made for every state
LARGE_UNEVEN_LATTICE_SITES = 2**22
SITES_PER_PASS = 2**18  # sites whose terms are made at once


class LatticeUnits(NamedTuple):
    """The constant part, a unit, and the terms that are equal everywhere, in units."""

    constant: float
    unit: float
    fields: np.ndarray | None  # (K,) of each state, or (1,) of state 1; None where they differ
    couplings: tuple[int | None, ...]  # of each axis, the last one first

    @property
    def is_even(self) -> bool:
        """Whether all fields are equal, and all couplings along each axis."""
        return self.fields is not None and None not in self.couplings


def is_large(model: Lattice) -> bool:
    """Return whether the terms of a lattice are not to be written out."""
    if model.n_variables <= LARGE_LATTICE_SITES or min(model.shape) < 3:
        return False
    return model.n_variables > LARGE_UNEVEN_LATTICE_SITES or lattice_units(model).is_even


@cache_last
def lattice_units(model: Lattice) -> LatticeUnits:
    """Return the constant and the unit of `block_measures.lattice_terms`, found in bands."""
    n, k = model.n_variables, model.log_unary.shape[-1]
    unary = model.log_unary.reshape(n, k)
    constant, largest, slope = 0.0, 0.0, 0.0
    first = _fields(unary[:1])
    even = True
    for band in _bands(n, 1):
        table = _fields(unary[band])
        even = even and bool((table == first).all())
        largest = max(largest, float(np.abs(table).max()))
        if k == 2:
            slope = max(slope, float(np.abs(table[:, 1] - table[:, 0]).max()))
    if k == 2:
        column = unary[:, 0]
        column = np.where(np.isneginf(column), 0.0, column) if model.has_hard_zeros else column
        constant, largest = float(np.add.reduce(column)), max(largest, slope)
    scale, equal = 1.0 - model.unlike, []
    for along in model.couplings[::-1]:
        lowest, highest = float(along.min()), float(along.max())
        largest = max(largest, abs(scale * lowest), abs(scale * highest))
        equal.append(lowest if lowest == highest else None)
    for along in model.couplings:
        constant += model.unlike * float(along.sum())
    largest, count = largest or 1.0, n * (2 + len(model.shape))
    unit = 2.0 ** (math.ceil(math.log2(largest)) + math.ceil(math.log2(max(count, 1))) - 62)
    numbers = first[0, 1:] - first[0, :1] if k == 2 else first[0]
    couplings = tuple(None if c is None else int(_units(scale * c, unit)) for c in equal[::-1])
    return LatticeUnits(constant, unit, _units(numbers, unit) if even else None, couplings)


def energies_in_bands(samples: np.ndarray, model: Lattice) -> np.ndarray:
    """Return the energies of samples (rows, N)."""
    found = lattice_units(model)
    units = np.array([_score(row, model, found) for row in samples], np.int64)
    energies: np.ndarray = 0.0 - (found.constant + found.unit * units)
    return energies


def _score(row: np.ndarray, model: Lattice, units: LatticeUnits) -> int:
    """Return the sum of fields and couplings in a state (N,), in units."""
    total, k = 0, model.log_unary.shape[-1]
    if units.fields is None:
        unary = model.log_unary.reshape(model.n_variables, k)
        for band in _bands(model.n_variables, 1):
            table, x = _fields(unary[band]), row[band]
            if k == 2:
                total += int(_units(table[:, 1] - table[:, 0], units.unit)[x != 0].sum())
            else:
                mine = np.take_along_axis(table, x[:, None].astype(np.int64), 1)
                total += int(_units(mine, units.unit).sum())
    else:
        first = k - len(units.fields)  # state 1, or 0
        counts = np.bincount(row, minlength=k) if k > 2 else [0, int(np.count_nonzero(row))]
        total = sum(int(w) * int(c) for w, c in zip(units.fields, counts[first:], strict=True))
    scale, ends = 1.0 - model.unlike, model.ends(row.reshape(model.shape))
    for along, equal, (a, b) in zip(model.couplings, units.couplings, ends, strict=True):
        for band in _bands(along.shape[0], along.size // along.shape[0]):
            alike = a[band] == b[band]
            if equal is None:
                total += int(_units(scale * along[band], units.unit)[alike].sum())
            else:
                total += equal * int(np.count_nonzero(alike))
    return total


def _fields(unary: np.ndarray) -> np.ndarray:
    """Return the fields, with 0 for impossible states, which never occur."""
    return np.where(np.isneginf(unary), 0.0, unary)


def _units(terms: np.ndarray | float, unit: float) -> np.ndarray:
    return np.rint(np.asarray(terms) / unit).astype(np.int64)


def _bands(rows: int, sites: int) -> Iterator[slice]:
    """Yield slices of the rows, each with a bounded number of sites."""
    step = max(1, SITES_PER_PASS // max(sites, 1))
    for early in range(0, rows, step):
        yield slice(early, early + step)


def axis_ends(shape: tuple[int, ...], axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the last and the first sites along an axis, in the same order."""
    stride, size = math.prod(shape[axis + 1 :]), shape[axis]
    lines = np.arange(math.prod(shape[:axis]))[:, None] * (size * stride) + np.arange(stride)
    return (lines + (size - 1) * stride).ravel(), lines.ravel()
