"""Herding itself, equation (1) of Bornn et al. (2013), after Welling (2009).

    x_t = argmax_x <w_(t-1), phi(x)>,    w_t = w_(t-1) + mu - phi(x_t)

The empirical moments of x_1 .. x_T approach mu as 1 / T. With indicator features it turns a
normalised distribution into a sequence of states that have the right frequencies.
"""

from typing import Any

import numpy as np

from herded.draws.fixed_point import fixed_vector
from herded.draws.herded import herd_vector
from herded.errors import ModelError
from herded.system.jit import jit


def herding(p: Any, T: int) -> np.ndarray:
    """T states 0..K-1 whose frequencies match the normalised distribution `p` within K / T.

    In fixed point, as everywhere: no drift, and states of probability 0 never occur.
    """
    weights = _numbers("p", p, 1)
    if (weights < 0).any() or not np.isclose(weights.sum(), 1.0, rtol=0, atol=1e-9):
        raise ModelError(f"expected probabilities that sum to 1, got a sum of {weights.sum():.12g}")
    states = len(weights)
    fixed = np.empty(states, np.int32)
    with np.errstate(divide="ignore"):
        fixed_vector(np.log(weights), 1.0, states, fixed, 0)
    sequence = np.empty(_length(T), np.int64)
    _herd_states(fixed, np.zeros(states, np.int32), sequence)
    return sequence


def herd(features: Any, moments: Any, T: int) -> np.ndarray:
    """T rows of `features` (M, D), chosen greedily so that their mean approaches `moments` (D,).

    Starts at w_0 = moments; the first of equally good rows is taken.
    """
    phi = _numbers("features", features, 2)
    mu = _numbers("moments", moments, 1)
    if mu.shape != phi.shape[1:]:
        raise ModelError(f"expected {phi.shape[1]} moments, one per feature, got {len(mu)}")
    sequence = np.empty(_length(T), np.int64)
    _herd_rows(phi, mu, mu.copy(), sequence)
    return sequence


def _numbers(name: str, values: Any, dims: int) -> np.ndarray:
    array = np.array(values, dtype=np.float64, order="C")
    if array.ndim != dims or array.size == 0 or not np.isfinite(array).all():
        raise ModelError(
            f"expected {name} as a non-empty {dims}-D array of finite numbers, got shape "
            f"{array.shape}"
        )
    return array


def _length(T: Any) -> int:
    if isinstance(T, bool) or not hasattr(T, "__index__") or int(T) < 0:
        raise ModelError(f"expected a whole number T of 0 or more, got {T!r}")
    return int(T)


@jit
def _herd_states(p, w, sequence):
    for t in range(len(sequence)):
        sequence[t] = herd_vector(w, 0, p, 0, len(p))


@jit
def _herd_rows(phi, mu, w, sequence):
    for t in range(len(sequence)):
        best, top = 0, -np.inf
        for m in range(phi.shape[0]):
            product = 0.0
            for d in range(phi.shape[1]):
                product += w[d] * phi[m, d]
            if product > top:
                best, top = m, product
        sequence[t] = best
        for d in range(phi.shape[1]):
            w[d] += mu[d] - phi[best, d]
