"""Gains in likelihood by tempered ladders, for models on which plain chains mix slowly.

A ladder gives log Z of its model with an interval, and draws of the model at its coldest rung. Two
sets of parameters are compared twice: by the difference of both values of log Z, and by Bennett's
acceptance ratio between the draws of both, which is more precise where they are close. The
narrower interval counts.

Intervals of ladders are honest only after about twenty round trips between the hottest rung and the
coldest. With fewer they are widened by the square root of what is missing, and extended to the
difference between the halves of the run. The run is repeated with more sweeps until the comparison
is decided.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import herded.learn.boltzmann.log_z as ladders
from herded.errors import HerdedWarning
from herded.learn.assessment.bennett_ratio import PathDraws, log_ratios
from herded.learn.assessment.likelihood_gain import NEGLIGIBLE_GAIN, LikelihoodGain, gain_quantile
from herded.learn.fitting.conditional_kernels import score_rows
from herded.learn.fitting.log_linear import LogLinear
from herded.run.recording.log_z_estimator import MIN_ROUND_TRIPS
from herded.run.result import Result

STAGES = (300, 1_000, 3_000)  # sweeps of the ladders, until the comparison is decided
MIN_TRIPS = 0.1  # per ladder on average; fewer than three in all show nothing
MAX_DRAWS = 300  # of each ladder: more of them hardly narrow Bennett's ratio
MAX_LADDER_VISITS = 3e9  # of links and variables by the ladders of one model: about 12 CPU seconds
LATER_LOOKS = gain_quantile(33, len(STAGES)) / gain_quantile(33)  # each stage may err


class LadderDraws(NamedTuple):
    """The results of the ladders of one model."""

    log_z: float
    half_width: float  # of a widened interval
    inflation: float  # of variances, for missing round trips; infinite without any
    states: np.ndarray  # (N, ladders * draws) at the coldest rung, ladder by ladder
    n_ladders: int


class LadderComparison(NamedTuple):
    """Gains over the first candidate, and which later candidates may be returned."""

    gains: list[LikelihoodGain]
    is_acceptable: list[bool]

    @property
    def is_decided(self) -> bool:
        """Whether some candidate is better, or none can be by more than a negligible gain."""
        return any(self.is_acceptable) or all(gain.is_negligible for gain in self.gains)


def compare_by_ladders(
    family: LogLinear,
    values: list[float],
    candidates: list[np.ndarray],
    bridge_gains: list[LikelihoodGain],
    seed: int,
    check_stop: Callable[[], None] = lambda: None,
) -> LadderComparison:
    """Compare candidates with the first one by tempered ladders.

    `values` are the objectives without -log Z, `bridge_gains` the gains by draws of slow chains. A
    candidate is acceptable if its whole interval is above zero, or if the ladders agree with the
    slow chains that it is better and exclude a loss of `NEGLIGIBLE_GAIN`.
    """
    unknown = LikelihoodGain(np.nan, np.inf)
    gains = [LikelihoodGain(0.0, 0.0), *[unknown] * (len(candidates) - 1)]
    comparison = LadderComparison(gains, [False] * len(candidates))
    left = list(range(1, len(candidates)))
    for stage, sweeps in enumerate(STAGES):
        if stage and sweeps * _visits(family) > MAX_LADDER_VISITS:
            break
        check_stop()
        first = ladder_draws(family, candidates[0], sweeps, seed)
        for i in left:
            check_stop()
            other = ladder_draws(family, candidates[i], sweeps, seed)
            difference = values[i] - values[0]
            gains[i] = ladder_gain(family, (candidates[0], candidates[i]), (first, other))
            gains[i] = gains[i]._replace(value=difference + gains[i].value)
        acceptable = [
            i > 0 and (gain.is_positive or _agree(gain, bridge))
            for i, (gain, bridge) in enumerate(zip(gains, bridge_gains, strict=True))
        ]
        comparison = LadderComparison(list(gains), acceptable)
        if comparison.is_decided:
            break
        # Longer ladders are used for the best candidate only.
        left = [max(left, key=lambda i: gains[i].value if np.isfinite(gains[i].value) else -np.inf)]
    return comparison


def ladder_draws(family: LogLinear, x: np.ndarray, sweeps: int, seed: int) -> LadderDraws:
    """Run the ladders of a model."""
    every = max(1, sweeps // MAX_DRAWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HerdedWarning)
        result = ladders.ladder_run(family.rebuilt(x), sweeps, seed, every)
    samples = result.samples.reshape(-1, result.samples.shape[1], len(family.links.states))
    trips = float(np.mean(result.provenance["round_trips"]))
    inflation = np.inf if trips < MIN_TRIPS else max(1.0, MIN_ROUND_TRIPS / trips)
    return LadderDraws(
        float(result.log_z),
        _widened_half_width(result, inflation),
        inflation,
        np.ascontiguousarray(samples.reshape(-1, samples.shape[2]).T).astype(np.uint16),
        len(samples),
    )


def ladder_gain(
    family: LogLinear,
    parameters: tuple[np.ndarray, np.ndarray],
    draws: tuple[LadderDraws, LadderDraws],
) -> LikelihoodGain:
    """Return -log(Z1 / Z0) with the narrower of two intervals."""
    first, second = draws
    half_width = LATER_LOOKS * float(np.hypot(first.half_width, second.half_width))
    by_log_z = LikelihoodGain(first.log_z - second.log_z, half_width)
    if not np.isfinite(first.inflation + second.inflation):
        return by_log_z
    scores = [_scores(family, parameters[1] - parameters[0], one) for one in draws]
    path = [PathDraws(w, w, one.inflation) for w, one in zip(scores, draws, strict=True)]
    # Every ladder is a batch: the spread of their means includes all of their autocorrelation.
    ratio = log_ratios(path, first.n_ladders)[1]
    wide = gain_quantile(first.n_ladders, len(STAGES))
    by_draws = LikelihoodGain(-ratio.value, wide * ratio.error)
    return min(by_log_z, by_draws, key=lambda gain: gain.half_width)


def _agree(gain: LikelihoodGain, bridge: LikelihoodGain) -> bool:
    """Return whether slow chains show a gain, and ladders agree and exclude a relevant loss."""
    distance = abs(gain.value - bridge.value)
    return (
        bridge.is_positive
        and gain.value > 0.0
        and gain.value - gain.half_width > -NEGLIGIBLE_GAIN
        and distance <= np.hypot(gain.half_width, bridge.half_width)
    )


def _widened_half_width(result: Result, inflation: float) -> float:
    """Half the width of an interval of log Z that covers few round trips and a short burn-in."""
    low, high = result.log_z_interval
    bridged = result.kept["bridged"]
    half_width = np.sqrt(inflation) * (high - low) / 2.0
    return float(max(half_width, abs(bridged.halves[1] - bridged.halves[0]) / 2.0))


def _scores(family: LogLinear, direction: np.ndarray, draws: LadderDraws) -> np.ndarray:
    """(ladders, draws) by how much a change of the parameters raises the scores of the states."""
    tables = np.where(family.group >= 0, family.tables(direction), 0.0)
    found = np.zeros((1, draws.states.shape[1]))
    score_rows(family.links, tables[None], draws.states, found)
    return found.reshape(draws.n_ladders, -1)


def _visits(family: LogLinear) -> float:
    """Variables and links that all ladders visit in one sweep."""
    replicas = ladders.LOG_Z_LADDER_RUNGS * ladders.LADDER_CHAINS * ladders.LADDER_HERD
    return 1.25 * replicas * (len(family.links.states) + int(family.links.link_start[-1]))
