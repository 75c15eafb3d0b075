"""What a stochastic fit returns: the best of its start, average and end, and how sure that is.

Steps along a noisy gradient may end below where they started. So the penalised likelihood of the
average and of the last parameters is compared with that of the first ones (the best
pseudo-likelihood, where all states are known), and later parameters are returned only where the
whole interval of their gain is above zero. Then the gradient at the returned parameters is measured
by two herds, one of which starts at rows of data: they show whether it is zero, and whether the
chains mix at all. Where they do not, gains are computed again by tempered ladders.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from herded.learn.gradient_test import GradientTest, check_gradient, critical_value
from herded.learn.herd_moments import Herd
from herded.learn.lbfgs import dot
from herded.learn.likelihood_gain import (
    PATH_BATCHES,
    PATH_CALLS,
    Gain,
    exact_value,
    ladder_gains,
    path_gain,
)
from herded.learn.mixing import MAX_SHARE, MemberAverages, Mixing
from herded.learn.objectives import Likelihood, Objective, Rows
from herded.learn.parameters import retabled

BATCHES = 16  # of the gradient test
MIN_CALLS, MAX_CALLS = 32, 80  # of each herd for the gradient test
SETTLE_CALLS = 20  # of a herd before it is measured
PATH_SETTLE_CALLS = 4
NAMES = ("start", "average", "end")


class Assessment(NamedTuple):
    """What a stochastic fit returns, and why."""

    parameters: np.ndarray
    chosen: str  # one of NAMES
    criterion: str  # "exact", "path" or "ladders"
    gain: Gain
    test: GradientTest
    mixing: Mixing | None  # None where no chains were needed


class Measurement(NamedTuple):
    """Batch means of the gradient without penalties, and the averages of members."""

    gradients: np.ndarray  # (batches, P)
    members: MemberAverages

    @property
    def mean(self) -> np.ndarray:
        return np.asarray(self.gradients.mean(axis=0))

    @property
    def error(self) -> np.ndarray:
        """(P,) standard errors."""
        spread = self.gradients.std(axis=0, ddof=1)
        return np.asarray(spread / np.sqrt(len(self.gradients)))


@dataclass
class Assessor:
    """Compares the parameters of a fit and tests the gradient at those it chooses."""

    rows: Rows
    objective: Objective
    l1: np.ndarray
    l2: np.ndarray
    unit: np.ndarray  # (P,) standard errors of the data's statistics
    calls: int
    sweeps: int
    seed: int
    max_memory: float

    def assess(self, start: np.ndarray, average: np.ndarray, end: np.ndarray) -> Assessment:
        """Choose among three sets of parameters, and test the choice."""
        candidates = [start, average, end]
        value = self._value()
        if value is not None:
            values = [value(x) for x in candidates]
            gains = [Gain(v - values[0], 0.0) for v in values]
        else:
            gains = self._path_gains(start, average, end)
        chosen, gains = self._choose(candidates, gains)
        test, mixing = self.test(candidates[chosen])
        criterion = "path" if value is None else "exact"
        if mixing is not None and mixing.is_slow and value is None and self._has_ladders:
            criterion = "ladders"
            known = self._likelihood.known
            ladders = ladder_gains(self.rows.family, known, candidates, self.seed)
            before = chosen
            chosen, gains = self._choose(candidates, ladders)
            if chosen != before:
                test, mixing = self.test(candidates[chosen])
                # The herds did not mix at parameters that the fit has gone through.
                mixing = None if mixing is None else mixing._replace(is_slow=True)
        return Assessment(candidates[chosen], NAMES[chosen], criterion, gains[chosen], test, mixing)

    # -- which is best ------------------------------------------------------------------------

    def _value(self) -> Callable[[np.ndarray], float] | None:
        """Return the objective as an exact function of the parameters, if there is one."""
        if isinstance(self.objective, Likelihood):
            return exact_value(self.objective, self.max_memory)
        return lambda x: self.objective(x)[0]

    def _path_gains(self, start: np.ndarray, average: np.ndarray, end: np.ndarray) -> list[Gain]:
        beyond = path_gain(self._slopes, average, end)
        gain = path_gain(self._slopes, start, average)
        whole = Gain(gain.value + beyond.value, float(np.hypot(gain.half_width, beyond.half_width)))
        return [Gain(0.0, 0.0), gain, whole]

    def _slopes(self, x: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """(batches,) slopes of the log-likelihood at x along a direction."""
        found = self._measure(self.objective, x, PATH_CALLS, PATH_BATCHES, PATH_SETTLE_CALLS)
        return np.array([dot(g, direction) for g in found.gradients])

    def _choose(self, candidates: list[np.ndarray], gains: list[Gain]) -> tuple[int, list[Gain]]:
        """Return the best candidate that is certainly better than the first, and all gains."""
        penalties = [
            float((self.l1 * np.abs(x)).sum() + (self.l2 * x * x).sum() / 2.0) for x in candidates
        ]
        gains = [
            Gain(gain.value - (penalty - penalties[0]), gain.half_width)
            for gain, penalty in zip(gains, penalties, strict=True)
        ]
        better = [i for i, gain in enumerate(gains) if gain.is_positive]
        return max(better, key=lambda i: gains[i].value, default=0), gains

    # -- is it a maximum ----------------------------------------------------------------------

    @property
    def _likelihood(self) -> Likelihood:
        assert isinstance(self.objective, Likelihood)
        return self.objective

    @property
    def _has_ladders(self) -> bool:
        return self._likelihood.known.drawn is None

    def test(self, x: np.ndarray) -> tuple[GradientTest, Mixing | None]:
        """Test the gradient at x, and whether chains mix there."""
        likelihood = self.objective
        if not isinstance(likelihood, Likelihood) or (
            likelihood.herd is None and likelihood.known.drawn is None
        ):
            gradient = self._with_penalties(likelihood(x)[1], x)
            return check_gradient(gradient, np.zeros(len(x)), self.unit, 0), None
        if likelihood.herd is None:
            found = self._measure(likelihood, x, self.calls, BATCHES, SETTLE_CALLS)
            gradient = self._with_penalties(found.mean, x)
            return check_gradient(gradient, found.error, self.unit, BATCHES), None
        first = self._measure(likelihood, x, self.calls, BATCHES, SETTLE_CALLS)
        second = self._measure(
            replace(likelihood, herd=self._herd_from_data(len(likelihood.herd.x))),
            x, self.calls, BATCHES, SETTLE_CALLS,
        )  # fmt: skip
        both = np.concatenate([first.gradients, second.gradients])
        error = both.std(axis=0, ddof=1) / np.sqrt(len(both))
        gradient = self._with_penalties(both.mean(axis=0), x)
        test = check_gradient(gradient, error, self.unit, len(both))
        return test, self._mixing(first, second)

    def _mixing(self, first: Measurement, second: Measurement) -> Mixing:
        """Judge the chains by their memory and by whether two herds agree."""
        error = np.hypot(first.error, second.error)
        # Herds that differ by less than the data can show do no harm.
        limit = np.maximum(critical_value(len(error), BATCHES) * error, self.unit)
        disagreement = float((np.abs(first.mean - second.mean) / limit).max(initial=0.0))
        memory = float(np.fmax(first.members.memory(), second.members.memory()))
        is_slow = disagreement > 1.0 or memory > MAX_SHARE * self.calls
        return Mixing(is_slow, memory * self.sweeps, self.calls * self.sweeps, disagreement)

    def _herd_from_data(self, members: int) -> Herd:
        """Build a herd that starts at rows of data; what they do not know is drawn."""
        herd = Herd(self.rows.family, self.rows.links, members, self.sweeps, self.seed, chain=1)
        rows = self.rows.states[np.arange(members) * len(self.rows.states) // members]
        if self.rows.complete:
            herd.x = rows.astype(np.int64)
        elif self._likelihood.known.drawn is None and not self.rows.family.has_hard_zeros:
            herd.x = np.where(rows >= 0, rows, herd.x)
        return herd

    def _measure(
        self, objective: Objective, x: np.ndarray, calls: int, batches: int, settle: int
    ) -> Measurement:
        """Measure the gradient at x in batches, after some calls to settle."""
        family, members = self.rows.family, MemberAverages()
        gradients = np.zeros((batches, family.count))
        herd = objective.herd if isinstance(objective, Likelihood) else None
        graph = retabled(family.graph, family.tables(x))
        for _ in range(settle):
            objective(x)
        for call in range(calls):
            gradients[call * batches // calls] += objective(x)[1]
            if herd is not None:
                energy = graph.log_score(herd.x)
                members.add(np.concatenate([herd.x, energy[:, None]], axis=1))
        sizes = np.bincount(np.arange(calls) * batches // calls, minlength=batches)
        return Measurement(gradients / sizes[:, None], members)

    def _with_penalties(self, gradient: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Subtract the slope of the penalties; at zero, as much of L1's as there is."""
        slope = gradient - self.l2 * x
        inside = np.clip(slope, -self.l1, self.l1)
        found: np.ndarray = slope - np.where(x == 0.0, inside, self.l1 * np.sign(x))
        return found
