"""Herding itself, equation (1) of Bornn et al. (2013), after Welling (2009).

    x_t = argmax_x <w_(t-1), phi(x)>,    w_t = w_(t-1) + mu - phi(x_t)

The empirical moments of x_1 .. x_T approach mu as 1 / T. With indicator features it turns a
normalised distribution into a sequence of states that have the right frequencies.

    step                                 runs in
    round p to fixed point               draws.fixed_point.fixed_vector
    argmax and update, for indicators    draws.herded.herd_vector
    argmax and update, for features      methods.herding._herd_rows
"""

from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from herded.draws.fixed_point import WEIGHT_ONE, fixed_vector
from herded.draws.herded import herd_vector
from herded.errors import ModelError
from herded.system.argument_checks import is_whole_number
from herded.system.compilation.jit import jit
from herded.system.numerics.exp_log import log_array


def herd_distribution(p: ArrayLike, T: int) -> np.ndarray:
    """Return a sequence of states whose frequencies match a distribution.

    Herding with indicator features: after any T steps, state k was taken T p_k times, within K.
    Weights are whole numbers, so that errors do not add up and states of probability 0 never occur.

    Parameters
    ----------
    p : array_like of shape (K,)
        Probabilities that sum to 1.
    T : int
        The length of the sequence.

    Returns
    -------
    ndarray of int, shape (T,)
        States 0 .. K-1.

    Raises
    ------
    ModelError
        If `p` is not a distribution, or `T` is negative.

    Examples
    --------
    >>> states = hd.herd_distribution([0.5, 0.3, 0.2], 10)
    >>> states[:5]
    array([0, 1, 2, 0, 1])
    >>> np.bincount(states)
    array([5, 3, 2])
    """
    weights = _numbers("p", p, 1)
    if (weights < 0).any() or not np.isclose(weights.sum(), 1.0, rtol=0, atol=1e-9):
        raise ModelError(f"expected probabilities that sum to 1, got a sum of {weights.sum():.12g}")
    states = len(weights)
    fixed = np.empty(states, np.int32)
    fixed_vector(log_array(weights), 1.0, states, fixed, 0, WEIGHT_ONE)
    sequence = np.empty(_length(T), np.int64)
    _herd_states(fixed, np.zeros(states, np.int32), sequence)
    return sequence


def herd_moments(features: ArrayLike, moments: ArrayLike, T: int) -> np.ndarray:
    """Return rows of `features` whose mean approaches `moments`: equation (1) of the paper.

    Starts at w_0 = moments. Of several rows that are equally good the first is taken.

    Parameters
    ----------
    features : array_like of shape (M, D)
        phi(x) for each of M states.
    moments : array_like of shape (D,)
        mu, the mean to be reached.
    T : int
        How many rows to choose.

    Returns
    -------
    ndarray of int, shape (T,)
        The numbers of the rows. The distance of their mean from `moments` falls as 1 / T if
        `moments` is a mean of rows.

    Raises
    ------
    ModelError
        If shapes do not fit, a number is not finite, or `T` is negative.

    Examples
    --------
    >>> corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> chosen = hd.herd_moments(corners, [0.25, 0.75], 8)
    >>> corners[chosen].mean(axis=0)
    array([0.25, 0.75])
    """
    phi = _numbers("features", features, 2)
    mu = _numbers("moments", moments, 1)
    if mu.shape != phi.shape[1:]:
        raise ModelError(f"expected {phi.shape[1]} moments, one per feature, got {len(mu)}")
    sequence = np.empty(_length(T), np.int64)
    _herd_rows(phi, mu, mu.copy(), sequence)
    return sequence


def _numbers(name: str, values: ArrayLike, dims: int) -> np.ndarray:
    array = np.array(values, dtype=np.float64, order="C")
    if array.ndim != dims or array.size == 0 or not np.isfinite(array).all():
        raise ModelError(
            f"expected {name} as a non-empty {dims}-D array of finite numbers, got shape "
            f"{array.shape}"
        )
    return array


def _length(T: SupportsIndex) -> int:
    if not is_whole_number(T, 0):
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
