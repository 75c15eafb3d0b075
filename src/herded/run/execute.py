"""Run the method of a query: lay the model out, prepare the run, loop, build the result.

Everything that runs a method calls `execute`: `infer`, the stages of a plan, and cross-checks. An
interrupted run is returned and flagged: the caller decides what Ctrl-C means.
"""

import os
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext

from herded.errors import CheckpointError, HerdedWarning, Interrupted, MethodError
from herded.layouts.base import Layout
from herded.methods.layout_cache import cached_layout
from herded.methods.protocol import Sampler, Solver
from herded.run.build_result import build_sampler_result, build_solver_result
from herded.run.checkpoints.save_and_resume import (
    resume_sampler_run,
    resume_solver,
    save_sampler_run,
    save_solver,
)
from herded.run.initial_states import initial_states
from herded.run.interrupted_result import flag_interrupted
from herded.run.memory.sampler_run_estimate import check_run, flag_full, limit_run, run_length
from herded.run.query import Query, check_layout, is_solver
from herded.run.result import Result
from herded.run.run_loop import UNLIMITED_SWEEPS, run_until_done
from herded.run.sampler_run import BRIEF_RUN_UPDATES, MAX_HERD_UPDATES, SamplerRun
from herded.run.solver_run import SolverRun, refuse_sampler_options
from herded.system import atomic_files, memory_limits
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.diagnostics.phrases import BURN_IN, CHECKPOINT, SECONDS, Phrase, Remedy
from herded.system.interrupts import NO_PART

PACKAGE_PREFIX = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")

# What compares a result with other runs. It gets the result, the query, and the event that Ctrl-C
# sets.
ResultCheck = Callable[[Result, Query, threading.Event], Result]


def execute(query: Query, check: ResultCheck | None = None) -> Result:
    """Run the method of a query, and return its result, flagged where the run was interrupted.

    `check` makes of the result that which is returned, and whose warnings are issued. Without it
    the result is compared with nothing, and keeps its warnings to itself.
    """
    run = _prepare_run(query)
    is_brief = _is_brief(query, run)
    with _stopping(query, run, is_brief) as stop, _workers(query, run):
        if isinstance(run, SamplerRun):
            _compile_ahead(query, run)
        run_until_done(
            run,
            nullcontext(stop),
            seconds=_seconds(query, run),
            progress=query.progress,
            callback=query.callback,
            save=None if query.checkpoint.path is None else lambda: _try_to_save(query, run),
            save_every=query.checkpoint.every_seconds,
            is_brief=is_brief,
        )
        if isinstance(run, SamplerRun):
            result = _finish_sampler(query, run, check, stop)
        else:
            result = _finish_solver(query, run, check, stop)
        if check is not None:
            issue_warnings(result)
    return flag_interrupted(result) if stop.is_set() else result


def issue_warnings(result: Result) -> None:
    """Issue the warnings of a result; `infer` warns of an interruption itself."""
    for found in result.diagnostics:
        if found.severity == "warning" and found.kind != DiagnosticKind.INTERRUPTED:
            warnings.warn(found.message, HerdedWarning, stacklevel=users_level())


def users_level() -> int:
    """Return the stack level of the nearest frame outside the package, for warnings."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE_PREFIX):
        frame, level = frame.f_back, level + 1
    return level


# -- before the loop -------------------------------------------------------------------------------


def _prepare_run(query: Query) -> SamplerRun | SolverRun:
    """Return a run of the query's method that has not begun, or has been resumed."""
    method, layout = query.method, query.layout
    assert not isinstance(method, str)  # a name is planned first
    if isinstance(layout, Layout):
        check_layout(layout, query.model, method)
    else:
        layout = cached_layout(query.model, method, layout, query.max_memory)
    if is_solver(method):
        return _prepare_solver(query, method, layout)
    return _prepare_sampler(query, method, layout)


def _prepare_solver(query: Query, method: Solver, layout: Layout) -> SolverRun:
    """Return a solver's run."""
    refuse_sampler_options(method, query)
    budget, keep, path = query.budget, query.keep_or_default, query.checkpoint.path
    run = SolverRun.prepare(layout, method, keep, budget.max_sweeps, budget.burn_in or 0)
    if path is not None:
        atomic_files.check_writable(path, CheckpointError, CHECKPOINT)
        resume_solver(run, path)
    return run


def _prepare_sampler(query: Query, method: Sampler, layout: Layout) -> SamplerRun:
    """Prepare chains at their first states, once the memory is known to suffice."""
    budget, keep, path = query.budget, query.keep_or_default, query.checkpoint.path
    chains, burn_in, sweeps = budget.chains or 1, budget.burn_in or 0, budget.max_sweeps
    if chains > 1:
        need = layout.memory + (chains - 1) * layout.chain_memory
        memory_limits.check_memory(need, query.max_memory, f"the weights of {chains} chains")
    _check_herd_sums(layout, burn_in + sweeps)
    if path is not None:
        atomic_files.check_writable(path, CheckpointError, CHECKPOINT)
    sends = query.executor is not None
    extent = run_length(chains, sweeps, burn_in, budget.seconds, query.threads, sends)
    check_run(layout, keep, extent, query.max_memory)
    states = initial_states(layout, method, chains, query.start, keep, burn_in + sweeps)
    run = SamplerRun.prepare(layout, method, keep, states, sweeps, burn_in)
    limit_run(run, extent, query.max_memory)
    if path is not None:
        resume_sampler_run(run, path, query.max_memory)
    return run


def _check_herd_sums(layout: Layout, sweeps: int) -> None:
    """Raise where sums over the members of a herd would overflow."""
    most = MAX_HERD_UPDATES // layout.members
    if layout.is_herd and most < sweeps < UNLIMITED_SWEEPS:
        raise MethodError(
            f"expected at most {most:,} sweeps of a herd of {layout.members}, whose sums would "
            f"overflow, got {sweeps:,}: use fewer sweeps and more herds"
        )


# -- around the loop -------------------------------------------------------------------------------


def _is_brief(query: Query, run: SamplerRun | SolverRun) -> bool:
    """Return whether a run ends before anybody could interrupt it or miss a progress bar."""
    if isinstance(run, SolverRun):
        return run.is_brief
    waits = query.budget.seconds, query.callback, query.checkpoint.path, query.executor
    is_short = run.updates < BRIEF_RUN_UPDATES and waits == (None,) * 4
    return query.is_cross_check or is_short


def _stopping(
    query: Query, run: SamplerRun | SolverRun, is_brief: bool
) -> AbstractContextManager[threading.Event]:
    """Return the event that Ctrl-C sets."""
    if isinstance(run, SolverRun):
        return run.stopping(saves=query.checkpoint.path is not None)
    return run.stopping(is_brief)


def _workers(query: Query, run: SamplerRun | SolverRun) -> AbstractContextManager[object]:
    """Open the workers of an executor, or threads where these help."""
    if isinstance(run, SolverRun):
        return nullcontext()
    if query.executor is None:
        return run.share_out(query.threads)
    from herded.run.distributed.remote_chains import RemoteChains  # late for the start-up time

    remote = RemoteChains(query.executor)
    run.remote = remote
    return closing(remote)


def _compile_ahead(query: Query, run: SamplerRun) -> None:
    """Compile before the clock runs, unless kernels are sent elsewhere or have been compiled."""
    is_timed = query.budget.seconds is not None
    if is_timed and run.remote is None and not query.is_cross_check:
        run.compile_ahead()


def _seconds(query: Query, run: SamplerRun | SolverRun) -> float | None:
    """Return the time limit of a run; none for a solver in one step."""
    if isinstance(run, SolverRun) and run.in_one_step:
        return None
    return query.budget.seconds


def _try_to_save(query: Query, run: SamplerRun | SolverRun) -> None:
    """Write the checkpoint; a full disk must not cost the run, which warns and carries on."""
    path = query.checkpoint.path
    assert path is not None
    try:
        save_solver(run, path) if isinstance(run, SolverRun) else save_sampler_run(run, path)
        run.saved = True
    except CheckpointError as error:
        run.saved = False
        warnings.warn(
            f"{error}; the run continues without this checkpoint", stacklevel=users_level()
        )


# -- after the loop --------------------------------------------------------------------------------


def _finish_solver(
    query: Query, run: SolverRun, check: ResultCheck | None, stop: threading.Event
) -> Result:
    """Build the result of a solver, and save the run if it was interrupted."""
    if run.interrupted and query.checkpoint.path is not None:
        _try_to_save(query, run)
    if run.interrupted and run.in_one_step:
        raise Interrupted(NO_PART)  # of an elimination no part is an answer
    result = build_solver_result(run, query.reason)
    return result if check is None or run.in_one_step else check(result, query, stop)


def _finish_sampler(
    query: Query, run: SamplerRun, check: ResultCheck | None, stop: threading.Event
) -> Result:
    """Return the result of a sampler, whose last sweep is saved."""
    run.has_compiled()
    if query.checkpoint.path is not None:
        _try_to_save(query, run)
    if run.done <= run.burn_in and not run.interrupted:
        expected = (
            f"the time budget ended during burn-in ({run.done} of {run.burn_in} sweeps in "
            f"{query.budget.seconds:g} s): "
        )
        remedy = Remedy(Phrase("raise ", SECONDS), Phrase("lower ", BURN_IN))
        raise MethodError(Phrase(expected, remedy))
    result = build_sampler_result(run, query.reason, query.caveat)
    if check is not None:
        result = check(result, query, stop)
    return flag_full(result) if run.is_full else result
