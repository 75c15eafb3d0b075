"""What the layouts of lattices share, whose sites are packed by colour."""

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
    """A lattice whose sweeps write known sites too."""

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

    def run_waves(
        self, kernel: Callable[[np.ndarray], Any], call: SweepCall, size: int, updates: int
    ) -> None:
        """Call `kernel(regions)` for all regions in order, in threads where `updates` are many.

        `size` is the bytes that a sweep reads.
        """
        strips, is_ring = self.n_parallel_parts, self.model.is_periodic_by_axis[-1]
        threads = 1 if call.pool is None else count_threads(call.pool, updates)
        length = wave_length(size, strips)
        for jobs in wave_schedule(strips, 2 * len(call.block), length, is_ring, threads):
            run_jobs(kernel, jobs, call.pool if threads > 1 else None)
