"""The base of layouts of lattices whose sites are packed by colour."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from herded.layouts.base import SweepableLayout, SweepCall
from herded.layouts.factor_arrays import compile_factors
from herded.layouts.packing.wavefront import wave_length, wave_schedule
from herded.layouts.state import State
from herded.layouts.visit_order import connected_components
from herded.models.factor_graph import to_factor_graph
from herded.models.lattice import Lattice
from herded.system.threads import count_threads, run_jobs


class LatticeLayout(SweepableLayout):
    """A lattice whose sweeps write known sites as well."""

    model: Lattice

    kind: ClassVar[str] = "grid"

    def fill(self, block: np.ndarray, state: State) -> None:
        """Do nothing: a sweep writes known sites too."""

    def components(self) -> np.ndarray | None:
        free = self.model.evidence < 0
        if free.all():
            return None
        found: np.ndarray = connected_components(compile_factors(to_factor_graph(self.model)), free)
        return found


class WaveLayout(LatticeLayout):
    """A lattice in strips, which sweeps pass as waves (`packing.wavefront`)."""

    min_block_sweeps: ClassVar[int] = 16  # sweeps

    def prepare_kernel(self, call: SweepCall) -> tuple[Callable[[np.ndarray], Any], int, int]:
        """Return compiled sweeps of regions, the bytes a sweep reads, and its updates."""
        raise NotImplementedError

    def sweep(self, call: SweepCall) -> None:
        kernel, size, updates = self.prepare_kernel(call)
        strips, is_ring = self.n_parallel_parts, self.model.is_periodic_by_axis[-1]
        sweeps = len(call.block)
        threads = 1 if call.pool is None else count_threads(call.pool, sweeps * updates)
        length = wave_length(size, strips)
        for jobs in wave_schedule(strips, 2 * sweeps, length, is_ring, threads):
            if threads == 1:
                kernel(jobs[0])
            else:
                run_jobs(kernel, jobs, call.pool)
