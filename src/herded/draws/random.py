"""A state drawn at random from a conditional in fixed point: Gibbs sampling."""

import numpy as np

from herded.system.jit import jit

_33, _40 = np.uint64(33), np.uint64(40)


@jit
def draw_scalar(bits, p):
    """A random state of a binary variable, from 64 random bits."""
    return np.int64(bits >> _33) < np.int64(p)


@jit
def draw_vector(bits, p, p_at, states):
    """A random state of a variable whose conditional is p[p_at:]."""
    left = np.int64(bits >> _40)
    k = 0
    while left >= p[p_at + k]:
        left -= p[p_at + k]
        k += 1
    return k
