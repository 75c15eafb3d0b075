"""`hd.infer` without a method, or with the name of one: asked as the command line asks."""

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from herded.errors import MethodError
from herded.layouts.state import State
from herded.models.protocol import Model
from herded.models.structure_queries import count_joint_states, neighbour_pairs
from herded.run.interrupted_result import flag_interrupted
from herded.run.interrupts import stop_event_on_interrupt
from herded.run.query import KeepOptions, check_count, check_seconds, parse_keep
from herded.run.recording.best_state_recorder import BestState
from herded.run.recording.recorders import MAX_JOINT, Joint, Marginals, PairMarginals
from herded.run.result import Result
from herded.run.selection.plan import Query, execute_plan, plan_run
from herded.system.argument_checks import edge_array

KEPT_BY_EXACT = (Marginals, BestState, PairMarginals, Joint)  # what exact inference gives, too


def run_named_method(model: Model, name: str, **options: Any) -> Result:
    """Plan the run that `name` stands for, and do it; `options` are those of `infer`.

    Several runs may be tried for one answer. They share one event that Ctrl-C sets, so that none
    begins after it. An interrupted run is returned and flagged, as by `run_method`.
    """
    kept, options = parse_keep(options["keep"]), _check_counts(options)
    if name == "auto" and options["layout"] is not None:
        raise MethodError("expected a method with layout=, got none: name the method, too")
    if name == "auto" and options["start"] is not None:
        _check_one_state(model, options["start"])
    length = {key: options.pop(key) for key in ("sweeps", "seconds", "burn_in", "chains")}
    asked = Query(
        task="map" if kept.kinds == {BestState} else "mar",
        max_memory=options["max_memory"],
        checkpoint=options["checkpoint"],
        why_sample=_reason_to_sample(model, kept, options["start"]),
        **length,
    )
    plan = plan_run(model, name, asked)
    if name == "auto" and not plan.samples:  # which has no use for them
        options["executor"] = None
    elif not plan.samples and length["chains"] is not None:
        plan = replace(plan, chains=length["chains"])  # to be refused
    with stop_event_on_interrupt() if plan.samples else nullcontext() as stop:
        result = execute_plan(model, plan, length["seconds"], **options)
    is_stopped = result.provenance["interrupted"] or (stop is not None and stop.is_set())
    return flag_interrupted(result) if is_stopped else result


def _check_counts(options: dict[str, Any]) -> dict[str, Any]:
    """The options with sweeps, seconds, burn-in and chains as numbers, where they are given."""
    found = dict(options)
    for name, least in (("sweeps", 1), ("burn_in", 0), ("chains", 1)):
        if found[name] is not None:
            found[name] = check_count(name, found[name], least)
    if found["seconds"] is not None:
        check_seconds(found["seconds"])
    return found


def _check_one_state(model: Model, start: Any) -> None:
    """Raise where it is not one: who starts chains cannot know how many will be chosen."""
    if isinstance(start, State) or np.size(start) != model.n_variables:
        raise MethodError(
            "expected one state as start= without a method, got several, or those of an earlier "
            "run: name the method too, such as result.method"
        )


def _reason_to_sample(model: Model, keep: KeepOptions, start: object) -> str:
    """Why only a sampler will do, if so."""
    if start is not None:
        return "a start is for a sampler"
    for choice in keep.choices:
        if not (isinstance(choice, KEPT_BY_EXACT) and _exact_can_keep(model, choice)):
            return f"only samplers keep {type(choice).__name__}"
    return ""


def _exact_can_keep(model: Model, choice: Any) -> bool:
    """Whether exact inference gives just what is to be kept: pairs of neighbours, small joints."""
    if isinstance(choice, PairMarginals) and choice.edges is not None:
        pairs = np.sort(edge_array("edges", choice.edges), axis=1)
        known = {tuple(pair) for pair in neighbour_pairs(model).tolist()}
        return all(tuple(pair) in known for pair in pairs.tolist())
    if isinstance(choice, Joint):
        return count_joint_states(model.cardinalities, MAX_JOINT) is not None
    return True
