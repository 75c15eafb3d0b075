"""x_i ~ pi(x_i | x_N(i)): Gibbs sampling, the baseline of Bornn et al. (2013), and annealed Gibbs.

Errors fall as 1 / sqrt(T). Draws come from a counter-based stream: the draw of variable i in
sweep t is a function of (seed, chain, t, i). Annealed Gibbs draws from pi^(1/T) with a temperature
T that falls from sweep to sweep.
"""

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from herded.layouts import sweeping
from herded.layouts.arrays import Run
from herded.layouts.choose import Plan, compile_plan
from herded.layouts.state import State, start
from herded.layouts.together import Together
from herded.layouts.together import advance as run_together
from herded.methods.options import check_seed, frozen_scan
from herded.methods.schedule import Schedule, check_kind, check_schedule, inverse_temperatures
from herded.system.stream import stream_key


@dataclass(frozen=True)
class Gibbs:
    """Gibbs sampling with a seeded, counter-based stream."""

    seed: int = 0
    scan: Any = "auto"

    def __post_init__(self) -> None:
        check_seed(self.seed)
        object.__setattr__(self, "scan", frozen_scan(self.scan))

    def compile(self, model: Any, *, kind: str | None = None, cap: float | None = None) -> Plan:
        return replace(compile_plan(model, kind=kind, scan=self.scan, cap=cap), made_for=self)

    def init(
        self, plan: Plan, x: np.ndarray, *, chain: int = 0, tally: bool = False, total: int = 0
    ) -> State:
        return start(plan, x, np.zeros(0, np.uint32), chain, tally, total)

    def advance(
        self, plan: Plan, state: State, block: np.ndarray, pool: Executor | None = None
    ) -> None:
        sweeping.advance(plan, state, block, _run(self.seed, state), pool=pool)

    def advance_together(
        self, plan: Plan, together: Together, blocks: np.ndarray, sweeps: int
    ) -> None:
        """Several chains at once (`methods.together`), with the bits of one by one."""
        run_together(plan, together, blocks, sweeps, self.seed)


@dataclass(frozen=True)
class AnnealedGibbs:
    """Gibbs sampling at a falling temperature, to find a state of high probability.

    `schedule` gives the temperature of a sweep: "linear", or a function of (sweep, total).
    """

    schedule: Schedule = "linear"
    seed: int = 0
    scan: Any = "auto"

    def __post_init__(self) -> None:
        check_seed(self.seed)
        check_schedule(self.schedule)
        object.__setattr__(self, "scan", frozen_scan(self.scan))

    def compile(self, model: Any, *, kind: str | None = None, cap: float | None = None) -> Plan:
        check_kind(kind, "annealed Gibbs")
        plan = compile_plan(model, kind="factor", scan=self.scan, cap=cap)
        return replace(plan, made_for=self)

    def init(
        self, plan: Plan, x: np.ndarray, *, chain: int = 0, tally: bool = False, total: int = 0
    ) -> State:
        return start(plan, x, np.zeros(0, np.uint32), chain, tally, total)

    def advance(
        self, plan: Plan, state: State, block: np.ndarray, pool: Executor | None = None
    ) -> None:
        betas = inverse_temperatures(self.schedule, state, len(block))
        sweeping.advance(plan, state, block, _run(self.seed, state), betas=betas, pool=pool)


def _run(seed: int, state: State) -> Run:
    key, scan_key = stream_key(seed, state.chain, 1), stream_key(seed, state.chain, 2)
    return Run(state.sweep, key, scan_key, False, 0, 0)
