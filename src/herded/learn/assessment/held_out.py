"""Scores of held-out rows, which show the best parameters for new rows."""

import numpy as np

from herded.errors import MethodError
from herded.learn.assessment.likelihood_gain import LikelihoodGain, gain_quantile
from herded.learn.fitting.lbfgs import QuasiNewton
from herded.learn.fitting.objectives import Likelihood, Objective, ObservedStatistics, TrainingRows
from herded.run.training_helpers import EarlyStopping

HELD_OUT_GROUPS = 50  # of held-out rows, whose paired differences give an interval


class HeldOutScore:
    """The objective on held-out rows; the pseudo-likelihood if the likelihood is unknown."""

    def __init__(self, held: TrainingRows, objective: Objective, max_memory: float) -> None:
        self.held, self.known, self.model = held, None, None
        if isinstance(objective, Likelihood) and objective.model is not None:
            known = ObservedStatistics(held, max_memory, sweeps=1, seed=0)
            if known.drawn is None:
                self.known, self.model = known, objective.model
                return
        if not held.complete:
            raise MethodError(
                "expected held-out rows without unknown states (-1), since the model is too large "
                "for their likelihood, got some: hold out only complete rows, or none"
            )

    def __call__(self, x: np.ndarray) -> float:
        if self.known is None or self.model is None:
            return self.held.pseudo(x)[0]
        tables = self.held.family.tables(x)
        return self.known.of(tables)[0] - self.model.log_z(tables)

    def gain(self, x: np.ndarray, start: np.ndarray) -> LikelihoodGain:
        """Return how much better `x` is, with an interval from paired differences of rows.

        Rows are taken in groups, whose number limits the work.
        """
        groups = np.array_split(np.arange(len(self.held.states)), HELD_OUT_GROUPS)
        parts = [self.held.taken(group) for group in groups if len(group)]
        tables = [self.held.family.tables(one) for one in (x, start)]
        differences = []
        for part in parts:
            if self.known is None:
                values = [part.pseudo(one)[0] for one in (x, start)]
            else:  # log Z is the same for all groups
                known = ObservedStatistics(part, self.known.max_memory, sweeps=1, seed=0)
                values = [known.of(one)[0] for one in tables]
            differences.append(values[0] - values[1])
        value = self(x) - self(start)
        if len(parts) < 2 or np.array_equal(x, start):
            return LikelihoodGain(value, 0.0 if np.array_equal(x, start) else np.inf)
        sizes = np.array([len(part.states) for part in parts])
        spread = np.asarray(differences) - np.average(differences, weights=sizes)
        # Groups differ in size by one row at most.
        error = np.sqrt((spread**2).sum() / (len(parts) - 1) / len(parts))
        return LikelihoodGain(value, gain_quantile(len(parts)) * float(error))


def best_by_score(
    climber: QuasiNewton, score: HeldOutScore, steps: int, patience: int
) -> np.ndarray:
    """Return the parameters with the best score along an ascent, which may pass a maximum."""
    looks, best = EarlyStopping(patience), climber.x.copy()
    looks.look(score(best))
    for _ in range(steps):
        if climber.converged or looks.is_over:
            break
        climber.step()
        if looks.look(score(climber.x)):
            best = climber.x.copy()
    return best
