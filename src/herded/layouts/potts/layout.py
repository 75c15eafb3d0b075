"""Layout "grid" of more than two states: Potts lattices packed by colour."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from herded.draws.weight_modes import MAX_BINS
from herded.layouts.grid.layout import ColourPackedLayout, grid_refusal
from herded.layouts.potts.arrays import compile_potts, lattice_memory, potts_refusal, start_potts
from herded.layouts.potts.sweeps import potts_sweeps
from herded.layouts.proposal import LayoutRequest, Proposal
from herded.layouts.state import State
from herded.system.aligned_arrays import aligned_zeros


@dataclass(frozen=True, eq=False, kw_only=True)
class PottsLayout(ColourPackedLayout):
    """Planes of tabulated exponentials, in `PottsArrays`."""

    counts_states: ClassVar[bool] = False

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | str:
        """Pooled weights, or draws, on a lattice of three states or more."""
        model: Any = task.model
        reason = grid_refusal(task)
        if reason or model.log_unary.shape[2] == 2:  # which `GridLayout` has spoken of
            return reason
        reason = potts_refusal(model, task.draw.weights)
        if reason:
            return reason
        need, chain = lattice_memory(model, task.draw.weights)
        return Proposal(
            kind=cls.kind,
            memory=need,
            chain_memory=chain,
            has_growing_memory=False,
            min_block_sweeps=cls.min_block_sweeps,
            check=task.limit(need, "a lattice with its weights"),
            make=lambda: cls(
                model=model, arrays=compile_potts(model), memory=need, chain_memory=chain
            ),
        )

    def tables(self) -> tuple[np.ndarray, ...]:
        return self.arrays.u, self.arrays.f

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        grid = self.arrays
        weights = aligned_zeros((MAX_BINS, grid.u.size), np.int32)
        if random:  # the first bin only: the others inherit from it
            vectors = weights[0].reshape(2, self.n_parallel_parts, -1, self.width)
            start_potts(vectors, *self.model.shape, grid.rows, grid.columns, key)
        return {"w": weights}

    def kernel(self, state: State) -> tuple[Any, np.ndarray, int]:
        tables = [table.reshape(2, self.n_parallel_parts, -1) for table in self.tables()]
        w = state.method_arrays.get("w", np.empty((0, 0), np.int32))
        a_bin = w.nbytes // max(1, len(w))
        near = a_bin + sum(table.nbytes for table in tables)
        return partial(potts_sweeps, *tables, self.width), w, near
