"""Theorem 1 of Bornn et al. (2013): on an empty graph P_T -> pi if 1, pi_1, .., pi_N are
rationally independent, because then the phases t pi mod 1 fill the cube evenly.

    sum_i a_i pi_i = -a_0  with whole a  =>  sum_i a_i phi_i is constant for ever (mod 1)

so the phases stay on a slice of the cube. In Fourier terms the indicator of x_i has coefficients
sin(pi a pi_i) / (pi a), and a relation shifts the joint probability of its variables by up to

    bias = 2 prod_i |sin(pi a_i pi_i) / (pi a_i)|                (its first harmonic alone)

Two consequences. Rational independence is sufficient, not necessary: a relation in which some a_i
pi_i is whole (a single fair coin; a coin of 1/2 with one of 1/3) has bias 0 and does no harm. And
in fixed point every pi_i is p / 2^31, so relations always exist (2^31 pi_i - p = 0). Exact
independence is impossible on any computer; what matters is that no relation has *small*
coefficients, because the bias falls as the product of 1 / a_i.

N fair coins are the simplest example: they move in lockstep and visit 2 of 2^N states, while every
marginal is exact.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from herded.draws.fixed_point import SCALAR_BITS, WEIGHT_BITS
from herded.errors import ModelError
from herded.methods.herded_gibbs import HerdedGibbs
from herded.models.protocol import Model

MAX_TRIALS = 50_000_000
MIN_ERROR_TO_WARN = 0.005  # in the joint probability of a few variables


@dataclass(frozen=True)
class Relation:
    """A relation between probabilities: constant + sum_i a_i pi_i = residual, nearly 0.

    Attributes
    ----------
    variables : tuple of int
    coefficients : tuple of int
        The a_i, in the order of `variables`.
    constant : int
    residual : float
    bias : float
        The largest shift of the joint distribution of these variables by the first harmonic.

    Examples
    --------
    >>> relation = hd.theory.rational_dependence([0.3, 0.3])[0]
    >>> relation.variables, relation.coefficients, relation.constant
    ((0, 1), (1, -1), 0)
    >>> print(relation)
    +1 pi[0] -1 pi[1] +0 = 0
    """

    variables: tuple[int, ...]
    coefficients: tuple[int, ...]
    constant: int
    residual: float
    bias: float  # largest shift of the joint of these variables by the first harmonic

    def __str__(self) -> str:
        terms = "".join(
            f"{a:+d} pi[{i}] " for i, a in zip(self.variables, self.coefficients, strict=True)
        )
        return f"{terms}{self.constant:+d} = 0"


def rational_dependence(
    probabilities: ArrayLike,
    max_coefficient: int = 6,
    *,
    max_terms: int = 3,
    tolerance: float = 2.0**-31,
) -> list[Relation]:
    """Find whole-number relations between probabilities, the most harmful first.

    The search is limited to sets of at most `max_terms` probabilities. Multiples of a relation are
    not listed.

    Parameters
    ----------
    probabilities : array_like of shape (N,)
    max_coefficient : int
        The largest coefficient.
    max_terms : int
        The largest number of probabilities in one relation.
    tolerance : float
        The residual may be this times the sum of |a_i|; by default, the effect of rounding to fixed
        point. A relation with residual r still locks the phases for about 1 / r sweeps, so pass
        0.1 / sweeps to find those that matter in a run.

    Returns
    -------
    list of Relation

    Raises
    ------
    ModelError
        If a number is not a probability, or the search would be too long.

    Examples
    --------
    >>> for relation in hd.theory.rational_dependence([0.3, 0.3, 0.4])[:2]:
    ...     print(relation, round(relation.bias, 2))
    +1 pi[0] -1 pi[1] +0 = 0 0.13
    +2 pi[0] +1 pi[2] -1 = 0 0.09
    """
    pi = np.asarray(probabilities, dtype=np.float64)
    if pi.ndim != 1 or not ((pi >= 0) & (pi <= 1)).all():
        raise ModelError("expected a list of probabilities from 0 to 1")
    if max_coefficient < 1 or max_terms < 1:
        raise ModelError("expected max_coefficient and max_terms of 1 or more")
    live = [i for i in range(len(pi)) if 0 < pi[i] < 1]  # a constant locks nothing
    sizes = range(1, min(max_terms, len(live)) + 1)
    trials = sum(
        math.comb(len(live), m) * max_coefficient * (2 * max_coefficient) ** (m - 1) for m in sizes
    )
    if trials > MAX_TRIALS:
        raise ModelError(
            f"expected at most {MAX_TRIALS} combinations to search, got {trials:.3g}: lower "
            "max_terms or max_coefficient"
        )
    found = []
    for terms in sizes:
        a = _coefficients(terms, max_coefficient)
        for chosen in itertools.combinations(live, terms):
            sums = a @ pi[list(chosen)]
            gap = np.abs(sums - np.round(sums))
            for row in np.flatnonzero(gap <= tolerance * np.abs(a).sum(axis=1)):
                constant = -round(float(sums[row]))
                if math.gcd(constant, *(int(v) for v in a[row])) == 1:
                    found.append(_relation(pi, chosen, a[row], constant))
    return sorted(found, key=lambda r: (-r.bias, len(r.variables), sum(map(abs, r.coefficients))))


def _coefficients(terms: int, most: int) -> np.ndarray:
    """Return all vectors of non-zero whole numbers up to `most` whose first entry is positive."""
    either = [a for a in range(-most, most + 1) if a != 0]
    return np.array(list(itertools.product(range(1, most + 1), *[either] * (terms - 1))))


def _relation(pi: np.ndarray, chosen: tuple[int, ...], a: np.ndarray, constant: int) -> Relation:
    p = pi[list(chosen)]
    residual = abs(constant + float(a @ p))
    sines = np.abs(np.sin(np.pi * a * p) / (np.pi * a))
    bias = 2.0 * float(np.prod(np.where(sines < 1e-7, 0.0, sines)))
    if len(chosen) == 1:
        bias = 0.0  # a single variable always converges: Lemma 1
    return Relation(tuple(chosen), tuple(int(v) for v in a), constant, residual, bias)


def warn_if_locked(model: Model, sweeps: int | None = None) -> str | None:
    """Return a warning if variables without neighbours will move in lockstep, else None.

    It checks the free variables that have no free neighbours (all of them, on an empty graph).

    Parameters
    ----------
    model : FactorGraph or Lattice
    sweeps : int, optional
        The length of a run: also find relations that hold nearly, for this long.

    Returns
    -------
    str or None

    Examples
    --------
    Two fair coins to which herding always gives the same side:

    >>> coins = hd.pairwise_model(np.zeros((2, 2)), [], np.zeros((2, 2)))
    >>> "lockstep" in hd.theory.warn_if_locked(coins)
    True
    """
    layout = HerdedGibbs(scan="sequential", phases="half").compile(model, kind="table")
    t = layout.arrays
    free = np.asarray(model.evidence) < 0
    alone = np.flatnonzero(free & (np.diff(t.neighbour_start) == 0))
    rows = {int(i): t.p[t.entry_start[i] : t.entry_start[i + 1]] for i in alone}
    one = 1 << (SCALAR_BITS if layout.scalar else WEIGHT_BITS)
    binary = {i: float(p[-1]) / one for i, p in rows.items() if layout.scalar or len(p) == 2}
    copies: dict[float, list[int]] = {}
    for i, p in binary.items():
        copies.setdefault(p, []).append(i)
    names = sorted(i for same in copies.values() for i in same[:2])  # two are enough to show it
    tolerance = max(1.0 / one, 0.0 if sweeps is None else 0.1 / sweeps)
    locks = []
    if len(names) > 1:
        terms = 3 if len(names) <= 24 else 2
        relations = rational_dependence(
            [binary[i] for i in names],
            6 if len(names) <= 200 else 2,
            max_terms=terms,
            tolerance=tolerance,
        )
        locks = [r for r in relations if r.bias >= MIN_ERROR_TO_WARN]
    if locks:
        worst = locks[0]
        variables = ", ".join(str(names[i]) for i in worst.variables)
        terms_text = " ".join(
            f"{a:+d} pi[{names[i]}]"
            for i, a in zip(worst.variables, worst.coefficients, strict=True)
        )
        return (
            f"variables {variables} have no neighbours and their probabilities satisfy "
            f"{terms_text} = {-worst.constant}, so that herding moves them in lockstep: every "
            f"marginal will be right, but their joint probabilities may be wrong by "
            f"{worst.bias:.2g} or more, in any run. Use slack=1, or sample them independently"
        )
    several = [i for i in rows if i not in binary]
    for i, j in itertools.combinations(several, 2):
        if np.array_equal(rows[i], rows[j]) and np.count_nonzero(rows[i]) > 1:
            return (
                f"variables {i} and {j} have no neighbours and the same distribution, so that "
                "herding gives them the same state in every sweep: every marginal will be right, "
                "but their joint distribution will not. Use slack=1"
            )
    return None
