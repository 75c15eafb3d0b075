"""infer(model, method, sweeps=...): the function that runs a method on a model."""

import warnings
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from os import PathLike

from numpy.typing import ArrayLike

from herded.errors import HerdedWarning
from herded.layouts.base import Layout
from herded.layouts.state import State
from herded.methods.protocol import Sampler, Solver, solver_capabilities
from herded.models.protocol import Model
from herded.run.execute import execute, users_level
from herded.run.interrupted_result import check_on_interrupt, settle_interruption
from herded.run.interrupts import interrupt_without_result, stop_event_on_interrupt
from herded.run.observables.recorder import Observable
from herded.run.progress import SnapshotCallback
from herded.run.query import Query, build_query, is_solver
from herded.run.recording.recorders import KeepArgument
from herded.run.result import Result
from herded.run.result_check import check_result
from herded.run.selection.recommendation import Recommendation
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.memory_limits import Size


def infer(
    model: Model,
    method: str | Sampler | Solver | Recommendation | None = None,
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
    on_interrupt: str = "raise",
) -> Result:
    """Run a method on a model and return what was kept.

    The main arguments are `model`, `method`, `sweeps` or `seconds`, `chains` and `keep`. The other
    arguments set where chains start, checkpoints, what is shown, and the machine's resources.

    Parameters
    ----------
    model
        A `FactorGraph`, a `Lattice`, or anything that is a `Model`.
    method
        None or "auto": exact inference where it fits in memory and time, else what `recommend`
        returns. A name, "exact", "herd", "herded", "gibbs", "blocks", "tempered", "bp" or
        "mean-field" (or one that another package registers): the same run as `herded infer
        --method`, with four chains, 10,000 sweeps and a burn-in. Or a sampler, a solver, or a
        recommendation of `recommend`, whose sweeps, burn-in and chains are then the defaults.
    sweeps
        Sweeps over all variables after `burn_in`; 1000 by default for a given sampler or solver.
        A herd that "auto" chooses spreads as many updates over its members. Solvers stop earlier
        when they converge.
    seconds
        A time limit, with or without `sweeps`: the number of sweeps then depends on the clock. A
        resumed run has the seconds that are left. With "auto" exact inference must fit in them.
    burn_in
        Sweeps before anything is recorded; 0 by default for a given method.
    chains
        Independent runs, or herds, with different phases, draws and starts; 1 by default for a
        given method. Only chains that disagree reveal several modes: a single chain does not, nor
        do chains that all fall into one mode.
    keep
        What to record: `Marginals()` (the default), `BestState()`, `Samples(every=10)`,
        `PairMarginals()`, `Joint()`, `ErrorCurve(reference)`, and any number of
        `Observable(function)`. Without a method, records such as samples imply a sampler, and
        `BestState()` alone implies a search.
    start
        Where to start: a state (N,), one for each chain (chains, N), or the `state` of an earlier
        result, to continue it with the same method. By default a random state of the support.
        Without a method it must be one state, and implies a sampler.
    checkpoint
        A file to write every `checkpoint_every` seconds, and to resume from if it exists. Exact
        inference writes one only if it takes longer than that.
    checkpoint_every
        Seconds between two checkpoints.
    progress
        A bar on a terminal or in a notebook: for long runs (None), or never (False).
    callback
        A function that is called after every block of sweeps with a `Snapshot` (sweeps, seconds,
        chain_marginals(), best(), states()); its return value is shown next to the bar.
    layout
        A kind of layout to force ("grid", "table", "field", "pairs" or "factor"), or one made by
        the method's `compile`; only with a method.
    max_memory
        The memory limit beyond the model, in bytes or as "2G"; by default half of what is free.
        It counts tables, weights, states, what `keep` records, the arguments of functions of
        states, and the result. Exact inference that exceeds it is done in segments and slices,
        which take longer. A run with `seconds` stops earlier if its samples or series reach the
        limit, and says so in `result.diagnostics`.
    threads
        The number of threads; the result does not depend on it.
    executor
        Where the chains run: any Executor of `concurrent.futures`, such as a Dask client's
        `get_executor()`. The result does not depend on it, nor on workers that die.
    on_interrupt : {"raise", "return"}
        The effect of Ctrl-C, or of a callback that raises `KeyboardInterrupt`. The run ends after
        the current block of sweeps, and its checkpoint is written. "raise": `Interrupted` is
        raised, a `KeyboardInterrupt` whose `result` is the partial result. "return": the partial
        result is returned, with a `Diagnostic` of kind "interrupted" in `result.diagnostics`, and a
        `HerdedWarning`. Where nothing was recorded yet, as during the burn-in or within exact
        inference, there are no numbers: both raise, and `result` is None. A second Ctrl-C, a second
        or more after the first, raises at once, also without a result.

    Returns
    -------
    Result
        What was kept; `result.method` and `result.reason` say how it was found. Reasons to doubt
        it, such as chains that disagree or hard zeros that no move can cross, are in
        `result.warnings` and issued as `HerdedWarning`.

    Raises
    ------
    MethodError
        If an option is wrong, or the method cannot run on this model.
    Interrupted
        If Ctrl-C ended it; it is a `KeyboardInterrupt`. See `on_interrupt`.
    MemoryLimitError
        If it would take more than `max_memory`; the error says how much, and for what. It is
        raised before the run.
    InfeasibleError
        If no state is possible, or none was found to start from.

    Examples
    --------
    >>> model = hd.ising_grid([[1.0, -1.0], [0.5, 0.0]], 0.2)
    >>> result = hd.infer(model)
    >>> result.method, result.marginals[..., 1].round(3).tolist()
    (Exact(), [[0.867, 0.163], [0.772, 0.488]])
    >>> result = hd.infer(model, hd.HerdedGibbs(), sweeps=5000, chains=2)
    >>> result.marginals.shape, result.sweeps
    ((2, 2, 2), 5000)
    """
    check_on_interrupt(on_interrupt)
    query = build_query(
        model,
        method,
        sweeps=sweeps,
        seconds=seconds,
        burn_in=burn_in,
        chains=chains,
        keep=keep,
        start=start,
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
        progress=progress,
        callback=callback,
        layout=layout,
        max_memory=max_memory,
        threads=threads,
        executor=executor,
    )
    with interrupt_without_result(), _stopping(query, on_interrupt):
        if isinstance(query.method, str):
            # Late for the start-up time: plans know all methods.
            from herded.run.selection.plan import plan_and_execute

            result = plan_and_execute(query)
        else:
            result = execute(query, check_result)
    result = settle_interruption(result, on_interrupt)
    _warn_if_interrupted(result)
    return result


def _stopping(query: Query, on_interrupt: str) -> AbstractContextManager[object]:
    """Have Ctrl-C end even a brief run after its block, where its partial result is asked for.

    Otherwise the run decides, and where there are no partial results Ctrl-C raises at once.
    """
    method = query.method
    is_atomic = is_solver(method) and solver_capabilities(method).in_one_step
    has_parts = not (isinstance(method, str) or is_atomic)
    return stop_event_on_interrupt() if on_interrupt == "return" and has_parts else nullcontext()


def _warn_if_interrupted(result: Result) -> None:
    """Warn that a result is partial."""
    for diagnostic in result.diagnostics:
        if diagnostic.kind == DiagnosticKind.INTERRUPTED and diagnostic.severity == "warning":
            warnings.warn(diagnostic.message, HerdedWarning, stacklevel=users_level())
