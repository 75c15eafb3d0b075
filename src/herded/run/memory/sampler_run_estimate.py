"""Estimate the memory of a sampler's run before any of it is taken, and refuse it above the limit.

`layout.memory` is the tables and one chain. A run also has blocks of samples, what its recorders
count or keep, what observables get and give, and the result. What grows with the sweeps (samples
and series) is reserved as one array where the number of sweeps is known. Where the clock decides it
is piled up in parts and joined in the end, which takes twice as much, and the run ends when that
reaches the limit. `python -m benchmarks --only memory` holds estimates against what runs take.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from herded.errors import MemoryLimitError
from herded.layouts.base import Layout
from herded.methods.exact.elimination_order import MAX_JOINT
from herded.methods.schedule import is_annealed
from herded.models.factor_graph import has_factors, to_factor_graph
from herded.models.lattice import Lattice
from herded.models.protocol import Model
from herded.models.structure_queries import count_joint_states
from herded.run.build_result import MAX_MEMBERS_CHECKED
from herded.run.diagnostics.run_length import bytes_of_bins
from herded.run.memory.observable_estimate import (
    bytes_of_calls,
    bytes_of_sums,
    numbers_of,
    states_at_once,
)
from herded.run.observables.recorder import Observables
from herded.run.query import KeepOptions
from herded.run.recording.growing_arrays import reserve_room
from herded.run.recording.log_z_estimator import MAX_KEPT_SWEEPS as MOST_SCORES
from herded.run.recording.recorder_base import STATES_PER_PASS
from herded.run.recording.recorders import (
    ErrorCurve,
    Joint,
    Marginals,
    PairMarginals,
    Samples,
)
from herded.run.recording.trace import trace_bytes
from herded.run.result import Result
from herded.run.run_loop import UNLIMITED_SWEEPS
from herded.run.sampler_run import MAX_WARM_UP_BYTES, Chain, SamplerRun, block_shape
from herded.system import cpu_count, memory_limits
from herded.system.argument_checks import edge_array
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.diagnostics.phrases import RAISE_MAX_MEMORY, Phrase, Remedy, Term
from herded.system.memory_limits import Size, size_text

BYTES_PER_NUMBER = 8.0  # bytes of a number of 64 bits
BYTES_PER_VIEW = 150.0  # bytes of a small view of an array
BY_CLOCK = 2.15  # times what grows is held where it is joined in the end, with gaps that stay
UNCHECKED_BYTES = 2.0**26  # bytes that a run may take without asking the system what is free
KEEP_LESS = Remedy(
    Phrase("keep fewer of them with ", Term("every=", "{every}")), RAISE_MAX_MEMORY
)  # of a run that ended at the limit
PAIR_RECORDERS = (PairMarginals, Joint)  # the trace has both variables of each pair


class MemoryNeed(NamedTuple):
    """One thing that takes memory in a run."""

    what: str
    bytes: float
    remedy: str = "use fewer chains or members"
    has_growing_memory: bool = False  # whether it grows with the sweeps


class MemoryEstimate(NamedTuple):
    """The memory that a run takes at most, beyond its model."""

    needs: tuple[MemoryNeed, ...]

    @property
    def bytes(self) -> float:
        return sum(need.bytes for need in self.needs)

    @property
    def tables(self) -> float:
        """Of the layout and its chains, which has been checked already."""
        return self.needs[0].bytes

    @property
    def fixed(self) -> float:
        """What does not grow with the sweeps."""
        return sum(need.bytes for need in self.needs if not need.has_growing_memory)

    def fits(self, max_memory: Size | None) -> bool:
        """Return whether it is within the limit; a little beyond the tables always is."""
        if max_memory is None and self.bytes <= UNCHECKED_BYTES:
            return True
        return (
            self.bytes - self.tables <= memory_limits.ALWAYS_ALLOWED_BYTES
            or self.bytes <= memory_limits.memory_limit(max_memory)
        )

    def check(self, max_memory: Size | None) -> None:
        """Raise a `MemoryLimitError` with numbers, and what to do, if it is above the limit."""
        if self.fits(max_memory):
            return
        limit, largest = (
            memory_limits.memory_limit(max_memory),
            max(self.needs, key=lambda need: need.bytes),
        )
        expected = (
            f"expected a run of at most {size_text(limit)}, but it needs {size_text(self.bytes)}, "
            f"where {largest.what} {'take' if largest.what.endswith('s') else 'takes'} "
            f"{size_text(largest.bytes)}: "
        )
        way_out = self._remedy(largest, limit)
        raise MemoryLimitError(Phrase(expected, Remedy(way_out, RAISE_MAX_MEMORY)))

    def _remedy(self, largest: MemoryNeed, limit: float) -> str:
        """Say how to make the largest part smaller."""
        room = limit - (self.bytes - largest.bytes)
        if largest.what != "samples" or room <= 0:
            return largest.remedy
        return f"{largest.remedy} ({largest.bytes / room:.3g} times fewer fit)"


class RunExtent(NamedTuple):
    """The length of a run, and the workers that do it."""

    chains: int
    sweeps: int  # recorded ones
    burn_in: int
    parallel: int = 1  # chains that are advanced at the same time
    by_clock: bool = False  # whether the clock decides how many sweeps there are
    compiles: bool = False  # whether kernels are compiled on copies of the chains
    sends: bool = False  # whether chains are sent to workers


def estimate_run(
    layout: Layout, keep: KeepOptions, length: RunExtent, chain: Chain | None = None
) -> MemoryEstimate:
    """Estimate the memory of a run; `chain` gives the shapes of its observables.

    Without one each observable counts as one number for each member.
    """
    sums = 0.0 if keep.observables is None else bytes_of_sums(keep, length.chains, chain)
    needs = [MemoryNeed("tables and states of chains", _tables(layout, length))]
    needs += [
        MemoryNeed("blocks of samples", _blocks(layout, keep, length)),
        MemoryNeed("sums of observables", sums),
        *_records(layout, keep, length),
        *_growing(layout, keep, length, chain),
        max(
            MemoryNeed("unpacked states", _unpacking_bytes(layout, keep) * length.parallel),
            _calls(layout, keep, length, chain),
            MemoryNeed("the result", _result(layout, keep, length, chain), "use fewer chains"),
            key=lambda need: need.bytes,
        ),
    ]
    states = BYTES_PER_NUMBER * layout.model.n_variables
    needs.append(MemoryNeed("numbers of states", states, "use a smaller model"))
    # While starts are drawn, nothing but tables and chains is there.
    starts = states * (length.chains + 3) * (not layout.is_herd)
    rest = sum(need.bytes for need in needs[1:-1] if not need.has_growing_memory)
    needs.append(MemoryNeed("starting states", max(0.0, starts - rest), "use fewer chains"))
    if length.sends:
        each = layout.chain_memory + sum(need.bytes for need in needs[3:4]) / length.chains
        copies = layout.memory + length.chains * each
        needs.append(MemoryNeed("copies for workers", copies, "run it without executor="))
    return MemoryEstimate(tuple(needs))


# -- a run's -------------------------------------------------------------------------------------


def run_length(
    chains: int,
    sweeps: int,
    burn_in: int,
    seconds: float | None,
    threads: int | None,
    sends: bool,
) -> RunExtent:
    """Return how long a run is, as `infer` was asked for it."""
    parallel = 1 if chains == 1 else min(chains, threads or cpu_count.count_usable_cpus())
    by_clock = seconds is not None
    return RunExtent(chains, sweeps, burn_in, parallel, by_clock, by_clock and not sends, sends)


def check_run(
    layout: Layout, keep: KeepOptions, length: RunExtent, max_memory: Size | None
) -> None:
    """Raise where a run would take more than it may, before any of it is taken."""
    _fitting(layout, keep, length, max_memory, None)


def limit_run(run: SamplerRun, length: RunExtent, max_memory: Size | None) -> None:
    """Check a run again, whose observables have shapes by now, and reserve what grows in it."""
    chain = run.chains[0] if run.keep.observables is not None else None
    estimate, run.most_recorded = _fitting(run.layout, run.keep, length, max_memory, chain)
    run.memory, run.fixed_memory = estimate.bytes, estimate.fixed
    reserve_room(run)


def _fitting(
    layout: Layout,
    keep: KeepOptions,
    length: RunExtent,
    max_memory: Size | None,
    chain: Chain | None,
) -> tuple[MemoryEstimate, int | None]:
    """Return an estimate that fits, and after how many recorded sweeps the run is to end for that.

    Where the clock ends a run its samples and series may end it earlier, if one of each fits.
    """
    known = length.sweeps < UNLIMITED_SWEEPS
    if known:
        estimate = estimate_run(layout, keep, length._replace(by_clock=False), chain)
        if estimate.fits(max_memory) or not length.by_clock:
            estimate.check(max_memory)
            return estimate, None
    estimate = estimate_run(layout, keep, length, chain)
    growing = sum(need.bytes for need in estimate.needs if need.has_growing_memory)
    if not growing:
        estimate.check(max_memory)
        return estimate, None
    room = max(0.0, memory_limits.memory_limit(max_memory) - estimate.fixed)
    least = max(_every(keep))
    most = min(length.sweeps, max(least, int(room / (growing / length.sweeps))))
    share = most / length.sweeps
    needs = (
        n._replace(bytes=n.bytes * share) if n.has_growing_memory else n for n in estimate.needs
    )
    estimate = MemoryEstimate(tuple(needs))
    estimate.check(max_memory)
    return estimate, most


def _every(keep: KeepOptions) -> Iterator[int]:
    """Return the sweeps between entries of growing arrays: samples and series."""
    if keep.samples is not None:
        yield keep.samples.every
    yield from (choice.every for choice in keep.each_observable if choice.series)


def flag_full(result: Result) -> Result:
    """Return the result with a diagnostic that its samples or series have ended it."""
    found = Diagnostic(
        DiagnosticKind.MEMORY, "warning", (), {"sweeps": float(result.sweeps)}, KEEP_LESS
    )
    return replace(result, diagnostics=(*result.diagnostics, found))


# -- parts ----------------------------------------------------------------------------------------


def _tables(layout: Layout, length: RunExtent) -> float:
    copies = 0.0
    if length.compiles:
        copies = min(length.chains * layout.chain_memory, MAX_WARM_UP_BYTES)
    return layout.memory + (length.chains - 1) * layout.chain_memory + copies


def _blocks(layout: Layout, keep: KeepOptions, length: RunExtent) -> float:
    total = length.burn_in + length.sweeps
    kind = np.dtype(layout.sample_type).itemsize
    return float(math.prod(block_shape(layout, keep, length.chains, total)) * kind)


def _records(layout: Layout, keep: KeepOptions, length: RunExtent) -> Iterator[MemoryNeed]:
    """Return the bytes of counts of recorders, in all chains."""
    model, width, chains = layout.model, layout.width, length.chains
    n, numbers = (
        layout.n_stored,
        BYTES_PER_NUMBER * layout.n_stored * (1 if layout.scalar else width),
    )
    of_block = BYTES_PER_NUMBER if layout.is_herd else 1.0
    counts = (BYTES_PER_NUMBER + of_block) * n * (1 if width == 2 else width)
    if keep.averages_conditionals:
        counts += numbers
    yield MemoryNeed("counts of states", chains * counts, "use fewer chains")
    if not is_annealed(layout.method):
        trace = chains * trace_bytes(layout, with_pairs=not keep.kinds.isdisjoint(PAIR_RECORDERS))
        yield MemoryNeed("traces of variables", trace)
    if keep.best_state is not None and has_factors(model):
        factors, entries, tables = _sizes(model)
        parts = 12.0 * entries + 16.0 * factors + 3 * BYTES_PER_NUMBER * n
        made = (
            BYTES_PER_NUMBER * (5 * entries + 5 * factors + 3 * tables) * isinstance(model, Lattice)
        )
        best = chains * parts + BYTES_PER_NUMBER * (3 * entries + 2 * factors) + made
        yield MemoryNeed("the best states", best, "use fewer chains")
    if keep.pair_marginals is not None:
        edges = _count_pairs(model, keep.pair_marginals)
        # counts, their frequencies, and the pairs
        each = BYTES_PER_NUMBER * (2.0 * width**2 + 4.0) * edges
        shared = (BYTES_PER_VIEW + 2 * BYTES_PER_NUMBER * width**2 + 6 * BYTES_PER_NUMBER) * edges
        yield MemoryNeed("tables of pairs of states", chains * each + shared, "give fewer edges=")
    states = None if keep.joint is None else count_joint_states(model.cardinalities, MAX_JOINT)
    if states is not None:
        yield MemoryNeed(
            "tables of all states",
            BYTES_PER_NUMBER * states * (2 * chains + 2),
            "keep PairMarginals instead",
        )
    if keep.error_curve is not None:
        points = BYTES_PER_NUMBER * len(keep.error_curve.sweeps(min(length.sweeps, 2**62)))
        table = BYTES_PER_NUMBER * model.n_variables * width
        yield MemoryNeed(
            "the error curve", 2 * (chains + 1) * points + 6 * table, "give fewer points at="
        )
    if layout.estimates_log_z:
        lanes, rows = layout.n_replicas, min(length.sweeps, MOST_SCORES)
        yield MemoryNeed(
            "scores of rungs", chains * 3.0 * rows * (BYTES_PER_NUMBER + 1) * (lanes + 2)
        )


def _growing(
    layout: Layout, keep: KeepOptions, length: RunExtent, chain: Chain | None
) -> Iterator[MemoryNeed]:
    """Return the bytes of samples and series, of every member of every chain."""
    everyone = float(length.chains * layout.members) * (BY_CLOCK if length.by_clock else 1)
    if keep.samples is not None:
        each = layout.model.n_variables * np.dtype(layout.state_type).itemsize
        draws = length.sweeps // keep.samples.every
        yield MemoryNeed(
            "samples", everyone * draws * each, "keep fewer with Samples(every=)", True
        )
    for k, choice in enumerate(keep.each_observable):
        if choice.series:
            draws = length.sweeps // choice.every
            size = BYTES_PER_NUMBER * numbers_of(chain, k)
            remedy = "measure less often with every=, or keep no series with series=False"
            yield MemoryNeed("the series of observables", everyone * draws * size, remedy, True)


def _unpacking_bytes(layout: Layout, keep: KeepOptions) -> float:
    """Return the bytes of states that recorders unpack at once, and of their copies."""
    if keep.kinds <= {Marginals, ErrorCurve, Observables}:
        return 0.0
    copies = 1 if keep.kinds <= {Marginals, ErrorCurve, Observables, Samples} else 2
    return copies * states_at_once(layout, STATES_PER_PASS, keep.samples is not None)


def _calls(layout: Layout, keep: KeepOptions, length: RunExtent, chain: Chain | None) -> MemoryNeed:
    """Return the bytes of calls to functions of states."""
    need = 0.0
    if keep.observables is not None:
        rows = block_shape(layout, keep, length.chains, length.burn_in + length.sweeps)[1]
        need = bytes_of_calls(layout, keep, rows, length.parallel, chain)
    return MemoryNeed("calls of observables", need, "leave some out of keep=")


def _result(layout: Layout, keep: KeepOptions, length: RunExtent, chain: Chain | None) -> float:
    """Return the bytes of marginals of all chains, and of comparisons among them or in series."""
    table: float = BYTES_PER_NUMBER * layout.model.n_variables * layout.width
    kept: float = 0.0
    if keep.marginals is not None:
        kept = length.chains * (2 if keep.marginals.rao_blackwell else 1) * table
    compared = (2 * length.chains + 5) * table if length.chains > 1 else 0.0
    walls = (
        MAX_MEMBERS_CHECKED * 2 * BYTES_PER_NUMBER * layout.model.n_variables
        if layout.model.has_hard_zeros
        else 0.0
    )
    rows = length.chains * layout.members
    # bins are in the gaps of `BY_CLOCK`
    sweeps = 0 if length.sweeps >= UNLIMITED_SWEEPS else length.sweeps
    bins = max(
        (
            bytes_of_bins(sweeps // choice.every, rows, numbers_of(chain, k))
            for k, choice in enumerate(keep.each_observable)
            if choice.series
        ),
        default=0.0,
    )
    return kept + max(compared, 2 * table * (keep.marginals is not None), bins) + walls


def _count_pairs(model: Model, choice: PairMarginals) -> int:
    if choice.edges is not None:
        return len(edge_array("edges", choice.edges))
    if isinstance(model, Lattice):
        return sum(along.size for along in model.couplings)
    if has_factors(model):
        return len(to_factor_graph(model).adjacency[1]) // 2
    return 0


def _sizes(model: Model) -> tuple[float, float, float]:
    """Return the numbers of factors, of their variables, and of entries of their tables."""
    if isinstance(model, Lattice):
        n, k = model.n_variables, model.log_unary.shape[-1]
        edges = sum(along.size for along in model.couplings)
        return float(n + edges), float(n + 2 * edges), float(n * k + edges * k * k)
    graph = to_factor_graph(model)
    return float(graph.n_factors), float(len(graph.factor_variables)), float(len(graph.log_tables))
