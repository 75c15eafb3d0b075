"""Several chains whose arrays are rows of common ones, for kernels that sweep them at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from herded.layouts.state import State

MOST_CHAINS = 64  # bits of a word


@dataclass
class SideBySide:
    """States whose arrays are rows of these."""

    states: Sequence[State]
    x: np.ndarray  # (C, N)
    w: np.ndarray  # (C, weights)
    tally: np.ndarray  # (C, N), or (C, 0)


def side_by_side(states: Sequence[State]) -> SideBySide:
    """Move the states' arrays into common ones, of which the states keep their rows."""
    empty = np.zeros(0, np.uint32)
    x = np.stack([state.x for state in states])
    w = np.stack([state.own.get("w", empty) for state in states])
    tally = np.stack([state.tally for state in states])
    for k, state in enumerate(states):
        state.x, state.tally = x[k], tally[k]
        if "w" in state.own:
            state.own["w"] = w[k]
    return SideBySide(states, x, w, tally)
