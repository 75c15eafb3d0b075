"""Herds as bits of words, bit by bit; and what is counted on them, member by member."""

import numpy as np


def naive_words(states, planes):
    """(words, planes, N) of the states (members, N)."""
    members, n = states.shape
    words = [[[0] * n for _ in range(planes)] for _ in range(-(-members // 64))]
    for m, member in enumerate(states.tolist()):
        for i, state in enumerate(member):
            for p in range(planes):
                words[m // 64][p][i] |= (state >> (planes - 1 - p) & 1) << (m % 64)
    return np.array(words, np.uint64).reshape(-1, planes, n)


def naive_states(words):
    """The states of all variables, member by member, from the words (planes, N) of 64 members."""
    planes = words.tolist()
    return [
        [sum((word >> m & 1) << p for p, word in enumerate(reversed(column)))
         for column in zip(*planes, strict=True)]
        for m in range(64)
    ]  # fmt: skip


def naive_true(members, truth, weights):
    """Sums of the weights of places i where truth(state) is, of each member's states.

    `truth` gets the states of all variables of a member, and gives a list.
    """
    return [
        sum(w for w, is_true in zip(weights, truth(states), strict=True) if is_true)
        for states in members
    ]
