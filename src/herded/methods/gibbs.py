"""x_i ~ pi(x_i | x_N(i)): Gibbs sampling, the baseline of Bornn et al. (2013).

Errors fall as 1 / sqrt(T). Draws come from a counter-based stream: the draw of variable i in
sweep t is a function of (seed, chain, t, i).
"""

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from herded.layouts import sweeping
from herded.layouts.arrays import Run
from herded.layouts.choose import Layout, choose_layout
from herded.layouts.state import State, start
from herded.layouts.together import Together
from herded.layouts.together import advance as run_together
from herded.methods.options import check_seed, frozen_scan
from herded.methods.schedule import (
    Schedule,
    annealed_layout,
    check_schedule,
    inverse_temperatures,
)
from herded.system.memory import Size
from herded.system.stream import stream_key


@dataclass(frozen=True)
class Gibbs:
    """Gibbs sampling with a seeded, counter-based stream.

    seed      of draws and starts
    scan      the order of visits, as for `HerdedGibbs`
    schedule  None, or the temperature of a sweep: "linear", or a function of (sweep, total). Draws
              are then from pi^(1/T), to find a state of high probability
    """

    seed: int = 0
    scan: Any = "auto"
    schedule: Schedule | None = None

    def __post_init__(self) -> None:
        check_seed(self.seed)
        check_schedule(self.schedule)
        object.__setattr__(self, "scan", frozen_scan(self.scan))

    def compile(
        self, model: Any, *, kind: str | None = None, max_memory: Size | None = None
    ) -> Layout:
        if self.schedule is not None:
            kind = annealed_layout(kind)
        layout = choose_layout(model, kind=kind, scan=self.scan, max_memory=max_memory)
        return replace(layout, made_for=self)

    def init(
        self, layout: Layout, x: np.ndarray, *, chain: int = 0, tally: bool = False, total: int = 0
    ) -> State:
        return start(layout, x, np.zeros(0, np.uint32), chain, tally, total)

    def advance(
        self, layout: Layout, state: State, block: np.ndarray, pool: Executor | None = None
    ) -> None:
        key, scan_key = (stream_key(self.seed, state.chain, purpose) for purpose in (1, 2))
        run = Run(state.sweep, key, scan_key, False, 0, 0)
        betas = inverse_temperatures(self.schedule, state, len(block))
        sweeping.advance(layout, state, block, run, betas=betas, pool=pool)

    def advance_together(
        self, layout: Layout, together: Together, blocks: np.ndarray, sweeps: int
    ) -> None:
        """Several chains at once (`layouts.together`), with the bits of one by one."""
        run_together(layout, together, blocks, sweeps, self.seed)
