"""Diagnostics of chains that hard zeros wall in.

Moves of one variable at a time, or of given blocks, may be unable to reach states that the model
allows. What is said here is proved: by a possible state that no chain can reach.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from herded.errors import HerdedError
from herded.models.constraints.disconnected_support import StateSplit, find_split
from herded.models.constraints.reachability import reachable_states, states_reachable_by_blocks
from herded.models.constraints.start_states import MAX_DEAD_ENDS, possible_states, start_state
from herded.models.evidence import IndexEvidence
from herded.models.factor_graph import FactorGraph, has_factors, to_factor_graph
from herded.models.naming import variable_text
from herded.models.protocol import Model
from herded.run.diagnostics.chain_agreement import state_text
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.diagnostics.phrases import EXACT_WHERE_IT_FITS, Phrase, Remedy
from herded.system.diagnostics.sampler_texts import MAX_LISTED_NAMES
from herded.system.numerics.counter_rng import stream_key


class MoveWording(NamedTuple):
    """The words that describe the moves of a run."""

    what: str
    remedy: Remedy


USE_EXACT = Phrase("use ", EXACT_WHERE_IT_FITS)
SINGLE_SITE_WORDING = MoveWording(
    "moves of one variable at a time", Remedy(USE_EXACT, "give evidence that unties them")
)
BLOCK_WORDING = MoveWording(
    "moves of these blocks",
    Remedy(USE_EXACT, "give larger blocks by Blocks(entries=..), or some that have all of them"),
)

MAX_CONFINEMENT_SEARCHES = 8  # for states that a chain cannot reach


def find_confinement(
    model: Model, states: np.ndarray, blocks: Sequence[np.ndarray] | None = None
) -> Diagnostic | None:
    """Describe what chains at `states` (C, N) can provably not reach; None if nothing is proved.

    Their moves are of one variable at a time, or of `blocks`.
    """
    if not (model.has_hard_zeros and model.zeros_tie_variables and has_factors(model)):
        return None
    graph, moves = to_factor_graph(model), SINGLE_SITE_WORDING if blocks is None else BLOCK_WORDING
    if blocks is None:
        reached = np.stack([reachable_states(graph, x) for x in states])
    else:
        possible = possible_states(graph)
        reached = np.stack([states_reachable_by_blocks(graph, x, blocks, possible) for x in states])
    missed = _find_unreachable_states(graph, states, reached)
    chains = np.flatnonzero(missed.any(axis=(1, 2)))
    if not len(chains):
        return _describe_split(model, find_split(graph, states, blocks), len(states), moves)
    c = int(chains[0])
    i, k = (int(place) for place in np.argwhere(missed[c])[0])
    tied = np.flatnonzero(missed.any(axis=(0, 2)))
    names = {
        "moves": moves.what,
        "variable": variable_text(model, i),
        "state": state_text(model, i, k),
        "tied": _listed(model, tied),
    }
    figures = {
        "confined": float(len(chains)),
        "chains": float(len(states)),
        "chain": float(c),
        "variable": float(i),
        "state": float(k),
    }
    return Diagnostic(
        DiagnosticKind.CONFINEMENT, "warning", tuple(tied.tolist()), figures, moves.remedy, names
    )


def _describe_split(
    model: Model, split: StateSplit | None, chains: int, moves: MoveWording
) -> Diagnostic | None:
    """Describe states that fall apart though each variable has all of its own."""
    if split is None:
        return None

    def listed(states: np.ndarray) -> str:
        pairs = zip(split.variables[:MAX_LISTED_NAMES], states, strict=False)
        return ", ".join(state_text(model, int(i), int(k)) for i, k in pairs)

    return Diagnostic(
        DiagnosticKind.SPLIT_SUPPORT,
        "warning",
        tuple(int(i) for i in split.variables),
        {"chains": float(chains)},
        moves.remedy,
        {
            "moves": moves.what,
            "tied": _listed(model, split.variables),
            "here": listed(split.here),
            "there": listed(split.there),
        },
    )


def _listed(model: Model, variables: Sequence[int] | np.ndarray) -> str:
    """Return the names of the first variables."""
    return ", ".join(variable_text(model, int(i)) for i in variables[:MAX_LISTED_NAMES])


def _find_unreachable_states(
    graph: FactorGraph, states: np.ndarray, reached: np.ndarray
) -> np.ndarray:
    """Return which states (C, N, K) occur in some possible state but are out of a chain's reach.

    Each is proved by a possible state that has it: where another chain is, or what a search with
    one such state given has found. Few searches prove much, since one finds many.
    """
    everyone = np.arange(graph.n_variables)
    missed = np.zeros_like(reached)
    open_cases = ~reached & possible_states(graph)
    for x in states:
        missed[:, everyone, x] |= open_cases[:, everyone, x]
    for attempt in range(MAX_CONFINEMENT_SEARCHES):
        left = np.argwhere((open_cases & ~missed).any(axis=0))
        if not len(left):
            break
        i, k = (int(place) for place in left[0])
        try:
            known = graph.given(IndexEvidence({i: k}))
            x = start_state(known, stream_key(attempt), tries=MAX_DEAD_ENDS)
        except HerdedError:  # impossible, or not found: nothing is proved
            open_cases[:, i, k] = False
        else:
            missed[:, everyone, x] |= open_cases[:, everyone, x]
    return missed
