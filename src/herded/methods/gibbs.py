"""x_i ~ pi(x_i | x_N(i)): Gibbs sampling, the baseline of Bornn et al. (2013), and annealed Gibbs.

Errors fall as 1 / sqrt(T). Draws come from a counter-based stream: the draw of variable i in
sweep t is a function of (seed, chain, t, i). Annealed Gibbs draws from pi^(1/T) with a temperature
T that falls from sweep to sweep; the paper's section 4.3 uses a linear schedule.
"""

import sys
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from herded.errors import MethodError
from herded.kernels.run import Run
from herded.methods import sweeping
from herded.methods.options import check_seed, frozen_scan, is_between
from herded.methods.state import State, start
from herded.plan.compile import Plan, compile_plan
from herded.stream import stream_key


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


def linear(sweep: int, total: int) -> float:
    """Temperature 1 in the first sweep, 0 (the argmax) in the last."""
    return 1.0 - sweep / (total - 1) if total > 1 else 0.0


@dataclass(frozen=True)
class AnnealedGibbs:
    """Gibbs sampling at a falling temperature, to find a state of high probability.

    `schedule` gives the temperature of a sweep: "linear", or a function of (sweep, total).
    """

    schedule: str | Callable[[int, int], float] = "linear"
    seed: int = 0
    scan: Any = "auto"

    def __post_init__(self) -> None:
        check_seed(self.seed)
        object.__setattr__(self, "scan", frozen_scan(self.scan))
        if self.schedule != "linear" and not callable(self.schedule):
            raise MethodError(
                'expected schedule="linear" or a function of (sweep, total) that gives a '
                f"temperature, got {self.schedule!r}"
            )

    def compile(self, model: Any, *, kind: str | None = None, cap: float | None = None) -> Plan:
        if kind not in (None, "factor"):
            raise MethodError(
                f"expected a factor plan for annealed Gibbs, got {kind!r}: its conditionals "
                "change with the temperature and cannot be tabulated"
            )
        plan = compile_plan(model, kind="factor", scan=self.scan, cap=cap)
        return replace(plan, made_for=self)

    def init(
        self, plan: Plan, x: np.ndarray, *, chain: int = 0, tally: bool = False, total: int = 0
    ) -> State:
        return start(plan, x, np.zeros(0, np.uint32), chain, tally, total)

    def advance(
        self, plan: Plan, state: State, block: np.ndarray, pool: Executor | None = None
    ) -> None:
        betas = np.array([self._beta(state.sweep + s, state.total) for s in range(len(block))])
        sweeping.advance(plan, state, block, _run(self.seed, state), betas=betas, pool=pool)

    def _beta(self, sweep: int, total: int) -> float:
        schedule = self.schedule if callable(self.schedule) else linear
        temperature = schedule(min(sweep, total - 1), total)
        if not is_between(temperature, 0.0, sys.float_info.max):
            raise MethodError(
                f"expected a finite temperature of 0 or more from the schedule, got "
                f"{temperature!r} in sweep {sweep} of {total}"
            )
        return 1.0 / float(temperature) if temperature > 0 else np.inf


def _run(seed: int, state: State) -> Run:
    key, scan_key = stream_key(seed, state.chain, 1), stream_key(seed, state.chain, 2)
    return Run(state.sweep, key, scan_key, False, 0, 0)
