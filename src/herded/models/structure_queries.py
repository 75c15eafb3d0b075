"""Queries about the structure of a model: its joint states and its pairs of neighbours."""

import math

import numpy as np
from numpy.typing import ArrayLike

from herded.models.factor_graph import has_factors, to_factor_graph
from herded.models.protocol import Model

MAX_EXACT_COUNT = 10**15  # larger numbers are shown as a power


def count_joint_states(cardinalities: ArrayLike, most: int) -> int | None:
    """Multiply the cardinalities, or return None if the product exceeds `most`."""
    states = 1
    for k in map(int, np.asarray(cardinalities)):
        states *= k
        if states > most:
            return None
    return states


def joint_states_text(cardinalities: ArrayLike) -> str:
    """Write the number of joint states, which may exceed any float: 1,536, 2^1600, 10^482."""
    exactly = count_joint_states(cardinalities, MAX_EXACT_COUNT)
    if exactly is not None:
        return f"{exactly:,}"
    cards = np.asarray(cardinalities)
    if (cards == cards[0]).all():
        return f"{cards[0]}^{len(cards)}"
    return f"about 10^{math.fsum(np.log10(cards)):.0f}"


def neighbour_pairs(model: Model) -> np.ndarray:
    """Return all pairs (E, 2) i < j of variables whose conditionals depend on each other."""
    if has_factors(model):
        start, members = to_factor_graph(model).adjacency
        owner = np.repeat(np.arange(model.n_variables), np.diff(start))
        return np.stack([owner, members], axis=1)[owner < members]
    lists = [model.neighbours(i) for i in range(model.n_variables)]
    owner = np.repeat(np.arange(len(lists)), list(map(len, lists)))
    pairs = np.sort(np.stack([owner, np.concatenate(lists)]), axis=0)
    return np.unique(pairs, axis=1).T
