"""The number of joint states of several variables, which may exceed any float."""

import math

import numpy as np
from numpy.typing import ArrayLike

EXACTLY = 10**15  # up to here all digits are shown


def count_joint_states(cardinalities: ArrayLike, most: int) -> int | None:
    """The product of the cardinalities, or None where it is above `most`."""
    states = 1
    for k in map(int, np.asarray(cardinalities)):
        states *= k
        if states > most:
            return None
    return states


def joint_states_text(cardinalities: ArrayLike) -> str:
    """The number of joint states as text: 1,536, or 2^1600, or about 10^482."""
    exactly = count_joint_states(cardinalities, EXACTLY)
    if exactly is not None:
        return f"{exactly:,}"
    cards = np.asarray(cardinalities)
    if (cards == cards[0]).all():
        return f"{cards[0]}^{len(cards)}"
    return f"about 10^{math.fsum(np.log10(cards)):.0f}"
