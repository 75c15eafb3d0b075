"""Log-scores from conditionals alone: along paths that change one variable after another.

    pi(y) / pi(x) = product over i of pi(y_i | y_1 .. y_(i-1), x_(i+1) ..) / pi(x_i | the same)

All states of a batch follow their paths in parallel, as members of a herd.
"""

from typing import TYPE_CHECKING

import numpy as np

from herded.errors import HerdedError, ModelError
from herded.models.callbacks.function_calls import MemberViews, callback_error
from herded.models.naming import variable_text

if TYPE_CHECKING:
    from herded.models.callbacks.conditional_model import ConditionalModel

STATES_PER_BATCH = 256  # states at once
MAX_STATISTICS_BYTES = 2**22  # bytes of the statistics of a batch


def path_scores(model: "ConditionalModel", states: np.ndarray) -> np.ndarray:
    """Compute the log-scores of states (S, N), 0 where every unobserved variable is 0."""
    known = model.evidence >= 0
    scores = np.full(len(states), -np.inf)
    possible = np.flatnonzero((states[:, known] == model.evidence[known]).all(axis=1))
    rows = max(
        1, min(STATES_PER_BATCH, int(MAX_STATISTICS_BYTES // (model.callbacks.bytes_of_member + 1)))
    )
    for first in range(0, len(possible), rows):
        part = possible[first : first + rows]
        start = np.broadcast_to(np.maximum(model.evidence, 0), states[part].shape)
        found = path_log_ratios(model, start, states[part])
        lost = np.isnan(found)
        if lost.any():
            reachable = allowed_states_mask(model, states[part][lost])
            if reachable.any():
                raise ModelError(
                    "expected a path to every state for its log-score, but the path from all zeros "
                    "leads through impossible states, where conditionals determine nothing: do "
                    "without log-scores"
                )
            found[lost] = -np.inf
        scores[part] = found
    return scores


def path_log_ratios(model: "ConditionalModel", start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Compute log pi(end) - log pi(start) of states (S, N); NaN if a path crosses zeros."""
    calls, x = model.callbacks, np.array(start, np.int64, order="C")
    everyone, found = np.arange(len(x)), np.zeros(len(x))
    try:
        kept = calls.build(x)
        walk = _StatePath(model, x, kept)
        for i in np.flatnonzero((start != end).any(axis=0)).tolist():
            logits, old, new = walk.visit(i), x[:, i].copy(), end[:, i]
            with np.errstate(invalid="ignore"):
                gain = logits[everyone, new] - logits[everyone, old]
            found += np.where(old == new, 0.0, np.where(np.isfinite(gain), gain, np.nan))
            walk.move(i, old, new)
    except HerdedError:
        raise
    except Exception as error:
        raise callback_error(error, "the model's functions") from error
    return found


def allowed_states_mask(model: "ConditionalModel", states: np.ndarray) -> np.ndarray:
    """Return a mask of the states (S, N) that every variable's conditional allows."""
    x, everyone = np.array(states, np.int64, order="C"), np.arange(len(states))
    try:
        walk = _StatePath(model, x, model.callbacks.build(x))
        allowed = np.ones(len(x), bool)
        for i in np.flatnonzero(model.evidence < 0).tolist():
            allowed &= walk.visit(i)[everyone, x[:, i]] > -np.inf
    except HerdedError:
        raise
    except Exception as error:
        raise callback_error(error, "the model's functions") from error
    return allowed


def mean_logit_spread(model: "ConditionalModel") -> float:
    """Compute the mean range of a variable's log-probabilities at one state."""
    x = np.maximum(model.evidence, 0)[None].copy()
    walk, found = _StatePath(model, x, model.callbacks.build(x)), []
    for i in np.flatnonzero(model.evidence < 0).tolist():
        logits = walk.visit(i)[0]
        finite = logits[np.isfinite(logits)]
        found.append(float(np.ptp(finite)) if len(finite) else 0.0)
    return float(np.mean(found)) if found else 0.0


class _StatePath:
    """States that are changed one variable after another, with their statistics."""

    def __init__(
        self, model: "ConditionalModel", x: np.ndarray, kept: tuple[np.ndarray, ...]
    ) -> None:
        self.model, self.calls, self.members = (
            model,
            model.callbacks.best,
            MemberViews(model, x, kept),
        )
        self.place = self.members.place(self.calls)

    def visit(self, i: int) -> np.ndarray:
        """Return the conditionals (S, K_i) of variable i, as logarithms."""
        states, out = int(self.model.cardinalities[i]), self.members.out
        out[:] = np.nan
        self.calls.visit(i, self.place)
        logits: np.ndarray = out[:, :states]
        if np.isnan(logits).any() or np.isposinf(logits).any():
            raise ModelError(
                "expected finite or -inf log-probabilities from conditional, got "
                f"{logits[~(logits < np.inf)][0]} for variable {variable_text(self.model, i)}"
            )
        return logits

    def move(self, i: int, old: np.ndarray, new: np.ndarray) -> None:
        """Set variable i of all states."""
        self.members.x[:, i] = new
        self.members.old[:] = old
        if self.calls.follow is not None and (old != new).any():
            self.calls.follow(i, self.place)
