"""The best state that was met, part by part."""

import math

import numpy as np

from tests.conformance.twins.plain_model import Naive


def naive_best(model, samples):
    """Of each component the first sample that scores best: (scores, state); clamped parts last."""
    naive = Naive(model, vector=False)
    parts = [*naive.components, sorted(naive.clamped)]
    scores, state = [], [0] * naive.n
    for part in parts:
        free = set(part) & set(naive.free)
        factors = [
            (scope, table)
            for scope, table in naive.factors
            if (set(scope) & free if free else not set(scope) & set(naive.free))
        ]
        best = -math.inf
        for x in samples.tolist():
            score = 0.0
            for scope, table in factors:
                score += float(table[tuple(x[i] for i in scope)])
            if score > best:
                best = score
                for i in part:
                    state[i] = x[i]
        scores.append(best)
    return np.array(scores), np.array(state)
