"""Herds as bits of words, bit by bit; and what is counted on them, member by member."""

import numpy as np


def naive_words(states, planes):
    """(words, planes, N) of the states (members, N)."""
    members, n = states.shape
    words = [[[0] * n for _ in range(planes)] for _ in range(-(-members // 64))]
    for m in range(members):
        for i in range(n):
            for p in range(planes):
                bit = int(states[m, i]) >> (planes - 1 - p) & 1
                words[m // 64][p][i] |= bit << (m % 64)
    return np.array(words, np.uint64).reshape(-1, planes, n)


def naive_true(words, truth, weights):
    """(members,) sums of the weights of places i where truth(state) is, of each of the 64 members.

    `truth` gets the states of all variables of a member, and gives a list.
    """
    planes, n = words.shape
    totals = []
    for m in range(64):
        states = [
            sum((int(words[p, i]) >> m & 1) << (planes - 1 - p) for p in range(planes))
            for i in range(n)
        ]
        totals.append(sum(w for w, is_true in zip(weights, truth(states), strict=True) if is_true))
    return totals
