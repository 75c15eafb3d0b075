"""Checks of the statements in the appendix of Bornn et al. (2013) on runs.

    Lemma 1         |count of ones - sum of pi| <= 1 over any window of visits of one weight
    Proposition 1   every state is visited l T - B times or more, at every step, in every window
    Proposition 2   ||T~_T^(tau) - T||_inf <= 4 N / (l T)                for T >= T*
    Theorem 2       d_v(P_T^(tau) - pi) <= lambda / T                    for T >= T*, tau > tau*(T)
    Corollary       d_v(P_T^(0) - pi) <= (lambda + tau*(T)) / T          for T >= T* + tau*(T*)

By default a check runs herded Gibbs itself; with `path=` or `samples=` it checks those instead. The
theorems need one weight for every x_-i: a complete graph, or weights="full" on any graph. The
target is the exact pi, while the sampler's conditionals are rounded at 2^-31 (2^-24 for K > 2), so
bounds near those values are meaningless. The theorem says tau > tau*(T); its proof shows it for tau
> ceil(tau*(T)), which is what is checked.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import MethodError
from herded.models.protocol import Model
from herded.run.infer import infer
from herded.run.interrupts import stop_all_runs_on_interrupt
from herded.run.recording.recorders import Joint
from herded.theory.bounds import Constants, constants
from herded.theory.state_space import (
    check_small,
    empirical,
    joint_state_codes,
    support,
    target,
    total_variation,
)
from herded.theory.transition_matrices import gibbs_sweep_kernel, herded_sweep_kernel
from herded.theory.update_path import (
    ConditionalPlanes,
    paper_method,
    starting_state,
    within_sweep_path,
)

DEFAULT_MAX_SWEEPS = 20_000_000  # longest run of a check by default


@dataclass(frozen=True)
class Check:
    """A statement of the paper, the measured value, and the bound that it must not exceed.

    Attributes
    ----------
    statement : str
    measured, bound : float
    T, tau : int
        The number of sweeps of the window, and the sweep where it starts.
    holds : bool
        Whether `measured` is at most `bound`.

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> check = hd.theory.check_lemma1(model, 100)
    >>> check.holds, check.bound, check.T
    (True, 1.0, 100)
    """

    statement: str
    measured: float
    bound: float
    T: int  # sweeps of the window
    tau: int  # sweep where it starts

    @property
    def holds(self) -> bool:
        """Whether the measured value is within the bound."""
        return self.measured <= self.bound + 1e-12

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "FAILS"
        return (
            f"{self.statement}: measured {self.measured:.3g}, bound {self.bound:.3g}, {verdict} "
            f"(T = {self.T}, tau = {self.tau})"
        )


def is_complete(model: Model) -> bool:
    """Return whether every two variables share a factor, so that N(i) is all the others.

    Parameters
    ----------
    model : FactorGraph or Lattice

    Returns
    -------
    bool

    Examples
    --------
    >>> hd.theory.is_complete(hd.chain_model(np.zeros((3, 2)), np.eye(2)))
    False
    >>> rng = np.random.default_rng(0)
    >>> hd.theory.is_complete(hd.theory.random_complete_graph(rng, 4))
    True
    """
    n = model.n_variables
    return all(len(model.neighbours(i)) == n - 1 for i in range(n))


def check_lemma1(
    model: Model, sweeps: int = 1000, *, path: ArrayLike | None = None, seed: int = 0
) -> Check:
    """Check Lemma 1: counts of every weight are within 1 of their expectation, in any window.

    On any graph, in integers. With K states counts are within K - 1; the measured value is the
    worst share of that.

    Parameters
    ----------
    model : FactorGraph or Lattice
    sweeps : int
        The length of the run.
    path : array_like, optional
        A path to check instead of running herded Gibbs, as returned by `within_sweep_path`.
    seed : int

    Returns
    -------
    Check

    Examples
    --------
    >>> model = hd.ising_grid([[0.3, -0.2], [0.1, 0.4]], 0.5)
    >>> hd.theory.check_lemma1(model, 500).holds
    True
    """
    check_small(model, 2**20)
    states = within_sweep_path(model, sweeps, seed=seed) if path is None else np.asarray(path)
    tables = ConditionalPlanes(paper_method().compile(model, kind="table"))
    n, one = states.shape[1], 1 << tables.bits
    drift: dict[int, list[list[int]]] = {}  # weight -> (now, least, most) for each value
    rows = states.tolist()
    for t in range(1, len(rows)):
        i = (t - 1) % n
        p = tables.p(i, rows[t - 1])
        expected = [one - p[0], p[0]] if tables.scalar else p
        kept = drift.setdefault(tables.entry(i, rows[t - 1]), [[0, 0, 0] for _ in expected])
        for k, (three, pi) in enumerate(zip(kept, expected, strict=True)):
            three[0] += one * (rows[t][i] == k) - pi
            three[1], three[2] = min(three[:2]), max(three[0], three[2])
    worst = 0.0
    for kept in drift.values():
        spread = max(most - least for _, least, most in kept)
        worst = max(worst, spread / (one * max(1, len(kept) - 1)))
    return Check("Lemma 1, worst |count - expected|", worst, 1.0, (len(rows) - 1) // n, 0)


def check_proposition1(
    model: Model,
    T: int | None = None,
    *,
    path: ArrayLike | None = None,
    weights: str = "blanket",
    seed: int = 0,
) -> Check:
    """Check Proposition 1: every state is visited l T - B times or more, in every window.

    For all states of the support, all steps i and all windows of the run. Visits are never below
    l T - B exactly if (visits so far - l k) never falls by more than B; the measured value is the
    worst fall.

    Parameters
    ----------
    model : FactorGraph or Lattice
        A complete graph, unless weights are "full".
    T : int, optional
        The length of the run; by default twice T*.
    path : array_like, optional
        A path to check instead of running herded Gibbs.
    weights : "blanket" or "full"
    seed : int

    Returns
    -------
    Check

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> hd.theory.check_proposition1(model).holds
    True
    """
    known = _constants_if_covered(model, weights)
    sweeps = _sweeps(2 * known.T_star) if T is None else T
    if path is None:
        path = within_sweep_path(model, sweeps, weights=weights, seed=seed)
    states = np.asarray(path)
    cards, n = model.cardinalities, model.n_variables
    sweeps = (len(states) - 1) // n
    number = joint_state_codes(states, cards)
    worst = -math.inf
    for i in range(1, n + 1):
        at_step = number[i::n]
        for state in np.flatnonzero(support(model)):
            ahead = np.cumsum(at_step == state) - known.l * np.arange(1, len(at_step) + 1)
            ahead = np.concatenate([[0.0], ahead])
            worst = max(worst, float((np.maximum.accumulate(ahead) - ahead).max()))
    return Check("Proposition 1, worst l T - visits", worst, known.B, sweeps, 0)


def check_proposition2(
    model: Model,
    T: int | None = None,
    tau: int = 0,
    *,
    path: ArrayLike | None = None,
    weights: str = "blanket",
    seed: int = 0,
) -> Check:
    """Check Proposition 2: ||T~_T^(tau) - T|| is at most 4 N / (l T) for T >= T*.

    The herded kernel of one window is compared with the Gibbs kernel, on the support.

    Parameters
    ----------
    model : FactorGraph or Lattice
        A complete graph, unless weights are "full".
    T : int, optional
        The number of sweeps of the window; by default one for which the bound is 1/2.
    tau : int
        The sweep where it starts.
    path, weights, seed
        As in `check_proposition1`.

    Returns
    -------
    Check

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> hd.theory.check_proposition2(model).holds
    True
    """
    known = _constants_if_covered(model, weights)
    T = _long_enough(T, known.T_star, 2 * 4 * known.excess / known.l)
    if path is None:
        path = within_sweep_path(model, tau + T, weights=weights, seed=seed)
    herded = herded_sweep_kernel(path, model.cardinalities, tau, T, model=model)
    gap = np.abs(herded - gibbs_sweep_kernel(model)).sum(axis=1)
    measured = float(gap[support(model).ravel()].max())
    return Check("Proposition 2, ||T~ - T||", measured, known.kernel_bound(T), T, tau)


def check_theorem2(
    model: Model,
    T: int | None = None,
    tau: int | None = None,
    *,
    samples: ArrayLike | None = None,
    weights: str = "blanket",
    seed: int = 0,
) -> Check:
    """Check Theorem 2: d_v(P_T^(tau) - pi) is at most lambda / T.

    Parameters
    ----------
    model : FactorGraph or Lattice
        A complete graph, unless weights are "full".
    T : int, optional
        The number of sweeps of the window; by default one for which the bound is 1/10.
    tau : int, optional
        The sweep where it starts; by default the first one that the theorem covers.
    samples : array_like of int, shape (draws, N), optional
        The ends of sweeps 1, 2, .. of any run, to check instead of running herded Gibbs.
    weights : "blanket" or "full"
    seed : int

    Returns
    -------
    Check

    Raises
    ------
    MethodError
        If the theorem does not cover the model, or `T` is below T*.

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> check = hd.theory.check_theorem2(model)
    >>> check.holds, round(check.bound, 2)
    (True, 0.1)
    """
    known = _constants_if_covered(model, weights)
    if not known.eta < 1:
        raise MethodError(
            "expected a Dobrushin coefficient below 1, got 1: Theorem 2 does not cover this model"
        )
    T = _long_enough(T, known.T_star, 10 * known.lambda_)
    tau = math.ceil(known.tau_star(T)) + 1 if tau is None else tau
    if samples is None:
        joint = _joint(model, T, tau - 1, weights, seed)
    else:
        joint = empirical(samples, model.cardinalities, tau, T)
    measured = total_variation(joint, target(model))
    return Check("Theorem 2, d_v(P_T - pi)", measured, known.bound(T), T, tau)


def check_corollary(
    model: Model,
    T: int | None = None,
    *,
    samples: ArrayLike | None = None,
    weights: str = "blanket",
    seed: int = 0,
) -> Check:
    """Check the corollary: without burn-in, d_v(P_T^(0) - pi) is at most (lambda + tau*(T)) / T.

    The start X^(0) is included.

    Parameters
    ----------
    model, samples, weights, seed
        As in `check_theorem2`.
    T : int, optional
        The number of sweeps.

    Returns
    -------
    Check

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> hd.theory.check_corollary(model).holds
    True
    """
    known = _constants_if_covered(model, weights)
    T = _long_enough(T, known.burn_in, 10 * known.lambda_)
    start = np.zeros(tuple(model.cardinalities))
    start[tuple(starting_state(model, seed))] = 1.0
    if samples is None:
        rest = _joint(model, T - 1, 0, weights, seed)
    else:
        rest = empirical(samples, model.cardinalities, 1, T - 1)
    measured = total_variation((start + (T - 1) * rest) / T, target(model))
    return Check("Corollary, d_v(P_T - pi)", measured, known.corollary_bound(T), T, 0)


@stop_all_runs_on_interrupt()  # partial runs are useless by themselves
def _joint(model: Model, T: int, burn_in: int, weights: str, seed: int) -> np.ndarray:
    result = infer(
        model,
        paper_method(weights, seed=seed),
        sweeps=T,
        burn_in=burn_in,
        keep=[Joint()],
        layout="table",
        progress=False,
    )
    return result.joint


def _constants_if_covered(model: Model, weights: str) -> Constants:
    """Return the constants, if the theorems cover this model with these weights."""
    check_small(model)
    if weights != "full" and not is_complete(model):
        raise MethodError(
            "expected a complete graph, where each weight belongs to one state of all other "
            'variables, got a sparse one, which no theorem covers: pass weights="full"'
        )
    return constants(model)


def _long_enough(T: int | None, least: float, wanted: float) -> int:
    if T is None:
        return _sweeps(max(least, wanted))
    if least > T:
        raise MethodError(f"expected T of {least:.4g} or more, from which the bound holds, got {T}")
    return T


def _sweeps(wanted: float) -> int:
    if not wanted <= DEFAULT_MAX_SWEEPS:
        raise MethodError(
            f"expected a bound within {DEFAULT_MAX_SWEEPS} sweeps, but it is below 1 only after "
            f"{wanted:.3g}: use weaker couplings or fewer variables, or pass T"
        )
    return math.ceil(wanted)
