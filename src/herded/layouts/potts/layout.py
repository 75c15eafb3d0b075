"""Layout "grid" of more than two states: Potts lattices packed by colour."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from herded.draws.weight_modes import MAX_BINS
from herded.layouts.grid.layout import ColourPackedLayout, find_grid
from herded.layouts.potts.arrays import compile_potts, lattice_memory, refuse_potts, start_potts
from herded.layouts.potts.sweeps import potts_sweeps
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.layouts.state import State
from herded.system.aligned_arrays import aligned_zeros


@dataclass(frozen=True, eq=False, kw_only=True)
class PottsLayout(ColourPackedLayout):
    """Planes of tabulated exponentials, in `PottsArrays`."""

    counts_states: ClassVar[bool] = False

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        """Accept pooled weights, or draws, on a lattice of three states or more."""
        model, weights = find_grid(task), task.draw.weights
        if isinstance(model, Refusal):
            return model
        if model.log_unary.shape[2] == 2:
            return Refusal("its variables have two states", is_secondary=True)
        refusal = refuse_potts(model, weights)
        if refusal is not None:
            return refusal
        tables, chain = lattice_memory(model, weights)
        return task.offer(
            cls,
            tables=tables,
            chain=chain,
            what="a lattice with its weights",
            make=lambda **facts: cls(arrays=compile_potts(model), **facts),
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
