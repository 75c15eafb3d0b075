"""A sampler's run: its chains, the blocks of samples that they write, and what is recorded."""

import threading
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

import numpy as np

from herded.layouts.base import Layout
from herded.layouts.state import State
from herded.methods.protocol import Sampler, sampler_capabilities
from herded.methods.schedule import is_annealed
from herded.moves.tempering.ladder_layouts import LadderLayout
from herded.run.interrupts import stop_event_on_interrupt
from herded.run.observables.recorder import ObservableRecorder, Observables
from herded.run.progress import Snapshot
from herded.run.query import KeepOptions
from herded.run.recording.best_state_recorder import BestState
from herded.run.recording.log_z_estimator import KeepLogZ
from herded.run.recording.recorder_base import Recorder
from herded.run.recording.recorders import ErrorCurve, MarginalRecorder, Marginals
from herded.run.recording.trace import Trace, TraceRecorder
from herded.run.run_loop import UNLIMITED_SWEEPS
from herded.system import cpu_count

# entries of samples in a block (bytes of a herd's): fit for the cache, and Ctrl-C
BLOCK_ENTRIES = 2**20
MAX_UNREAD_BLOCK_UPDATES = 2**24  # updates of a block whose samples nobody reads
MAX_COUNTED_SAMPLES = 255  # samples of a block: in bytes
MAX_WARM_UP_BYTES = 2**26  # bytes of weights that a run by the clock may copy to compile with
MIN_UPDATES_FOR_THREADS = 2**20  # updates in a whole run
MAX_HERD_UPDATES = 2**31  # of a variable in a herd: sums of twice as many would overflow
FIRST_BLOCK_UPDATES = 2**18  # updates of a run's first block, before it is known how long they take
BRIEF_RUN_UPDATES = 2**16  # updates of a run that is over before anybody could interrupt it


class RemoteAdvance(Protocol):
    """A way to advance all chains of a run on workers."""

    most: int  # sweeps of the next round

    def __call__(self, run: "SamplerRun", step: int) -> None:
        """Advance all chains by `step` sweeps."""


@dataclass
class Chain:
    """A state, what is recorded of it, and the samples of its last block."""

    state: State
    recorders: dict[type, Recorder]
    block: np.ndarray
    errors: np.ndarray = field(default_factory=lambda: np.empty(0))

    def estimate(self, rao_blackwell: bool) -> np.ndarray:
        """Return the chain's marginals (N, K) so far."""
        recorder = cast(MarginalRecorder, self.recorders[Marginals])
        return recorder.rao_blackwell(self.state) if rao_blackwell else recorder.frequencies()

    def record(self, sweeps: int, pool: Executor | None = None) -> None:
        """Take in the first samples of the block."""
        for recorder in self.recorders.values():
            recorder.add(self.block[:sweeps], self.state, pool)


@dataclass
class SamplerRun:
    """A run of a sampler, and its progress."""

    layout: Layout
    method: Sampler
    keep: KeepOptions
    sweeps: int
    burn_in: int
    chains: list[Chain]
    points: np.ndarray  # sweeps at which the error is measured
    blocks: np.ndarray  # (chains, rows, N): one block for each chain
    done: int = 0
    seconds: float = 0.0
    interrupted: bool = False
    compiling: float = 0.0  # seconds before the first, in which kernels were compiled
    saved: bool | None = None  # whether the last checkpoint was written, if there are any
    pool: Executor | None = None
    remote: RemoteAdvance | None = None  # where the chains run on workers
    most_recorded: int | None = None  # sweeps whose samples and series fit, if that is known
    rooms: dict[tuple[type, str], np.ndarray] = field(default_factory=dict)  # for what grows
    memory: float = 0.0  # bytes of the run at most, as estimated
    fixed_memory: float = 0.0  # of them those that do not grow with the run

    @classmethod
    def prepare(
        cls,
        layout: Layout,
        method: Sampler,
        keep: KeepOptions,
        states: list[State],
        sweeps: int,
        burn_in: int,
    ) -> "SamplerRun":
        """Return a run of chains at `states`, with nothing recorded yet."""
        curve, points = keep.error_curve, np.empty(0, np.int64)
        if curve is not None:
            points = curve.sweeps(sweeps)
            curve.check(layout.model)
        blocks = make_blocks(layout, keep, len(states), burn_in + sweeps)
        chains = [
            new_chain(layout, keep, state, block)
            for state, block in zip(states, blocks, strict=True)
        ]
        for chain in chains if sweeps < UNLIMITED_SWEEPS else ():
            if Trace in chain.recorders:
                cast(TraceRecorder, chain.recorders[Trace]).expect(sweeps)
        for chain in chains if curve is not None else ():
            chain.errors = np.full(len(points), np.nan)
        return cls(layout, method, keep, sweeps, burn_in, chains, points, blocks)

    @property
    def name(self) -> str:
        return type(self.method).__name__

    @property
    def total(self) -> int:
        return self.burn_in + self.sweeps

    @property
    def end(self) -> int:
        """Sweeps until it is done, or has no room for more."""
        if self.most_recorded is None:
            return self.total
        return min(self.total, self.burn_in + self.most_recorded)

    @property
    def is_full(self) -> bool:
        """Whether it ended because what it keeps has reached the limit of memory."""
        return self.end < self.total and self.done >= self.end

    @property
    def recorded(self) -> int:
        return max(0, self.done - self.burn_in)

    @property
    def updates(self) -> int:
        """Of single variables, in all."""
        layout = self.layout
        return self.total * layout.n_stored * layout.members * len(self.chains)

    @property
    def most(self) -> int:
        return self.blocks.shape[1] if self.remote is None else self.remote.most

    @property
    def least(self) -> int:
        return self.layout.min_block_sweeps if self.remote is None else self.most

    @property
    def first(self) -> int:
        return max(self.least, FIRST_BLOCK_UPDATES // (self.layout.n_stored * self.layout.members))

    def is_finished(self) -> bool:
        most = MAX_HERD_UPDATES // self.layout.members if self.layout.is_herd else self.total
        return self.done >= min(self.end, most)

    # -- a block of sweeps -------------------------------------------------------------------

    def advance(self, most: int) -> int:
        """Advance every chain to the next sweep that needs attention."""
        if self.done == self.burn_in:
            for chain in self.chains:
                chain.state.conditional_sums[:] = 0
                chain.state.state_counts[:] = 0
                self.layout.end_burn_in(chain.state)
        step = min(most, self._next_event() - self.done)
        if self.remote is not None:
            self.remote(self, step)
        elif len(self.chains) == 1:
            chain = self.chains[0]
            self._sweep(chain, step, self.pool)
        else:
            self._advance_chains(step)
        self.done += step
        for p in np.flatnonzero(self.points == self.recorded) if len(self.points) else ():
            for chain in self.chains:
                chain.errors[p] = self._error(chain)
        return step

    def _advance_chains(self, step: int) -> None:
        """Advance chains one after another, or on threads."""
        if self.pool is None:
            for chain in self.chains:
                self.advance_chain(chain, step)
        else:
            list(self.pool.map(lambda chain: self.advance_chain(chain, step), self.chains))

    def advance_chain(self, chain: Chain, step: int) -> None:
        """Run one block of at most len(chain.block) sweeps; record it after the burn-in."""
        self._sweep(chain, step)

    def _sweep(self, chain: Chain, step: int, pool: Executor | None = None) -> None:
        """Run `step` sweeps of a chain, in parts if its trace looks between blocks."""
        records = self.done >= self.burn_in
        trace = cast("TraceRecorder | None", chain.recorders.get(Trace)) if records else None
        stops = trace is not None and not trace.reads
        while step > 0:
            part = min(step, trace.until_look()) if trace is not None and stops else step
            self.method.advance(self.layout, chain.state, chain.block[:part], pool)
            if records:
                chain.record(part, pool)
            step -= part

    def _next_event(self) -> int:
        """Return the sweep at which the burn-in ends, else an error is measured, else all ends."""
        if self.done < self.burn_in:
            return self.burn_in
        later = self.points[self.points.searchsorted(self.recorded, side="right") :]
        return min(self.end, self.burn_in + int(later[0])) if len(later) else self.end

    def _error(self, chain: Chain) -> float:
        curve = self.keep.error_curve
        assert curve is not None
        return curve.error(self.layout.model, chain.estimate(curve.rao_blackwell))

    # -- around the loop ---------------------------------------------------------------------

    def share_out(self, threads: int | None) -> AbstractContextManager[Executor | None]:
        """Open threads where there is enough work to share."""
        self.pool = pool = _threads(self, threads)
        return nullcontext() if pool is None else pool

    @property
    def signature(self) -> tuple[Any, ...]:
        """Which kernels a run calls, by what that depends on."""
        own = sampler_capabilities(self.method)
        of_method = type(self.method), own.is_annealed, own.kernel_key
        of_run = self.blocks.dtype, len(self.chains) > 1, self.keep.kinds
        return *of_method, self.layout.signature, *of_run

    def stopping(self, is_brief: bool) -> AbstractContextManager[threading.Event]:
        """Make Ctrl-C end a run after its block, and a brief one at once.

        Not the first of its kind: a compiler could lose the exception.
        """
        return stop_event_on_interrupt(brief=is_brief and self.signature in _COMPILED_SIGNATURES)

    def has_compiled(self) -> None:
        """Remember that kernels of this kind are compiled, unless interrupted before."""
        if self.done:
            _COMPILED_SIGNATURES.add(self.signature)

    def compile_ahead(self) -> None:
        """Do one sweep on copies, so that compilers do not take the time that sweeps were given.

        Not where copies would be large: there sweeps take so long that compiling hardly counts.
        """
        began, states = time.perf_counter(), [chain.state for chain in self.chains]
        arrays = (
            array
            for s in states
            for array in (s.x, s.conditional_sums, s.state_counts, *s.method_arrays.values())
        )
        if sum(array.nbytes for array in arrays) > MAX_WARM_UP_BYTES:
            return
        states = [state.copy() for state in states]
        keep = replace(self.keep, error_curve=None)
        trial = SamplerRun.prepare(self.layout, self.method, keep, states, 1, 0)
        with trial.share_out(1):
            trial.advance(1)
        self.compiling = time.perf_counter() - began

    def snapshot(self) -> Snapshot:
        def marginals() -> np.ndarray | None:
            if not self.recorded or self.keep.marginals is None:
                return None
            averaged = self.keep.marginals.rao_blackwell
            return np.stack([chain.estimate(averaged) for chain in self.chains])

        def best() -> float | None:
            if not self.recorded or self.keep.best_state is None:
                return None
            scores = [chain.recorders[BestState].arrays["score"] for chain in self.chains]
            return float(np.max(scores, axis=0).sum())

        def states() -> np.ndarray:
            found = np.concatenate([self.layout.values(chain.state) for chain in self.chains])
            return found.reshape(-1, *self.layout.model.shape)

        return Snapshot(self.recorded, self.seconds, marginals, best, states)


_COMPILED_SIGNATURES: set[Any] = set()  # signatures of runs whose kernels are compiled


def make_blocks(layout: Layout, keep: KeepOptions, chains: int, total: int) -> np.ndarray:
    """Allocate (chains, rows, N) for the samples of some sweeps, or (chains, rows, 0)."""
    return np.zeros(block_shape(layout, keep, chains, total), layout.sample_type)


def block_shape(layout: Layout, keep: KeepOptions, chains: int, total: int) -> tuple[int, int, int]:
    """Return the shape of that room."""
    rows = _block_rows(layout)
    read = (
        not _counts(layout) or not keep.kinds <= {Marginals, ErrorCurve} or layout.estimates_log_z
    )
    if not read:
        unread = MAX_UNREAD_BLOCK_UPDATES // (layout.n_stored * layout.members)
        rows = max(rows, unread if layout.is_herd else min(unread, MAX_COUNTED_SAMPLES))
    return chains, min(rows, total) or 1, layout.sample_size if read else 0


def _block_rows(layout: Layout) -> int:
    row = layout.n_stored
    if layout.is_herd:
        row = layout.sample_size * np.dtype(layout.sample_type).itemsize
    return max(layout.min_block_sweeps, BLOCK_ENTRIES // max(row, 1))


def _counts(layout: Layout) -> bool:
    """Return whether kernels count states: not on small lattices, whose blocks stay in cache."""
    return layout.counts_states and (layout.is_herd or _block_rows(layout) <= MAX_COUNTED_SAMPLES)


def new_chain(layout: Layout, keep: KeepOptions, state: State, block: np.ndarray) -> Chain:
    """Create a chain at `state` with nothing recorded, and room for samples in `block`."""
    recorders: dict[type, Recorder] = {
        type(choice): choice.recorder(layout) for choice in keep.recorded
    }
    if Marginals not in recorders and (
        keep.error_curve is not None or not is_annealed(layout.method)
    ):
        recorders[Marginals] = MarginalRecorder(layout)  # also to tell whether chains agree
    if not is_annealed(layout.method):
        trace = Trace().recorder(layout, recorders, reads=block.shape[1] > 0)
        trace.begin(state)
        recorders[Trace] = trace  # to tell whether the run is long enough
    if layout.estimates_log_z:
        recorders[KeepLogZ] = KeepLogZ().recorder(cast(LadderLayout, layout))
    if keep.observables is not None:
        cast(ObservableRecorder, recorders[Observables]).begin(state)
    layout.fill(block, state)
    if _counts(layout) and Marginals in recorders:
        state.state_counts = layout.new_counts()
    return Chain(state, recorders, block)


def _threads(run: SamplerRun, threads: int | None) -> ThreadPoolExecutor | None:
    """Open threads where there is enough work to share; else none."""
    if run.updates < MIN_UPDATES_FOR_THREADS:
        return None
    parts = len(run.chains) if len(run.chains) > 1 else run.layout.n_parallel_parts
    workers = min(cpu_count.count_usable_cpus() if threads is None else threads, parts)
    return ThreadPoolExecutor(workers) if workers > 1 else None
