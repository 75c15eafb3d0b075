"""The constants of Theorem 2, Proposition 1 and the corollary of Bornn et al. (2013).

    l      = pi_min^t*        B = tau* l + sum_(j = 0 .. t*-1) pi_min^j 2^min(N, j)
    lambda = 2 N (1 + eta) / (l (1 - eta))        T* = 2 B / l
    tau*(T) = log_(2 / (1 + eta)) ((1 - eta) l T / (4 N))

K states. The vector rule started at rest keeps every weight at or above 1/K - 1, and the weights
sum to 0, so a count over any window of visits is within K - 1 of its expectation (1 for K = 2:
Lemma 1), and all K counts together within 2 (K - 1). The proofs then go through with N replaced
by sum_i (K_i - 1), and each set of states in B by (K - 1) K^min(N, j) for the largest K. With
binary variables these are the paper's own numbers.
"""

import math
from dataclasses import dataclass

import numpy as np

from herded.errors import MethodError
from herded.models.protocol import Model
from herded.theory.state_space import check_small, conditional, support
from herded.theory.transition_matrices import dobrushin, gibbs_sweep_kernel


@dataclass(frozen=True)
class Constants:
    """The constants of Theorem 2 for a model, as returned by `constants`.

    Attributes
    ----------
    N : int
        The number of variables.
    excess : int
        sum_i (K_i - 1), which is N for binary variables.
    pi_min : float
        The least positive conditional pi(x_i | x_-i).
    t_star : int
        The number of steps after which every state of the support can reach every other.
    l, B : float
        Every state is visited at least l T - B times in T sweeps (Proposition 1).
    eta : float
        The Dobrushin coefficient of a sweep, on the support.
    lambda_, T_star : float
        The error is at most lambda / T from T* sweeps on; `lambda_` is infinite if eta = 1.

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> known = hd.theory.constants(model)
    >>> known.N, known.t_star, round(known.pi_min, 3)
    (2, 2, 0.378)
    >>> round(known.bound(10 * known.lambda_), 3)
    0.1
    """

    N: int  # variables
    excess: int  # sum_i (K_i - 1): N of binary variables
    pi_min: float  # least positive conditional pi(x_i | x_-i)
    t_star: int  # steps after which every state of the support reaches every other
    l: float  # noqa: E741 - the paper's name: every state is visited l T - B times or more
    B: float
    eta: float  # Dobrushin coefficient of a sweep, on the support
    lambda_: float
    T_star: float

    def tau_star(self, T: float) -> float:
        """Compute the burn-in of Theorem 2 in sweeps; 0 if the bound is above 1 anyway."""
        if self.eta >= 1:
            return math.inf
        inside = (1 - self.eta) * self.l * T / (4 * self.excess)
        return max(0.0, math.log(inside) / math.log(2 / (1 + self.eta)))

    def bound(self, T: float) -> float:
        """Compute lambda / T (Theorem 2), for T >= T* and tau > tau*(T)."""
        return self.lambda_ / T

    def kernel_bound(self, T: float) -> float:
        """Compute 4 N / (l T) (Proposition 2), for T >= T*."""
        return 4 * self.excess / (self.l * T)

    def corollary_bound(self, T: float) -> float:
        """Compute (lambda + tau*(T)) / T (corollary), from tau = 0, for T >= T* + tau*(T*)."""
        return (self.lambda_ + self.tau_star(T)) / T

    @property
    def burn_in(self) -> float:
        """The burn-in T* + tau*(T*), from which the corollary holds."""
        return self.T_star + self.tau_star(self.T_star)


def constants(model: Model) -> Constants:
    """Compute pi_min, t*, l, B, eta, lambda and T* of a small model, for the scan 0, 1, .., N-1.

    Parameters
    ----------
    model : FactorGraph or Lattice
        Without evidence, with at most 2048 joint states.

    Returns
    -------
    Constants

    Raises
    ------
    MethodError
        If the model is too large, or single updates cannot reach all of its states.

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> known = hd.theory.constants(model)
    >>> round(known.eta, 3), round(known.lambda_, 1), round(known.T_star, 1)
    (0.097, 34.1, 26.6)
    """
    cards = check_small(model)
    n, possible = len(cards), support(model)
    excess = sum(k - 1 for k in cards)
    if excess == 0:
        raise MethodError("expected a variable with 2 states or more, got none: nothing moves")
    pi_min = min(float(conditional(model, i)[possible].min()) for i in range(n))
    t_star = mixing_steps(possible)
    eta = dobrushin(gibbs_sweep_kernel(model), possible)
    rate = pi_min**t_star
    widest = max(cards)
    lost = sum(pi_min**j * (widest - 1) * float(widest) ** min(n, j) for j in range(t_star))
    B = math.ceil(t_star / n) * rate + lost
    lambda_ = 2 * excess * (1 + eta) / (rate * (1 - eta)) if eta < 1 else math.inf
    return Constants(n, excess, pi_min, t_star, rate, B, eta, lambda_, 2 * B / rate)


def mixing_steps(possible: np.ndarray) -> int:
    """Compute t*, the least t such that every y in the support can be reached from every x in it in
    exactly t steps of Gibbs that end at any place of the sweep (proof of Proposition 1).

    It is N if all states are possible. Staying is always possible, so the reachable sets only grow;
    if they stop growing before they fill the support, the chain is reducible.
    """
    n = possible.ndim
    flat = possible.ravel()
    targets = np.flatnonzero(flat)
    here = np.zeros((flat.size, len(targets)), bool)
    here[targets, np.arange(len(targets))] = True
    reach = [here.reshape(*possible.shape, -1) for _ in range(n)]
    t, idle = 0, 0
    while not all(r.reshape(flat.size, -1)[flat].all() for r in reach):
        grew = False
        for end in range(n):  # one more step before those that end with variable `end`
            i = (end - t) % n
            wider = reach[end].any(axis=i, keepdims=True) & possible[..., None]
            grew |= bool((wider != reach[end]).any())
            reach[end] = wider
        t, idle = t + 1, 0 if grew else idle + 1
        if idle > n:
            raise MethodError(
                "expected an irreducible Gibbs chain, but single updates cannot connect all states "
                "of the support: the theorems do not cover this model"
            )
    return max(t, 1)
