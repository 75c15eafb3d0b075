"""The result of a stochastic fit: the best of its start, average and end, with its uncertainty.

Steps along a noisy gradient may end below their start. So the penalised likelihood of the average
and of the last parameters is compared with that of the first ones: if all states are known, these
are the best pseudo-likelihood or the parameters of the given model. Later parameters are returned
only if the whole interval of their gain is above zero. The gradient at the returned parameters is
measured by the herd of the training and by a new one, half of which starts at rows of data and half
at random. They show whether the gradient is zero, and whether the chains mix at all. If they do
not, gains are computed again by tempered ladders (`ladder_gain`).
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from herded.errors import Interrupted
from herded.learn.assessment.bennett_ratio import PathDraws, log_ratios
from herded.learn.assessment.gradient_test import GradientTest, check_gradient, critical_value
from herded.learn.assessment.ladder_gain import LadderComparison, compare_by_ladders
from herded.learn.assessment.likelihood_gain import (
    LikelihoodGain,
    exact_value,
    gain_quantile,
    path_gain,
)
from herded.learn.assessment.mixing import (
    MAX_SHARE,
    MAX_STUCK,
    MemberAverages,
    MixingReport,
    variance_inflation,
)
from herded.learn.fitting.herd_moments import MomentHerd
from herded.learn.fitting.lbfgs import dot
from herded.learn.fitting.objectives import Likelihood, Objective, TrainingRows

BATCHES_PER_MEASUREMENT = 10
MIN_CALLS, MAX_CALLS = 20, 40  # per measurement; in between, a tenth of the steps
MAX_MEASUREMENTS = 4  # of each herd, as long as the gradient test is too weak
MIN_TRAINING = 50  # shorter trainings count as this many steps when chains are judged
SETTLE_CALLS = 4  # of the herd of the training, which is nearly in equilibrium
NEW_SETTLE_CALLS = 8  # of a new herd
BRIDGE_DEVIATION = 2.0  # of log weights between two models of a path; more need models in between
MAX_BRIDGES = 12  # between the average and the start
CANDIDATE_NAMES = ("start", "average", "end")


class FitAssessment(NamedTuple):
    """The result of a stochastic fit, and the reason for it."""

    parameters: np.ndarray
    chosen: str  # one of CANDIDATE_NAMES
    criterion: str  # "exact", "bridge", "path" or "ladders"; "none" if undecided
    gain: LikelihoodGain
    gains: dict[str, LikelihoodGain]  # of all later candidates
    test: GradientTest
    mixing: MixingReport | None  # None if no chains were needed


class GradientMeasurement(NamedTuple):
    """Batch means of the gradient without penalties, and the behaviour of the herd's members."""

    gradients: np.ndarray  # (batches, P)
    scores: np.ndarray  # (directions, calls, members)
    memory: float  # in calls; NaN if unknown
    inflation: float  # true variance of a mean, divided by that of batches

    @property
    def mean(self) -> np.ndarray:
        return np.asarray(self.gradients.mean(axis=0))

    @property
    def error(self) -> np.ndarray:
        """(P,) standard errors."""
        variance = self.inflation * self.gradients.var(axis=0, ddof=1)
        return np.asarray(np.sqrt(variance / len(self.gradients)))


@dataclass
class FitAssessor:
    """Compares the parameters of a fit and tests the gradient at those it chooses."""

    rows: TrainingRows
    objective: Objective
    l1: np.ndarray
    l2: np.ndarray
    unit: np.ndarray  # (P,) standard errors of the data's statistics
    steps: int  # of the fit, which is how long its herd has run
    sweeps: int
    seed: int
    max_memory: float
    stop: threading.Event = field(default_factory=threading.Event)  # set by Ctrl-C

    @property
    def calls(self) -> int:
        """The number of looks at the herd in each measurement."""
        return min(max(self.steps // 10, MIN_CALLS), MAX_CALLS)

    @property
    def longest_memory(self) -> float:
        """The memory, in calls, above which chains count as slow."""
        return min(MAX_STUCK * self.calls, MAX_SHARE * max(self.steps, MIN_TRAINING))

    def assess(self, start: np.ndarray, average: np.ndarray, end: np.ndarray) -> FitAssessment:
        """Choose among three sets of parameters, and test the choice."""
        candidates = [start, average, end]
        criterion, gains, found = self._gains(candidates)
        chosen = _best(gains, [gain.is_positive for gain in gains])
        test, mixing = self.test(candidates[chosen], found[chosen])
        is_slow = mixing is not None and mixing.is_slow
        if criterion == "bridge" and (is_slow or not np.isfinite(gains[1].half_width)):
            before = chosen
            ladders = self._by_ladders(candidates, gains)
            criterion = "ladders" if ladders.is_decided else "none"
            gains, chosen = ladders.gains, _best(ladders.gains, ladders.is_acceptable)
            if chosen != before:
                test, mixing = self.test(candidates[chosen], found[chosen])
                # The herds did not mix at parameters that the fit passed through.
                if mixing is not None and is_slow:
                    mixing = mixing._replace(is_slow=True)
        later = dict(zip(CANDIDATE_NAMES[1:], gains[1:], strict=True))
        x, name = candidates[chosen], CANDIDATE_NAMES[chosen]
        return FitAssessment(x, name, criterion, gains[chosen], later, test, mixing)

    def better_start(self, pseudo: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Return the better of two sets of parameters; the first where that is unknown."""
        criterion, gains, found = self._gains([pseudo, given])
        memory = np.nanmax([-np.inf, *[one.memory for one in found if one is not None]])
        is_wide = not np.isfinite(gains[1].half_width)
        if criterion == "bridge" and (is_wide or memory > self.longest_memory):
            gains = self._by_ladders([pseudo, given], gains).gains
        is_known = np.isfinite(gains[1].half_width)
        return given if is_known and gains[1].value > 0.0 else pseudo

    # -- the best candidate --------------------------------------------------------------------

    def _gains(
        self, candidates: list[np.ndarray]
    ) -> tuple[str, list[LikelihoodGain], list[GradientMeasurement | None]]:
        """Return how candidates were compared with the first, gains, and measurements at each."""
        value = self._value()
        found: list[GradientMeasurement | None] = [None] * len(candidates)
        if value is not None:
            criterion, values = "exact", []
            for x in candidates:
                self._check_stop()
                values.append(value(x))
            gains = [LikelihoodGain(v - values[0], 0.0) for v in values]
        elif self._likelihood.known.drawn is None:
            criterion, (gains, found) = "bridge", self._bridge_gains(candidates)
        else:
            criterion, gains = "path", self._path_gains(candidates)
        return criterion, self._less_penalties(candidates, gains), found

    def _by_ladders(
        self, candidates: list[np.ndarray], bridge_gains: list[LikelihoodGain]
    ) -> LadderComparison:
        family, known = self.rows.family, self._likelihood.known
        values = [known.of(family.tables(x))[0] - self._penalty(x) for x in candidates]
        return compare_by_ladders(
            family, values, candidates, bridge_gains, self.seed, self._check_stop
        )

    def _value(self) -> Callable[[np.ndarray], float] | None:
        """Return the objective as an exact function of the parameters, if there is one."""
        if isinstance(self.objective, Likelihood):
            return exact_value(self.objective, self.max_memory)
        return lambda x: self.objective(x)[0]

    def _bridge_gains(
        self, candidates: list[np.ndarray]
    ) -> tuple[list[LikelihoodGain], list[GradientMeasurement | None]]:
        """Compare by ratios of log Z from draws at all of them, and between the first two.

        The herd is measured at the last candidate first, where the fit has ended.
        """
        directions = np.diff(candidates, axis=0)
        found = [
            self._measure(self.objective, x, SETTLE_CALLS, directions) for x in candidates[:0:-1]
        ][::-1]
        deviation = float(found[0].scores[0].std())
        segments = min(max(1, int(np.ceil(deviation / BRIDGE_DEVIATION))), MAX_BRIDGES)
        start = candidates[0]
        along = [
            self._measure(self.objective, start + s / segments * directions[0], SETTLE_CALLS,
                          directions)
            for s in range(segments - 1, -1, -1)
        ][::-1]  # fmt: skip
        path = []
        for one in [*along, found[0]]:
            shared = one.scores[0] / segments
            path.append(PathDraws(shared, shared, one.inflation))
        for j in range(1, len(directions)):
            path[-1] = path[-1]._replace(above=found[j - 1].scores[j])
            path.append(PathDraws(found[j].scores[j], found[j].scores[j], found[j].inflation))
        ratios = log_ratios(path, BATCHES_PER_MEASUREMENT)[-len(directions) :]
        known = self._likelihood.known
        values = [known.of(self.rows.family.tables(x))[0] for x in candidates]
        wide = gain_quantile(BATCHES_PER_MEASUREMENT)
        gains = [
            LikelihoodGain(v - values[0] - ratio.value, wide * ratio.error)
            for v, ratio in zip(values[1:], ratios, strict=True)
        ]
        return [LikelihoodGain(0.0, 0.0), *gains], [along[0], *found]

    def _path_gains(self, candidates: list[np.ndarray]) -> list[LikelihoodGain]:
        """Sum the gains of the pieces between candidates, the last piece first."""
        pieces = [
            path_gain(self._slopes, candidates[i], candidates[i + 1])
            for i in range(len(candidates) - 2, -1, -1)
        ][::-1]
        values = np.cumsum([piece.value for piece in pieces])
        half_widths = np.sqrt(np.cumsum([piece.half_width**2 for piece in pieces]))
        return [
            LikelihoodGain(0.0, 0.0),
            *map(LikelihoodGain, values.tolist(), half_widths.tolist()),
        ]

    def _slopes(self, x: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Return slopes of the log-likelihood at x along a direction, with their true spread."""
        found = self._measure(self.objective, x, SETTLE_CALLS)
        slopes = np.array([dot(g, direction) for g in found.gradients])
        return np.asarray(slopes.mean() + np.sqrt(found.inflation) * (slopes - slopes.mean()))

    def _penalty(self, x: np.ndarray) -> float:
        return float((self.l1 * np.abs(x)).sum() + (self.l2 * x * x).sum() / 2.0)

    def _less_penalties(
        self, candidates: list[np.ndarray], gains: list[LikelihoodGain]
    ) -> list[LikelihoodGain]:
        """Subtract from each gain the growth of the penalty."""
        first = self._penalty(candidates[0])
        return [
            LikelihoodGain(gain.value - (self._penalty(x) - first), gain.half_width)
            for gain, x in zip(gains, candidates, strict=True)
        ]

    # -- the test for a maximum ----------------------------------------------------------------

    @property
    def _likelihood(self) -> Likelihood:
        assert isinstance(self.objective, Likelihood)
        return self.objective

    def test(
        self, x: np.ndarray, first: GradientMeasurement | None = None
    ) -> tuple[GradientTest, MixingReport | None]:
        """Test the gradient at x, and whether chains mix there.

        `first` is the measurement of the training's herd at x, if there is one.
        """
        likelihood = self.objective
        if not isinstance(likelihood, Likelihood) or (
            likelihood.herd is None and likelihood.known.drawn is None
        ):
            gradient = self._with_penalties(likelihood(x)[1], x)
            return check_gradient(gradient, np.zeros(len(x)), self.unit, 0), None
        if first is None:
            first = self._measure(likelihood, x, SETTLE_CALLS)
        if likelihood.herd is None:
            gradient = self._with_penalties(first.mean, x)
            return check_gradient(gradient, first.error, self.unit, BATCHES_PER_MEASUREMENT), None
        other = replace(likelihood, herd=self._new_herd(len(likelihood.herd.x)))
        second = self._measure(other, x, NEW_SETTLE_CALLS)
        mixing = self._mixing(first, second)
        gradients = np.concatenate([first.gradients, second.gradients])
        inflation = max(first.inflation, second.inflation)
        test = self._check(gradients, inflation, x)
        measurements = 1
        while test.is_weak and not mixing.is_slow and measurements < MAX_MEASUREMENTS:
            measurements += 1
            more = [self._measure(one, x, 0).gradients for one in (likelihood, other)]
            gradients = np.concatenate([gradients, *more])
            test = self._check(gradients, inflation, x)
        return test, mixing

    def _check(self, gradients: np.ndarray, inflation: float, x: np.ndarray) -> GradientTest:
        """Test the mean of (batches, P) gradients without penalties."""
        error = np.sqrt(inflation * gradients.var(axis=0, ddof=1) / len(gradients))
        gradient = self._with_penalties(gradients.mean(axis=0), x)
        return check_gradient(gradient, error, self.unit, len(gradients))

    def _mixing(self, first: GradientMeasurement, second: GradientMeasurement) -> MixingReport:
        """Judge the chains by their memory and by whether two herds agree."""
        error = np.hypot(first.error, second.error)
        # Herds that differ by less than the data can resolve do no harm.
        limit = np.maximum(critical_value(len(error), BATCHES_PER_MEASUREMENT) * error, self.unit)
        disagreement = float((np.abs(first.mean - second.mean) / limit).max(initial=0.0))
        memory = float(np.fmax(first.memory, second.memory))
        is_slow = disagreement > 1.0 or memory > self.longest_memory
        return MixingReport(is_slow, memory * self.sweeps, self.calls * self.sweeps, disagreement)

    def _new_herd(self, members: int) -> MomentHerd:
        """Build a herd in which every other member starts at a row of data, the rest at random.

        Unknown states are drawn. Members that start at random find modes without any data.
        """
        herd = MomentHerd(
            self.rows.family, self.rows.links, members, self.sweeps, self.seed, chain=1
        )
        rows = self.rows.states[np.arange(members) * len(self.rows.states) // members]
        if self.rows.complete or not self.rows.family.has_hard_zeros:
            herd.x[::2] = np.where(rows >= 0, rows, herd.x)[::2]
        return herd

    def _measure(
        self,
        objective: Objective,
        x: np.ndarray,
        settle: int,
        directions: np.ndarray | None = None,
    ) -> GradientMeasurement:
        """Measure the gradient at x in batches, after some calls to settle."""
        family, members, calls = self.rows.family, MemberAverages(), self.calls
        gradients, scores = np.zeros((BATCHES_PER_MEASUREMENT, family.count)), []
        herd = objective.herd if isinstance(objective, Likelihood) else None
        watched = x[None] if directions is None else np.concatenate([x[None], directions])
        for _ in range(settle):
            objective(x)
        for call in range(calls):
            self._check_stop()
            gradients[call * BATCHES_PER_MEASUREMENT // calls] += objective(x)[1]
            if herd is not None:
                scores.append(herd.scores(watched))
                members.add(np.concatenate([herd.x, scores[-1].T], axis=1))
        gradients /= np.bincount(np.arange(calls) * BATCHES_PER_MEASUREMENT // calls)[:, None]
        memory = members.memory()
        inflation = variance_inflation(memory, calls, BATCHES_PER_MEASUREMENT)
        along = np.array(scores).swapaxes(0, 1)[1:] if scores else np.zeros((0, calls, 0))
        return GradientMeasurement(gradients, along, memory, inflation)

    def _check_stop(self) -> None:
        if self.stop.is_set():
            raise Interrupted

    def _with_penalties(self, gradient: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Subtract the slope of the penalties; at zero, as much of L1's as cancels the gradient."""
        slope = gradient - self.l2 * x
        inside = np.clip(slope, -self.l1, self.l1)
        found: np.ndarray = slope - np.where(x == 0.0, inside, self.l1 * np.sign(x))
        return found


def _best(gains: list[LikelihoodGain], is_acceptable: list[bool]) -> int:
    """Return the number of the acceptable candidate with the largest gain, or 0 without any."""
    acceptable = np.flatnonzero(is_acceptable).tolist()
    return max(acceptable, key=lambda i: gains[i].value, default=0)
