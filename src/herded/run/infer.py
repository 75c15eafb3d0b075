"""infer(model, method, sweeps=...): run a method on a model and give what is to be kept."""

import operator
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from contextlib import closing, nullcontext
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any, SupportsIndex
from weakref import WeakKeyDictionary

from numpy.typing import ArrayLike

from herded.errors import CheckpointError, HerdedWarning, MethodError
from herded.layouts.choose import cached_layout
from herded.layouts.protocol import Layout
from herded.layouts.state import State
from herded.methods.protocol import Method, Sampler, Solver
from herded.methods.schedule import is_annealed
from herded.models.checks import check_model, shown
from herded.models.factor_graph import FactorGraph
from herded.models.lattice import Lattice
from herded.models.protocol import Model
from herded.run.checkpoint import resume, resume_solver, save, save_solver
from herded.run.diagnostics import Note
from herded.run.keep import BestState, ErrorCurve, Joint, Keep, Marginals, PairMarginals, Samples
from herded.run.loop import ENDLESS, run_all
from herded.run.observables import Observable, Observables
from herded.run.progress import Callback
from herded.run.recommend import Recommendation
from herded.run.remote_chains import RemoteChains
from herded.run.result import Result
from herded.run.results import sampled, solved
from herded.run.sampling import BRIEF, MOST_UPDATES, SamplerRun, first_states
from herded.run.solving import SolverRun, refuse_for_solver
from herded.system import atomic, memory
from herded.system.memory import Size

if TYPE_CHECKING:
    from typing_extensions import TypeIs

DEFAULT_SWEEPS = 1000  # of a method that was given
PACKAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


def infer(
    model: Model,
    method: str | Sampler | Solver | Recommendation | None = None,
    *,
    sweeps: int | None = None,
    seconds: float | None = None,
    burn_in: int | None = None,
    chains: int | None = None,
    keep: Sequence[Keep | Observable] | None = None,
    start: ArrayLike | State | Sequence[State] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: float = 30.0,
    progress: bool | None = None,
    callback: Callback | None = None,
    layout: str | Layout | None = None,
    max_memory: Size | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> Result:
    """Run `method` on `model`, or what suits the model, and give what is to be kept.

    Parameters
    ----------
    model
        A `FactorGraph`, a `Lattice`, or anything that is a `Model`.
    method
        None or "auto": exact inference where it fits in memory and time, else what `recommend`
        says. A name, "exact", "herded", "gibbs", "herd", "blocks", "bp" or "mean-field": the run
        that `herded infer --method` makes of it, with four chains, 10,000 sweeps and a burn-in. Or
        a sampler, a solver, or what `recommend` gave, whose sweeps, burn-in and chains are then
        the defaults.
    sweeps
        Traversals of the variables after `burn_in`; of a sampler or solver that was given 1000
        unless told. A herd that was chosen takes as many updates, over all of its members. Solvers
        stop earlier when they converge.
    seconds
        When to stop, also without `sweeps`: how many sweeps there are then depends on the clock. A
        resumed run has the seconds that are left. With "auto" exact inference must fit in them.
    burn_in
        Sweeps before anything is recorded; of a method that was given 0 unless told.
    chains
        Independent runs with other phases, draws and starts, or herds of them; of a method that was
        given 1 unless told. Chains that disagree are the one sign of several modes: with 1, or
        where all fall into one mode, none is seen.
    keep
        What to record: `Marginals()` (the default), `BestState()`, `Samples(every=10)`,
        `PairMarginals()`, `Joint()`, `ErrorCurve(reference)`, and any number of
        `Observable(function)`. Without a method, what only a run has, such as samples, asks for a
        sampler, and `BestState()` alone for a search.
    start
        Where to start: a state (N,), one for each chain (chains, N), or the `state` of an earlier
        result, to continue it with the method that it had. By default a random state of the
        support. Without a method it is one state, and asks for a sampler.
    checkpoint
        A file to write every `checkpoint_every` seconds, and to resume from if it exists. Exact
        inference writes one only if it takes longer than that.
    checkpoint_every
        Seconds between two checkpoints.
    progress
        A bar on a terminal or in a notebook: when it takes a while (None), or never (False).
    callback
        A function that is called after every block of sweeps with a `Snapshot` (sweeps, seconds,
        chain_marginals(), best(), states()); what it returns is shown beside the bar.
    layout
        A kind of layout to force ("grid", "table", "field", "pairs" or "factor"), or one that the
        method's `compile` gave; with a method.
    max_memory
        Most memory for tables and weights, in bytes or as "2G"; by default half of what is free.
        Where it is short, exact inference is done in segments and slices, which take longer.
    threads
        How many; the result does not depend on it.
    executor
        Where the chains run: any Executor of `concurrent.futures`, such as a Dask client's
        `get_executor()`. The result does not depend on it, nor on workers that die.

    Returns
    -------
    Result
        What was kept; `result.method` and `result.reason` tell how it was found. What speaks
        against it, such as chains that disagree or hard zeros that no move can pass, is in
        `result.warnings` and issued as `HerdedWarning`.

    Raises
    ------
    MethodError
        Where an option is wrong, or the method cannot run on this model.
    MemoryLimitError
        Where it would take more than `max_memory`; nothing was taken.
    InfeasibleError
        Where no state is possible, or none was found to start from.

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
    if not isinstance(model, (FactorGraph, Lattice)):
        check_model(model)
    if method is None or isinstance(method, str):
        from herded.run.by_name import infer_by_name  # which runs what it has chosen by `infer`

        return infer_by_name(
            model,
            method or "auto",
            check_keep(keep),
            keep=keep,
            sweeps=None if sweeps is None else _count("sweeps", sweeps, 1),
            seconds=None if seconds is None else _check_seconds(seconds),
            burn_in=None if burn_in is None else _count("burn_in", burn_in, 0),
            chains=None if chains is None else _count("chains", chains, 1),
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
    reason = doubt = ""
    choices = check_keep(keep, rao_blackwell=isinstance(method, Recommendation))
    if isinstance(method, Recommendation):
        doubt = method.doubt
        sweeps = method.sweeps if sweeps is None and seconds is None else sweeps
        burn_in = method.burn_in if burn_in is None else burn_in
        chains = method.chains if chains is None else chains
        reason, method = method.reason, method.method
    if isinstance(method, type) or _role(method) is None:
        raise MethodError(f"expected a method such as HerdedGibbs(), got {shown(method)}")
    sweeps = _sweeps(method, sweeps, seconds)
    burn_in = _count("burn_in", 0 if burn_in is None else burn_in, 0)
    chains = _count("chains", 1 if chains is None else chains, 1)
    if threads is not None:
        _count("threads", threads, 1)
    if not _is_time(checkpoint_every):
        raise MethodError(
            f"expected checkpoint_every as seconds of 0 or more, got {shown(checkpoint_every)}"
        )
    if isinstance(layout, Layout):
        _check_layout(layout, model, method)
    else:
        layout = cached_layout(model, method, layout, max_memory)
    if _is_solver(method):
        refuse_for_solver(method, chains, start, checkpoint, executor, choices)
        solver = SolverRun.prepare(layout, method, choices, sweeps, burn_in)
        if checkpoint is not None:
            atomic.check_writable(checkpoint, CheckpointError, "checkpoint=")
            resume_solver(solver, checkpoint)
        run_all(
            solver,
            solver.stopping(checkpoint is not None),
            seconds=None if solver.method.in_one_step else seconds,
            progress=progress,
            callback=callback,
            save=None if checkpoint is None else lambda: _try_to_save(solver, checkpoint, 5),
            save_every=checkpoint_every,
            is_brief=solver.is_brief,
        )
        if solver.interrupted and checkpoint is not None:
            _try_to_save(solver, checkpoint, 3)
            raise KeyboardInterrupt  # of an elimination no part is an answer
        return _judged(solved(solver, reason), max_memory)
    if chains > 1:
        need = layout.memory + (chains - 1) * layout.chain_memory
        memory.check(need, max_memory, f"the weights of {chains} chains")
    most = MOST_UPDATES // layout.members
    if layout.is_herd and most < burn_in + sweeps < ENDLESS:
        raise MethodError(
            f"expected at most {most:,} sweeps of a herd of {layout.members}, whose sums would "
            f"overflow, got {burn_in + sweeps:,}: run more herds with chains="
        )
    states = first_states(layout, method, chains, start, choices, burn_in + sweeps)
    run = SamplerRun.prepare(layout, method, choices, states, sweeps, burn_in)
    if Observables in choices and sweeps < ENDLESS:
        choices[Observables].check_memory(run, max_memory)
    if checkpoint is not None:
        atomic.check_writable(checkpoint, CheckpointError, "checkpoint=")
        resume(run, checkpoint)
    is_brief = run.updates < BRIEF and (seconds, callback, checkpoint, executor) == (None,) * 4
    remote = None if executor is None else RemoteChains(executor)
    with (
        nullcontext() if remote is None else closing(remote),
        run.share_out(threads) if remote is None else nullcontext(),
    ):
        run.remote = remote
        if seconds is not None and remote is None:
            run.compile_ahead()
        run_all(
            run,
            run.stopping(is_brief),
            seconds=seconds,
            progress=progress,
            callback=callback,
            save=None if checkpoint is None else lambda: _try_to_save(run, checkpoint, 5),
            save_every=checkpoint_every,
            is_brief=is_brief,
        )
    run.has_compiled()
    if checkpoint is not None:
        _try_to_save(run, checkpoint, 3)
    if run.done <= burn_in and not run.interrupted:
        raise MethodError(
            f"expected seconds enough for the burn-in of {burn_in} sweeps and one more, but after "
            f"{seconds:g} only {run.done} were done: give more, or a shorter burn_in"
        )
    result = sampled(run, reason, doubt)
    in_time = hasattr(method, "weights") and getattr(method, "schedule", None) is None
    if in_time and chains > 1 and not run.interrupted:
        from herded.run.control import with_control  # herding in time has a bias of its own

        result = with_control(result, seconds, max_memory)
    issue(result)
    return result


def _judged(result: Result, max_memory: Size | None) -> Result:
    """A solver's result; what may be wrong without a sign of it is compared with a sampler."""
    if not result.method.in_one_step:
        from herded.run.control import with_doubts  # loads much that samplers have no use for

        result = with_doubts(result, max_memory)
    issue(result)
    return result


def issue(result: Result) -> None:
    """Warn of what speaks against a result."""
    for sentence in result.warnings:
        if not isinstance(sentence, Note):
            warnings.warn(sentence, HerdedWarning, stacklevel=_users_level())


def _users_level() -> int:
    """Of the nearest frame outside of the package, for whom warnings are."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


_ROLES: WeakKeyDictionary[type, type | None] = WeakKeyDictionary()


def _role(method: object) -> type | None:
    """`Sampler`, `Solver`, or None; asked once for each class, since Python takes its time."""
    kind = type(method)
    if kind not in _ROLES:
        found = [protocol for protocol in (Sampler, Solver) if isinstance(method, protocol)]
        _ROLES[kind] = found[0] if found else None
    return _ROLES[kind]


def _is_solver(method: Method) -> "TypeIs[Solver]":
    return _role(method) is Solver


def _check_layout(layout: Layout, model: Model, method: object) -> None:
    """A layout of another method has arrays of other sizes, which kernels would not notice."""
    if layout.model is model and layout.method == method:
        return
    if layout.model is not model:
        raise MethodError("expected a layout that was compiled for this model, got another's")
    options = "weights", "slack", "scan", "herd", "moves", "method", "rungs", "hottest", "swaps"
    if (
        type(layout.method) is not type(method)
        or any(getattr(layout.method, n, None) != getattr(method, n, None) for n in options)
        or is_annealed(layout.method) != is_annealed(method)
    ):
        raise MethodError(
            f"expected a layout from compile(model) of {method!r:.200}, got one of "
            f"{layout.method!r:.200}"
        )


def _sweeps(method: object, sweeps: int | None, seconds: float | None) -> int:
    """How many there are at most."""
    if seconds is None:
        return DEFAULT_SWEEPS if sweeps is None else _count("sweeps", sweeps, 1)
    _check_seconds(seconds)
    if sweeps is None and is_annealed(method):
        raise MethodError(
            f"expected sweeps for {type(method).__name__} with a schedule, whose temperature falls "
            "from the first to the last, got seconds alone: pass both"
        )
    return ENDLESS if sweeps is None else _count("sweeps", sweeps, 1)


def _check_seconds(seconds: float) -> float:
    if not _is_time(seconds) or seconds == 0:
        raise MethodError(f"expected seconds above 0, got {shown(seconds)}")
    return seconds


def _is_time(seconds: object) -> bool:
    """Whether this is a number of 0 or more."""
    return isinstance(seconds, Real) and not isinstance(seconds, bool) and float(seconds) >= 0


def _count(name: str, value: SupportsIndex, least: int) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 1e4
    try:
        count = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = -1
    if count < least:
        raise MethodError(
            f"expected {name} to be a whole number of {least} or more, got {shown(value)}"
        )
    return count


def check_keep(
    keep: Sequence[Keep | Observable] | None, rao_blackwell: bool = False
) -> dict[type, Any]:
    kinds = (Marginals, BestState, Samples, PairMarginals, Joint, ErrorCurve, Observable)
    choices: dict[type, Any] = {}
    if not (keep is None or isinstance(keep, Iterable)):
        raise MethodError(f"expected keep= as a list, got {shown(keep)}")
    for choice in [Marginals(rao_blackwell)] if keep is None else keep:
        if not isinstance(choice, kinds):
            raise MethodError(
                f"expected {', '.join(kind.__name__ + '()' for kind in kinds)} in keep=, got "
                f"{shown(choice)}"
            )
        if isinstance(choice, Observable):
            choices[Observables] = choices.get(Observables, Observables()).add(choice)
            continue
        if type(choice) in choices:
            raise MethodError(f"expected {type(choice).__name__} once in keep=, got it twice")
        choices[type(choice)] = choice
    return choices


def _try_to_save(run: SamplerRun | SolverRun, path: str | PathLike[str], stacklevel: int) -> None:
    """A full disk must not cost the run: it goes on, and says so."""
    try:
        save_solver(run, path) if isinstance(run, SolverRun) else save(run, path)
        run.saved = True
    except CheckpointError as error:
        run.saved = False
        warnings.warn(f"{error}; the run goes on without this checkpoint", stacklevel=stacklevel)
