"""Warnings about a sampler's run that follow from the run itself, as sentences.

Two problems can be found without knowing the answer. Chains that started apart may disagree by more
than chance explains. And with hard zeros, moves of one variable at a time may be unable to reach
states that the model allows. No warning proves nothing: all chains may be in the same mode.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from herded.errors import HerdedError
from herded.models.constraints.disconnected_support import Split, find_split
from herded.models.constraints.reachability import reach, reach_in_blocks
from herded.models.constraints.start_states import FEW_TRIES, possible_states, start_state
from herded.models.factor_graph import FactorGraph, as_graph, has_factors
from herded.models.naming import called
from herded.models.protocol import Model
from herded.run.diagnostics.variable_times import NO_TIMES, VariableTimes, noise_of_frequencies
from herded.system.numerics.counter_rng import stream_key

# Chains disagree when their standard error is above TOLERANCE, and each strays DRAWS times further
# than draws with the autocorrelation times of the run would. Of two or three chains the spread is
# known badly, so that some of many variables stray further by chance: FALSE_ALARMS is the share of
# runs in which one of them does. `python -m benchmarks --only caution` prints how often chains
# disagree, and are right.
TOLERANCE = 0.025
DRAWS = 4.0
FALSE_ALARMS = 1e-3

# Members of a herd have not moved on when more of them are as they were than chance explains: by
# STUCK, and by so many standard deviations.
STUCK = 0.15
SIGMAS = 5.0


class Note(str):
    """What only says that something is not known: in `result.warnings`, but not issued as one."""

    __slots__ = ()


UNCOMPARED = Note(
    "it was not compared with a sampler, which on a model of this size would take long"
)
ALONE = Note(
    "one chain alone, or one herd, cannot tell how far it is off, nor whether it has seen all "
    "modes: pass chains=4, whose spread gives intervals, and whose disagreement is told"
)


class Moves(NamedTuple):
    """What sentences say of the moves of a run."""

    what: str
    remedy: str


SINGLE = Moves("moves of one variable at a time", "give evidence that unties them")
TOGETHER = Moves(
    "moves of these blocks",
    "give larger blocks by Blocks(entries=..), or some that have all of them",
)

SEARCHES = 8  # for states that a chain cannot reach
SHOWN = 3  # names in a sentence


# -- chains that disagree -------------------------------------------------------------------------


def disagreement(
    model: Model,
    frequencies: np.ndarray,
    sweeps: int,
    members: int = 1,
    times: VariableTimes | None = None,
) -> str:
    """A sentence about the variable that chains disagree on most, or nothing if they agree.

    Chains may be herds of so many members. Without `times` draws count as independent.
    """
    chains = len(frequencies)
    if chains < 2 or sweeps < 1:
        return ""
    mean, spread = frequencies.mean(axis=0), frequencies.std(axis=0, ddof=1)
    if times is None:
        times = NO_TIMES
    others = times.longest_around_own
    drawn = noise_of_frequencies(mean, sweeps * members, times.variables, times.around_own, others)
    excess = spread / np.maximum(
        TOLERANCE * np.sqrt(chains), most_spread(chains, len(mean)) * drawn
    )
    if excess.max(initial=0.0) <= 1:
        return ""
    i, k = np.unravel_index(int(excess.argmax()), excess.shape)
    high, low = frequencies[:, i, k].argmax(), frequencies[:, i, k].argmin()
    others = int((excess > 1).any(axis=1).sum()) - 1
    return (
        f"the chains disagree: variable {called(model, int(i))} is "
        f"{state_name(model, int(i), int(k))} with probability {frequencies[high, i, k]:.2f} in "
        f"chain {high} and {frequencies[low, i, k]:.2f} in chain {low}"
        f"{and_others(others, 'disagrees', 'disagree')}, after "
        f"{sweeps} sweeps: the model has several modes or mixes slowly, so do not trust these "
        "averages; use exact inference where it fits, or more sweeps until the chains agree"
    )


def most_spread(chains: int, variables: int) -> float:
    """How many times its expectation the spread of any of some variables may be by chance.

    The square of a spread follows chi-squared with chains - 1 degrees of freedom, whose tail is at
    most exp(-x / 2) for one or two of them. `DRAWS` is enough for more.

    Examples
    --------
    >>> from herded.run.diagnostics.chain_agreement import most_spread
    >>> [round(most_spread(chains, 1000), 2) for chains in (2, 3, 4)]
    [5.26, 4.0, 4.0]
    """
    tail = 2.0 * np.log(max(variables, 1) / FALSE_ALARMS) / (chains - 1)
    return max(DRAWS, float(np.sqrt(tail))) if chains < 4 else DRAWS


# -- members that have not moved ------------------------------------------------------------------


def immobility(
    model: Model, variables: np.ndarray, then: np.ndarray, now: np.ndarray, sweeps: int
) -> str:
    """A sentence about the variable that most members still have as they had it.

    `then` and `now` (M, V) are the states of some `variables` (V,). Herds agree also where each of
    their members is stuck in the mode that it started in. But members that have moved on are as
    they were only as often as two random members are alike.
    """
    same = _share(then == now)
    alike = np.zeros(len(variables))
    for k in _in_both(then, now):
        alike += _share(then == k) * _share(now == k)
    noise = np.sqrt(np.maximum(alike * (1 - alike), 0.25 / len(now)) / len(now))
    excess = np.where(model.evidence[variables] < 0, same - alike, 0.0)
    stuck = (excess > STUCK) & (excess > SIGMAS * noise)
    if not stuck.any():
        return ""
    i, others = int(np.where(stuck, excess, 0.0).argmax()), int(stuck.sum()) - 1
    return (
        "the members of the herd have not moved on: variable "
        f"{called(model, int(variables[i]))} is as it was "
        f"{sweeps} sweeps before in {100 * same[i]:.0f} % of them, where chance explains "
        f"{100 * alike[i]:.0f} %{and_others(others, 'is', 'are')}"
        ": the model has several modes or mixes slowly, so do not trust these averages; use "
        "exact inference where it fits, or more sweeps"
    )


def _in_both(then: np.ndarray, now: np.ndarray) -> list[int]:
    """States that occur then and now: few, of a variable of many thousands."""
    most = int(min(then.max(), now.max()))
    if most < 2:  # nothing is gained by counting
        return list(range(most + 1))
    before, after = (np.bincount(states.ravel(), minlength=most + 1) for states in (then, now))
    found: list[int] = np.flatnonzero((before[: most + 1] > 0) & (after[: most + 1] > 0)).tolist()
    return found


def _share(equal: np.ndarray) -> np.ndarray:
    """The share of members (M, V) of which it is true: sums of bytes take a fifth of `mean`."""
    counts = equal.view(np.uint8).sum(axis=0, dtype=np.min_scalar_type(len(equal)))
    share: np.ndarray = counts / len(equal)
    return share


# -- chains that are walled in --------------------------------------------------------------------


def confinement(
    model: Model, states: np.ndarray, blocks: Sequence[np.ndarray] | None = None
) -> str:
    """A sentence about what chains at `states` (C, N) can provably not reach, or nothing.

    Their moves are of one variable at a time, or of `blocks`.
    """
    if not (model.has_hard_zeros and model.zeros_tie_variables and has_factors(model)):
        return ""
    graph, moves = as_graph(model), SINGLE if blocks is None else TOGETHER
    if blocks is None:
        reached = np.stack([reach(graph, x) for x in states])
    else:
        possible = possible_states(graph)
        reached = np.stack([reach_in_blocks(graph, x, blocks, possible) for x in states])
    missed = _missed(graph, states, reached)
    chains = np.flatnonzero(missed.any(axis=(1, 2)))
    if not len(chains):
        return _divided(model, find_split(graph, states, blocks), len(states), moves)
    c = int(chains[0])
    i, k = (int(place) for place in np.argwhere(missed[c])[0])
    tied = np.flatnonzero(missed.any(axis=(0, 2)))
    names = ", ".join(called(model, int(j)) for j in tied[:SHOWN])
    rest = f" and {_count(len(tied) - SHOWN)}" if len(tied) > SHOWN else ""
    return (
        f"{_subject(len(chains), len(states))} cannot reach every state that the model allows: "
        f"{moves.what} never set variable {called(model, i)} to "
        f"{state_name(model, i, k)}{f' in chain {c}' if len(states) > 1 else ''}; hard zeros tie "
        f"{names}{rest}, whose marginals reflect the start: use exact inference where it fits, or "
        f"{moves.remedy}"
    )


def _divided(model: Model, split: Split | None, chains: int, moves: Moves) -> str:
    """A sentence about states that fall apart though each variable has all of its own."""
    if split is None:
        return ""
    names = [called(model, int(i)) for i in split.variables[:SHOWN]]
    rest = f" and {_count(len(split.variables) - SHOWN)}" if len(split.variables) > SHOWN else ""

    def listed(states: np.ndarray) -> str:
        pairs = zip(split.variables[:SHOWN], states, strict=False)
        return ", ".join(state_name(model, int(i), int(k)) for i, k in pairs)

    return (
        f"{_subject(chains, chains)} cannot reach every state that the model allows: hard zeros "
        f"tie {', '.join(names)}{rest}, whose possible states fall apart into classes that "
        f"{moves.what} never leave, such as those of ({listed(split.here)}) and "
        f"({listed(split.there)}), so that their marginals reflect the start: use exact inference "
        f"where it fits, or {moves.remedy}"
    )


def _subject(some: int, of: int) -> str:
    return "this chain" if of == 1 else f"{some} of {of} chains"


def _missed(graph: FactorGraph, states: np.ndarray, reached: np.ndarray) -> np.ndarray:
    """Which states (C, N, K) occur in some possible state but are out of a chain's reach.

    Each is proved by a possible state that has it: where another chain is, or what a search with
    one such state given has found. Few searches prove much, since one finds many.
    """
    everyone = np.arange(graph.n_variables)
    missed = np.zeros_like(reached)
    open_cases = ~reached & possible_states(graph)
    for x in states:
        missed[:, everyone, x] |= open_cases[:, everyone, x]
    for attempt in range(SEARCHES):
        left = np.argwhere((open_cases & ~missed).any(axis=0))
        if not len(left):
            break
        i, k = (int(place) for place in left[0])
        try:
            x = start_state(graph.given({i: k}), stream_key(attempt), tries=FEW_TRIES)
        except HerdedError:  # impossible, or not found: nothing is proved
            open_cases[:, i, k] = False
        else:
            missed[:, everyone, x] |= open_cases[:, everyone, x]
    return missed


def state_name(model: Model, i: int, k: int) -> str:
    """State `k` of variable `i`, by its name if it has one."""
    names = getattr(model, "state_names", None)
    return repr(names[i][k]) if names else str(k)


def and_others(others: int, one: str, many: str) -> str:
    """ ", and 3 others disagree too", or nothing."""
    return f", and {_count(others)} {one if others == 1 else many} too" if others else ""


def _count(others: int) -> str:
    return f"{others} {'other' if others == 1 else 'others'}"
