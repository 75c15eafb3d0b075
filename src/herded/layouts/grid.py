"""Layout "grid" of two states: 4-neighbour grids packed by colour, swept in strips."""

import math
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from herded.draws.phases import COARSE_HALF, HALF
from herded.draws.protocol import Draw, Step
from herded.layouts.factor_arrays import compile_factors
from herded.layouts.grid_arrays import (
    compile_lattice,
    n_entries,
    pack,
    start_lattice,
    unpack,
    with_border,
)
from herded.layouts.grid_sweeps import lattice_sweeps
from herded.layouts.protocol import Proposal, SweptLayout, Task
from herded.layouts.scan import components
from herded.layouts.state import NOTHING, State
from herded.layouts.waves import schedule, wave_length
from herded.layouts.weights import TABULATED
from herded.models.factor_graph import as_graph
from herded.models.lattice import Lattice
from herded.system.arrays import aligned
from herded.system.threads import run_jobs, workers


def given(array: np.ndarray) -> np.ndarray | None:
    """An argument of a kernel; one that has no room for a site is not needed, and not compiled."""
    return array if array.shape[-1] else None


def why_no_grid(task: Task) -> str:
    """Why the grid kernels cannot run this; empty if they can."""
    model = task.model
    if not isinstance(model, Lattice):
        return "the model is not a lattice"
    if model.periodic and any(side % 2 for side in model.shape):
        return "it is periodic and has an odd side"
    if task.draw.vector:
        return "slack needs weight vectors"
    if not (isinstance(task.scan, str) and task.scan == "checkerboard"):
        return f"the scan is {task.scan!r:.40}, not the checkerboard"
    return ""


class PackedLayout(SweptLayout):
    """A lattice packed by colour; its arrays are planes of cells in strips."""

    kind: ClassVar[str] = "grid"
    least_block: ClassVar[int] = 16  # sweeps: they go over the grid as a wave

    @cached_property
    def n_stored(self) -> int:
        """A packed lattice may have a spare column."""
        return math.prod(self.halves)

    @cached_property
    def parts(self) -> int:
        """Strips: threads share them."""
        found: int = self.arrays.strips
        return found

    @cached_property
    def halves(self) -> tuple[int, int, int]:
        """The shape of a stored state without its border: colours, rows, columns."""
        return 2, self.arrays.height, self.arrays.columns

    def store(self, states: np.ndarray) -> np.ndarray:
        pictures = states.reshape(*states.shape[:-1], *self.model.shape)
        packed = pack(pictures, self.halves[1]).astype(self.state_type)
        return packed.reshape(*states.shape[:-1], self.n_stored)

    def unstore(self, stored: np.ndarray) -> np.ndarray:
        pictures = unpack(stored.reshape(*stored.shape[:-1], *self.halves), *self.model.shape)
        return pictures.reshape(*stored.shape[:-1], self.model.n_variables)

    def values(self, state: State) -> np.ndarray:
        return self.unstore(state.x[:, 1:-1, 1:-1].reshape(-1)).astype(np.int64)

    def fill(self, block: np.ndarray, state: State) -> None:
        """Nothing: a sweep writes known sites too."""

    def tables(self) -> tuple[np.ndarray, ...]:
        found: tuple[np.ndarray, ...] = self.arrays.tables
        return found

    def start(self, draw: Draw, x: np.ndarray, *, chain: int, tally: bool, total: int) -> State:
        stored = with_border(self.store(x), self.arrays, self.model.shape[0])
        size = self.n_stored * (1 if self.scalar else self.width)
        sums = np.zeros(size, np.int64) if tally else NOTHING
        return State(stored, draw.start(self, chain), sums, 0, chain, total)

    def kernel(self, state: State) -> tuple[Any, np.ndarray | None, int]:
        """The compiled sweeps told their tables, the weights, and the bytes that sweeps go over."""
        raise NotImplementedError

    def sweep(
        self,
        state: State,
        block: np.ndarray,
        step: Step,
        betas: np.ndarray | None = None,
        pool: Executor | None = None,
    ) -> None:
        grid = self.arrays
        kernel, w, near = self.kernel(state)
        where = grid.rows, self.model.shape[0], grid.periodic or None, step.sweep, step.key
        sweep = partial(kernel, *where, state.x, w, given(state.tally), given(block))
        length = wave_length(near // (2 * self.parts))
        threads = 1 if pool is None else workers(pool, len(block) * self.n_stored)
        halves = 2 * len(block)
        for jobs in schedule(self.parts, halves, length, grid.periodic, threads):
            if threads == 1:
                sweep(jobs[0])
            else:
                run_jobs(sweep, jobs, pool)
        state.sweep += len(block)

    def components(self) -> np.ndarray | None:
        free = self.model.evidence < 0
        return None if free.all() else components(compile_factors(as_graph(self.model)), free)


@dataclass(frozen=True, eq=False, kw_only=True)
class GridLayout(PackedLayout):
    """Planes of fixed-point conditionals, in `LatticeArrays`."""

    scalar: bool = True

    counts: ClassVar[bool] = True

    @classmethod
    def propose(cls, task: Task, forced: bool) -> Proposal | str:
        """Weights of Algorithm 1 or shared ones, or draws, on a lattice of two states."""
        model: Any = task.model
        reason = why_no_grid(task)
        if reason:
            return reason
        weights = task.draw.weights
        if model.log_unary.shape[2] != 2:
            return "its variables have more than two states"
        if weights not in (None, *TABULATED):
            return f"weights={weights!r} is not for lattices of two states"
        if weights == "shared" and not model.counts_suffice:
            return "its conditionals are not told apart by how many neighbours are 1"
        # Whether a pixel's conditionals are told apart by how many neighbours are 1.
        by_count = model.counts_suffice and weights != "blanket"
        bits = task.draw.bits
        need = bits / 4.0 * n_entries(model.shape, by_count)
        chain = need / 2 if weights else 0.0
        return Proposal(
            kind=cls.kind,
            memory=need,
            chain_memory=chain,
            grows=False,
            least_block=cls.least_block,
            check=task.limit(need, "a lattice with its weights"),
            make=lambda: cls(
                model=model,
                arrays=compile_lattice(model, by_count, bits),
                memory=need,
                chain_memory=chain,
            ),
        )

    @property
    def signature(self) -> tuple[Any, ...]:
        return self.kind, len(self.arrays.contexts), self.arrays.p.dtype

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        p = self.arrays.p
        phases = aligned(p.shape, p.dtype)
        phases[...] = HALF if p.itemsize == 4 else COARSE_HALF
        if random:
            start_lattice(phases, self.arrays.rows * self.arrays.columns, key)
        return {"w": phases}

    def kernel(self, state: State) -> tuple[Any, np.ndarray | None, int]:
        p = self.arrays.p.reshape(2, self.parts, -1)
        weights = state.own.get("w")
        w = None if weights is None else weights.reshape(p.shape)
        sweeps = partial(
            lattice_sweeps, p, self.arrays.contexts, w is None or None, given(state.ones)
        )
        return sweeps, w, p.nbytes * (1 if w is None else 2)
