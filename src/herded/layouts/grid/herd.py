"""Layout "grid" of herds: 4-neighbour grids of two states, lanes are sites of one colour."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from herded.draws.systematic import SystematicDraw
from herded.draws.systematic_lanes import (
    LANES,
    MEMBERS_PER_WORD,
    count_words,
    member_masks,
    members_in_last_word,
)
from herded.layouts.base import SweepCall
from herded.layouts.grid.arrays import (
    BYTES_PER_CONDITIONAL,
    CONTEXTS_BY_COUNT,
    compile_lattice,
    count_table_entries,
    start_lattice,
)
from herded.layouts.grid.herd_sweeps import GridHerdArrays, HerdGridShape, grid_herd_sweeps
from herded.layouts.grid.layout import ColourPackedLayout, find_grid
from herded.layouts.herd_base import HerdLayout
from herded.layouts.packing.colour_packing import pack_colours
from herded.layouts.packing.member_bits import BitPlaces
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.layouts.state import State
from herded.system.aligned_arrays import aligned_zeros

# On smaller lattices most lanes would idle: layouts whose lanes are members are faster there.
MIN_GRID_HERD_SITES = 256
NO_STRIP_PHASES = np.zeros((2, 0, 0), np.uint8)


def herd_state_bytes(sites: float, herd: SystematicDraw) -> float:
    """Return the bytes of a herd's states, now and at the end of burn-in, and of its sums."""
    return sites * (2.0 * count_words(herd.members) + 16.0 + 2.0 * herd.kept)


class WordHerdLayout(HerdLayout):
    """A herd on a lattice of two states: eight members are the bits of a byte."""

    @cached_property
    def words(self) -> int:
        """Bytes that hold the members of one site."""
        return count_words(self.members)

    @property
    def spare_places(self) -> int:
        """Places of the last word that no member has."""
        return MEMBERS_PER_WORD - members_in_last_word(self.members)

    @property
    def sample_size(self) -> int:
        return self.n_stored * self.words

    @property
    def sample_type(self) -> type[np.integer]:
        return np.uint8

    def pack_words(self, states: np.ndarray) -> np.ndarray:
        """Pack states (members, N) as words (words, N)."""
        words = np.zeros((self.words, self.model.n_variables), np.uint8)
        for k in range(self.members):  # one by one: all at once would take twice their bytes again
            words[k // MEMBERS_PER_WORD] |= states[k].astype(np.uint8) << np.uint8(
                k % MEMBERS_PER_WORD
            )
        return words

    def herd_arrays(self, state: State) -> GridHerdArrays:
        """Return the arrays that kernels change."""
        phases = NO_STRIP_PHASES
        if self.kept:
            phases = state.method_arrays["phases"].reshape(2, self.n_parallel_parts, -1)
        return GridHerdArrays(state.x, phases, state.conditional_sums, state.state_counts)


@dataclass(frozen=True, eq=False, kw_only=True)
class GridHerdLayout(WordHerdLayout, ColourPackedLayout):
    """Planes of conditionals in `LatticeArrays`, in bytes; members are bits of words."""

    scalar: bool = True

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        """Accept herds on a lattice of two states."""
        model = find_grid(task)
        if isinstance(model, Refusal):
            return model
        if model.log_unary.shape[2] != 2:
            return Refusal("its variables have more than two states")
        if model.n_variables < MIN_GRID_HERD_SITES and not forced:
            return Refusal(f"with fewer than {MIN_GRID_HERD_SITES} sites most lanes would idle")
        by_count, herd = model.counts_suffice, task.herd
        tables = BYTES_PER_CONDITIONAL * float(count_table_entries(model.shape, by_count))
        sites = count_table_entries(model.shape, True) / CONTEXTS_BY_COUNT
        return task.offer(
            cls,
            tables=tables + 2.0 * sites * herd.members,  # and starts, while they are packed
            chain=herd_state_bytes(sites, herd),
            what="a lattice with the states of a herd",
            make=lambda **facts: cls(arrays=compile_lattice(model, by_count, np.uint8), **facts),
        )

    @property
    def signature(self) -> tuple[Any, ...]:
        return self.kind, self.is_herd, len(self.arrays.contexts), self.kept

    def tables(self) -> tuple[np.ndarray, ...]:
        return (self.arrays.p,)

    def pack(self, states: np.ndarray) -> np.ndarray:
        """Pack states as (2, rows + 2, words, columns + 2) words within a border."""
        h, w = self.model.shape
        if states.strides[0] == 0:  # all members start alike
            words = np.zeros((self.words, h * w), np.uint8)
            words[:, states[0] == 1] = 0xFF
            words[-1] &= 0xFF >> self.spare_places
        else:
            words = self.pack_words(states)
        inside = pack_colours(words.reshape(-1, h, w), self.halves[1]).transpose(1, 2, 0, 3)
        x = np.pad(inside, ((0, 0), (1, 1), (0, 0), (1, 1)))
        if self.arrays.periodic:
            x[:, 0], x[:, h + 1] = x[:, h], x[:, 1]
            x[..., 0], x[..., -1] = x[..., -2], x[..., 1]
        return np.ascontiguousarray(x)

    def packed(self, state: State) -> np.ndarray:
        return state.x[:, 1:-1, :, 1:-1].reshape(-1)

    @cached_property
    def bit_places(self) -> BitPlaces:
        return BitPlaces.of(self.unstore(np.arange(self.n_stored)), self.arrays.columns)

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        shape = *self.arrays.p.shape[:3], 2, LANES
        phases = aligned_zeros(shape, np.uint8)
        start_lattice(phases, self.arrays.rows * self.arrays.columns, key)
        return {"phases": phases}

    def prepare_kernel(self, call: SweepCall) -> tuple[Callable[[np.ndarray], Any], int, int]:
        state, grid = call.state, self.arrays
        p = grid.p.reshape(2, self.n_parallel_parts, -1)
        tables = (p, None) if len(grid.contexts) == CONTEXTS_BY_COUNT else (None, p)
        herd = self.herd_arrays(state)
        frame = HerdGridShape(grid.rows, self.model.shape[0], grid.periodic, self.spare_places)
        masks = member_masks(self.members)
        sweep = partial(grid_herd_sweeps, *tables, masks, frame, call.step, herd, call.block)
        size = p.nbytes + sum(array.nbytes for array in herd)
        return sweep, size, self.n_stored * self.members
