"""Conditionals in whole numbers: p_1 at scale 2^31, or the p of all states at 2^30 or 2^24."""

import itertools
import math
from functools import cache

from herded.system.numerics.exp_log import exp

SCALAR = 2**31  # what 1 is in the scalar rule
VECTOR, WEIGHT = 2**30, 2**24  # and in the vector rule: of random draws, and of herding in time


def naive_fixed_scalar(zero, one, beta=1.0):
    """round(pi(X_i = 1) * 2^31) from two log-potentials."""
    if zero == one:
        return SCALAR // 2
    return int(SCALAR / (1.0 + exp(beta * (zero - one))) + 0.5)


def naive_fixed_vector(logits, beta=1.0, one=WEIGHT):
    """Probabilities that sum to `one`: the cumulated ones are rounded, then subtracted."""
    top = max(logits)
    if top == -math.inf:
        logits, top = [0.0] * len(logits), 0.0
    cumulated, total = [], 0.0
    for logit in logits:
        total += 1.0 if logit == top else exp(beta * (logit - top))
        cumulated.append(total)
    rounded = [int(c / total * one + 0.5) for c in cumulated]
    return tuple(b - a for a, b in zip([0, *rounded], rounded, strict=False))


def naive_fixed_products(products, one=WEIGHT):
    """The same from numbers the probabilities are proportional to; all alike where all are 0."""
    cumulated = list(itertools.accumulate(products))
    if cumulated[-1] == 0.0:
        cumulated = [k + 1.0 for k in range(len(products))]
    scale = one / cumulated[-1]
    rounded = [int(c * scale + 0.5) for c in cumulated]
    return tuple(b - a for a, b in zip([0, *rounded], rounded, strict=False))


def naive_sigmoid(field):
    """2^31 sigmoid(field / 2^24), on the line between two of a table's values 2^-9 apart."""
    field = min(max(field, -23 * 2**24), 23 * 2**24 - 1)
    step, rest = divmod(field, 2**15)
    low, high = sigmoid_at(step), sigmoid_at(step + 1)
    return low + (high - low) * rest // 2**15


@cache
def sigmoid_at(step):
    return naive_fixed_scalar(0.0, step / 2**9)


def entries(p):
    """The numbers of a conditional by either rule."""
    return (p,) if isinstance(p, int) else p
