"""Layout "grid" of herds on Potts lattices of up to three dimensions with equal couplings.

Rows along the last axis lie as those of a picture do (`potts_herd_arrays`), in an order in which
even and odd parities take turns, so that colours begin as there. Which rows are neighbours is told
by a table.
"""

import itertools
import math
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from herded.draws.protocol import Step
from herded.layouts.cube import why_no_rows
from herded.layouts.cube_arrays import cube_shape, near_rows, row_parity
from herded.layouts.grid import unpack
from herded.layouts.potts_arrays import why_not
from herded.layouts.potts_cube_herd_sweeps import POWERS, potts_cube_herd_sweeps
from herded.layouts.potts_herd import NO_PHASES, PottsHerdLayout
from herded.layouts.potts_herd_arrays import (
    ALL,
    LANES,
    herd_shape,
    n_cells,
    n_phases,
    n_planes,
    pack_herd,
)
from herded.layouts.protocol import Proposal, Task
from herded.layouts.state import State
from herded.models.lattice import Lattice
from herded.system.arrays import aligned
from herded.system.exp import exp
from herded.system.jit import jit
from herded.system.threads import run_jobs, workers

MOST_DIMENSIONS = 3
STRONGEST = 11.6  # coupling, for single precision: exp(6 * 11.6) 2^24 is below its largest number


class PottsCubeArrays(NamedTuple):
    table: np.ndarray  # (2, cells, 7 K, LANES): u_k f^n
    there: np.ndarray  # uint32, (2, cells, 2 d, LANES): all bits where there is a neighbour
    near: np.ndarray  # (rows, 2 (d - 1)) rows of a herd beside each; any where there is none
    place: np.ndarray  # (rows,) where each row of the lattice lies
    planes: tuple[int, ...]  # its length is their number
    ring: bool  # whether the last axis is periodic


@dataclass(frozen=True, eq=False, kw_only=True)
class PottsCubeHerdLayout(PottsHerdLayout):
    """Bit planes of members, and tabulated weights of states, in `PottsCubeArrays`."""

    @classmethod
    def propose(cls, task: Task, forced: bool) -> Proposal | str:
        """Herds on lattices of three states or more with equal couplings."""
        model: Any = task.model
        draw: Any = task.draw
        reason = why_no_rows(task, MOST_DIMENSIONS) or why_not(model, None)
        if reason:
            return reason
        if len(set(model.all_couplings.tolist())) > 1:
            return "its couplings differ"
        members, kept = draw.members, draw.kept
        shape, states = picture_of(model.shape), model.log_unary.shape[-1]
        places = 2.0 * n_cells(shape) * LANES
        tables = places * (8 * len(model.shape) + POWERS * states * kind_of(model)(0).itemsize)
        chain = 8.0 * math.prod(herd_shape(shape, states, members))  # with an earlier state
        chain += 4.0 * places * n_phases(n_planes(states)) * kept
        chain += 32.0 * model.n_variables * states  # counts and sums of conditionals
        need = tables + chain + 2.0 * model.n_variables * members  # and starts to pack
        return Proposal(
            kind=cls.kind,
            memory=need,
            chain_memory=chain,
            grows=False,
            least_block=1,
            check=task.limit(need, "a lattice and the states of a herd"),
            make=lambda: cls(
                model=model,
                arrays=compile_potts_cube(model),
                memory=need,
                chain_memory=chain,
                members=members,
                kept=kept,
            ),
        )

    @property
    def signature(self) -> tuple[Any, ...]:
        return "potts cube herd", self.shape[3], self.arrays.table.dtype

    @property
    def picture(self) -> tuple[int, int]:
        """Rows, and sites of each."""
        return picture_of(self.model.shape)

    def unstore(self, stored: np.ndarray) -> np.ndarray:
        halves = stored.reshape(*stored.shape[:-1], 2, self.shape[1], self.shape[4])
        rows = unpack(halves, *self.picture)[..., self.arrays.place, :]
        flat: np.ndarray = rows.reshape(*stored.shape[:-1], self.model.n_variables)
        return flat

    def pack(self, states: np.ndarray) -> np.ndarray:
        lines = states.reshape(-1, *self.picture)
        moved = np.empty_like(lines)
        moved[:, self.arrays.place] = lines
        return pack_herd(moved, self.picture, self.shape[3], self.arrays.ring)

    def room(self) -> tuple[np.ndarray, ...]:
        _, *others = super().room()
        planes = 3 if self.shape[3] <= 3 else 6
        return aligned((2 * len(self.model.shape) * planes * LANES,), np.uint32), *others

    def sweep(
        self,
        state: State,
        block: np.ndarray,
        step: Step,
        betas: np.ndarray | None = None,
        pool: Executor | None = None,
    ) -> None:
        table, there, near, _, planes, ring = self.arrays
        lines, kind = (2, self.parts, -1), table.dtype.type
        sweep = partial(
            potts_cube_herd_sweeps,
            table.reshape(lines),
            there.reshape(lines),
            near,
            planes,
            ring,
            self.members,
            (step.sweep, step.key, step.phase_key),
            state.x,
            state.own.get("phases", NO_PHASES),
            state.ones,
            state.tally,
            block,
            (kind(2**24), kind(2**24 + 4)),
        )
        threads = min(workers(pool, self.n_stored * self.members // 2), self.parts)
        halves = 2 * len(block)
        if threads == 1:
            sweep(self.room(), (0, halves), (0, self.parts))
        else:
            cuts = np.linspace(0, self.parts, threads + 1).astype(int).tolist()
            parts = list(itertools.pairwise(cuts))
            for half in range(halves):
                jobs = [((half, half + 1), part) for part in parts]
                run_jobs(lambda job: sweep(self.room(), *job), jobs, pool)
        state.sweep += len(block)


def picture_of(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows along the last axis, and sites of each."""
    return math.prod(shape[:-1]), shape[-1]


def kind_of(model: Lattice) -> type[np.float32] | type[np.float64]:
    """The type of the table."""
    strongest = np.abs(model.all_couplings).max(initial=0.0)
    return np.float32 if strongest <= STRONGEST else np.float64


def compile_potts_cube(model: Lattice) -> PottsCubeArrays:
    """The weights of the states, and where there are neighbours."""
    shape, states, kind = picture_of(model.shape), int(model.log_unary.shape[-1]), kind_of(model)
    rows, width = shape
    frame = cube_shape(model.shape)
    parity = row_parity(model.shape, frame)[:rows]
    place = np.empty(rows, np.int64)
    for odd in (0, 1):  # even rows are as many as odd ones, or one more
        place[parity == odd] = np.arange(odd, rows, 2)
    beside = near_rows(model.shape, model.joined, frame)[:rows] - frame.layer
    near = np.zeros_like(beside)
    near[place] = np.where(beside < 0, -1, place[np.maximum(beside, 0)])
    order = np.argsort(place)
    couplings = model.all_couplings
    table = aligned((2, n_cells(shape), POWERS * states, LANES), kind)
    table[:, :, 0] = 1.0  # places that no site has stay in state 0
    there = aligned((2, n_cells(shape), 2 * len(model.shape), LANES), np.uint32)
    _fill(
        model.log_unary.reshape(rows, width, states)[order],
        couplings[0] if len(couplings) else 0.0,
        model.clamped.reshape(rows, width)[order],
        near,
        model.joined[0],
        float(np.finfo(kind).tiny),
        table,
        there,
    )
    near = np.maximum(near, 0) + 1  # of a herd with its border
    for array in (table, there, near, place):
        array.flags.writeable = False
    return PottsCubeArrays(table, there, near, place, (0,) * n_planes(states), model.joined[0])


@jit
def _fill(log_unary, coupling, clamped, near, ring, least, table, there):
    """Tables, without what is below the `least` normal number, which is slow."""
    height, width, states = log_unary.shape
    factor = exp(coupling)
    for r in range(height):
        for j in range(width):
            site = r * ((width + 1) // 2) + (j >> 1)
            colour, cell, lane = (r + j) & 1, site // LANES, site % LANES
            around = there[colour, cell, :, lane]
            around[0] = ALL if ring or j > 0 else 0
            around[1] = ALL if ring or j < width - 1 else 0
            for e in range(near.shape[1]):
                around[2 + e] = ALL if near[r, e] >= 0 else 0
            top = log_unary[r, j].max()
            mine = table[colour, cell, :, lane]
            for k in range(states):
                u = exp(log_unary[r, j, k] - top)
                if clamped[r, j] >= 0:
                    u = 1.0 if k == clamped[r, j] else 0.0
                for n in range(POWERS):
                    mine[k * POWERS + n] = u if u >= least else 0.0
                    u *= factor
