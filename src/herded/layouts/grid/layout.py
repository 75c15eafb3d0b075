"""Layout "grid" of two states: 4-neighbour grids packed by colour, swept in strips."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from herded.draws.herded_weights import HALF_PHASE
from herded.draws.protocol import Draw
from herded.layouts.base import SweepCall
from herded.layouts.general.context_weights import TABULATED_WEIGHTS
from herded.layouts.grid.arrays import compile_lattice, count_table_entries, start_lattice
from herded.layouts.grid.sweeps import grid_sweeps
from herded.layouts.packing.colour_packing import pack_colours, unpack_colours
from herded.layouts.packing.lattice_base import WaveLayout
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.layouts.state import EMPTY_INTEGERS, State
from herded.models.lattice import Lattice
from herded.system.aligned_arrays import aligned_zeros


def ones_buffer(state: State) -> np.ndarray:
    """Return where a kernel counts samples with x = 1: bytes, also if there is no room for any."""
    return state.state_counts.astype(np.uint8, copy=False)


def find_grid(task: LayoutRequest) -> Lattice | Refusal:
    """Return the lattice of a task that the grid kernels can run."""
    model = task.model
    if not isinstance(model, Lattice):
        return Refusal("the model is not a lattice")
    if len(model.shape) != 2:
        return Refusal("it has not two dimensions")
    if len(set(model.is_periodic_by_axis)) > 1:
        return Refusal("one of its axes is periodic, and the other is not")
    if model.periodic and any(side % 2 for side in model.shape):
        return Refusal("it is periodic and has an odd side")
    return refuse_draw(task) or model


def refuse_draw(task: LayoutRequest) -> Refusal | None:
    """Return a refusal of draws and scans that no lattice kernel has."""
    if task.draw.vector:
        return Refusal("slack needs weight vectors")
    if not (isinstance(task.scan, str) and task.scan == "checkerboard"):
        return Refusal(f"the scan is {task.scan!r:.40}, not the checkerboard")
    return None


class ColourPackedLayout(WaveLayout):
    """A lattice packed by colour; its arrays are planes of cells in strips."""

    @cached_property
    def n_stored(self) -> int:
        """A packed lattice may have a spare column."""
        return math.prod(self.halves)

    @cached_property
    def n_parallel_parts(self) -> int:
        """Strips: threads share them."""
        return int(self.tables()[0].shape[1])

    @cached_property
    def halves(self) -> tuple[int, int, int]:
        """The shape of a stored state without its border: colours, rows, columns.

        Rows that only fill up the last strip are included.
        """
        return 2, self.n_parallel_parts * self.arrays.rows, self.arrays.columns

    def store(self, states: np.ndarray) -> np.ndarray:
        pictures = states.reshape(*states.shape[:-1], *self.model.shape)
        packed = pack_colours(pictures, self.halves[1]).astype(self.state_type)
        return packed.reshape(*states.shape[:-1], self.n_stored)

    def unstore(self, stored: np.ndarray) -> np.ndarray:
        pictures = unpack_colours(
            stored.reshape(*stored.shape[:-1], *self.halves), *self.model.shape
        )
        return pictures.reshape(*stored.shape[:-1], self.model.n_variables)

    def values(self, state: State) -> np.ndarray:
        return self.unstore(state.x[:, 1:-1, 1:-1].reshape(1, -1)).astype(np.int64)

    def start(self, draw: Draw, x: np.ndarray, *, chain: int, tally: bool, total: int) -> State:
        stored = np.pad(self.store(x).reshape(self.halves), ((0, 0), (1, 1), (1, 1)))
        if self.arrays.periodic:  # the border is what lies on the other side
            height = self.model.shape[0]
            stored[:, 0], stored[:, height + 1] = stored[:, height], stored[:, 1]
            stored[:, :, 0], stored[:, :, -1] = stored[:, :, -2], stored[:, :, 1]
        size = self.n_stored * (1 if self.scalar else self.width)
        sums = np.zeros(size, np.int64) if tally else EMPTY_INTEGERS
        return State(stored, draw.start(self, chain), sums, 0, chain, total)

    def kernel(self, state: State) -> tuple[Any, np.ndarray | None, int]:
        """Return the compiled sweeps, the weights, and the bytes that a sweep reads."""
        raise NotImplementedError

    def prepare_kernel(self, call: SweepCall) -> tuple[Callable[[np.ndarray], Any], int, int]:
        state, step, grid = call.state, call.step, self.arrays
        kernel, w, size = self.kernel(state)
        where = grid.rows, self.model.shape[0], grid.periodic, step.sweep, step.key
        sweep = partial(kernel, *where, state.x, w, state.conditional_sums, call.block)
        return sweep, size, self.n_stored


@dataclass(frozen=True, eq=False, kw_only=True)
class GridLayout(ColourPackedLayout):
    """Planes of fixed-point conditionals, in `LatticeArrays`."""

    scalar: bool = True

    counts_states: ClassVar[bool] = True

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        """Accept weights of Algorithm 1, shared ones or draws, on a lattice of two states."""
        model, weights = find_grid(task), task.draw.weights
        if isinstance(model, Refusal):
            return model
        if model.log_unary.shape[2] != 2:
            return Refusal("its variables have more than two states")
        if weights not in (None, *TABULATED_WEIGHTS):
            return Refusal(f"weights={weights!r} does not run on lattices of two states")
        if weights == "shared" and not model.counts_suffice:
            return Refusal(
                "its conditionals depend on more than the number of neighbours that are 1"
            )
        # whether a pixel's conditionals depend only on how many neighbours are 1
        by_count = model.counts_suffice and weights != "blanket"
        tables = 4.0 * count_table_entries(model.shape, by_count)
        return task.offer(
            cls,
            tables=tables,
            chain=tables if weights else 0.0,
            what="a lattice with its weights",
            make=lambda **facts: cls(arrays=compile_lattice(model, by_count), **facts),
        )

    def tables(self) -> tuple[np.ndarray, ...]:
        return (self.arrays.p,)

    @property
    def signature(self) -> tuple[Any, ...]:
        return self.kind, len(self.arrays.contexts)

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        p = self.arrays.p
        phases = aligned_zeros(p.shape, p.dtype)
        phases[...] = HALF_PHASE
        if random:
            start_lattice(phases, self.arrays.rows * self.arrays.columns, key)
        return {"w": phases}

    def kernel(self, state: State) -> tuple[Any, np.ndarray | None, int]:
        p = self.arrays.p.reshape(2, self.n_parallel_parts, -1)
        weights = state.method_arrays.get("w")
        w = None if weights is None else weights.reshape(p.shape)
        sweeps = partial(
            grid_sweeps, p, self.arrays.contexts, w is None or None, ones_buffer(state)
        )
        return sweeps, w, p.nbytes * (1 if w is None else 2)
