"""Transition matrices of Gibbs and of herded Gibbs over all states (appendix B.1.2).

    T_i(x, y)        = pi(X_i = y_i | x_-i)            where x_-i = y_-i, else 0
    T~_T,i^(tau)(x, y) = N_num / N_den                  where x_-i = y_-i, else 0
    P_T^(tau+1)      = P_T^(tau) T~_T^(tau)            with T~ = T~_1 T~_2 .. T~_N

Distributions are row vectors. (The paper once writes T pi for pi T.)
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import MethodError, ModelError
from herded.models.protocol import Model
from herded.theory.state_space import (
    MAX_KERNEL_STATES,
    all_states,
    check_small,
    conditional,
    joint_state_codes,
)


def gibbs_kernel(model: Model, i: int) -> np.ndarray:
    """Compute T_i, the transition matrix of a Gibbs update of variable i.

    Parameters
    ----------
    model : FactorGraph or Lattice
        Without evidence, with at most 2048 joint states.
    i : int
        The variable, counted from 0.

    Returns
    -------
    ndarray of shape (S, S)
        Over the S joint states in C order.

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> hd.theory.gibbs_kernel(model, 1).round(2)
    array([[0.6, 0.4, 0. , 0. ],
           [0.6, 0.4, 0. , 0. ],
           [0. , 0. , 0.5, 0.5],
           [0. , 0. , 0.5, 0.5]])
    """
    cards = check_small(model)
    if not 0 <= i < len(cards):
        raise ModelError(f"expected a variable from 0 to {len(cards) - 1}, got {i}")
    return _matrix(conditional(model, i), i)


def gibbs_sweep_kernel(model: Model, order: Sequence[int] | None = None) -> np.ndarray:
    """Compute T, the transition matrix of one sweep of Gibbs sampling.

    Parameters
    ----------
    model : FactorGraph or Lattice
    order : sequence of int, optional
        The order of the variables; by default 0, 1, .., N-1.

    Returns
    -------
    ndarray of shape (S, S)

    Examples
    --------
    pi is invariant under T:

    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> pi = hd.theory.target(model).ravel()
    >>> np.allclose(pi @ hd.theory.gibbs_sweep_kernel(model), pi)
    True
    """
    n = len(check_small(model))
    variables = list(range(n)) if order is None else [int(i) for i in order]
    kernel = np.eye(int(np.prod(model.cardinalities)))
    for i in variables:
        kernel = kernel @ gibbs_kernel(model, i)
    return kernel


def dobrushin(T: ArrayLike, support: ArrayLike | None = None) -> float:
    """Compute the Dobrushin coefficient of a kernel, 1/2 max_(x, y) ||T(x, .) - T(y, .)||_1.

    T reduces the distance of any two distributions by the factor eta or more.

    Parameters
    ----------
    T : array_like of shape (S, S)
    support : array_like of bool, optional
        The support of pi, for models with hard zeros: rows outside it are an arbitrary choice
        (the conditional is undefined where pi(x_-i) = 0), and no run ever uses them. On the
        support d_v(p T - pi) <= eta d_v(p - pi) still holds for every p on the support.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> round(hd.theory.dobrushin(hd.theory.gibbs_sweep_kernel(model)), 3)
    0.097
    """
    kernel = np.asarray(T, dtype=np.float64)
    if kernel.ndim != 2 or kernel.shape[0] != kernel.shape[1]:
        raise ModelError(f"expected a square matrix, got shape {kernel.shape}")
    if support is not None:
        kernel = kernel[np.asarray(support, dtype=bool).ravel()]
    rows = np.unique(kernel, axis=0)
    widest = max(np.abs(rows - row).sum(axis=1).max() for row in rows)
    return min(1.0, 0.5 * float(widest))


def herded_kernel(
    path: ArrayLike,
    cardinalities: ArrayLike,
    i: int,
    tau: int,
    T: int,
    *,
    model: Model | None = None,
) -> np.ndarray:
    """Compute T~_T,i^(tau), the frequencies of x_i after each x_-i, as a transition matrix.

    A context x_-i that does not occur in the window has no frequencies. It gets the row of T_i if
    the model is given, as in the paper outside the support, else a uniform row. In both cases
    P_T,i = P_T,i-1 T~_i, because P_T,i-1 is 0 there.

    Parameters
    ----------
    path : array_like of int, shape (N * sweeps + 1, N)
        path[t] is X^(t), as returned by `within_sweep_path`.
    cardinalities : array_like of int, shape (N,)
    i : int
        The variable, counted from 0.
    tau, T : int
        The first sweep of the window, and the number of its sweeps.
    model : FactorGraph or Lattice, optional
        The model for contexts that do not occur.

    Returns
    -------
    ndarray of shape (S, S)

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> path = hd.theory.within_sweep_path(model, 1000)
    >>> herded = hd.theory.herded_kernel(path, [2, 2], 1, tau=0, T=1000)
    >>> bool(abs(herded - hd.theory.gibbs_kernel(model, 1)).max() < 0.01)
    True
    """
    cards = tuple(int(k) for k in np.asarray(cardinalities))
    n, size = len(cards), int(np.prod(cards))
    if size > MAX_KERNEL_STATES:
        raise MethodError(f"expected at most {MAX_KERNEL_STATES} joint states, got {size}")
    path = np.asarray(path)
    after = path[i + 1 :: n][tau : tau + T]  # X^(kN + i), the paper's i = ours + 1
    if len(after) < T or tau < 0:
        raise ModelError(f"expected a path of {tau + T} sweeps or more, got {len(path) // n}")
    counts = (
        np.bincount(joint_state_codes(after, cards), minlength=size)
        .reshape(cards)
        .astype(np.float64)
    )
    met = counts.sum(axis=i, keepdims=True)  # X_-i does not change in step i: N_den
    other = np.full(cards, 1.0 / cards[i]) if model is None else conditional(model, i)
    return _matrix(np.where(met > 0, counts / np.maximum(met, 1.0), other), i)


def herded_sweep_kernel(
    path: ArrayLike, cardinalities: ArrayLike, tau: int, T: int, *, model: Model | None = None
) -> np.ndarray:
    """Compute T~_T^(tau), the product of all steps' kernels, with P^(tau+1) = P^(tau) T~.

    Parameters
    ----------
    path, cardinalities, tau, T, model
        As in `herded_kernel`.

    Returns
    -------
    ndarray of shape (S, S)

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> path = hd.theory.within_sweep_path(model, 1000)
    >>> herded = hd.theory.herded_sweep_kernel(path, [2, 2], tau=0, T=1000)
    >>> bool(abs(herded - hd.theory.gibbs_sweep_kernel(model)).max() < 0.01)
    True
    """
    cardinalities = np.asarray(cardinalities)
    kernel = np.eye(int(np.prod(cardinalities)))
    for i in range(len(cardinalities)):
        kernel = kernel @ herded_kernel(path, cardinalities, i, tau, T, model=model)
    return kernel


def _matrix(conditionals: np.ndarray, i: int) -> np.ndarray:
    """Build the kernel that replaces x_i by y_i with probability conditionals[x with x_i = y_i]."""
    cards = conditionals.shape
    states = all_states(cards)
    kernel = np.zeros((len(states), len(states)))
    here = np.arange(len(states))
    for value in range(cards[i]):
        there = states.copy()
        there[:, i] = value
        to = joint_state_codes(there, cards)
        kernel[here, to] = conditionals.ravel()[to]
    return kernel
