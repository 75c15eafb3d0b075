"""Steps 3 and 4 of Algorithm 1, a random draw instead of them, and herding by itself."""

import numpy as np

from tests.conformance.twins.integer_conditionals import SCALAR, WEIGHT


def naive_choose(w, p, slack=0, bits=0):
    """Steps 3 and 4: the state, and the weight after it. A number p is the scalar rule."""
    if isinstance(p, int):
        phi = w + p  # the carry says whether the paper's weight is above 0
        x = 1 if phi >= SCALAR else 0
        return x, phi - SCALAR * x
    possible = [k for k in range(len(p)) if p[k] > 0]
    grown = [w[k] + p[k] for k in range(len(p))]
    left = [p[k] if w[k] >= -slack else 0 for k in range(len(p))]  # without those overdrawn
    if slack and sum(left) and max(w[k] for k in possible) <= 64 * WEIGHT:
        pick = ((bits >> 40) * sum(left)) >> 24
        x = next(k for k in range(len(p)) if pick < sum(left[: k + 1]))
    else:
        x = max(possible, key=lambda k: (grown[k], -k))
    grown[x] -= WEIGHT
    return x, tuple(grown)


def naive_pick(p, bits):
    """A random state from 64 random bits."""
    if isinstance(p, int):
        return int((bits >> 33) < p)
    left = bits * sum(p) >> 64  # the first bits: p sums to a power of two
    return next(k for k in range(len(p)) if left < sum(p[: k + 1]))


def naive_herding(p, T):
    """Equation (1) with indicator features: the states, from probabilities at scale 2^24."""
    w, states = (0,) * len(p), []
    for _ in range(T):
        x, w = naive_choose(w, tuple(p))
        states.append(x)
    return np.array(states, dtype=int)


def naive_herd(features, moments, T):
    """Equation (1): x = argmax <w, phi(x)>, then w += moments - phi(x)."""
    phi, mu = [list(map(float, row)) for row in features], [float(m) for m in moments]
    w, rows = list(mu), []
    for _ in range(T):
        scores = []
        for row in phi:
            score = 0.0
            for a, b in zip(w, row, strict=True):
                score += a * b
            scores.append(score)
        best = scores.index(max(scores))
        w = [a + (m - f) for a, m, f in zip(w, mu, phi[best], strict=True)]
        rows.append(best)
    return np.array(rows, dtype=int)
