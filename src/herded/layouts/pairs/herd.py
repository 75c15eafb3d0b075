"""Layout "pairs" of herds: any variables with pair interactions, members side by side as bytes."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from herded.draws.systematic import start_kept_phases
from herded.layouts.binary_pairs.arrays import LINK_BITS
from herded.layouts.general.pairwise_base import is_affordable
from herded.layouts.general.site_herd import SiteHerdLayout
from herded.layouts.pairs.arrays import PairInteractions, compile_pairs, find_pair_interactions
from herded.layouts.pairs.herd_sweeps import pairs_herd_sweeps
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.system.aligned_arrays import make_read_only

MAX_BYTE_STATES = 256  # of a byte
MIN_ROW_WIDTH = 4  # least width of a row
MAX_FLOAT32_LOG_RANGE = 80.0  # logarithms of a product: the exp of less has no 32 bits


class PairHerdArrays(NamedTuple):
    """Links by variable, as in `PairArrays`; rows have a place for each state, bits reversed."""

    alone: np.ndarray  # (N * width,) float32, or float64 where products could leave its range
    start: np.ndarray  # (N + 1,) links of each variable
    at: np.ndarray  # (links,) where the members of the neighbour are
    row: np.ndarray  # (links,) where the row for its state 0 is
    rows: np.ndarray  # (rows * width,) of the same type, rounded to 32 bits; 0 where no state is
    leaf: np.ndarray  # (width,) the place of each state, and the state of each place
    steps: np.ndarray  # (N,) bits of a state: steps down the tree


class PairsHerdLayout(SiteHerdLayout):
    """Tabulated rows of exponentials, in `PairHerdArrays`."""

    kind: ClassVar[str] = "pairs"

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        """Accept any scan, if factors have at most two variables."""
        widest = int(task.graph.cardinalities.max())
        if widest > MAX_BYTE_STATES:
            return Refusal(f"it has variables of more than {MAX_BYTE_STATES} states")
        found = find_pair_interactions(task.graph)
        if isinstance(found, Refusal):
            return found
        pairs = found._replace(width=max(MIN_ROW_WIDTH, 1 << (widest - 1).bit_length()))
        if not forced and not is_affordable(pairs.bytes, task):
            return Refusal("its rows would be large")
        members, kept = task.herd.members, task.herd.kept
        need = pairs.bytes + 8.0 * pairs.width * task.graph.n_variables * kept
        if pairs.deepest > MAX_FLOAT32_LOG_RANGE:  # rows have 64 bits too
            need += 4.0 * pairs.width * float(task.graph.cardinalities[pairs.entries.other].sum())
        return cls.offer_arrays(task, need, lambda: compile_pairs_herd(pairs, members))

    @property
    def places(self) -> int:
        """Of the states in a row."""
        return len(self.arrays.leaf)

    @property
    def signature(self) -> tuple[Any, ...]:
        return self.kind, self.is_herd, self.arrays.alone.dtype, self.kept

    def tables(self) -> tuple[np.ndarray, ...]:
        return tuple(self.arrays)

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        phases = np.empty(self.n_stored * 2 * self.places, np.uint32)
        start_kept_phases(phases, key)
        return {"phases": phases}

    def kernel(self) -> Callable[..., None]:
        kind = self.arrays.alone.dtype.type
        return partial(pairs_herd_sweeps, self.arrays, (kind(2**31), kind(2**30), kind(2**-24)))


def compile_pairs_herd(pairs: PairInteractions, members: int) -> PairHerdArrays:
    """Build the rows of single chains, with states in the order of reversed bits."""
    found, width = compile_pairs(pairs), pairs.width
    leaf = reversed_bits(width)
    kind = np.float32 if pairs.deepest <= MAX_FLOAT32_LOG_RANGE else np.float64
    return make_read_only(
        PairHerdArrays(
            found.alone.reshape(-1, width)[:, leaf].astype(kind).reshape(-1),
            found.start,
            (found.links & (2**LINK_BITS - 1)) * members,
            (found.links >> LINK_BITS) * width,
            found.rows.reshape(-1, width)[:, leaf].astype(kind).reshape(-1),
            leaf,
            np.array([(int(states) - 1).bit_length() for states in found.cardinalities], np.int64),
        )
    )


def reversed_bits(width: int) -> np.ndarray:
    """Return the numbers below a power of two with their bits in reverse; it is its own inverse."""
    order = np.zeros(1, np.int64)
    while len(order) < width:
        order = np.concatenate([2 * order, 2 * order + 1])
    return order
