"""Layout "grid" of herds on lattices of two states and any dimension; lanes are sites."""

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from herded.draws.protocol import SweepParameters
from herded.draws.systematic_lanes import (
    MEMBERS_PER_WORD,
    count_words,
    member_masks,
    members_in_last_word,
)
from herded.layouts.grid.arrays import BYTES_PER_CONDITIONAL, start_lattice
from herded.layouts.grid.herd import MIN_GRID_HERD_SITES, NO_PHASES, herd_state_bytes
from herded.layouts.grid.herd_sweeps import GridHerdArrays
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
from herded.layouts.herd_base import HerdLayout
from herded.layouts.packing.colour_packing import LANES
from herded.layouts.packing.member_bits import BitPlaces
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.layouts.state import State
from herded.system.aligned_arrays import aligned_zeros
from herded.system.threads import count_threads, run_jobs


@dataclass(frozen=True, eq=False, kw_only=True)
class GridNDHerdLayout(HerdLayout, RowPackedLayout):
    """Planes of conditionals in `GridNDArrays`, in bytes; members are bits of words."""

    scalar: bool = True

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        """Herds on a lattice of two states with equal couplings."""
        model = find_binary_grid_nd(task)
        if isinstance(model, Refusal):
            return model
        if model.n_variables < MIN_GRID_HERD_SITES and not forced:
            return Refusal(f"of fewer than {MIN_GRID_HERD_SITES} sites most lanes would idle")
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

    @cached_property
    def words(self) -> int:
        """Of the members of one site."""
        return count_words(self.members)

    @property
    def sample_size(self) -> int:
        return self.n_stored * self.words

    @property
    def sample_type(self) -> Any:
        return np.uint8

    def pack(self, states: np.ndarray) -> np.ndarray:
        """(2, words, tall, wide): half-lattices of words in a border."""
        words = np.zeros((self.words, self.model.n_variables), np.uint8)
        for k in range(self.members):  # one by one: all at once would take twice their bytes again
            words[k // MEMBERS_PER_WORD] |= states[k].astype(np.uint8) << np.uint8(
                k % MEMBERS_PER_WORD
            )
        halves = pack_rows(words, self.model.shape).swapaxes(0, 1)
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

    def sweep(
        self,
        state: State,
        block: np.ndarray,
        step: SweepParameters,
        betas: np.ndarray | None = None,
        pool: Executor | None = None,
    ) -> None:
        table, contexts, *cube = self.arrays
        p = table.reshape(2, self.n_parallel_parts, -1)
        tables = (p, None) if len(contexts) == CONTEXTS_UP_TO_3D else (None, p)
        phases = (
            state.method_arrays["phases"].reshape(2, self.n_parallel_parts, -1)
            if self.kept
            else NO_PHASES
        )
        herd = GridHerdArrays(state.x, phases, state.conditional_sums, state.state_counts)
        spare = MEMBERS_PER_WORD - members_in_last_word(self.members)
        what = tuple(cube), tuple(self.frame), spare, member_masks(self.members)
        sweep = partial(grid_nd_herd_sweeps, *tables, *what, step, herd, block)
        size = p.nbytes + sum(array.nbytes for array in herd)
        threads = count_threads(pool, len(block) * self.n_stored * self.members)
        for jobs in self.jobs(2 * len(block), size, threads):
            run_jobs(sweep, jobs, pool if threads > 1 else None)
        state.sweep += len(block)
