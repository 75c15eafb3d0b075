"""Layout "grid" of herds on Potts lattices of any dimension: members are bits of words, lanes are
columns."""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from herded.draws.systematic import start_kept_phases
from herded.layouts.base import SweepCall
from herded.layouts.grid_nd.arrays import MAX_DIMENSIONS
from herded.layouts.grid_nd.layout import find_two_colour_lattice
from herded.layouts.herd_base import HerdLayout
from herded.layouts.packing.colour_packing import unpack_colours
from herded.layouts.packing.lattice_base import LatticeLayout
from herded.layouts.packing.member_bits import BitPlaces
from herded.layouts.potts.arrays import refuse_potts
from herded.layouts.potts.herd_arrays import (
    MAX_FLOAT64_COUPLING,
    POTTS_LANES,
    compile_potts_herd,
    count_colour_cells,
    herd_shape,
    max_total_coupling,
    n_phases,
    n_planes,
    n_powers,
    n_sides,
    pack_herd,
    rows_and_columns,
    table_type,
)
from herded.layouts.potts.herd_sweeps import potts_herd_sweeps
from herded.layouts.potts.member_order import BUTTERFLY_STAGES
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.layouts.state import State
from herded.system.aligned_arrays import aligned_zeros, arrays_in
from herded.system.threads import count_threads, run_jobs

NO_CELL_PHASES = np.zeros((0, 0, 0), np.uint32)


@dataclass(frozen=True, eq=False, kw_only=True)
class PottsHerdLayout(LatticeLayout, HerdLayout):
    """Bit planes of members, and tabulated weights of states, in `PottsHerdArrays`."""

    sample_type: ClassVar[type[np.uint32]] = np.uint32

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        """Accept herds on lattices of three states or more."""
        model, herd = find_two_colour_lattice(task, MAX_DIMENSIONS), task.herd
        if isinstance(model, Refusal):
            return model
        refusal = refuse_potts(model, None)
        if refusal is not None:
            return refusal
        if max_total_coupling(model) > MAX_FLOAT64_COUPLING:
            return Refusal("its couplings are so strong that their products overflow")
        shape, states = rows_and_columns(model.shape), model.log_unary.shape[-1]
        places = 2.0 * count_colour_cells(shape) * POTTS_LANES
        sides, powers = n_sides(model.shape), n_powers(model)
        entries = powers * states + (sides if powers == 1 else 0)
        tables = places * (4 * sides + entries * np.dtype(table_type(model)).itemsize)
        chain = 8.0 * math.prod(herd_shape(shape, states, herd.members))  # with an earlier state
        chain += 4.0 * places * n_phases(n_planes(states)) * herd.kept
        chain += 32.0 * model.n_variables * states  # counts and sums of conditionals
        return task.offer(
            cls,
            tables=tables + 2.0 * model.n_variables * herd.members,  # and starts to pack
            chain=chain,
            what="a lattice and the states of a herd",
            make=lambda **facts: cls(arrays=compile_potts_herd(model), **facts),
        )

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Of a packed herd: colours, rows, words, planes, columns."""
        return herd_shape(self.picture, self.width, self.members)

    @cached_property
    def sample_size(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def n_stored(self) -> int:
        """A packed lattice may have a spare column."""
        return 2 * self.shape[1] * self.shape[4]

    @cached_property
    def n_parallel_parts(self) -> int:
        """Cells of a colour: threads share them."""
        return count_colour_cells(self.picture)

    @property
    def signature(self) -> tuple[Any, ...]:
        return "potts herd", self.shape[3], len(self.arrays.powers), self.arrays.table.dtype

    @property
    def picture(self) -> tuple[int, int]:
        """Rows, and sites of each."""
        return rows_and_columns(self.model.shape)

    def unstore(self, stored: np.ndarray) -> np.ndarray:
        halves = stored.reshape(*stored.shape[:-1], 2, self.shape[1], self.shape[4])
        rows = unpack_colours(halves, *self.picture)[..., self.arrays.place, :]
        flat: np.ndarray = rows.reshape(*stored.shape[:-1], self.model.n_variables)
        return flat

    def pack(self, states: np.ndarray) -> np.ndarray:
        lines = states.reshape(-1, *self.picture)
        moved = np.empty_like(lines)
        moved[:, self.arrays.place] = lines
        return pack_herd(moved, self.picture, self.shape[3], self.arrays.ring)

    def packed(self, state: State) -> np.ndarray:
        return state.x[..., 1:-1].reshape(-1)

    @cached_property
    def bit_places(self) -> BitPlaces:
        _, _, _, planes, columns = self.shape
        return BitPlaces.of(self.unstore(np.arange(self.n_stored)), columns, planes)

    def tables(self) -> tuple[np.ndarray, ...]:
        return tuple(arrays_in(self.arrays))

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        phases = aligned_zeros(
            (2, self.n_parallel_parts, n_phases(self.shape[3]) * POTTS_LANES), np.uint32
        )
        start_kept_phases(phases.reshape(-1), key)
        return {"phases": phases}

    def room(self) -> tuple[np.ndarray, ...]:
        """Allocate the arrays for a visit of a cell, for one thread."""
        digits = 1 if self.shape[3] <= 3 else 2
        planes, states = 3 * digits, 8**digits
        octets, phases = -(-self.width // 8), n_phases(self.shape[3])
        sides = n_sides(self.model.shape)
        hot = (4 if self.arrays.factors is None else sides) * states
        words = (
            sides * planes,
            planes,
            hot,
            4 * 8,
            phases,
            BUTTERFLY_STAGES,
            8 * octets,
            8 * octets,
            1,
            1,
        )
        weights = 4 * states, 2 * 4 * 8
        kind = self.arrays.table.dtype
        return (
            *(aligned_zeros((rows * POTTS_LANES,), np.uint32) for rows in words),
            *(aligned_zeros((rows * POTTS_LANES,), kind) for rows in weights),
        )

    def sweep(self, call: SweepCall) -> None:
        state, step, halves = call.state, call.step, 2 * len(call.block)
        table, factors, has_side, adjacent_rows, _, planes, powers, ring = self.arrays
        lines = 2, self.n_parallel_parts, -1
        kind = table.dtype.type
        sweep = partial(
            potts_herd_sweeps,
            table.reshape(lines),
            None if factors is None else factors.reshape(lines),
            has_side.reshape(lines),
            adjacent_rows,
            planes,
            powers,
            ring,
            self.members,
            (step.sweep, step.key, step.phase_key),
            state.x,
            state.method_arrays.get("phases", NO_CELL_PHASES),
            state.state_counts,
            state.conditional_sums,
            call.block,
            (kind(2**31), kind(2**24), kind(2**-24)),
        )
        cells = self.n_parallel_parts
        threads = min(count_threads(call.pool, self.n_stored * self.members // 2), cells)
        if threads == 1:
            sweep(self.room(), (0, halves), (0, cells))
        else:
            cuts = np.linspace(0, cells, threads + 1).astype(int).tolist()
            parts = list(itertools.pairwise(cuts))
            for half in range(halves):
                jobs = [((half, half + 1), part) for part in parts]
                run_jobs(lambda job: sweep(self.room(), *job), jobs, call.pool)
