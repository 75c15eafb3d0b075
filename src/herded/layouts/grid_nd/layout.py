"""Layout "grid" of other dimensions: lattices of two states with equal couplings, by colour."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from herded.draws.herded_weights import HALF_PHASE
from herded.draws.protocol import Draw
from herded.draws.systematic_lanes import LANES
from herded.layouts.base import SweepCall
from herded.layouts.grid.arrays import start_lattice
from herded.layouts.grid.layout import ones_buffer, refuse_draw
from herded.layouts.grid_nd.arrays import (
    MAX_DIMENSIONS,
    GridNDArrays,
    RowPackingShape,
    add_border,
    compile_grid_nd,
    n_contexts,
    pack_rows,
    row_packing_shape,
    unpack_rows,
)
from herded.layouts.grid_nd.sweeps import grid_nd_sweeps
from herded.layouts.packing.lattice_base import WaveLayout
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.layouts.state import EMPTY_INTEGERS, State
from herded.models.lattice import Lattice
from herded.system.aligned_arrays import aligned_zeros


def find_binary_grid_nd(task: LayoutRequest) -> Lattice | Refusal:
    """Return the lattice of a task that the kernels of two states and any dimension can run."""
    model = find_two_colour_lattice(task, MAX_DIMENSIONS)
    if isinstance(model, Refusal):
        return model
    if model.log_unary.shape[-1] != 2:
        return Refusal("its variables have more than two states")
    if not model.counts_suffice:
        return Refusal("its conditionals depend on more than the number of neighbours that are 1")
    return model


def find_two_colour_lattice(task: LayoutRequest, most: int) -> Lattice | Refusal:
    """Return the lattice of a task, if it has two colours and at most `most` dimensions."""
    model = task.model
    if not isinstance(model, Lattice):
        return Refusal("the model is not a lattice")
    if len(model.shape) > most:
        return Refusal(f"it has more than {most} dimensions")
    if any(
        n % 2
        for n, joined in zip(reversed(model.shape), model.is_periodic_by_axis, strict=True)
        if joined
    ):
        return Refusal("it is periodic along an odd side")
    return refuse_draw(task) or model


class RowPackedLayout(WaveLayout):
    """A lattice packed by colour in rows; its arrays are planes of cells in strips."""

    arrays: GridNDArrays

    @cached_property
    def frame(self) -> RowPackingShape:
        return row_packing_shape(self.model.shape)

    @cached_property
    def n_stored(self) -> int:
        """A packed lattice has a border, and may have spare rows in its last strip."""
        return 2 * self.frame.strips * self.frame.places

    @cached_property
    def n_parallel_parts(self) -> int:
        """Strips: threads share them."""
        return self.frame.strips

    def tables(self) -> tuple[np.ndarray, ...]:
        return (self.arrays.p, self.arrays.runs)

    def store(self, states: np.ndarray) -> np.ndarray:
        halves = pack_rows(states.astype(self.state_type), self.model.shape)
        return halves.reshape(*states.shape[:-1], self.n_stored)

    def unstore(self, stored: np.ndarray) -> np.ndarray:
        halves = stored.reshape(*stored.shape[:-1], 2, self.frame.total, self.frame.wide)
        return unpack_rows(halves, self.model.shape)


@dataclass(frozen=True, eq=False, kw_only=True)
class GridNDLayout(RowPackedLayout):
    """Planes of fixed-point conditionals, in `GridNDArrays`."""

    scalar: bool = True

    counts_states: ClassVar[bool] = True

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        """Accept shared weights, or draws, on a lattice of two states with equal couplings."""
        model, weights = find_binary_grid_nd(task), task.draw.weights
        if isinstance(model, Refusal):
            return model
        if weights not in (None, "shared"):
            return Refusal(
                f"weights={weights!r} does not run on lattices of {len(model.shape)} dimensions"
            )
        frame = row_packing_shape(model.shape)
        tables = 8.0 * frame.strips * frame.cells * LANES * n_contexts(model.shape)
        return task.offer(
            cls,
            tables=tables,
            chain=tables if weights else 0.0,
            what="a lattice with its weights",
            make=lambda **facts: cls(arrays=compile_grid_nd(model, np.uint32), **facts),
        )

    @property
    def signature(self) -> tuple[Any, ...]:
        return "cube", len(self.arrays.contexts)

    def values(self, state: State) -> np.ndarray:
        layer = self.frame.layer
        inside = state.x.reshape(2, -1, self.frame.wide)[:, layer:-1]
        return self.unstore(inside.reshape(1, -1)).astype(np.int64)

    def start(self, draw: Draw, x: np.ndarray, *, chain: int, tally: bool, total: int) -> State:
        halves = self.store(x).reshape(2, -1, self.frame.wide)
        stored = add_border(halves, self.frame.layer, self.arrays.ring).reshape(2, -1)
        sums = np.zeros(self.n_stored, np.int64) if tally else EMPTY_INTEGERS
        return State(stored, draw.start(self, chain), sums, 0, chain, total)

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        phases = aligned_zeros(self.arrays.p.shape, np.uint32)
        phases[...] = HALF_PHASE
        if random:
            start_lattice(phases, self.frame.places, key)
        return {"w": phases}

    def prepare_kernel(self, call: SweepCall) -> tuple[Callable[[np.ndarray], Any], int, int]:
        state, step, cube = call.state, call.step, self.arrays
        planes, weights = cube.p.reshape(2, self.n_parallel_parts, -1), state.method_arrays.get("w")
        w = None if weights is None else weights.reshape(planes.shape)
        sweep = partial(
            grid_nd_sweeps,
            (planes, *cube[1:]),
            tuple(self.frame),
            w is None or None,
            ones_buffer(state),
            step.sweep,
            step.key,
            state.x,
            w,
            state.conditional_sums,
            call.block,
        )
        size = planes.nbytes * (1 if w is None else 2)
        return sweep, size, self.n_stored
