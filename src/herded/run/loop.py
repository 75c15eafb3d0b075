"""The loop of a sampler: advance every chain by a block of sweeps, record, look up, go on.

The bits of a run depend neither on the size of its blocks nor on threads nor on interruptions.
Only where a run is given seconds does the clock decide how many sweeps there are.
"""

import itertools
import os
import threading
import time
import warnings
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from herded.errors import CheckpointError
from herded.layouts.choose import Plan
from herded.layouts.state import State
from herded.layouts.together import MOST_CHAINS, Together, can_run_together, gather
from herded.methods.protocol import Sampler
from herded.run.checkpoint import resume, save
from herded.run.interrupts import interrupted_afterwards, interruptible
from herded.run.keep import BestState, ErrorCurve, MarginalRecorder, Marginals, Recorder
from herded.run.progress import Moment, Progress, Watch
from herded.run.starts import first_states
from herded.run.time_limit import ENDLESS, Pace
from herded.system import atomic

BLOCK = 2**20  # samples' entries in a block: small enough for the cache and for a prompt Ctrl-C
WAVE = 16  # sweeps of a lattice that a block holds at least: they go over it as a wave
UNREAD = 2**24  # updates of a block whose samples nobody reads
MOST_COUNTED = 255  # samples of a block: in bytes
SPARE = 2**26  # bytes of weights that a run by the clock may copy to compile with
WORTH_THREADS = 2**20  # updates in a whole run
BRIEF = 2**16  # updates of a run that is over before anybody could interrupt it


@dataclass
class Chain:
    """A state, what is recorded of it, and the samples of its last block."""

    state: State
    recorders: dict[type, Recorder]
    block: np.ndarray
    errors: np.ndarray = field(default_factory=lambda: np.empty(0))


@dataclass
class Run:
    """A sampler's run: what is asked for, and how far it is."""

    plan: Plan
    method: Sampler
    keep: dict[type, Any]
    sweeps: int
    burn_in: int
    chains: list[Chain]
    points: np.ndarray  # sweeps at which the error is measured
    blocks: np.ndarray  # (chains, rows, N) of which each chain has one
    done: int = 0
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def total(self) -> int:
        return self.burn_in + self.sweeps

    @property
    def recorded(self) -> int:
        return max(0, self.done - self.burn_in)

    @property
    def updates(self) -> int:
        """Of single variables, in all."""
        return self.total * self.plan.n_stored * len(self.chains)


class Forward(Protocol):
    """Whoever advances all chains of a run by a number of sweeps: threads here, or workers."""

    most: int  # sweeps at once

    def __call__(self, run: Run, step: int) -> None:
        """Advance every chain and record; `run.done` stays."""


def sample(
    plan: Plan,
    method: Sampler,
    keep: dict[type, Any],
    *,
    sweeps: int,
    burn_in: int,
    chains: int,
    start: Any,
    checkpoint: Any,
    checkpoint_every: float,
    progress: bool | None,
    threads: int | None,
    seconds: float | None = None,
    watch: Watch | None = None,
    forward: Forward | None = None,
) -> Run:
    """Run `method` on `plan`, resuming from the checkpoint if there is one.

    `forward` advances the chains; by default threads of this process do.
    """
    run = _prepare(plan, method, keep, sweeps, burn_in, chains, start)
    if checkpoint is not None:
        atomic.check_writable(checkpoint, CheckpointError, "checkpoint=")
        resume(run, checkpoint)
    before = run.seconds
    pace = Pace(ENDLESS, seconds)
    lasting = (seconds, watch, checkpoint, forward) != (None,) * 4
    brief = run.updates < BRIEF and not lasting
    bar = Progress.of_run(progress, type(method).__name__, run.total, seconds, brief=brief)
    pool_or_none = _pool(run, threads) if forward is None else nullcontext()
    with pool_or_none as pool, _stopping(run, brief) as stop, closing(bar):
        if seconds is not None and forward is None:
            _compile_ahead(run, pool)
        forward = forward or _Here(run, pool)
        began = saved = time.perf_counter()
        while run.done < run.total and not stop.is_set() and not pace.is_over(run.seconds):
            step = _advance(run, forward, min(pace.rows, forward.most))
            now = time.perf_counter()
            took, run.seconds = before + now - began - run.seconds, before + now - began
            pace.learn(step, took, run.seconds)
            note = watch(_moment(run)) if watch else None
            bar.update(run.done if seconds is None else int(run.seconds), note or "")
            if checkpoint is not None and now - saved > checkpoint_every:
                _try_to_save(run, checkpoint)
                saved = now
        run.interrupted = run.done < run.total and not pace.is_over(run.seconds)
    _WARM.add(_kernels(run))
    if checkpoint is not None:
        _try_to_save(run, checkpoint)
    return run


_WARM: set[Any] = set()  # names of runs whose kernels are compiled


def _kernels(run: Run) -> Any:
    """Which kernels a run calls, by what that depends on."""
    plan, states = run.plan, run.plan.pairs.states if run.plan.pairs else ()
    of_method = type(run.method), *(getattr(run.method, n, None) for n in ("weights", "bits"))
    of_plan = plan.kind, plan.scalar, plan.width, states
    return *of_method, *of_plan, run.blocks.dtype, len(run.chains) > 1, *run.keep


def _stopping(run: Run, brief: bool) -> AbstractContextManager[threading.Event]:
    """What Ctrl-C does: it ends a run after its block, and a brief one with its loop.

    A compiler could lose the exception of a brief one, so that it comes after the first of its
    kind.
    """
    if not brief:
        return interruptible()
    if _kernels(run) in _WARM:
        return interruptible(brief=True)
    return interrupted_afterwards()


def _compile_ahead(run: Run, pool: Executor | None) -> None:
    """Do one sweep on copies, so that compilers do not take the time that sweeps were given.

    Not where copies would be large: there sweeps take so long that compiling hardly counts.
    """
    if len(run.chains) * run.plan.chain_memory > SPARE:
        return
    blocks = make_blocks(run.plan, run.keep, len(run.chains), 1)
    chains = [
        new_chain(run.plan, run.keep, chain.state.copy(), block)
        for chain, block in zip(run.chains, blocks, strict=True)
    ]
    nowhere = np.empty(0, np.int64)
    trial = Run(run.plan, run.method, run.keep, 1, 0, chains, nowhere, blocks)
    _Here(trial, pool)(trial, 1)


def _moment(run: Run) -> Moment:
    """The run as it is now."""

    def marginals() -> np.ndarray | None:
        if not run.recorded or Marginals not in run.keep:
            return None
        averaged = run.keep[Marginals].rao_blackwell
        return np.stack([estimate(chain, averaged) for chain in run.chains])

    def best() -> float | None:
        if not run.recorded or BestState not in run.keep:
            return None
        scores = [chain.recorders[BestState].arrays["score"] for chain in run.chains]
        return float(np.max(scores, axis=0).sum())

    return Moment(run.recorded, run.seconds, marginals, best)


def _try_to_save(run: Run, path: Any) -> None:
    """A full disk must not cost the run: it goes on, and says so."""
    try:
        save(run, path)
    except CheckpointError as error:
        warnings.warn(f"{error}; the run goes on without this checkpoint", stacklevel=4)


def _prepare(
    plan: Plan,
    method: Sampler,
    keep: dict[type, Any],
    sweeps: int,
    burn_in: int,
    chains: int,
    start: Any,
) -> Run:
    curve = keep.get(ErrorCurve)
    tally = any(getattr(keep.get(kind), "rao_blackwell", False) for kind in (Marginals, ErrorCurve))
    points = np.empty(0, np.int64)
    if curve:
        points = curve.sweeps(sweeps)
        curve.check(plan.model)
    states = first_states(plan, method, chains, start, tally, burn_in + sweeps)
    blocks = make_blocks(plan, keep, chains, burn_in + sweeps)
    made = [
        new_chain(plan, keep, state, block) for state, block in zip(states, blocks, strict=True)
    ]
    for chain in made if curve else ():
        chain.errors = np.full(len(points), np.nan)
    return Run(plan, method, keep, sweeps, burn_in, made, points, blocks)


def make_blocks(plan: Plan, keep: dict[type, Any], chains: int, total: int) -> np.ndarray:
    """Room (chains, rows, N) for the samples of some sweeps, or (chains, rows, 0)."""
    rows, read = _block_rows(plan), not _counts(plan) or not keep.keys() <= {Marginals, ErrorCurve}
    if not read:
        rows = max(rows, min(UNREAD // plan.n_stored, MOST_COUNTED))
    return np.zeros((chains, min(rows, total) or 1, plan.n_stored if read else 0), plan.state_type)


def _block_rows(plan: Plan) -> int:
    return max(1 if plan.lattice is None else WAVE, BLOCK // plan.n_stored)


def _counts(plan: Plan) -> bool:
    """Whether kernels count states: not on small lattices, whose blocks are long, and in cache."""
    return plan.counts_ones and _block_rows(plan) <= MOST_COUNTED


def new_chain(plan: Plan, keep: dict[type, Any], state: State, block: np.ndarray) -> Chain:
    """A chain at `state` of which nothing is recorded yet, with room for samples in `block`."""
    recorders = {
        kind: choice.recorder(plan) for kind, choice in keep.items() if kind is not ErrorCurve
    }
    if ErrorCurve in keep and Marginals not in recorders:
        recorders[Marginals] = MarginalRecorder(plan)
    if plan.lattice is None:
        block[:] = state.memory.x  # clamped variables stay as they are
    if _counts(plan) and Marginals in recorders:
        state.ones = np.zeros(plan.n_stored, np.uint8)
    return Chain(state, recorders, block)


def _pool(run: Run, threads: int | None) -> Any:
    """Threads where there is enough work to share; else nothing."""
    if run.updates < WORTH_THREADS:
        return nullcontext()
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    parts = len(run.chains) if len(run.chains) > 1 else _parts(run.plan)
    workers = min((count or 1) if threads is None else threads, parts)
    return ThreadPoolExecutor(workers) if workers > 1 else nullcontext()


def _parts(plan: Plan) -> int:
    """Of one chain's work, how many can be done side by side."""
    if plan.lattice is not None:
        return int(plan.lattice.strips)
    return 1 if plan.scan is None else plan.scan.n_segments


def _advance(run: Run, forward: Forward, most: int) -> int:
    """One block of sweeps for every chain, up to the next sweep where something happens."""
    if run.done == run.burn_in:
        for chain in run.chains:
            chain.state.memory.tally[:] = 0
            chain.state.ones[:] = 0
    step = min(most, _next_event(run) - run.done)
    forward(run, step)
    run.done += step
    for p in np.flatnonzero(run.points == run.recorded) if len(run.points) else ():
        for chain in run.chains:
            chain.errors[p] = _error(run, chain)
    return step


def _next_event(run: Run) -> int:
    """The sweep at which the burn-in ends, else an error is measured, else all ends."""
    if run.done < run.burn_in:
        return run.burn_in
    later = run.points[run.points.searchsorted(run.recorded, side="right") :]
    return run.burn_in + int(later[0]) if len(later) else run.total


class _Here:
    """Chains go forward in this process: side by side where they can, on threads if there are."""

    def __init__(self, run: Run, pool: Executor | None) -> None:
        self.pool, self.most = pool, run.blocks.shape[1]
        self.groups = _groups(run, getattr(pool, "_max_workers", 1))

    def __call__(self, run: Run, step: int) -> None:
        if self.groups:
            each = self.pool.map if self.pool is not None else map
            list(each(lambda group: _advance_group(run, group[0], group[1], step), self.groups))
        elif len(run.chains) > 1 and self.pool is not None:
            list(self.pool.map(lambda chain: advance_chain(run, chain, step), run.chains))
        else:
            for chain in run.chains:
                advance_chain(run, chain, step, self.pool)


def _groups(run: Run, workers: int) -> list[tuple[int, Together]]:
    """Chains that run side by side, a group or more for each worker; none if that is no gain."""
    if len(run.chains) == 1 or not hasattr(run.method, "advance_together"):
        return []
    states = [chain.state for chain in run.chains]
    count = max(workers, -(-len(states) // MOST_CHAINS))
    cuts = [len(states) * part // count for part in range(count + 1)]
    parts = [states[first:last] for first, last in itertools.pairwise(cuts)]
    if not all(can_run_together(run.plan, part) for part in parts):
        return []
    return [(first, gather(part)) for first, part in zip(cuts, parts, strict=False)]


def _advance_group(run: Run, first: int, group: Together, step: int) -> None:
    last = first + len(group.states)
    method: Any = run.method
    method.advance_together(run.plan, group, run.blocks[first:last], step)
    for chain in run.chains[first:last]:
        _record(run, chain, chain.block[:step], None)


def advance_chain(run: Run, chain: Chain, step: int, pool: Executor | None = None) -> None:
    """One block of at most len(chain.block) sweeps, recorded if the burn-in is over."""
    block = chain.block[:step]
    run.method.advance(run.plan, chain.state, block, pool)
    _record(run, chain, block, pool)


def _record(run: Run, chain: Chain, block: np.ndarray, pool: Executor | None) -> None:
    if run.done >= run.burn_in:
        for recorder in chain.recorders.values():
            recorder.add(block, chain.state, pool)


def _error(run: Run, chain: Chain) -> float:
    curve = run.keep[ErrorCurve]
    return curve.error(run.plan.model, estimate(chain, curve.rao_blackwell))


def estimate(chain: Chain, rao_blackwell: bool) -> np.ndarray:
    """The chain's marginals (N, K) so far."""
    recorder: Any = chain.recorders[Marginals]
    return recorder.rao_blackwell(chain.state) if rao_blackwell else recorder.frequencies()
