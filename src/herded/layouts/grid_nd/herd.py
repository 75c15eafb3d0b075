"""Layout "grid" of herds on lattices of two states and any dimension; lanes are sites."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from herded.draws.systematic_lanes import (
    LANES,
    member_masks,
)
from herded.layouts.base import SweepCall
from herded.layouts.grid.arrays import BYTES_PER_CONDITIONAL, start_lattice
from herded.layouts.grid.herd import MIN_GRID_HERD_SITES, WordHerdLayout, herd_state_bytes
from herded.layouts.grid_nd.arrays import (
    CONTEXTS_UP_TO_3D,
    add_border,
    compile_grid_nd,
    n_contexts,
    pack_rows,
    row_packing_shape,
)
from herded.layouts.grid_nd.herd_sweeps import grid_nd_herd_sweeps
from herded.layouts.grid_nd.layout import RowPackedLayout, find_binary_grid_nd
from herded.layouts.packing.member_bits import BitPlaces
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.layouts.state import State
from herded.system.aligned_arrays import aligned_zeros


@dataclass(frozen=True, eq=False, kw_only=True)
class GridNDHerdLayout(WordHerdLayout, RowPackedLayout):
    """Planes of conditionals in `GridNDArrays`, in bytes; members are bits of words."""

    scalar: bool = True

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        """Accept herds on a lattice of two states with equal couplings."""
        model = find_binary_grid_nd(task)
        if isinstance(model, Refusal):
            return model
        if model.n_variables < MIN_GRID_HERD_SITES and not forced:
            return Refusal(f"with fewer than {MIN_GRID_HERD_SITES} sites most lanes would idle")
        frame, herd = row_packing_shape(model.shape), task.herd
        sites = 2.0 * frame.strips * frame.cells * LANES
        starts = 2.0 * herd.members  # bytes per site, while they are packed
        return task.offer(
            cls,
            tables=sites * (BYTES_PER_CONDITIONAL * n_contexts(model.shape) + starts),
            chain=herd_state_bytes(sites, herd),
            what="a lattice with the states of a herd",
            make=lambda **facts: cls(arrays=compile_grid_nd(model, np.uint8), **facts),
        )

    @property
    def signature(self) -> tuple[Any, ...]:
        return "cube", self.is_herd, len(self.arrays.contexts), self.kept

    def pack(self, states: np.ndarray) -> np.ndarray:
        """Pack states as (2, words, tall, wide) words within a border."""
        halves = pack_rows(self.pack_words(states), self.model.shape).swapaxes(0, 1)
        return add_border(halves, self.frame.layer, self.arrays.ring)

    def packed(self, state: State) -> np.ndarray:
        return state.x[:, :, self.frame.layer : -1].reshape(-1)

    @cached_property
    def bit_places(self) -> BitPlaces:
        return BitPlaces.of(self.unstore(np.arange(self.n_stored)), self.n_stored // 2)

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        phases = aligned_zeros((*self.arrays.p.shape[:3], 2, LANES), np.uint8)
        start_lattice(phases, self.frame.places, key)
        return {"phases": phases}

    def prepare_kernel(self, call: SweepCall) -> tuple[Callable[[np.ndarray], Any], int, int]:
        state, (table, contexts, *cube) = call.state, self.arrays
        p = table.reshape(2, self.n_parallel_parts, -1)
        tables = (p, None) if len(contexts) == CONTEXTS_UP_TO_3D else (None, p)
        herd = self.herd_arrays(state)
        masks = member_masks(self.members)
        what = tuple(cube), tuple(self.frame), self.spare_places, masks
        sweep = partial(grid_nd_herd_sweeps, *tables, *what, call.step, herd, call.block)
        size = p.nbytes + sum(array.nbytes for array in herd)
        return sweep, size, self.n_stored * self.members
