"""Try methods from cheap to costly until chains agree: what `auto` does where exact does not fit.

Single sites come first, alone or in herds, since most models need nothing else. If chains disagree
or hard zeros confine them, blocks cross the zeros, and then tempering crosses the modes. The first
stage whose chains agree is returned. So is a stage whose chains disagree on few marginals and are
close on average: it keeps its warning, and more sweeps help there as much as costlier stages do.
If no stage succeeds, the least doubtful result is returned; among equally doubtful results, the one
whose chains agree best. Belief propagation is then run as a cross-check. It is often close on
models with hard zeros and sometimes far off without a sign, so it is reported and never returned.

`python -m benchmarks.accuracy.calibration escalate` prints what every stage would have answered on
random models.

With a time budget, every stage is tried for a small share of it, and the chosen stage has the rest.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from herded.errors import HerdedError, InfeasibleError
from herded.methods.gibbs import Gibbs
from herded.methods.protocol import Method, Sampler, sampler_capabilities
from herded.methods.serialization import method_to_dict
from herded.methods.tempered import Tempered
from herded.models.factor_graph import has_factors
from herded.models.protocol import Model
from herded.moves.blocks.move import Blocks
from herded.run.diagnostics.cross_check import BP_CHECK_SECONDS, run_belief_propagation_check
from herded.run.diagnostics.intervals import half_widths
from herded.run.memory.held_results import bytes_of_result, with_memory
from herded.run.result import Result
from herded.run.selection.recommendation import SITE_UPDATES_PER_BLOCK_UPDATE, recommend_blocks
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import CONFINEMENT_KINDS, DiagnosticKind

TRIAL_SHARE = 0.12  # of the seconds, for each stage that is tried
CROSS_CHECK_SHARE = 0.06  # of them, for what is looked at after the last run
STAGE_CHAINS = 4
LADDER_RUNGS = 8  # of a ladder
BURN_IN_DIVISOR = 5  # burn-in is 1/5 of the sweeps
MIN_SWEEPS = 40
MAX_CROSS_CHECK_GAP = 0.05  # of two marginals
MAX_MEAN_HALF_WIDTH = 0.04  # on average, are chains whose disagreement is not climbed over,
# unless some marginal of theirs is: a mode of few variables hides in an average
MAX_CHAIN_GAP = 0.5
# Kinds of diagnostics that more sweeps remedy as well as a costlier stage does, from this many
# autocorrelation times on.
KINDS_MENDED_BY_SWEEPS = (
    DiagnosticKind.DISAGREEMENT,
    DiagnosticKind.SHORT_RUN,
    DiagnosticKind.FEW_ROUND_TRIPS,
    DiagnosticKind.HALVES_DIFFER,
)
MIN_TIMES_TO_ANSWER = 4.0


@dataclass(frozen=True)
class AttemptReport:
    """The report of one attempt of an escalation: its method, time and outcome.

    Examples
    --------
    >>> from herded.run.selection.escalation import AttemptReport
    >>> print(AttemptReport("blocks", hd.Gibbs(moves=hd.Blocks()), 0.5, True, "the chains agree"))
    blocks (0.5 s): the chains agree
    """

    name: str  # of the stage, as the command line says it
    method: Method
    seconds: float
    agrees: bool  # with itself: it has no warning
    said: str

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON can write it."""
        return {**vars(self), "method": method_to_dict(self.method)}

    def __str__(self) -> str:
        return f"{self.name} ({self.seconds:.2g} s): {self.said}"


class Stage(NamedTuple):
    """A sampler and its run; sweeps are None if there is a time limit."""

    name: str
    method: Sampler
    sweeps: int | None
    burn_in: int
    chains: int
    held: float = 0.0  # bytes of an earlier result, which count towards the limit of memory


class Attempt(NamedTuple):
    """A stage and its outcome: a result, or why there is none."""

    stage: Stage
    result: Result | None
    step: AttemptReport
    error: HerdedError | None = None

    @property
    def memory(self) -> float:
        """Bytes that were taken at most: of the run, and of what was held meanwhile."""
        run = 0.0 if self.result is None else self.result.provenance.get("memory_at_most", 0.0)
        return self.stage.held + float(run)

    @property
    def held(self) -> float:
        """Bytes of the result, as long as it may become the answer."""
        return 0.0 if self.result is None else bytes_of_result(self.result)


# for some seconds, under a name of its own
StageRunner = Callable[[Stage, float | None, str], Result]


def escalate(
    model: Model, first: Stage, run: StageRunner, updates: int, seconds: float | None = None
) -> Result:
    """Return the result of the first sufficient stage, or the least doubtful, with its steps."""
    began, steps, compiling, memory = time.perf_counter(), list[AttemptReport](), 0.0, 0.0
    share = None if seconds is None else TRIAL_SHARE * seconds
    limit = None if seconds is None else (1 - CROSS_CHECK_SHARE) * seconds
    best = last = None
    first_is_enough = False
    for stage in (first, *later_stages(model, first, updates, by_clock=seconds is not None)):
        if (
            seconds is not None
            and _seconds_without_compiling(began, compiling) > (1 - TRIAL_SHARE) * seconds
        ):
            break
        last = attempt_stage(run, stage._replace(held=0.0 if best is None else best.held), share)
        steps.append(last.step)
        compiling, memory = compiling + _compiling(last), max(memory, last.memory)
        first_is_enough |= len(steps) == 1 and is_sufficient(last)
        # Of the others nothing is kept: their samples would count towards the limit of memory.
        best = last if best is None else pick_least_doubtful([best, last])
        if is_sufficient(last) or _is_interrupted(last):
            break
    assert best is not None and last is not None
    is_stopped = _is_interrupted(last)
    if limit is not None and not (is_stopped or _has_all_sweeps(best)):
        again = _rerun_for_remaining_time(
            run, best, limit - _seconds_without_compiling(began, compiling)
        )
        if again is not None:
            steps.append(again.step)
            memory, is_stopped = max(memory, again.memory), _is_interrupted(again)
            best = _prefer_longer_run(best, again)
    if best.result is None:
        assert best.error is not None
        raise best.error
    result = best.result
    if is_stopped:  # in a stage that may not be the one that answers
        result = _as_interrupted(result)
    elif not first_is_enough:
        steps += _cross_check_report(model, result, cross_check_seconds(seconds))
    return with_memory(replace(result, escalation=tuple(steps)), memory)


def _as_interrupted(result: Result) -> Result:
    """Return the result of a stage as that of an escalation that was interrupted later."""
    return replace(result, provenance={**result.provenance, "interrupted": True})


def _seconds_without_compiling(began: float, compiling: float) -> float:
    """Return the seconds since `began`, without those spent on compilation."""
    return time.perf_counter() - began - compiling


def _compiling(tried: Attempt) -> float:
    """Return the seconds spent on compiling kernels."""
    return 0.0 if tried.result is None else float(tried.result.provenance["compiling"])


def later_stages(model: Model, first: Stage, updates: int, *, by_clock: bool) -> Iterator[Stage]:
    """Return the stages left to try after single sites, or after blocks if these came first."""
    if not has_factors(model):
        return
    zeros = model.has_hard_zeros and model.zeros_tie_variables
    seed = first.method.seed
    if zeros and sampler_capabilities(first.method).moves is None:
        found = recommend_blocks(updates, seed)
        sweeps = None if by_clock else found.sweeps
        yield Stage("blocks", found.method, sweeps, found.burn_in, found.chains)
    yield tempering_stage(model, seed, updates, STAGE_CHAINS, by_clock=by_clock)


def tempering_stage(model: Model, seed: int, updates: int, chains: int, *, by_clock: bool) -> Stage:
    """Return the stage of tempering, of blocks where the model has hard zeros."""
    zeros = model.has_hard_zeros and model.zeros_tie_variables
    each = max(
        MIN_SWEEPS,
        2 * updates // (LADDER_RUNGS * chains * (SITE_UPDATES_PER_BLOCK_UPDATE if zeros else 1)),
    )
    method = Tempered(Gibbs(seed=seed, moves=Blocks() if zeros else None), LADDER_RUNGS)
    burn_in = each // BURN_IN_DIVISOR
    name = "tempered blocks" if zeros else "tempered"
    return Stage(name, method, None if by_clock else each - burn_in, burn_in, chains)


def keep_better_state(
    found: Result, first: Stage, other: Stage, run: Callable[[Stage], Result]
) -> Result:
    """Return the result with the better best state: what was found, or what another stage finds."""
    steps = [_search_report(first, found)]
    if not found.provenance["interrupted"]:
        try:
            again = run(other._replace(held=bytes_of_result(found)))
        except HerdedError as error:
            said = f"could not run: {error}"
            steps.append(AttemptReport(other.name, other.method, 0.0, False, said))
        else:
            steps.append(_search_report(other, again))
            if again.provenance["interrupted"]:  # whichever of the two answers
                found = _as_interrupted(found)
            if again.sweeps and again.best.log_score > found.best.log_score:
                found = again
    return replace(found, escalation=tuple(steps))


def _search_report(stage: Stage, result: Result) -> AttemptReport:
    """Describe the outcome of a search."""
    said = f"best log-score {result.best.log_score:.8g}" if result.sweeps else "found nothing"
    return AttemptReport(stage.name, stage.method, result.provenance["seconds"], True, said)


def attempt_stage(run: StageRunner, stage: Stage, seconds: float | None, how: str = "") -> Attempt:
    """Run a stage, or record why it could not run."""
    began = time.perf_counter()
    try:
        result = run(stage, seconds, stage.name + how)
    except InfeasibleError:
        raise
    except HerdedError as error:
        took = time.perf_counter() - began
        step = AttemptReport(stage.name, stage.method, took, False, f"could not run: {error}")
        return Attempt(stage, None, step, error)
    return Attempt(stage, result, _sampling_report(stage, result))


def _rerun_for_remaining_time(run: StageRunner, best: Attempt, seconds: float) -> Attempt | None:
    """Return the stage that answers, for the rest of the time, if it is enough for a burn-in."""
    stage = best.stage._replace(held=best.held)
    if best.result is not None:  # which tells how many sweeps there will be
        facts = best.result.provenance
        speed = (best.result.sweeps + facts["burn_in"]) / max(facts["seconds"], 1e-9)
        burn_in = max(stage.burn_in, int(speed * seconds) // (2 * BURN_IN_DIVISOR))
        if burn_in >= speed * seconds:
            return None
        stage = stage._replace(burn_in=burn_in)
    return attempt_stage(run, stage, seconds, " at length") if seconds > 0 else None


def _prefer_longer_run(best: Attempt, again: Attempt) -> Attempt:
    """Return the long run, unless it was interrupted with fewer sweeps than the first."""
    if again.result is None:
        return best
    sweeps = 0 if best.result is None else best.result.sweeps
    return best if _is_interrupted(again) and again.result.sweeps < sweeps else again


def _sampling_report(stage: Stage, result: Result) -> AttemptReport:
    against = warned_of(result)
    is_interrupted = bool(result.provenance["interrupted"])
    if is_interrupted:
        said = f"interrupted after {result.sweeps} sweeps"
    elif against:
        said = "; ".join(one.headline for one in against)
        if _chains_nearly_agree(result):
            said += (
                f", but are near: 95 % intervals are +- {_mean_half_width(result):.2g} on average"
            )
    elif "chain_marginals" in result.kept:
        said = f"the chains agree, 95 % intervals are +- {_mean_half_width(result):.2g} on average"
    else:
        said = "no warnings"
    agrees = not (against or is_interrupted)
    return AttemptReport(stage.name, stage.method, result.provenance["seconds"], agrees, said)


def warned_of(result: Result) -> list[Diagnostic]:
    """Return the warnings of a result, without those that only report lack of knowledge."""
    return [one for one in result.diagnostics if one.severity == "warning"]


def is_sufficient(tried: Attempt) -> bool:
    """Return whether no warning remains that a costlier stage would remedy cheaply."""
    return tried.step.agrees or (tried.result is not None and _chains_nearly_agree(tried.result))


def _chains_nearly_agree(result: Result) -> bool:
    """Return whether slow mixing is the only warning, of chains that are near on average.

    Nowhere are they as far apart as chains in different modes, and none remembers its states for
    most of the run.
    """
    against = warned_of(result)
    if not against or any(one.kind not in KINDS_MENDED_BY_SWEEPS for one in against):
        return False
    if any(one.figures.get("times", np.inf) < MIN_TIMES_TO_ANSWER for one in against):
        return False
    if _mean_half_width(result) > MAX_MEAN_HALF_WIDTH:
        return False
    return bool(np.ptp(result.chain_marginals, axis=0).max() <= MAX_CHAIN_GAP)


def pick_least_doubtful(tried: list[Attempt]) -> Attempt:
    """Return the one with the fewest failings; of several the one whose chains are nearest."""
    return min(tried, key=lambda one: (_doubt_key(one), _mean_half_width(one.result)))


def _doubt_key(tried: Attempt) -> tuple[bool, bool, bool, bool]:
    """Return a key that sorts the worst first: no result, interrupted, warned, confined.

    After a few sweeps there is nothing yet that chains could disagree on.
    """
    against = [] if tried.result is None else warned_of(tried.result)
    return (
        tried.result is None,
        _is_interrupted(tried),
        bool(against),
        any(one.kind in CONFINEMENT_KINDS for one in against),
    )


def _mean_half_width(result: Result | None) -> float:
    """Return how far 95 % intervals reach on average."""
    chains = None if result is None else result.kept.get("chain_marginals")
    if result is None or chains is None or len(chains) < 2:
        return np.inf
    model = result.model
    states = np.arange(chains.shape[2]) < model.cardinalities[:, None]
    open_ = states & (model.evidence < 0)[:, None]
    return float(half_widths(chains)[open_].mean()) if open_.any() else 0.0


def _is_interrupted(tried: Attempt) -> bool:
    return tried.result is not None and bool(tried.result.provenance["interrupted"])


def _has_all_sweeps(tried: Attempt) -> bool:
    """Return whether it has done all sweeps that it was to do."""
    sweeps = tried.stage.sweeps
    return sweeps is not None and tried.result is not None and tried.result.sweeps >= sweeps


def cross_check_seconds(seconds: float | None) -> float:
    """Return the seconds that belief propagation may take out of a budget."""
    return (
        BP_CHECK_SECONDS
        if seconds is None
        else min(BP_CHECK_SECONDS, CROSS_CHECK_SHARE / 2 * seconds)
    )


def _cross_check_report(model: Model, result: Result, seconds: float) -> Iterator[AttemptReport]:
    """Describe how belief propagation compares with the result."""
    if "chain_marginals" not in result.kept or not has_factors(model):
        return
    try:
        other = run_belief_propagation_check(model, seconds)
    except HerdedError:
        return
    if other.provenance["interrupted"]:
        return
    gap = np.abs(other.chain_marginals[0] - result.chain_marginals.mean(axis=0))
    settled = "" if other.converged else ", though it did not converge,"
    said = f"belief propagation{settled} differs by {gap.mean():.2g} on average, {gap.max():.2g} "
    near = bool(gap.max() <= MAX_CROSS_CHECK_GAP)
    yield AttemptReport("bp", other.method, other.provenance["seconds"], near, said + "at most")
