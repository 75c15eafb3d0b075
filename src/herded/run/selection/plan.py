"""Plan a run by the name of a method, or by none: what `hd.infer(model)` and `herded infer` do.

A name stands for the run that the command line makes of it: four chains, a burn-in, as many sweeps
as serve most models. Without a name the model decides (`run/selection/method_choice.py`). A plan is
the first stage of a run; where `auto` samples, `run/selection/escalation.py` may try others.
"""

import os
import warnings
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import cast

from herded.errors import HerdedWarning, MethodError
from herded.layouts.base import Layout
from herded.methods.default_weights import POOLED_SLACK, default_weights
from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.protocol import Method, Sampler, sampler_capabilities
from herded.methods.registry import make_method
from herded.methods.schedule import is_annealed
from herded.methods.tempered import Tempered
from herded.run.checkpoints.checkpoint_header import (
    CheckpointHeader,
    read_checkpoint_header,
)
from herded.run.execute import execute, issue_warnings, users_level
from herded.run.interrupted_result import flag_interrupted
from herded.run.interrupts import stop_event_on_interrupt
from herded.run.memory.held_results import remaining_limit
from herded.run.query import Budget, KeepOptions, Query
from herded.run.recording.best_state_recorder import BestState
from herded.run.recording.recorders import Joint, Marginals, PairMarginals
from herded.run.result import Result
from herded.run.result_check import check_result
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
from herded.run.solver_run import solver_can_keep
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.phrases import BURN_IN, CHECKPOINT, SECONDS, SWEEPS, Phrase

NAMED_METHOD_SWEEPS, MAX_BURN_IN = 10_000, 1000
SOLVER_SWEEPS = 1000
TIMED_BURN_IN = 100
RESUMED_REASON = "the run resumes from its checkpoint"
KEPT_BY_EXACT = (Marginals, BestState, PairMarginals, Joint)  # what exact inference gives, too


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
    checkpoint: CheckpointHeader | None = None  # how far the run that is resumed is already
    caveat: Diagnostic | None = None  # why any run of this length may be wrong
    escalation_updates: int = 0  # of each variable, for later stages; 0 where there are none
    checks_log_z: bool = False  # whether log Z of a ladder is compared with Bethe's estimate

    @property
    def samples(self) -> bool:
        """Whether the method is a sampler."""
        return isinstance(self.method, Sampler)


def plan_run(query: Query) -> Plan:
    """Plan the run for the name in `query` ("auto", "exact", "herded", ...) on its model."""
    path, is_auto = query.checkpoint.path, query.method == "auto"
    checkpoint = None if path is None else read_checkpoint_header(path)
    choice = _choose_named(query, checkpoint)
    samples = isinstance(choice.method, Sampler)
    checkpoint = checkpoint if samples else None
    chains = query.budget.chains
    if samples:
        chains = chains or choice.chains or DEFAULT_CHAINS
    elif is_auto:  # which was free to choose a solver; a solver that was named refuses chains
        chains = None
    return Plan(
        choice.name,
        choice.method,
        choice.reason,
        _count_sweeps(choice, query.budget, chains or 1, checkpoint),
        _count_burn_in(choice, query.budget, checkpoint),
        chains or 1,
        choice.layout,
        choice.memory,
        checkpoint,
        choice.caveat,
        _count_updates(query.budget) if is_auto and samples and query.task != "pr" else 0,
        is_auto and query.task == "pr" and samples,
    )


def _count_updates(budget: Budget) -> int:
    """Count the updates of each variable, in all chains together."""
    return (budget.chains or DEFAULT_CHAINS) * (budget.sweeps or NAMED_METHOD_SWEEPS)


def _choose_named(query: Query, checkpoint: CheckpointHeader | None) -> MethodChoice:
    name, options, is_map = cast(str, query.method), query.method_options, query.task == "map"
    if name == "auto":
        return _choose_automatically(query, checkpoint)
    herd = {} if options.herd is None else {"herd": options.herd}
    if name == "herded":
        return MethodChoice(name, _make_herded_gibbs(query), "")
    if name in ("gibbs", "herd", "blocks") and is_map:
        annealed = cast(Gibbs, make_annealed_method(query.model, options.seed, herded=False))
        plain = cast(Gibbs, make_method(name, **herd))
        return MethodChoice(name, replace(annealed, herd=plain.herd, moves=plain.moves), "")
    if name == "tempered":
        if query.task == "pr":
            return MethodChoice(name, make_log_z_ladder(options.seed, options.herd or 1), "")
        ladder = Tempered(Gibbs(seed=options.seed, herd=options.herd or 1))
        return MethodChoice(name, ladder, "")
    return MethodChoice(name, make_method(name, seed=options.seed, **herd), "")


def _choose_automatically(query: Query, checkpoint: CheckpointHeader | None) -> MethodChoice:
    """Choose what suits the model, or the method of a checkpoint.

    Repeating a request yields the same plan. A request for more sweeps gets the method, and the
    chains, that the run was started with.
    """
    resumes_search = checkpoint is not None and query.task != "mar"
    seed = query.method_options.seed
    choice = choose_method(
        query.model,
        query.task,
        updates=_count_updates(query.budget),
        chains=query.budget.chains,
        seconds=query.budget.seconds,
        max_memory=query.max_memory,
        seed=seed,
        reason_to_sample=RESUMED_REASON if resumes_search else _reason_to_sample(query),
    )
    if resumes_search and choice.name == "bp":  # a ladder is resumed, or refused for its memory
        return MethodChoice("tempered", make_log_z_ladder(seed), RESUMED_REASON)
    if checkpoint is None or resumes_search or choice.method == checkpoint.method:
        return choice
    return _choose_as_checkpointed(query, checkpoint)


def _choose_as_checkpointed(query: Query, checkpoint: CheckpointHeader) -> MethodChoice:
    """Return the method of the checkpoint; another seed is refused when the run resumes."""
    seed, method = query.method_options.seed, checkpoint.method
    if not isinstance(method, (Gibbs, HerdedGibbs)) or is_annealed(method):
        suited = default_weights(query.model, seed=seed, max_memory=query.max_memory)
        return MethodChoice("herded", suited, RESUMED_REASON)
    # The burn-in of a herd was planned for this many updates of all members.
    burn_in = checkpoint.burn_in if method.herd > 1 else None
    return MethodChoice(
        sampler_name(method),
        replace(method, seed=seed),
        RESUMED_REASON,
        burn_in=burn_in,
        chains=checkpoint.chains,
    )


def _reason_to_sample(query: Query) -> str:
    """Return why only a sampler will do, if so."""
    if query.reason_to_sample:
        return query.reason_to_sample
    if query.start is not None:
        return "a start is for a sampler"
    for choice in query.keep_or_default.choices:
        if not (isinstance(choice, KEPT_BY_EXACT) and solver_can_keep(query.model, choice)):
            return f"only samplers keep {type(choice).__name__}"
    return ""


def _make_herded_gibbs(query: Query) -> Method:
    """Make herded Gibbs with the given options; the others suit the model."""
    model, options, limit = query.model, query.method_options, query.max_memory
    weights, slack, seed = options.weights, options.slack, options.seed
    if options.herd is not None:
        return HerdedGibbs(herd=options.herd, seed=seed)
    if query.task == "map":
        suited = make_annealed_method(model, seed)
        if weights is None:
            return suited
        return HerdedGibbs(weights, seed=seed, schedule=suited.schedule)
    if weights is None and slack is None:
        return default_weights(model, seed=seed, max_memory=limit)
    if weights is None:
        weights = default_weights(model, max_memory=limit).weights
    if slack is None:
        slack = POOLED_SLACK if weights == "pooled" else 0.0
    return HerdedGibbs(weights=weights, slack=slack, seed=seed)


def _count_sweeps(
    choice: MethodChoice, budget: Budget, chains: int, checkpoint: CheckpointHeader | None
) -> int | None:
    """Count the sweeps of each chain; None if there is a time limit."""
    if budget.seconds is not None and budget.sweeps is None:
        return None
    if choice.burn_in is not None:  # planned for this many updates in all
        each = _count_updates(budget) // (chains * sampler_capabilities(choice.method).members)
        sweeps = max(1, each - choice.burn_in)
        if choice.chains == chains:
            sweeps = choice.sweeps or sweeps
        return sweeps if checkpoint is None or budget.sweeps else max(sweeps, checkpoint.recorded)
    if budget.sweeps is not None:
        return budget.sweeps
    if not isinstance(choice.method, Sampler):
        return SOLVER_SWEEPS
    recorded = 0 if checkpoint is None else checkpoint.recorded
    return max(NAMED_METHOD_SWEEPS, recorded)


def _count_burn_in(
    choice: MethodChoice, budget: Budget, checkpoint: CheckpointHeader | None
) -> int:
    """Count the sweeps of the burn-in: 0 for annealing and for solvers."""
    if not isinstance(choice.method, Sampler):
        return 0
    if is_annealed(choice.method):
        if budget.burn_in:
            why = " for the best state, which is searched for by annealing: drop it"
            raise MethodError(Phrase("expected no ", BURN_IN, why))
        return 0
    if budget.burn_in is not None:
        return budget.burn_in
    if checkpoint is not None:
        return checkpoint.burn_in
    if choice.burn_in is not None:
        return choice.burn_in
    if budget.seconds is not None:
        return TIMED_BURN_IN
    return min(MAX_BURN_IN, (budget.sweeps or NAMED_METHOD_SWEEPS) // 10)


# -- do it -----------------------------------------------------------------------------------------


def plan_and_execute(query: Query) -> Result:
    """Plan the run that a query names, and do it; an interrupted run is returned and flagged.

    Several runs may be tried for one answer. They share one event that Ctrl-C sets, so that none
    starts after it.
    """
    plan = plan_run(query)
    with stop_event_on_interrupt() if plan.samples else nullcontext() as stop:
        result = execute_plan(plan, query)
    is_stopped = result.provenance["interrupted"] or (stop is not None and stop.is_set())
    return flag_interrupted(result) if is_stopped else result


def execute_plan(plan: Plan, query: Query) -> Result:
    """Do what was planned for a query."""
    if query.method == "auto" and not plan.samples:
        query = replace(query, executor=None)  # a solver, which has no use for it, was not named
    if plan.samples and query.keep is None:
        query = replace(query, keep=KeepOptions(marginals=Marginals(rao_blackwell=True)))
    query = replace(query, layout=plan.layout if query.layout is None else query.layout)
    if query.start is not None or not (plan.escalation_updates or plan.checks_log_z):
        return _with_reason(_run_planned_method(plan, query), plan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HerdedWarning)  # only those of the answer are issued
        result = _run_stages(plan, query)
    issue_warnings(result)
    return _with_reason(result, plan)


def _run_stages(plan: Plan, query: Query) -> Result:
    """Do what was planned, and try other methods where it is not enough."""
    if is_annealed(plan.method):
        return _search_best_state(plan, query)
    stage, run = first_stage(plan, query)
    if plan.checks_log_z:
        return escalate_log_z(stage, run, query.budget.seconds)
    return escalate(query.model, stage, run, plan.escalation_updates, query.budget.seconds)


def _run_planned_method(plan: Plan, query: Query) -> Result:
    """Run the method once, or in rounds of annealing until the time is up."""
    seconds = query.budget.seconds
    budget = Budget(plan.sweeps, seconds, plan.burn_in, plan.chains)
    query = replace(query, method=plan.method, budget=budget)
    if seconds is None or plan.sweeps is not None or not is_annealed(plan.method):
        return execute(query, check_result)
    if query.checkpoint.path is not None:
        why = ": annealing that is limited by time cannot be resumed"
        with_checkpoint = Phrase(" with ", CHECKPOINT, " for the best state, got ")
        raise MethodError(Phrase("expected ", SWEEPS, with_checkpoint, SECONDS, why))
    return anneal_until_time_is_up(query, seconds)


def first_stage(plan: Plan, query: Query) -> tuple[Stage, StageRunner]:
    """Return the planned run as the first stage of an escalation, and a runner of stages."""

    def run(stage: Stage, seconds: float | None, name: str) -> Result:
        return _run_stage(query, stage, seconds, "" if name == plan.name else name)

    method = cast(Sampler, plan.method)
    return Stage(plan.name, method, plan.sweeps, plan.burn_in, plan.chains), run


def _search_best_state(plan: Plan, query: Query) -> Result:
    """Return the better state of annealing and a ladder, with half the time each."""
    seconds = query.budget.seconds
    half = None if seconds is None else seconds / 2
    annealed = _run_planned_method(plan, replace(query, budget=replace(query.budget, seconds=half)))
    method, updates = cast(Sampler, plan.method), plan.escalation_updates
    by_clock = half is not None
    ladder = tempering_stage(query.model, method.seed, updates, plan.chains, by_clock=by_clock)
    return keep_better_state(
        annealed,
        Stage("annealing", method, plan.sweeps, 0, plan.chains),
        ladder._replace(burn_in=0),
        lambda stage: _run_stage(query, stage, half, stage.name),
    )


def _run_stage(query: Query, stage: Stage, seconds: float | None, name: str) -> Result:
    """Run a stage; one with a name has a separate layout and checkpoint."""
    checkpoint = query.checkpoint
    if name and checkpoint.path:
        path = f"{os.fspath(checkpoint.path)}.{name.replace(' ', '-')}"
        checkpoint = replace(checkpoint, path=path)
    stage_query = replace(
        query,
        method=stage.method,
        budget=Budget(stage.sweeps, seconds, stage.burn_in, stage.chains),
        layout=None if name else query.layout,
        checkpoint=checkpoint,
        max_memory=remaining_limit(query.max_memory, stage.held),
    )
    return execute(stage_query, check_result)


def _with_reason(result: Result, plan: Plan) -> Result:
    """Add the reason for the method, and any caveat of a run as long as planned."""
    if plan.caveat is not None and result.method == plan.method:
        warnings.warn(plan.caveat.message, HerdedWarning, stacklevel=users_level())
        result = replace(result, diagnostics=(plan.caveat, *result.diagnostics))
    return replace(result, reason=plan.reason)
