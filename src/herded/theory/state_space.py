"""Section 3 of Bornn et al. (2013), Definition 1: the empirical distribution P_T^(tau), and pi.

    P_T^(tau)(x)   = 1/T sum_(k = tau .. tau+T-1) [X^(kN) = x]          ends of sweeps
    P_T,i^(tau)(x) = 1/T sum_(k = tau .. tau+T-1) [X^(kN+i) = x]        after i steps of a sweep

Small models only: every distribution is an array with one axis per variable, and states are
numbered in its C order (the last variable varies fastest).
"""

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import InfeasibleError, MethodError, ModelError
from herded.models.protocol import Model
from herded.models.structure_queries import count_joint_states, joint_states_text
from herded.system.numerics.exp_log import exp_array

MAX_KERNEL_STATES = 2048  # joint states of a model whose kernels are computed as matrices


def check_small(model: Model, limit: int = MAX_KERNEL_STATES) -> tuple[int, ...]:
    """Return the cardinalities of a model whose joint states can be listed and are all free."""
    cards = tuple(int(k) for k in model.cardinalities)
    if count_joint_states(cards, limit) is None:
        raise MethodError(
            f"expected a model of at most {limit} joint states, whose kernels fit in matrices, "
            f"got {joint_states_text(cards)}: use a smaller model"
        )
    if (np.asarray(model.evidence) >= 0).any():
        raise MethodError(
            "expected a model without evidence, got clamped variables, which the paper's N does "
            "not count: build the conditioned model without them"
        )
    return cards


def all_states(cardinalities: ArrayLike) -> np.ndarray:
    """List every joint state, (S, N), in C order."""
    cards = tuple(int(k) for k in np.asarray(cardinalities))
    return np.stack(np.unravel_index(np.arange(int(np.prod(cards))), cards), axis=1)


def log_scores(model: Model) -> np.ndarray:
    """Compute log pi up to a constant, with one axis per variable; -inf outside the support."""
    cards = check_small(model)
    scores = np.asarray(model.log_score(all_states(cards))).reshape(cards)
    if not np.isfinite(scores).any():
        raise InfeasibleError("expected some state of positive probability, but all are forbidden")
    return scores


def target(model: Model) -> np.ndarray:
    """Compute pi, the distribution of a small model.

    Parameters
    ----------
    model : FactorGraph or Lattice
        Without evidence, with at most 2048 joint states.

    Returns
    -------
    ndarray
        One axis per variable.

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> hd.theory.target(model).round(3)
    array([[0.258, 0.173],
           [0.285, 0.285]])
    """
    scores = log_scores(model)
    joint = exp_array(scores - scores.max())
    found: np.ndarray = joint / joint.sum()
    return found


def support(model: Model) -> np.ndarray:
    """Return X_+, the states of positive probability of a small model.

    Parameters
    ----------
    model : FactorGraph or Lattice

    Returns
    -------
    ndarray of bool
        One axis per variable.

    Examples
    --------
    >>> differ = [[-np.inf, 0.0], [0.0, -np.inf]]
    >>> model = hd.pairwise_model(np.zeros((2, 2)), [(0, 1)], differ)
    >>> hd.theory.support(model)
    array([[False,  True],
           [ True, False]])
    """
    found: np.ndarray = np.isfinite(log_scores(model))
    return found


def conditional(model: Model, i: int) -> np.ndarray:
    """Compute pi(x_i | x_-i) at every x, with one axis per variable; uniform if undefined.

    "If pi(x_-i) = 0, the conditional probability is undefined and we set it with an arbitrary
    distribution" (appendix B.1.2); it never matters on the support.
    """
    scores = log_scores(model)
    top = scores.max(axis=i, keepdims=True)
    defined = np.isfinite(top)
    weights = exp_array(scores - np.where(defined, top, 0.0))
    weights = np.where(defined, weights, 1.0)
    found: np.ndarray = weights / weights.sum(axis=i, keepdims=True)
    return found


def empirical(
    samples: ArrayLike,
    cardinalities: ArrayLike,
    tau: int = 1,
    T: int | None = None,
    *,
    first: int = 1,
) -> np.ndarray:
    """Compute P_T^(tau) of Definition 1: frequencies of joint states at the ends of T sweeps.

    Parameters
    ----------
    samples : array_like of int, shape (draws, N)
        States at the ends of sweeps.
    cardinalities : array_like of int, shape (N,)
    tau : int
        The first sweep of the window.
    T : int, optional
        The number of sweeps; by default all from `tau` on.
    first : int
        The sweep of the first sample: 1 for the samples of `infer`, 0 if the start X^(0) precedes
        them.

    Returns
    -------
    ndarray
        One axis per variable.

    Raises
    ------
    ModelError
        If the window exceeds the samples.

    Examples
    --------
    >>> samples = [[0, 0], [0, 1], [1, 1], [0, 1]]
    >>> hd.theory.empirical(samples, [2, 2])
    array([[0.25, 0.5 ],
           [0.  , 0.25]])
    """
    rows = _window(np.asarray(samples), tau - first, T)
    return _frequencies(rows, cardinalities)


def empirical_within(
    path: ArrayLike, cardinalities: ArrayLike, i: int, tau: int, T: int
) -> np.ndarray:
    """Compute P_T,i^(tau): frequencies of joint states after i steps of T sweeps.

    Parameters
    ----------
    path : array_like of int, shape (N * sweeps + 1, N)
        path[t] is X^(t), as returned by `within_sweep_path`.
    cardinalities : array_like of int, shape (N,)
    i : int
        The step of a sweep, from 0 (before it) to N (its end).
    tau : int
        The first sweep of the window.
    T : int
        The number of sweeps.

    Returns
    -------
    ndarray
        One axis per variable.

    Examples
    --------
    >>> path = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 1]]
    >>> hd.theory.empirical_within(path, [2, 2], i=1, tau=0, T=2)
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    states = np.asarray(path)
    n = states.shape[1]
    if not 0 <= i <= n:
        raise ModelError(f"expected a step of the sweep from 0 to {n}, got {i}")
    return _frequencies(_window(states[i::n], tau, T), cardinalities)


def total_variation(p: ArrayLike, q: ArrayLike) -> float:
    """Compute d_v(p - q) = 1/2 ||p - q||_1, the distance of Theorem 2.

    Parameters
    ----------
    p, q : array_like
        Distributions of one shape.

    Returns
    -------
    float

    Examples
    --------
    >>> round(hd.theory.total_variation([0.5, 0.5], [0.2, 0.8]), 6)
    0.3
    """
    a, b = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if a.shape != b.shape:
        raise ModelError(f"expected two distributions of one shape, got {a.shape} and {b.shape}")
    return 0.5 * float(np.abs(a - b).sum())


def joint_state_codes(states: np.ndarray, cardinalities: ArrayLike) -> np.ndarray:
    """Return the number of each joint state (..., N), in C order."""
    cards = tuple(int(k) for k in np.asarray(cardinalities))
    x = np.asarray(states)
    if x.shape[-1:] != (len(cards),):
        raise ModelError(f"expected states of {len(cards)} variables, got shape {x.shape}")
    found: np.ndarray = np.ravel_multi_index(tuple(np.moveaxis(x.astype(np.int64), -1, 0)), cards)
    return found


def _window(rows: np.ndarray, start: int, T: int | None) -> np.ndarray:
    length = len(rows) - start if T is None else T
    if start < 0 or length < 1 or start + length > len(rows):
        raise ModelError(
            f"expected a window within {len(rows)} samples, got samples {start} to "
            f"{start + length - 1}: run more sweeps"
        )
    return rows[start : start + length]


def _frequencies(rows: np.ndarray, cardinalities: ArrayLike) -> np.ndarray:
    cards = tuple(int(k) for k in np.asarray(cardinalities))
    counts = np.bincount(joint_state_codes(rows, cards), minlength=int(np.prod(cards)))
    return (counts / len(rows)).reshape(cards)
