"""Plan a run by the name of a method, or by none: what `hd.infer(model)` and `herded infer` do.

A name stands for the run that the command line makes of it: four chains, a burn-in, as many sweeps
as serve most models. Without a name the model decides (`run/selection/method_choice.py`).
"""

import os
import warnings
from dataclasses import dataclass, replace
from typing import Any, cast

from herded.errors import HerdedWarning, MethodError
from herded.layouts.base import Layout
from herded.methods.default_weights import POOLED_SLACK, default_weights
from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.protocol import Method, Sampler, sampler_capabilities
from herded.methods.registry import make_method
from herded.methods.schedule import is_annealed
from herded.methods.tempered import Tempered
from herded.models.protocol import Model
from herded.run.checkpoints.checkpoint_header import (
    CheckpointHeader,
    method_from_json,
    read_checkpoint_header,
)
from herded.run.execute import issue_warnings, run_method
from herded.run.memory.held_results import remaining_limit
from herded.run.recording.recorders import Marginals
from herded.run.result import Diagnostic, Result
from herded.run.selection.annealing_restarts import anneal_until_time_is_up
from herded.run.selection.escalation import (
    Stage,
    StageRunner,
    escalate,
    keep_better_state,
    tempering_stage,
)
from herded.run.selection.log_z_escalation import escalate_log_z
from herded.run.selection.method_choice import (
    DEFAULT_CHAINS,
    MethodChoice,
    choose_method,
    make_annealed_method,
    make_log_z_ladder,
    sampler_name,
)
from herded.system.atomic_files import FilePath
from herded.system.memory_limits import Size

NAMED_METHOD_SWEEPS, MAX_BURN_IN = 10_000, 1000
SOLVER_SWEEPS = 1000
TIMED_BURN_IN = 100
RESUMED_REASON = "a run that has begun goes on"


@dataclass(frozen=True)
class Query:
    """What is asked of a run; None where the plan decides."""

    task: str = "mar"  # marginals, "map" for the best state, "pr" for log Z
    sweeps: int | None = None  # of each chain, of which a herd takes as many updates in all
    seconds: float | None = None
    burn_in: int | None = None
    chains: int | None = None
    herd: int | None = None  # members that draw together
    weights: str | None = None  # of herding in time
    slack: float | None = None
    seed: int = 0
    max_memory: Size | None = None
    checkpoint: FilePath | None = None
    why_sample: str = ""  # why no solver would do, if so


@dataclass(frozen=True)
class Plan:
    """A method, by the name it has on the command line, why it was chosen, and its run."""

    name: str
    method: Method
    reason: str
    sweeps: int | None  # None where the clock decides
    burn_in: int
    chains: int
    layout: Layout | None = None  # where the choice has found it already
    memory: float | None = None  # bytes of the run, if they are known
    begun: CheckpointHeader | None = None  # how far the run of a checkpoint is already
    doubt: str = ""  # what speaks against any run of this length
    climbs: int = 0  # updates of each variable that dearer rungs may take; 0 if none is to be tried
    bridges: bool = False  # whether log Z is found by a ladder and held against Bethe's estimate

    @property
    def samples(self) -> bool:
        """Whether the method is a sampler."""
        return isinstance(self.method, Sampler)


def plan_run(model: Model, name: str, asked: Query) -> Plan:
    """The run that `name` ("auto", "exact", "herded", ...) stands for on this model."""
    begun = None if asked.checkpoint is None else read_checkpoint_header(asked.checkpoint)
    choice = _choose_named(model, name, asked, begun)
    samples = isinstance(choice.method, Sampler)
    begun = begun if samples else None
    chains = (asked.chains or choice.chains or DEFAULT_CHAINS) if samples else 1
    return Plan(
        choice.name,
        choice.method,
        choice.reason,
        _sweeps(choice, asked, chains, begun),
        _burn_in(choice, asked, begun),
        chains,
        choice.layout,
        choice.memory,
        begun,
        choice.doubt,
        _updates(asked) if name == "auto" and samples and asked.task != "pr" else 0,
        name == "auto" and asked.task == "pr" and samples,
    )


def _updates(asked: Query) -> int:
    """Of each variable, in all chains together."""
    return (asked.chains or DEFAULT_CHAINS) * (asked.sweeps or NAMED_METHOD_SWEEPS)


def _choose_named(
    model: Model, name: str, asked: Query, begun: CheckpointHeader | None
) -> MethodChoice:
    if name == "auto":
        return _choose_automatically(model, asked, begun)
    herd = {} if asked.herd is None else {"herd": asked.herd}
    if name == "herded":
        return MethodChoice(name, _make_herded_gibbs(model, asked), "")
    if name in ("gibbs", "herd", "blocks") and asked.task == "map":
        found: Any = make_annealed_method(model, asked.seed, herded=False)
        plain: Any = make_method(name, **herd)
        return MethodChoice(name, replace(found, herd=plain.herd, moves=plain.moves), "")
    if name == "tempered":
        if asked.task == "pr":
            return MethodChoice(name, make_log_z_ladder(asked.seed, asked.herd or 1), "")
        return MethodChoice(name, Tempered(Gibbs(seed=asked.seed, herd=asked.herd or 1)), "")
    return MethodChoice(name, make_method(name, seed=asked.seed, **herd), "")


def _choose_automatically(
    model: Model, asked: Query, begun: CheckpointHeader | None
) -> MethodChoice:
    """What suits the model, or what its run was begun with.

    Who asks for the same again gets the same plan. Who asks for more gets the method, and the
    chains, that the run was begun with.
    """
    searches = begun is not None and asked.task != "mar"
    choice = choose_method(
        model,
        asked.task,
        updates=_updates(asked),
        chains=asked.chains,
        seconds=asked.seconds,
        max_memory=asked.max_memory,
        seed=asked.seed,
        why_sample=RESUMED_REASON if searches else asked.why_sample,
    )
    if searches and choice.name == "bp":  # a ladder goes on, or is refused for its memory
        return MethodChoice("tempered", make_log_z_ladder(asked.seed), RESUMED_REASON)
    if begun is None or searches or choice.method == method_from_json(begun.method):
        return choice
    return _choose_as_checkpointed(model, asked, begun)


def _make_herded_gibbs(model: Model, asked: Query) -> Method:
    """Herded Gibbs with the given options; the others suit the model."""
    weights, slack, seed = asked.weights, asked.slack, asked.seed
    if asked.herd is not None:
        return HerdedGibbs(herd=asked.herd, seed=seed)
    if asked.task == "map":
        suited = make_annealed_method(model, seed)
        if weights is None:
            return suited
        return HerdedGibbs(weights, seed=seed, schedule=suited.schedule)
    if weights is None and slack is None:
        return default_weights(model, seed=seed, max_memory=asked.max_memory)
    if weights is None:
        weights = default_weights(model, max_memory=asked.max_memory).weights
    if slack is None:
        slack = POOLED_SLACK if weights == "pooled" else 0.0
    return HerdedGibbs(weights=weights, slack=slack, seed=seed)


def _sweeps(
    choice: MethodChoice, asked: Query, chains: int, begun: CheckpointHeader | None
) -> int | None:
    if asked.seconds is not None and asked.sweeps is None:
        return None
    if choice.burn_in is not None:  # planned for so many updates in all
        each = _updates(asked) // (chains * sampler_capabilities(choice.method).members)
        found = max(1, each - choice.burn_in)
        if choice.chains == chains:
            found = choice.sweeps or found
        return found if begun is None or asked.sweeps else max(found, begun.recorded)
    if asked.sweeps is not None:
        return asked.sweeps
    if not isinstance(choice.method, Sampler):
        return SOLVER_SWEEPS
    return NAMED_METHOD_SWEEPS if begun is None else max(NAMED_METHOD_SWEEPS, begun.recorded)


def _burn_in(choice: MethodChoice, asked: Query, begun: CheckpointHeader | None) -> int:
    """None for annealing, which is all burn-in, and for solvers."""
    if not isinstance(choice.method, Sampler):
        return 0
    if is_annealed(choice.method):
        if asked.burn_in:
            raise MethodError(
                "expected no burn_in for the best state, which is searched for by annealing: drop "
                "it"
            )
        return 0
    if asked.burn_in is not None:
        return asked.burn_in
    if begun is not None:
        return begun.burn_in
    if choice.burn_in is not None:
        return choice.burn_in
    if asked.seconds is not None:
        return TIMED_BURN_IN
    return min(MAX_BURN_IN, (asked.sweeps or NAMED_METHOD_SWEEPS) // 10)


def _choose_as_checkpointed(model: Model, asked: Query, begun: CheckpointHeader) -> MethodChoice:
    """What a run that has begun was begun with; another seed is refused by whoever resumes it."""
    method = method_from_json(begun.method)
    if method is None:
        suited = default_weights(model, seed=asked.seed, max_memory=asked.max_memory)
        return MethodChoice("herded", suited, RESUMED_REASON)
    same = replace(method, seed=asked.seed)
    planned = begun.burn_in if begun.herd > 1 else None  # for so many updates of all members
    return MethodChoice(
        sampler_name(method), same, RESUMED_REASON, burn_in=planned, chains=begun.chains
    )


# -- do it -----------------------------------------------------------------------------------------


def execute_plan(model: Model, plan: Plan, seconds: float | None = None, **options: Any) -> Result:
    """Do what was planned; `options` are the others of `run_method`."""
    if options.get("layout") is None:
        options["layout"] = plan.layout
    if plan.samples and options.get("keep") is None:
        options["keep"] = [Marginals(rao_blackwell=True)]

    if not (plan.climbs or plan.bridges) or options.get("start") is not None:
        return _with_reason(_run_planned_method(model, plan, seconds, options), plan)
    go_on = (
        _escalate_log_z
        if plan.bridges
        else _search_best_state
        if is_annealed(plan.method)
        else _escalate
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HerdedWarning)  # only those of the answer are issued
        result = go_on(model, plan, seconds, options)
    issue_warnings(result)
    return _with_reason(result, plan)


def _run_planned_method(
    model: Model, plan: Plan, seconds: float | None, options: dict[str, Any]
) -> Result:
    """One run, or rounds of annealing where the clock ends them."""

    def run(method: Method, **length: Any) -> Result:
        return run_method(model, method, chains=plan.chains, **length, **options)

    if seconds is None or plan.sweeps is not None or not is_annealed(plan.method):
        return run(plan.method, sweeps=plan.sweeps, seconds=seconds, burn_in=plan.burn_in)
    if options.get("checkpoint") is not None:
        raise MethodError(
            "expected sweeps= with checkpoint= for the best state, got seconds=: rounds of "
            "annealing that the clock ends cannot be resumed"
        )
    return anneal_until_time_is_up(run, plan.method, seconds)


def _escalate(model: Model, plan: Plan, seconds: float | None, options: dict[str, Any]) -> Result:
    """Do what was planned, and climb on where that is not enough."""
    first, run = first_stage(model, plan, options)
    return escalate(model, first, run, plan.climbs, seconds)


def _escalate_log_z(
    model: Model, plan: Plan, seconds: float | None, options: dict[str, Any]
) -> Result:
    """log Z by the ladder that was planned."""
    return escalate_log_z(*first_stage(model, plan, options), seconds)


def first_stage(model: Model, plan: Plan, options: dict[str, Any]) -> tuple[Stage, StageRunner]:
    """What was planned as the first rung of a climb, and how its rungs are run."""
    method = cast(Sampler, plan.method)

    def run(rung: Stage, seconds: float | None, name: str) -> Result:
        return _run_stage(model, rung, seconds, options, "" if name == plan.name else name)

    return Stage(plan.name, method, plan.sweeps, plan.burn_in, plan.chains), run


def _search_best_state(
    model: Model, plan: Plan, seconds: float | None, options: dict[str, Any]
) -> Result:
    """The better of the best states that annealing and a ladder find, in half of the time each."""
    half = None if seconds is None else seconds / 2
    annealed = _run_planned_method(model, plan, half, options)
    method = cast(Sampler, plan.method)
    rung = tempering_stage(model, method.seed, plan.climbs, plan.chains, by_clock=half is not None)
    return keep_better_state(
        annealed,
        Stage("annealing", method, plan.sweeps, 0, plan.chains),
        rung._replace(burn_in=0),
        lambda one: _run_stage(model, one, half, options, one.name),
    )


def _run_stage(
    model: Model, rung: Stage, seconds: float | None, options: dict[str, Any], name: str
) -> Result:
    """A run with a checkpoint of its own, beside that of the first, and a layout of its own."""
    own = {**options, "max_memory": remaining_limit(options.get("max_memory"), rung.held)}
    if name:
        own["layout"] = None
        path = options.get("checkpoint")
        own["checkpoint"] = path and f"{os.fspath(path)}.{name.replace(' ', '-')}"
    own |= {"sweeps": rung.sweeps, "burn_in": rung.burn_in, "chains": rung.chains}
    return run_method(model, rung.method, seconds=seconds, **own)


def _with_reason(result: Result, plan: Plan) -> Result:
    """Say why the method was chosen, and what speaks against any run as long as planned."""
    if plan.doubt and result.method == plan.method:
        warnings.warn(plan.doubt, HerdedWarning, stacklevel=5)
        found = Diagnostic("plan", "warning", plan.doubt)
        result = replace(
            result,
            warnings=(plan.doubt, *result.warnings),
            diagnostics=(found, *result.diagnostics),
        )
    return replace(result, reason=plan.reason)
