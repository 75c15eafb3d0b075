"""Layout "dense" of herds: any graph of binary variables, its members side by side."""

import itertools
from collections.abc import Callable
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from herded.layouts.binary_pairs.arrays import FIELD_BITS, Couplings, find_couplings, sigmoid_table
from herded.layouts.binary_pairs.dense_herd_sweeps import NEIGHBOURS_PER_PASS, dense_herd_sweeps
from herded.layouts.binary_pairs.herd_arrays import finest_field_bits
from herded.layouts.general.site_herd import SiteHerdLayout
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.system import memory_limits
from herded.system.aligned_arrays import make_read_only, start_offsets

MAX_32_BIT_FIELD = 2**31 - 1  # a field
MIN_DENSE_FIELD_BITS = 22  # bits behind the point of a field, at least if it is rounded


class DenseHerdArrays(NamedTuple):
    """Links by variable, filled up to a multiple of NEIGHBOURS_PER_PASS by couplings of 0."""

    link_start: np.ndarray  # (N + 1,)
    neighbour: np.ndarray  # uint32
    coupling: np.ndarray  # int32
    alone: np.ndarray  # (N,) int32: the field where all neighbours are 0
    list_of: np.ndarray  # (N,) equal numbers where all neighbours are the same
    most: np.ndarray  # one number: links of the variable with most of them
    scale: np.ndarray  # one number: what makes fields of the scale 2^24
    sigmoid: np.ndarray  # uint32 at scale 2^31, from -23 to 23


class DenseHerdLayout(SiteHerdLayout):
    """Whole-number couplings of 32 bits and an interpolated sigmoid, in `DenseHerdArrays`."""

    kind: ClassVar[str] = "dense"
    can_anneal: ClassVar[bool] = True

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        """Accept any scan, if the model is made of couplings."""
        couplings = find_couplings(task.graph)
        if isinstance(couplings, Refusal):
            return couplings
        bits = finest_field_bits(couplings, FIELD_BITS, MAX_32_BIT_FIELD, MIN_DENSE_FIELD_BITS)
        if bits is None:
            return Refusal("its fields are too wide for 32 bits")
        need = 8.0 * len(couplings.first) + 20.0 * NEIGHBOURS_PER_PASS * len(task.free) + 2.0**17
        need += 4.0 * len(task.free) * (task.draw.members + 32)  # masks, while sweeps run
        if not forced and not memory_limits.fits_in_memory(need, task.max_memory):
            return Refusal("its links would be large")
        return cls.offer_arrays(task, need, lambda: compile_dense(couplings, bits))

    def tables(self) -> tuple[np.ndarray, ...]:
        return tuple(self.arrays)

    def kernel(self) -> Callable[..., None]:
        return partial(dense_herd_sweeps, self.arrays)


def compile_dense(c: Couplings, bits: int) -> DenseHerdArrays:
    """Lay the couplings out by variable."""
    n = len(c.alone)
    degree = np.bincount(c.first, minlength=n)
    link_start = start_offsets(-(-degree // NEIGHBOURS_PER_PASS) * NEIGHBOURS_PER_PASS)
    at = link_start[c.first] + np.arange(len(c.first)) - np.searchsorted(c.first, c.first)
    neighbour, coupling = np.zeros(link_start[-1], np.uint32), np.zeros(link_start[-1], np.int32)
    neighbour[at], coupling[at] = c.second, round_to_bits(c.coupling, bits)
    alone = round_to_bits(c.alone, bits).astype(np.int32)
    most, scale = (
        np.array([np.diff(link_start).max(initial=0)]),
        np.array([2.0 ** (FIELD_BITS - bits)]),
    )
    lists = number_neighbour_lists(neighbour, link_start)
    found = DenseHerdArrays(
        link_start, neighbour, coupling, alone, lists, most, scale, sigmoid_table()
    )
    return make_read_only(found)


def round_to_bits(fixed: np.ndarray, bits: int) -> np.ndarray:
    """Convert whole numbers at scale 2^24 to whole numbers at scale 2^bits."""
    shift = FIELD_BITS - bits
    return (fixed + (1 << shift >> 1)) >> shift


def number_neighbour_lists(neighbour: np.ndarray, link_start: np.ndarray) -> np.ndarray:
    """Return a number for each variable, the same for those with the same neighbours."""
    numbers: dict[bytes, int] = {}
    pairs = itertools.pairwise(link_start.tolist())
    lists = (neighbour[a:b].tobytes() for a, b in pairs)
    return np.array([numbers.setdefault(one, len(numbers)) for one in lists], np.int64)
