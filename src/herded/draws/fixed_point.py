"""Conditionals in fixed point.

Scalar rule (every variable binary): p = round(pi(X_i = 1 | .) * 2^31), so 0 and 1 are exact.
Vector rule: p_k at scale 2^24, by rounding the cumulated probabilities: the p_k sum to 2^24
exactly, each is within one quantum of its probability, and an impossible state has p_k = 0.
"""

import numpy as np

from herded.system.exp import exp
from herded.system.jit import jit

SCALAR_BITS, VECTOR_BITS = 31, 24
_CERTAIN = np.uint32(2**SCALAR_BITS)
SCALAR_ONE, VECTOR_ONE = float(2**SCALAR_BITS), float(2**VECTOR_BITS)


@jit
def fixed_scalar(zero, one, beta):
    """p of the scalar rule from both logits, at inverse temperature `beta`."""
    if zero == one:  # also where both are -inf: an unreachable context
        return np.uint32(2**30)
    return np.uint32(SCALAR_ONE / (1.0 + exp(beta * (zero - one))) + 0.5)


@jit
def coarse_scalar(p):
    """p of the scalar rule at scale 2^15, where only what is certain has p = 0 or 1."""
    if p == 0 or p == _CERTAIN:
        return p >> 16
    coarse = (p + 2**15) >> 16
    coarse = 1 if coarse < 1 else coarse
    return 2**15 - 1 if coarse > 2**15 - 1 else coarse


@jit
def fixed_vector(logits, beta, states, p, at):
    """Write p of the vector rule into p[at : at + states] and give its mean state, at scale 2^24.

    `logits` is spoiled.
    """
    top = logits[0]
    for k in range(1, states):
        if logits[k] > top:
            top = logits[k]
    total = 0.0
    for k in range(states):
        gap = logits[k] - top
        if not gap < 0.0:  # the best states, and all of an unreachable context
            total += 1.0
        else:
            total += exp(beta * gap)
        logits[k] = total
    before, above = 0, 0  # above: the sum over k of P(X > k), which is the mean
    for k in range(states):
        upto = np.int64(logits[k] / total * VECTOR_ONE + 0.5)
        p[at + k] = upto - before
        above += (1 << VECTOR_BITS) - upto
        before = upto
    return above
