"""log Z by a ladder, as `auto` runs it: within the budget, and compared with Bethe's estimate.

With seconds a short ladder comes first. It tells how long a sweep takes, and so how long a burn-in
may be, and how far rungs are apart, and so how many there should be; the rest of the time is one
run.
"""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from herded.errors import HerdedError, MethodError
from herded.models.factor_graph import has_factors
from herded.run.diagnostics.cross_check import run_belief_propagation_check
from herded.run.recording.log_z_estimator import BATCHES_PER_LADDER
from herded.run.result import Result
from herded.run.selection.escalation import (
    CROSS_CHECK_SHARE,
    AttemptReport,
    Stage,
    StageRunner,
    cross_check_seconds,
    warned_of,
)

PILOT_SHARE = 0.06  # of the seconds, for the short ladder
BURN_IN_DIVISOR = 8  # burn-in is 1/8 of the sweeps
MIN_LADDER_SWEEPS = 100  # of a run that is worth its burn-in
# standard deviations of log weights between two rungs, from which bridges are poor
MAX_RUNG_DISTANCE = 2.0
RUNGS_PER_WORD, MAX_LOG_Z_RUNGS = 8, 64  # kernels take this many rungs at once


def escalate_log_z(stage: Stage, run: StageRunner, seconds: float | None = None) -> Result:
    """Estimate log Z by a ladder, with the attempts and a comparison with Bethe's estimate."""
    steps: list[AttemptReport] = []
    if seconds is None or stage.sweeps is not None:
        result = run(stage, seconds, stage.name)
    else:
        result, steps = _run_within_budget(stage, run, (1 - CROSS_CHECK_SHARE) * seconds)
    if "bridged" not in result.kept:
        if result.provenance["interrupted"]:
            return result
        raise MethodError(
            f"expected {2 * BATCHES_PER_LADDER} sweeps or more for log Z, got "
            f"{result.sweeps}: "
            "use more sweeps or seconds"
        )
    steps.append(_ladder_report(stage, result))
    if result.provenance["interrupted"]:
        return replace(result, escalation=tuple(steps))
    return replace(
        result, escalation=(*steps, *_bethe_report(result, cross_check_seconds(seconds)))
    )


def _run_within_budget(
    stage: Stage, run: StageRunner, seconds: float
) -> tuple[Result, list[AttemptReport]]:
    """Return the result of a long ladder and the report of a short one, or the latter."""
    began = time.perf_counter()
    try:
        trial = run(stage, PILOT_SHARE * seconds, stage.name)
    except MethodError:  # not even the burn-in was done
        left = seconds - (time.perf_counter() - began)
        return run(stage, max(left, PILOT_SHARE * seconds), f"{stage.name} at length"), []
    facts = trial.provenance
    left = seconds + facts["compiling"] - (time.perf_counter() - began)
    speed = (trial.sweeps + facts["burn_in"]) / max(facts["seconds"], 1e-9)
    sweeps = int(speed * left)
    if facts["interrupted"] or sweeps < MIN_LADDER_SWEEPS:
        return trial, []
    before: Any = stage.method
    method = replace(before, rungs=_count_rungs_needed(trial, before.rungs))
    burn_in = sweeps * before.rungs // method.rungs // BURN_IN_DIVISOR
    longer = stage._replace(method=method, burn_in=max(stage.burn_in, burn_in))
    found = run(longer, left, f"{stage.name} at length")
    if found.provenance["interrupted"] and "bridged" not in found.kept:  # too early for an answer
        return replace(trial, provenance={**facts, "interrupted": True}), []
    return found, [_ladder_report(stage, trial)]


def _count_rungs_needed(trial: Result, rungs: int) -> int:
    """Return the number of rungs that leaves no two too far apart; at least as before."""
    steps = np.sqrt(np.maximum(trial.provenance["apart"], 0.0)).sum(axis=1)
    wanted = 1 + float(steps.max()) / MAX_RUNG_DISTANCE
    return (
        rungs
        if wanted <= rungs
        else min(MAX_LOG_Z_RUNGS, RUNGS_PER_WORD * -int(-wanted // RUNGS_PER_WORD))
    )


def _ladder_report(stage: Stage, result: Result) -> AttemptReport:
    """Describe the outcome of a ladder."""
    said = "too few sweeps"
    if "bridged" in result.kept:
        low, high = result.log_z_interval
        said = f"log Z is {result.log_z:.6g} +- {(high - low) / 2:.2g}"
    against = warned_of(result)
    if against:
        said += "; " + "; ".join(one.headline for one in against)
    took = result.provenance["seconds"]
    return AttemptReport(stage.name, result.method, took, not against, said)


def _bethe_report(result: Result, seconds: float) -> list[AttemptReport]:
    """Describe Bethe's estimate of log Z: a cross-check, never the result."""
    if not has_factors(result.model):
        return []
    try:
        other = run_belief_propagation_check(result.model, seconds)
    except HerdedError:
        return []
    if other.provenance["interrupted"]:
        return []
    low, high = result.log_z_interval
    settled = "" if other.converged else ", though it did not converge,"
    gap = max(0.0, low - other.log_z, other.log_z - high)
    where = "within the interval" if gap == 0.0 else f"{gap:.2g} outside of the interval"
    said = f"Bethe's estimate{settled} is {other.log_z:.6g}, {where}"
    return [AttemptReport("bp", other.method, other.provenance["seconds"], gap == 0.0, said)]
