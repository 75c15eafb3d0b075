"""Checks of the claims about herds, over all states, phases and orders of small ones.

    members     the law of one member after a visit, given all states, is its conditional; after
                a sweep, its row of the Gibbs kernel T
    counts      the number of members in state 1 is the sum of the p_k, rounded up or down
    variance    the count varies as little as that of any draw of the members by their own p_k

The last two concern two states. With K states they hold for the first split of the tree: which
members are in the first state (a chain), or in the first half. Counts of later states are looser.
`variance_ratio` computes the exact long-run gain of the herd's average.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import MethodError
from herded.models.protocol import Model
from herded.theory.herd_laws import (
    DrawLaw,
    Law,
    herd_kernel,
    herd_sweep_kernel,
    member_kernel,
    together_law,
    visit_law,
)
from herded.theory.paper_checks import Check
from herded.theory.state_space import all_states, check_small, conditional, target
from herded.theory.transition_matrices import gibbs_kernel, gibbs_sweep_kernel


def check_members(
    model: Model,
    members: int,
    *,
    draw: DrawLaw = together_law,
    orders: str = "shuffled",
    sweep: bool = True,
) -> Check:
    """Check that every member of a herd is a Gibbs chain, for any states of the others.

    Parameters
    ----------
    model : FactorGraph or Lattice
        Without evidence, with S joint states.
    members : int
        S ** members may be at most 2048: the law is compared from every state of the herd.
    draw : callable
        `draw(conditionals, order)` returns the law of a visit; by default `together_law`.
    orders : "shuffled", "sorted" or "fixed"
        As in `visit_law`.
    sweep : bool
        Whether to compare whole sweeps with `gibbs_sweep_kernel`, not visits with `gibbs_kernel`.

    Returns
    -------
    Check
        The largest difference of two probabilities, which must be 0 up to rounding.

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> hd.theory.check_members(model, 3).holds
    True
    """
    n = len(check_small(model))
    if sweep:
        pairs = [
            (herd_sweep_kernel(model, members, draw=draw, orders=orders), gibbs_sweep_kernel(model))
        ]
    else:
        pairs = [
            (herd_kernel(model, i, members, draw=draw, orders=orders), gibbs_kernel(model, i))
            for i in range(n)
        ]
    worst = 0.0
    for herds, gibbs in pairs:
        states = all_states([len(gibbs)] * members)
        for k in range(members):
            gap = np.abs(member_kernel(herds, members, k) - gibbs[states[:, k]])
            worst = max(worst, float(gap.max()))
    what = "a sweep" if sweep else "a visit"
    return Check(f"Members of a herd of {members}, law after {what}", worst, 0.0, 1, 0)


def check_counts(
    model: Model, members: int, *, draw: DrawLaw = together_law, orders: str = "shuffled"
) -> Check:
    """Check that the number of members in state 1 is the sum of their p_k, rounded up or down.

    With K > 2 states it is the number that leave the first state for a later one. All contexts that
    members may be in are tried, at every variable.

    Parameters
    ----------
    model, members, draw, orders
        As in `check_members`; only the number of contexts of a variable is limited.

    Returns
    -------
    Check
        The largest distance of a count from its range, which must be 0.

    Examples
    --------
    >>> model = hd.ising_grid([[0.3, -0.2], [0.1, 0.4]], 0.5)
    >>> hd.theory.check_counts(model, 3).holds
    True
    """
    worst = 0.0
    for rows, law in _visits(model, members, draw, orders):
        expected = sum(1 - row[0] for row in rows)
        nearest = round(expected)
        whole = abs(expected - nearest) < 1e-9  # up to rounding of the conditionals
        least = nearest if whole else math.floor(expected)
        most = nearest if whole else math.ceil(expected)
        for _, states in law:
            count = sum(state > 0 for state in states)
            worst = max(worst, float(least - count), float(count - most))
    return Check(f"Counts of a herd of {members}, outside of floor and ceiling", worst, 0.0, 1, 0)


def check_variance(
    model: Model, members: int, *, draw: DrawLaw = together_law, orders: str = "shuffled"
) -> Check:
    """Check that the herd's count has the least variance that its mean allows.

    A whole number with mean m has a variance of at least f (1 - f), where f is the fraction of m.
    The variance of independent chains is the sum of p_k (1 - p_k), which is larger.

    Parameters
    ----------
    model, members, draw, orders
        As in `check_counts`.

    Returns
    -------
    Check
        The largest excess of the variance over its least value, which must be 0.

    Examples
    --------
    >>> model = hd.ising_grid([[0.3, -0.2], [0.1, 0.4]], 0.5)
    >>> hd.theory.check_variance(model, 3).holds
    True
    """
    worst = 0.0
    for rows, law in _visits(model, members, draw, orders):
        variance = count_variance(rows, law=law)[0][0]
        fraction = sum(1 - row[0] for row in rows) % 1
        worst = max(worst, float(variance - fraction * (1 - fraction)))
    return Check(f"Counts of a herd of {members}, excess variance", worst, 0.0, 1, 0)


def count_variance(
    conditionals: Sequence[Sequence[Any]], *, orders: str = "shuffled", law: Law | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the variance of the number of members in each state, and of independent draws.

    Parameters
    ----------
    conditionals : sequence of rows, (members, K)
    orders : "shuffled", "sorted" or "fixed"
        As in `visit_law`.
    law : list of (probability, states), optional
        The law of the visit, if it is not that of systematic draws.

    Returns
    -------
    together, independent : ndarray of shape (K,)

    Examples
    --------
    >>> together, independent = hd.theory.count_variance([[0.75, 0.25], [0.25, 0.75]])
    >>> together, independent
    (array([0., 0.]), array([0.375, 0.375]))
    """
    found = visit_law(conditionals, orders=orders) if law is None else law
    p = np.array([[float(q) for q in row] for row in conditionals])
    weights = np.array([float(probability) for probability, _ in found])
    counts = np.array([np.bincount(states, minlength=p.shape[1]) for _, states in found])
    centred = counts - p.sum(axis=0)
    return weights @ centred**2 - (weights @ centred) ** 2, (p * (1 - p)).sum(axis=0)


def variance_ratio(
    model: Model,
    values: ArrayLike,
    members: int,
    *,
    draw: DrawLaw = together_law,
    orders: str = "shuffled",
) -> float:
    """Compare the long-run noise of a herd with that of independent chains, for one average.

    The asymptotic variance of the average of a function over all members and sweeps, divided by
    that of as many independent Gibbs chains. Below 1 the herd is better.

    Parameters
    ----------
    model : FactorGraph or Lattice
        Without evidence, with S joint states.
    The function: its value at each joint state, with one axis per variable, or flat.
        The function: its value at each joint state, with one axis per variable, or flat.
    members, draw, orders
        As in `check_members`.

    Returns
    -------
    float

    Raises
    ------
    MethodError
        If a chain of states is not irreducible, or the function is constant.

    Examples
    --------
    Two spins in a weak field, four members: means gain; products lose, least with sorted members.

    >>> spins = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> model = hd.pairwise_model([[-0.3, 0.3], [-0.3, 0.3]], [(0, 1)], 0.5 * spins)
    >>> mean, product = [[-1, -1], [1, 1]], spins
    >>> for orders in ("shuffled", "sorted", "fixed"):
    ...     ratios = [hd.theory.variance_ratio(model, f, 4, orders=orders) for f in (mean, product)]
    ...     print(orders, np.round(ratios, 2))
    shuffled [0.18 1.42]
    sorted [0.18 1.09]
    fixed [0.18 1.71]
    """
    single = gibbs_sweep_kernel(model)
    f = np.asarray(values, dtype=np.float64).ravel()
    if f.size != len(single):
        raise MethodError(f"expected a value for each of {len(single)} states, got {f.size}")
    herds = herd_sweep_kernel(model, members, draw=draw, orders=orders)
    averages = f[all_states([len(single)] * members)].mean(axis=1)
    alone = _asymptotic_variance(single, f)
    if alone <= 1e-12 * float(np.abs(f).max()) ** 2:
        raise MethodError("expected a function that varies, got one whose average has no error")
    return members * _asymptotic_variance(herds, averages) / alone


def _asymptotic_variance(kernel: np.ndarray, f: np.ndarray) -> float:
    """Compute lim T Var(1/T sum_t f(X_t)), the sum of the autocovariance over all lags."""
    size = len(kernel)
    flow = np.eye(size) - kernel
    anyhow = np.full(size, 1 / size)
    system = flow + anyhow  # each row plus a distribution: regular if there is one class
    try:
        inverse = np.linalg.inv(system)
        fair = bool(np.linalg.norm(system, 1) * np.linalg.norm(inverse, 1) < 1e10)
    except np.linalg.LinAlgError:
        fair = False
    if not fair:
        raise MethodError("expected one closed class of states, got several")
    pi = anyhow @ inverse  # for pi @ flow = 0
    centred = f - pi @ f
    summed = inverse @ centred  # f_0 + f_1 + .., up to a constant
    return float(2 * (pi * centred) @ summed - (pi * centred) @ centred)


def _visits(
    model: Model, members: int, draw: DrawLaw, orders: str
) -> Iterator[tuple[tuple[list[float], ...], Law]]:
    """Yield every variable and choice of the members' contexts, with the law of the visit."""
    cards = check_small(model)
    reached = target(model) > 0
    for i in range(len(cards)):
        rows = np.moveaxis(conditional(model, i), i, -1)[np.moveaxis(reached, i, -1).any(axis=-1)]
        contexts = np.unique(rows, axis=0).tolist()
        choices = math.comb(len(contexts) + members - 1, members)
        if choices > 20_000:
            raise MethodError(
                f"expected at most 20000 choices of contexts, got {choices}: use a smaller herd"
            )
        for some in combinations_with_replacement(contexts, members):
            yield some, visit_law(some, draw=draw, orders=orders)
