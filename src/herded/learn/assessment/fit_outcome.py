"""The outcome of the steps of a fit: the parameters to return, and their assessment."""

import math
import threading
from typing import NamedTuple

import numpy as np

from herded.errors import Interrupted
from herded.learn.assessment.fit_assessment import FitAssessor
from herded.learn.assessment.gradient_test import GradientTest
from herded.learn.assessment.likelihood_gain import NEGLIGIBLE_GAIN, LikelihoodGain
from herded.learn.assessment.mixing import MixingReport
from herded.learn.fitting.averaged_gradient import AveragedAscent
from herded.learn.fitting.lbfgs import QuasiNewton
from herded.learn.fitting.objectives import Likelihood
from herded.learn.fitting.training_loop import TrainingLoop

START_NAMES = ("start", "given")  # where steps began


class FitOutcome(NamedTuple):
    """The fields of `Fitted` that depend on how the steps ended; see there."""

    parameters: np.ndarray
    converged: bool
    convergence: str
    chosen: str
    criterion: str
    gain: LikelihoodGain
    test: GradientTest | None
    mixing: MixingReport | None
    warnings: tuple[str, ...]
    interrupted: bool = False
    gains: dict[str, LikelihoodGain] | None = None  # of later candidates of noisy steps


def choose_outcome(steps: TrainingLoop, stop: threading.Event) -> FitOutcome:
    """Choose the parameters to return, and test whether they are at a maximum.

    Once `stop` is set, parameters are returned without comparison.
    """
    climber = steps.climber
    if isinstance(climber, QuasiNewton):
        is_held_out = steps.best is not None
        return FitOutcome(
            parameters=steps.answer,
            converged=climber.converged,
            convergence=steps.sentence(),
            chosen=_held_out_choice(steps) if is_held_out else "end",
            criterion="held-out" if is_held_out else "exact",
            gain=_held_out_gain(steps) if is_held_out else LikelihoodGain(climber.gain(), 0.0),
            test=None,
            mixing=None,
            warnings=(),
            interrupted=steps.interrupted,
        )
    assert isinstance(climber, AveragedAscent) and steps.assessor is not None
    if not steps.interrupted:
        steps.assessor.stop = stop
        try:
            return _judge_noisy(steps, climber, steps.assessor)
        except Interrupted:
            pass
    return _outcome_without_test(steps, climber)


def _outcome_without_test(steps: TrainingLoop, climber: AveragedAscent) -> FitOutcome:
    """Return the average, or the last parameters if nothing is averaged, as they are."""
    chosen = "average" if climber.counted else "end"
    if steps.best is not None:
        chosen = _held_out_choice(steps)
    sentence = f"interrupted after {steps.done} steps, which were not compared with the start"
    unknown = LikelihoodGain(math.nan, math.nan)
    return FitOutcome(
        steps.answer, False, sentence, chosen, "none", unknown, None, None, (), interrupted=True
    )


def _held_out_choice(steps: TrainingLoop) -> str:
    if not np.array_equal(steps.answer, steps.climber.start):
        return "held-out"
    return "start" if steps.assessor is None else _start_name(steps.climber.start, steps.assessor)


def _start_name(start: np.ndarray, assessor: FitAssessor) -> str:
    """Return "given" if the steps began at the parameters of the given model, else "start"."""
    is_likelihood = isinstance(assessor.objective, Likelihood)
    if not (is_likelihood and assessor.rows.complete and start.any()):
        return "start"
    return "given" if np.array_equal(start, assessor.rows.family.start) else "start"


def _held_out_gain(steps: TrainingLoop) -> LikelihoodGain:
    assert steps.score is not None
    return steps.score.gain(steps.answer, steps.climber.start)


def _judge_noisy(steps: TrainingLoop, climber: AveragedAscent, assessor: FitAssessor) -> FitOutcome:
    gains: dict[str, LikelihoodGain] = {}
    if steps.best is not None:
        parameters, chosen, criterion = steps.best, _held_out_choice(steps), "held-out"
        gain, (test, mixing) = _held_out_gain(steps), assessor.test(steps.best)
    else:
        found = assessor.assess(climber.start, climber.x, climber.last)
        parameters, chosen, criterion = found.parameters, found.chosen, found.criterion
        gain, gains, test, mixing = found.gain, found.gains, found.test, found.mixing
        if chosen == "start":
            chosen = _start_name(climber.start, assessor)
    is_slow = mixing is not None and mixing.is_slow
    # With unknown states the start may be a saddle, where the gradient is nearly zero too.
    is_saddle = chosen == "start" and not assessor.rows.complete
    converged = test.passed and not is_slow and not is_saddle
    if steps.patience.is_over:
        convergence = steps.sentence()
    else:
        convergence = _sentence(steps.done, converged, chosen, gains, test, mixing)
    warnings = (_slow_mixing(chosen, criterion, gains, mixing),) if mixing and is_slow else ()
    return FitOutcome(
        parameters=parameters,
        converged=converged,
        convergence=convergence,
        chosen=chosen,
        criterion=criterion,
        gain=gain,
        test=test,
        mixing=mixing,
        warnings=warnings,
        gains=gains,
    )


def _sentence(
    done: int,
    converged: bool,
    chosen: str,
    gains: dict[str, LikelihoodGain],
    test: GradientTest,
    mixing: MixingReport | None,
) -> str:
    """Say whether the parameters are at a maximum, and how that was tested."""
    if converged and chosen in START_NAMES:
        return f"the start is a maximum as far as this test can tell: {test}"
    if converged:
        return f"converged in {done} steps: {test}"
    if mixing is not None and mixing.is_slow:
        return f"not converged in {done} steps: {mixing}, so the gradient is unreliable"
    if chosen in START_NAMES:
        return (
            f"not converged in {done} steps: the start was returned, where {test}; "
            f"{_comparison(gains)}; use more steps or a larger herd"
        )
    return f"not converged in {done} steps: {test}; use more steps or a larger herd"


def _comparison(gains: dict[str, LikelihoodGain]) -> str:
    """Say why the start was returned."""
    if all(gain.is_negligible for gain in gains.values()):
        return f"no later parameters are better by {NEGLIGIBLE_GAIN} nats per row or more"
    name, gain = max(gains.items(), key=lambda item: item[1].value + item[1].half_width)
    if not math.isfinite(gain.half_width):
        return f"the fit could not tell whether the {name} is better"
    return (
        f"the fit could not tell whether the {name} is better: the gain is {gain.value:.2g} \u00b1 "
        f"{gain.half_width:.2g} nats per row"
    )


def _slow_mixing(
    chosen: str, criterion: str, gains: dict[str, LikelihoodGain], mixing: MixingReport
) -> str:
    """Warn of chains that mix slowly, and say which parameters were returned."""
    returned = {
        "start": "the parameters that the steps started from",
        "given": "the parameters of the given model",
        "average": "the average of the steps",
        "end": "the last parameters",
        "held-out": "the parameters of the best held-out score",
    }[chosen]
    reason = {
        "exact": "chosen by the exact likelihood",
        "bridge": "chosen by these chains, so they may be worse than the start",
        "ladders": "chosen by tempered ladders",
        "none": _comparison(gains) if gains else "",
        "held-out": "chosen by held-out rows",
        "path": "chosen by these chains, so they may be worse than the start",
    }[criterion]
    return (
        f"the model mixes slowly: {mixing}, so gradients of the likelihood are unreliable; "
        f"the fit returned {returned} ({reason}). Use more sweeps=, or a penalty (l2=)"
    )
