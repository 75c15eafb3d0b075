"""Diagnostics of chains that disagree, or of members that have not moved.

Chains that started apart may disagree by more than chance explains, and members of a herd may still
be where they started. No warning proves nothing: all chains may be in the same mode.
"""

import numpy as np

from herded.models.naming import variable_text
from herded.models.protocol import Model
from herded.run.diagnostics.variable_times import NO_TIMES, VariableTimes, noise_of_frequencies
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.diagnostics.phrases import EXACT_WHERE_IT_FITS, MORE_SWEEPS, Remedy, Term

# Chains disagree when their standard error is above DISAGREEMENT_TOLERANCE, and each strays
# MAX_SPREAD_OF_DRAWS times further than draws with the autocorrelation times of the run would. Of
# two or three chains the spread is known badly, so that some of many variables stray further by
# chance: FALSE_ALARMS is the share of runs in which one of them does. `python -m benchmarks --only
# warning-precision` prints how often chains disagree, and are right.
DISAGREEMENT_TOLERANCE = 0.025
MAX_SPREAD_OF_DRAWS = 4.0
FALSE_ALARMS = 1e-3

# Members of a herd have not moved on when more of them are as they were than chance explains: by
# MIN_STUCK_EXCESS, and by STUCK_SIGMAS standard deviations.
MIN_STUCK_EXCESS = 0.15
STUCK_SIGMAS = 5.0


ONE_CHAIN = Diagnostic(
    DiagnosticKind.ONE_CHAIN, "info", remedy=Remedy(Term("chains=4", "{chains} 4"), verb="pass")
)
EXACT_OR_MORE_SWEEPS = Remedy(EXACT_WHERE_IT_FITS, MORE_SWEEPS, verb="use")


# -- chains that disagree -------------------------------------------------------------------------


def find_disagreement(
    model: Model,
    frequencies: np.ndarray,
    sweeps: int,
    members: int = 1,
    times: VariableTimes | None = None,
) -> Diagnostic | None:
    """Describe the variable that chains disagree on most; None if they agree.

    Chains may be herds of several members. Without `times` draws count as independent.
    """
    chains = len(frequencies)
    if chains < 2 or sweeps < 1:
        return None
    mean, spread = frequencies.mean(axis=0), frequencies.std(axis=0, ddof=1)
    if times is None:
        times = NO_TIMES
    others = times.longest_around_own
    drawn = noise_of_frequencies(mean, sweeps * members, times.variables, times.around_own, others)
    excess = spread / np.maximum(
        DISAGREEMENT_TOLERANCE * np.sqrt(chains), most_spread(chains, len(mean)) * drawn
    )
    if excess.max(initial=0.0) <= 1:
        return None
    i, k = (int(place) for place in np.unravel_index(int(excess.argmax()), excess.shape))
    high, low = frequencies[:, i, k].argmax(), frequencies[:, i, k].argmin()
    figures = {
        "state": float(k),
        "high": float(frequencies[high, i, k]),
        "high_chain": float(high),
        "low": float(frequencies[low, i, k]),
        "low_chain": float(low),
        "others": float((excess > 1).any(axis=1).sum()) - 1,
        "sweeps": float(sweeps),
    }
    names = {"variable": variable_text(model, i), "state": state_text(model, i, k)}
    return Diagnostic(
        DiagnosticKind.DISAGREEMENT, "warning", (i,), figures, EXACT_OR_MORE_SWEEPS, names
    )


def most_spread(chains: int, variables: int) -> float:
    """Return how many times its expectation the spread of any of some variables may be by chance.

    The square of a spread follows chi-squared with chains - 1 degrees of freedom, whose tail is at
    most exp(-x / 2) for one or two of them. `MAX_SPREAD_OF_DRAWS` is enough for more.

    Examples
    --------
    >>> from herded.run.diagnostics.chain_agreement import most_spread
    >>> [round(most_spread(chains, 1000), 2) for chains in (2, 3, 4)]
    [5.26, 4.0, 4.0]
    """
    tail = 2.0 * np.log(max(variables, 1) / FALSE_ALARMS) / (chains - 1)
    return max(MAX_SPREAD_OF_DRAWS, float(np.sqrt(tail))) if chains < 4 else MAX_SPREAD_OF_DRAWS


# -- members that have not moved ------------------------------------------------------------------


def find_stuck_members(
    model: Model, variables: np.ndarray, then: np.ndarray, now: np.ndarray, sweeps: int
) -> Diagnostic | None:
    """Describe the variable that most members still have as they had it; None if they move.

    `then` and `now` (M, V) are the states of some `variables` (V,). Herds agree also where each of
    their members is stuck in the mode that it started in. But members that have moved on are as
    they were only as often as two random members are alike.
    """
    same = _share(then == now)
    alike = np.zeros(len(variables))
    for k in _states_in_both(then, now):
        alike += _share(then == k) * _share(now == k)
    noise = np.sqrt(np.maximum(alike * (1 - alike), 0.25 / len(now)) / len(now))
    excess = np.where(model.evidence[variables] < 0, same - alike, 0.0)
    stuck = (excess > MIN_STUCK_EXCESS) & (excess > STUCK_SIGMAS * noise)
    if not stuck.any():
        return None
    i = int(np.where(stuck, excess, 0.0).argmax())
    variable = int(variables[i])
    figures = {
        "same": float(same[i]),
        "by_chance": float(alike[i]),
        "others": float(stuck.sum()) - 1,
        "sweeps": float(sweeps),
    }
    names = {"variable": variable_text(model, variable)}
    return Diagnostic(
        DiagnosticKind.IMMOBILITY, "warning", (variable,), figures, EXACT_OR_MORE_SWEEPS, names
    )


def _states_in_both(then: np.ndarray, now: np.ndarray) -> list[int]:
    """Return the states that occur both then and now: few, even of thousands."""
    most = int(min(then.max(), now.max()))
    if most < 2:  # nothing is gained by counting
        return list(range(most + 1))
    before, after = (np.bincount(states.ravel(), minlength=most + 1) for states in (then, now))
    found: list[int] = np.flatnonzero((before[: most + 1] > 0) & (after[: most + 1] > 0)).tolist()
    return found


def _share(equal: np.ndarray) -> np.ndarray:
    """Return the fraction of members (M, V) that are true: byte sums take a fifth of `mean`."""
    counts = equal.view(np.uint8).sum(axis=0, dtype=np.min_scalar_type(len(equal)))
    share: np.ndarray = counts / len(equal)
    return share


def state_text(model: Model, i: int, k: int) -> str:
    """Describe state `k` of variable `i`, by its name if it has one."""
    return repr(model.state_names[i][k]) if model.state_names else str(k)
