"""Do what was planned: run it, climb on where that is not enough, search for a best state."""

import os
import warnings
from dataclasses import replace
from typing import Any, cast

import numpy as np

from herded.errors import HerdedWarning, MethodError
from herded.layouts.state import State
from herded.methods.protocol import Method, Sampler
from herded.methods.schedule import is_annealed
from herded.models.checks import edge_array
from herded.models.joint_states import count_joint_states
from herded.models.protocol import Model
from herded.run.climb import Rung, better_of, climb, ladder
from herded.run.infer import infer, issue
from herded.run.keep import (
    MAX_JOINT,
    BestState,
    Joint,
    Marginals,
    PairMarginals,
    neighbour_pairs,
)
from herded.run.plan import Plan, Request, plan_run
from herded.run.result import Result
from herded.run.rounds import anneal_in_rounds

SOLVED = (Marginals, BestState, PairMarginals, Joint)  # what exact inference gives, too


def infer_by_name(model: Model, name: str, kept: dict[type, Any], **options: Any) -> Result:
    """Plan the run that `name` stands for, and do it.

    `options` are those of `infer`, `kept` what is to be kept by its kind.
    """
    if name == "auto" and options["layout"] is not None:
        raise MethodError("expected a method with layout=, got none: name the method, too")
    if name == "auto" and options["start"] is not None:
        _check_one_state(model, options["start"])
    length = {key: options.pop(key) for key in ("sweeps", "seconds", "burn_in", "chains")}
    asked = Request(
        task="map" if kept.keys() == {BestState} else "mar",
        max_memory=options["max_memory"],
        checkpoint=options["checkpoint"],
        why_sample=_why_sample(model, kept, options["start"]),
        **length,
    )
    plan = plan_run(model, name, asked)
    if name == "auto" and not plan.samples:  # which has no use for them
        options |= {"checkpoint": None, "executor": None}
    elif not plan.samples and length["chains"] is not None:
        plan = replace(plan, chains=length["chains"])  # to be refused
    return infer_planned(model, plan, length["seconds"], **options)


def _check_one_state(model: Model, start: Any) -> None:
    """Raise where it is not one: who starts chains cannot know how many will be chosen."""
    if isinstance(start, State) or np.size(start) != model.n_variables:
        raise MethodError(
            "expected one state as start= without a method, got several, or those of an earlier "
            "run: name the method too, such as result.method"
        )


def infer_planned(model: Model, plan: Plan, seconds: float | None = None, **options: Any) -> Result:
    """Do what was planned; `options` are the others of `infer`."""
    if options.get("layout") is None:
        options["layout"] = plan.layout
    if plan.samples and options.get("keep") is None:
        options["keep"] = [Marginals(rao_blackwell=True)]

    if not plan.climbs or options.get("start") is not None:
        return _with_reason(_as_planned(model, plan, seconds, options), plan)
    go_on = _searched if is_annealed(plan.method) else _climbed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HerdedWarning)  # only those of the answer are issued
        result = go_on(model, plan, seconds, options)
    issue(result)
    return _with_reason(result, plan)


def _as_planned(model: Model, plan: Plan, seconds: float | None, options: dict[str, Any]) -> Result:
    """One run, or rounds of annealing where the clock ends them."""

    def run(method: Method, **length: Any) -> Result:
        return infer(model, method, chains=plan.chains, **length, **options)

    if seconds is None or plan.sweeps is not None or not is_annealed(plan.method):
        return run(plan.method, sweeps=plan.sweeps, seconds=seconds, burn_in=plan.burn_in)
    if options.get("checkpoint") is not None:
        raise MethodError(
            "expected sweeps= with checkpoint= for the best state, got seconds=: rounds of "
            "annealing that the clock ends cannot be resumed"
        )
    return anneal_in_rounds(run, plan.method, seconds)


def _climbed(model: Model, plan: Plan, seconds: float | None, options: dict[str, Any]) -> Result:
    """Do what was planned, and climb on where that is not enough."""
    method = cast(Sampler, plan.method)
    first = Rung(plan.name, method, plan.sweeps, plan.burn_in, plan.chains)

    def run(rung: Rung, seconds: float | None, name: str) -> Result:
        return _on_rung(model, rung, seconds, options, "" if name == plan.name else name)

    return climb(model, first, run, plan.climbs, seconds)


def _searched(model: Model, plan: Plan, seconds: float | None, options: dict[str, Any]) -> Result:
    """The better of the best states that annealing and a ladder find, in half of the time each."""
    half = None if seconds is None else seconds / 2
    annealed = _as_planned(model, plan, half, options)
    method = cast(Sampler, plan.method)
    rung = ladder(model, method.seed, plan.climbs, plan.chains, by_clock=half is not None)
    return better_of(
        annealed,
        Rung("annealing", method, plan.sweeps, 0, plan.chains),
        rung._replace(burn_in=0),
        lambda one: _on_rung(model, one, half, options, one.name),
    )


def _on_rung(
    model: Model, rung: Rung, seconds: float | None, options: dict[str, Any], name: str
) -> Result:
    """A run with a checkpoint of its own, beside that of the first, and a layout of its own."""
    own = dict(options)
    if name:
        own["layout"] = None
        path = options.get("checkpoint")
        own["checkpoint"] = path and f"{os.fspath(path)}.{name.replace(' ', '-')}"
    own |= {"sweeps": rung.sweeps, "burn_in": rung.burn_in, "chains": rung.chains}
    return infer(model, rung.method, seconds=seconds, **own)


def _with_reason(result: Result, plan: Plan) -> Result:
    """Say why the method was chosen, and what speaks against any run as long as planned."""
    if plan.doubt and result.method == plan.method:
        warnings.warn(plan.doubt, HerdedWarning, stacklevel=5)
        result = replace(result, warnings=(plan.doubt, *result.warnings))
    return replace(result, reason=plan.reason)


def _why_sample(model: Model, keep: dict[type, Any], start: object) -> str:
    """Why only a sampler will do, if so."""
    if start is not None:
        return "a start is for a sampler"
    for kind, choice in keep.items():
        if kind not in SOLVED or not _solved(model, choice):
            return f"{kind.__name__} asks for a sampler"
    return ""


def _solved(model: Model, choice: Any) -> bool:
    """Whether exact inference gives just what is to be kept: pairs of neighbours, small joints."""
    if isinstance(choice, PairMarginals) and choice.edges is not None:
        pairs = np.sort(edge_array("edges", choice.edges), axis=1)
        known = {tuple(pair) for pair in neighbour_pairs(model).tolist()}
        return all(tuple(pair) in known for pair in pairs.tolist())
    if isinstance(choice, Joint):
        return count_joint_states(model.cardinalities, MAX_JOINT) is not None
    return True
