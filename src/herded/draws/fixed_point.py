"""Conditionals in fixed point.

Scalar rule (every variable binary): p = round(pi(X_i = 1 | .) * 2^31), so 0 and 1 are exact.
Vector rule: the cumulated probabilities are rounded to whole numbers at scale `one`. The p_k sum to
`one` exactly, each is within one quantum of its probability, and an impossible state has p_k = 0.

Random and systematic draws use the scale 2^30: each cumulated probability is off by at most 2^-31.
Herding in time uses the scale 2^24, because its weights grow to 64 times that and have 32 bits.
"""

import numpy as np

from herded.system.compilation.jit import jit
from herded.system.numerics.exp_log import exp

SCALAR_BITS = 31
VECTOR_BITS = 30  # random and systematic draws
WEIGHT_BITS = 24  # herding in time
SCALAR_ONE, VECTOR_ONE, WEIGHT_ONE = (
    float(2**bits) for bits in (SCALAR_BITS, VECTOR_BITS, WEIGHT_BITS)
)
PHASE_MASK = np.uint32(2**SCALAR_BITS - 1)  # a phase without its carry


@jit
def fixed_scalar(zero, one, beta):
    """Return p of the scalar rule from both logits, at inverse temperature `beta`."""
    if zero == one:  # also where both are -inf: an unreachable context
        return np.uint32(2**30)
    return np.uint32(SCALAR_ONE / (1.0 + exp(beta * (zero - one))) + 0.5)


@jit
def fixed_vector(logits, beta, states, p, at, one):
    """Write p of the vector rule into p[at : at + states] and give its mean state, at scale `one`.

    `logits` is overwritten.
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
        upto = np.int64(logits[k] / total * one + 0.5)
        p[at + k] = upto - before
        above += np.int64(one) - upto
        before = upto
    return above
