"""infer(model, method, sweeps=...): the one verb."""

import platform
import threading
import time
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from contextlib import closing, nullcontext
from typing import Any

import numpy as np

from herded.errors import HerdedWarning, MethodError
from herded.layouts.cache import remembered
from herded.layouts.choose import Plan
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.options import is_between, is_whole
from herded.methods.protocol import Answer, Sampler, Solver, role
from herded.models.checks import shown
from herded.models.factor_graph import check_model
from herded.models.support import check_support
from herded.run.diagnostics import confinement, disagreement
from herded.run.interrupts import interruptible
from herded.run.keep import BestState, ErrorCurve, Joint, Marginals, PairMarginals, Samples
from herded.run.loop import BRIEF, Run, estimate, sample
from herded.run.progress import Moment, Progress, Watch
from herded.run.remote_chains import Spread
from herded.run.result import Best, Curve, Pairs, Result
from herded.run.time_limit import ENDLESS, Pace
from herded.system import memory
from herded.version import __version__

DEFAULT_SWEEPS = 1000
VERSIONS = {
    "herded": __version__,
    "numpy": np.__version__,
    "python": platform.python_version(),
}


def infer(
    model: Any,
    method: Any = None,
    *,
    sweeps: int | None = None,
    seconds: float | None = None,
    burn_in: int = 0,
    chains: int = 1,
    keep: Sequence[Any] | None = None,
    state: Any = None,
    checkpoint: Any = None,
    checkpoint_every: float = 30.0,
    progress: bool | None = None,
    watch: Watch | None = None,
    plan: str | Plan | None = None,
    cap: float | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> Result:
    """Run `method` (by default `HerdedGibbs()`) on `model` and give what is to be kept.

    sweeps      traversals of the variables after `burn_in`; 1000 unless told. Solvers stop
                earlier when they converge
    seconds     when to stop, also without `sweeps`: how many sweeps there are then depends on the
                clock. A resumed run has the seconds that are left
    chains      independent runs with other phases, draws and starts. Chains that disagree are the
                one sign of several modes: with 1, or where all fall into one mode, none is seen
    keep        what to record: `Marginals()` (the default), `BestState()`, `Samples(every=10)`,
                `PairMarginals()`, `Joint()`, `ErrorCurve(reference)`
    state       where to start: a state (N,), one for each chain (chains, N), or the `state` of
                an earlier result, to continue it. By default a random state of the support
    checkpoint  a file to write every `checkpoint_every` seconds, and to resume from if it exists
    progress    a bar on a terminal: when it takes a while (None), or never (False)
    watch       a function that is called after every block of sweeps with a `Moment` (sweeps,
                seconds, chain_marginals(), best()); what it returns is shown beside the bar
    plan        a kind of kernel to force ("lattice", "table", "field", "pairs" or "factor"), or
                a plan
    cap         most bytes of tables and weights; by default half of the free memory
    threads     how many; the result does not depend on it
    executor    where the chains run: any Executor of `concurrent.futures`, such as a Dask client's
                `get_executor()`. The result does not depend on it, nor on workers that die

    What speaks against the result, such as chains that disagree or hard zeros that no move of one
    variable at a time can pass, is in `result.warnings` and issued as `HerdedWarning`.
    """
    method = HerdedGibbs() if method is None else method
    _check(model, method)
    sweeps = _sweeps(method, sweeps, seconds)
    burn_in, chains = _count("burn_in", burn_in, 0), _count("chains", chains, 1)
    choices = _check_keep(keep)
    if threads is not None:
        _count("threads", threads, 1)
    if not is_between(checkpoint_every, 0, np.inf):
        raise MethodError(
            f"expected checkpoint_every as seconds of 0 or more, got {shown(checkpoint_every)}"
        )
    compiled = plan if isinstance(plan, Plan) else remembered(model, method, plan, cap)
    _check_plan(compiled, model, method)
    if chains > 1:
        need = compiled.memory + (chains - 1) * compiled.chain_memory
        memory.check(need, cap, f"the weights of {chains} chains")
    if role(method) is Sampler:
        spread = None if executor is None else Spread(executor)
        with nullcontext() if spread is None else closing(spread):
            run = sample(
                compiled,
                method,
                choices,
                sweeps=sweeps,
                burn_in=burn_in,
                chains=chains,
                start=state,
                checkpoint=checkpoint,
                checkpoint_every=checkpoint_every,
                progress=progress,
                threads=threads,
                seconds=seconds,
                watch=watch,
                forward=spread,
            )
        if not run.recorded and not run.interrupted:
            raise MethodError(
                f"expected seconds enough for the burn-in of {burn_in} sweeps and one more, but "
                f"after {seconds:g} only {run.done} were done: give more, or a shorter burn_in"
            )
        result = _sampled(run)
        for sentence in result.warnings:
            warnings.warn(sentence, HerdedWarning, stacklevel=2)
        return result
    asked = (
        ("chains", chains != 1),
        ("state", state),
        ("checkpoint", checkpoint),
        ("executor", executor),
        ("keep=[Samples()]", Samples in choices),
    )
    for name, value in asked:
        if value is not None and value is not False:
            raise MethodError(
                f"expected no {name} for {type(method).__name__}, which is not a sampler"
            )
    return _solve(compiled, method, choices, sweeps, burn_in, seconds, progress, watch)


def _check(model: Any, method: Any) -> None:
    check_model(model)
    if isinstance(method, type) or role(method) is None:
        raise MethodError(f"expected a method such as HerdedGibbs(), got {shown(method)}")


def _check_plan(plan: Plan, model: Any, method: Any) -> None:
    """A plan of another method has arrays of other sizes, which kernels would not notice."""
    if plan.model is not model:
        raise MethodError("expected a plan that was compiled for this model, got another's")
    made_for, layout = plan.made_for, ("weights", "slack", "scan", "bits")
    if type(made_for) is not type(method) or any(
        getattr(made_for, name, None) != getattr(method, name, None) for name in layout
    ):
        raise MethodError(
            f"expected a plan from compile(model) of {method!r:.200}, got one of {made_for!r:.200}"
        )


def _sweeps(method: Any, sweeps: int | None, seconds: float | None) -> int:
    """How many there are at most."""
    if seconds is None:
        return DEFAULT_SWEEPS if sweeps is None else _count("sweeps", sweeps, 1)
    if not is_between(seconds, 0, np.inf) or seconds == 0:
        raise MethodError(f"expected seconds above 0, got {shown(seconds)}")
    if sweeps is None and hasattr(method, "schedule"):
        raise MethodError(
            f"expected sweeps for {type(method).__name__}, whose temperature falls from the first "
            "to the last, got seconds alone: pass both"
        )
    return ENDLESS if sweeps is None else _count("sweeps", sweeps, 1)


def _count(name: str, value: Any, least: int) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 1e4
    if not is_whole(value, least):
        raise MethodError(
            f"expected {name} to be a whole number of {least} or more, got {shown(value)}"
        )
    return int(value)


def _check_keep(keep: Sequence[Any] | None) -> dict[type, Any]:
    kinds = (Marginals, BestState, Samples, PairMarginals, Joint, ErrorCurve)
    choices: dict[type, Any] = {}
    if not (keep is None or isinstance(keep, Iterable)):
        raise MethodError(f"expected keep= as a list, got {shown(keep)}")
    for choice in [Marginals()] if keep is None else keep:
        if not isinstance(choice, kinds):
            raise MethodError(
                f"expected {', '.join(kind.__name__ + '()' for kind in kinds)} in keep=, got "
                f"{shown(choice)}"
            )
        if type(choice) in choices:
            raise MethodError(f"expected {type(choice).__name__} once in keep=, got it twice")
        choices[type(choice)] = choice
    return choices


# -- samplers ---------------------------------------------------------------------------------


def _sampled(run: Run) -> Result:
    model, chains, keep = run.plan.model, run.chains, run.keep
    kept: dict[str, Any] = {}
    if Marginals in keep:
        averaged = keep[Marginals].rao_blackwell
        kept["chain_frequencies"] = np.array([estimate(chain, False) for chain in chains])
        kept["chain_marginals"] = (
            np.array([estimate(chain, True) for chain in chains])
            if averaged
            else kept["chain_frequencies"]
        )
    if BestState in keep and run.recorded:
        kept["best"] = _best(model, [chain.recorders[BestState] for chain in chains])
    if Samples in keep:
        kept["samples"] = np.stack([_any(chain.recorders[Samples]).gather() for chain in chains])
        kept["sample_sweeps"] = keep[Samples].every * np.arange(1, kept["samples"].shape[1] + 1)
    if PairMarginals in keep:
        recorders = [_any(chain.recorders[PairMarginals]) for chain in chains]
        kept["pairs"] = Pairs(
            recorders[0].edges, np.mean([recorder.tables() for recorder in recorders], axis=0)
        )
    if Joint in keep:
        kept["joint"] = np.mean([_any(c.recorders[Joint]).joint() for c in chains], axis=0)
    if ErrorCurve in keep:
        errors = np.stack([chain.errors for chain in chains])
        kept["curve"] = _curve(run.points, errors, run.sweeps, run.recorded)
    return Result(
        shape=model.shape,
        sweeps=run.recorded,
        converged=None,
        provenance=_provenance(
            run.plan,
            run.method,
            seconds=run.seconds,
            sweeps=run.recorded,
            burn_in=run.burn_in,
            chains=len(chains),
            interrupted=run.interrupted,
        ),
        state=tuple(chain.state for chain in chains),
        kept=kept,
        warnings=_doubts(run),
        model=model,
    )


def _doubts(run: Run) -> tuple[str, ...]:
    """What speaks against a run. Annealing ends in one mode by design, but walls are walls."""
    if not run.recorded:
        return ()
    model, chains = run.plan.model, run.chains
    found = []
    if model.has_hard_zeros:
        states = np.stack([chain.state.values(run.plan) for chain in chains])
        found.append(confinement(model, states))
    annealed = hasattr(run.method, "schedule")
    if len(chains) > 1 and Marginals in chains[0].recorders and not annealed:
        frequencies = np.stack([estimate(chain, False) for chain in chains])
        found.append(disagreement(model, frequencies, run.recorded))
    return tuple(sentence for sentence in found if sentence)


def _any(recorder: Any) -> Any:
    return recorder


def _best(model: Any, recorders: list[Any]) -> Best:
    """The best of each component over all chains, put together."""
    scores = np.stack([recorder.arrays["score"] for recorder in recorders])
    states = np.stack([recorder.arrays["state"] for recorder in recorders])
    winner = scores.argmax(axis=0)[recorders[0].owner]
    state = states[winner, np.arange(model.n_variables)].astype(np.int64)
    return Best(state.reshape(model.shape), float(model.log_score(state)))


# -- solvers ----------------------------------------------------------------------------------


def _solve(
    plan: Plan,
    method: Solver,
    keep: dict[type, Any],
    sweeps: int,
    burn_in: int,
    seconds: float | None,
    progress: bool | None,
    watch: Watch | None,
) -> Result:
    model = plan.model
    curve: Any = keep.get(ErrorCurve)
    points = curve.sweeps(sweeps) if curve else np.empty(0, np.int64)
    if curve:
        curve.check(model)
    errors = np.full(len(points), np.nan)
    began = time.perf_counter()
    if not method.one_shot:  # which would find out, where these go on for ever
        check_support(model)
    state = method.init(plan)
    total = 1 if method.one_shot else burn_in + sweeps
    seconds = None if method.one_shot else seconds
    brief = total * model.n_variables < BRIEF
    bar = Progress.of_run(progress, type(method).__name__, total, seconds, brief=brief)
    pace, so_far = Pace(16, seconds), 0.0
    # Of what is found in one step there is no part to keep: Ctrl-C may raise as it always does.
    alone = nullcontext(threading.Event()) if method.one_shot else interruptible()
    with alone as stop, closing(bar):
        while not (
            state.sweep >= total or state.converged or stop.is_set() or pace.is_over(so_far)
        ):
            later = points[points + burn_in > state.sweep] + burn_in
            goal = min(total, state.sweep + pace.rows, int(later[0]) if len(later) else total)
            before, step = so_far, goal - state.sweep
            method.advance(plan, state, step)
            so_far = time.perf_counter() - began
            pace.learn(step, so_far - before, so_far)
            note = watch(_moment(plan, method, state, so_far)) if watch else None
            bar.update(state.sweep if seconds is None else int(so_far), note or "")
            for p in np.flatnonzero(points + burn_in == state.sweep):
                errors[p] = _error(curve, model, method, method.answer(plan, state))
    answer = method.answer(plan, state)
    if curve and np.isnan(errors).any():  # converged: the error stays what it is
        errors[np.isnan(errors)] = _error(curve, model, method, answer)
    return Result(
        shape=model.shape,
        sweeps=state.sweep,
        converged=answer.converged,
        provenance=_provenance(
            plan,
            method,
            seconds=time.perf_counter() - began,
            sweeps=state.sweep,
            interrupted=state.sweep < total and not (state.converged or pace.is_over(so_far)),
        ),
        kept=_answered(
            model, answer, _curve(points, errors[None], sweeps, state.sweep) if curve else None
        ),
        model=model,
    )


def _moment(plan: Plan, method: Solver, state: Any, seconds: float) -> Moment:
    """The run as it is now."""

    def marginals() -> np.ndarray | None:
        found = method.answer(plan, state).marginals
        return None if found is None else found[None]

    return Moment(state.sweep, seconds, marginals, lambda: method.answer(plan, state).log_score)


def _curve(points: np.ndarray, errors: np.ndarray, sweeps: int, done: int) -> Curve:
    """The errors, without the points that a run which the clock ended has not come to."""
    reached = points <= (done if sweeps == ENDLESS else sweeps)
    return Curve(points[reached], errors[:, reached])


def _error(curve: Any, model: Any, method: Any, answer: Answer) -> float:
    if answer.marginals is None:
        raise MethodError(
            f"expected a method with marginals for ErrorCurve, got {type(method).__name__}: drop "
            "ErrorCurve from keep="
        )
    return curve.error(model, answer.marginals)


def _answered(model: Any, answer: Answer, curve: Curve | None) -> dict[str, Any]:
    kept: dict[str, Any] = {"log_z": answer.log_z, "joint": answer.joint, "curve": curve}
    if answer.marginals is not None:
        kept["chain_marginals"] = answer.marginals[None]
    if answer.state is not None and answer.log_score is not None:
        kept["best"] = Best(answer.state.reshape(model.shape), answer.log_score)
    if answer.pairs is not None:
        width = int(model.cardinalities.max())
        tables = np.zeros((len(answer.pairs), width, width))
        for table, pair in zip(tables, answer.pairs.values(), strict=True):
            table[: pair.shape[0], : pair.shape[1]] = pair
        edges = np.array(list(answer.pairs), dtype=np.int64).reshape(-1, 2)
        kept["pairs"] = Pairs(edges, tables)
    return kept


def _provenance(plan: Plan, method: Any, **facts: Any) -> dict[str, Any]:
    """Where a result came from: enough to get the same bits again."""
    return {
        "model": plan.model.content_hash,
        "tables": plan.table_hash,
        "method": repr(method),
        "plan": plan.kind,
        "memory": plan.memory,
        **facts,
        "versions": dict(VERSIONS),
    }
