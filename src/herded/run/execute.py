"""Run a given method on a model: check the options, prepare the run, loop, build the result.

`infer` and the stages of a plan call `run_method`. Unlike `infer` it returns an interrupted run,
flagged, and lets its caller decide what Ctrl-C means.
"""

import os
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import closing, nullcontext
from os import PathLike

from numpy.typing import ArrayLike

from herded.errors import CheckpointError, HerdedWarning, Interrupted, MethodError
from herded.layouts.base import Layout
from herded.layouts.state import State
from herded.methods.layout_cache import cached_layout
from herded.methods.protocol import Sampler, Solver, sampler_capabilities, solver_capabilities
from herded.models.protocol import Model
from herded.run.build_result import build_sampler_result, build_solver_result
from herded.run.checkpoints.save_and_resume import (
    resume_sampler_run,
    resume_solver,
    save_sampler_run,
    save_solver,
)
from herded.run.diagnostics.chain_agreement import InfoDiagnostic
from herded.run.diagnostics.length_diagnostics import needs_other_starts
from herded.run.distributed.remote_chains import RemoteChains
from herded.run.initial_states import initial_states
from herded.run.interrupted_result import flag_interrupted
from herded.run.memory.held_results import remaining_limit
from herded.run.memory.sampler_run_estimate import check_run, flag_full, limit_run, run_length
from herded.run.observables.recorder import Observable
from herded.run.progress import SnapshotCallback
from herded.run.query import (
    check_count,
    check_layout,
    is_solver,
    is_time,
    method_protocol,
    parse_keep,
    total_sweeps,
)
from herded.run.recording.recorders import KeepArgument
from herded.run.result import Result
from herded.run.run_loop import UNLIMITED_SWEEPS, run_until_done
from herded.run.sampler_run import BRIEF_RUN_UPDATES, MAX_HERD_UPDATES, SamplerRun
from herded.run.selection.recommendation import Recommendation
from herded.run.solver_run import SolverRun, refuse_sampler_options
from herded.system import atomic_files, memory_limits
from herded.system.argument_checks import short_repr
from herded.system.interrupts import NO_PART
from herded.system.memory_limits import Size

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


def run_method(
    model: Model,
    method: Sampler | Solver | Recommendation,
    *,
    sweeps: int | None = None,
    seconds: float | None = None,
    burn_in: int | None = None,
    chains: int | None = None,
    keep: Sequence[KeepArgument | Observable] | None = None,
    start: ArrayLike | State | Sequence[State] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: float = 30.0,
    progress: bool | None = None,
    callback: SnapshotCallback | None = None,
    layout: str | Layout | None = None,
    max_memory: Size | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
    compare_starts: bool = True,
) -> Result:
    """As `infer`, but an interrupted run is returned and flagged, even if it recorded nothing.

    For callers that make one answer of several runs, and decide themselves what Ctrl-C means.
    Without `compare_starts`, chains from one state are not compared with others from random starts.
    """
    reason = doubt = ""
    choices = parse_keep(keep, rao_blackwell=isinstance(method, Recommendation))
    if isinstance(method, Recommendation):
        doubt = method.doubt
        sweeps = method.sweeps if sweeps is None and seconds is None else sweeps
        burn_in = method.burn_in if burn_in is None else burn_in
        chains = method.chains if chains is None else chains
        reason, method = method.reason, method.method
    if isinstance(method, type) or method_protocol(method) is None:
        raise MethodError(f"expected a method such as HerdedGibbs(), got {short_repr(method)}")
    sweeps = total_sweeps(method, sweeps, seconds)
    burn_in = check_count("burn_in", 0 if burn_in is None else burn_in, 0)
    chains = check_count("chains", 1 if chains is None else chains, 1)
    if threads is not None:
        check_count("threads", threads, 1)
    if not is_time(checkpoint_every):
        raise MethodError(
            f"expected checkpoint_every as seconds of 0 or more, got {short_repr(checkpoint_every)}"
        )
    if isinstance(layout, Layout):
        check_layout(layout, model, method)
    else:
        layout = cached_layout(model, method, layout, max_memory)
    if is_solver(method):
        refuse_sampler_options(method, chains, start, checkpoint, executor, choices)
        solver = SolverRun.prepare(layout, method, choices, sweeps, burn_in)
        if checkpoint is not None:
            atomic_files.check_writable(checkpoint, CheckpointError, "checkpoint=")
            resume_solver(solver, checkpoint)
        with solver.stopping(checkpoint is not None) as stop:
            stopped = run_until_done(
                solver,
                nullcontext(stop),
                seconds=None if solver.in_one_step else seconds,
                progress=progress,
                callback=callback,
                save=None if checkpoint is None else lambda: _try_to_save(solver, checkpoint),
                save_every=checkpoint_every,
                is_brief=solver.is_brief,
            )
            if solver.interrupted and checkpoint is not None:
                _try_to_save(solver, checkpoint)
            if solver.interrupted and solver.in_one_step:
                raise Interrupted(NO_PART)  # of an elimination no part is an answer
            result = _cross_check_solver(build_solver_result(solver, reason), max_memory)
        return flag_interrupted(result) if stopped or stop.is_set() else result
    if chains > 1:
        need = layout.memory + (chains - 1) * layout.chain_memory
        memory_limits.check_memory(need, max_memory, f"the weights of {chains} chains")
    most = MAX_HERD_UPDATES // layout.members
    if layout.is_herd and most < burn_in + sweeps < UNLIMITED_SWEEPS:
        raise MethodError(
            f"expected at most {most:,} sweeps of a herd of {layout.members}, whose sums would "
            f"overflow, got {burn_in + sweeps:,}: run more herds with chains="
        )
    if checkpoint is not None:
        atomic_files.check_writable(checkpoint, CheckpointError, "checkpoint=")
    length = run_length(chains, sweeps, burn_in, seconds, threads, executor is not None)
    check_run(layout, choices, length, max_memory)
    states = initial_states(layout, method, chains, start, choices, burn_in + sweeps)
    run = SamplerRun.prepare(layout, method, choices, states, sweeps, burn_in)
    limit_run(run, length, max_memory)
    if checkpoint is not None:
        resume_sampler_run(run, checkpoint, max_memory)
    is_brief = (
        run.updates < BRIEF_RUN_UPDATES and (seconds, callback, checkpoint, executor) == (None,) * 4
    )
    remote = None if executor is None else RemoteChains(executor)
    with (
        run.stopping(is_brief) as stop,
        nullcontext() if remote is None else closing(remote),
        run.share_out(threads) if remote is None else nullcontext(),
    ):
        run.remote = remote
        if seconds is not None and remote is None:
            run.compile_ahead()
        stopped = run_until_done(
            run,
            nullcontext(stop),
            seconds=seconds,
            progress=progress,
            callback=callback,
            save=None if checkpoint is None else lambda: _try_to_save(run, checkpoint),
            save_every=checkpoint_every,
            is_brief=is_brief,
        )
        run.has_compiled()
        if checkpoint is not None:
            _try_to_save(run, checkpoint)
        if run.done <= burn_in and not run.interrupted:
            raise MethodError(
                f"expected seconds enough for the burn-in of {burn_in} sweeps and one more, but "
                f"after {seconds:g} only {run.done} were done: give more, or a shorter burn_in"
            )
        result = build_sampler_result(run, reason, doubt)
        own = sampler_capabilities(method)
        if own.herds_in_time and not own.is_annealed and chains > 1 and not run.interrupted:
            from herded.run.diagnostics.cross_check import (
                add_herd_cross_check,  # herding in time has a bias of its own
            )

            left = remaining_limit(max_memory, run.memory)
            result = add_herd_cross_check(result, seconds, left)
        compare_starts &= not (stopped or stop.is_set())
        if compare_starts and needs_other_starts(result):
            from herded.run.diagnostics.start_check import with_other_starts  # loads much else

            left = remaining_limit(max_memory, run.memory)
            result = with_other_starts(result, left, seconds)
        if run.is_full:
            result = flag_full(result)
        issue_warnings(result)
    return flag_interrupted(result) if stopped or stop.is_set() else result


def _cross_check_solver(result: Result, max_memory: Size | None) -> Result:
    """A solver's result; what may be wrong without a sign of it is compared with a sampler."""
    if not solver_capabilities(result.method).in_one_step:
        from herded.run.diagnostics.cross_check import (
            add_solver_diagnostics,  # loads much that samplers have no use for
        )

        result = add_solver_diagnostics(result, max_memory)
    issue_warnings(result)
    return result


def issue_warnings(result: Result) -> None:
    """Warn of what speaks against a result."""
    for sentence in result.warnings:
        if not isinstance(sentence, InfoDiagnostic):
            warnings.warn(sentence, HerdedWarning, stacklevel=users_level())


def users_level() -> int:
    """Of the nearest frame outside of the package, for whom warnings are."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


def _try_to_save(run: SamplerRun | SolverRun, path: str | PathLike[str]) -> None:
    """A full disk must not cost the run: it goes on, and says so."""
    try:
        save_solver(run, path) if isinstance(run, SolverRun) else save_sampler_run(run, path)
        run.saved = True
    except CheckpointError as error:
        run.saved = False
        warnings.warn(f"{error}; the run goes on without this checkpoint", stacklevel=users_level())
