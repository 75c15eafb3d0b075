"""The biases of a quadratic model over spins: how strong they are, and how to scale them.

Kernels of herds take log-potentials in whole numbers of 16 or 32 bits. What is annealed may be
divided by any power of two if the inverse temperatures are multiplied by it, so that such numbers
are used in full: neither do large biases overflow, nor are small ones rounded away.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from herded.errors import ModelError

# of the strongest bias: smaller ones are rounding errors of biases that cancel
RELATIVE_BIAS_ROUNDING = 1e-9
MAX_EXPONENT = 500  # exponents of 2: smaller biases than 2^-500 count as 0, larger ones are refused

# Of whole numbers in kernels: the widest field they are to hold, with room for what rounding adds,
# and the bits behind its point.
NARROW_RANGE, WIDE_RANGE = (30.0, 10), (120.0, 24)
MAX_ROUNDING_LOG_ODDS = 1 / 2  # a step of whole numbers, in log-odds at the coldest beta, at most


@dataclass(frozen=True, eq=False)
class SpinBiases:
    """E(s) = 2^exponent (sum_i fields_i s_i + sum_(i,j) couplings_ij s_i s_j), none beyond 1."""

    fields: np.ndarray  # (N,)
    rows: np.ndarray  # (E,)
    columns: np.ndarray  # (E,)
    couplings: np.ndarray  # (E,)
    exponent: int

    @cached_property
    def moderate_fields(self) -> np.ndarray:
        """(N,) sizes of fields, none above the couplings of its variable, if there are any.

        What is beyond them does not compete with anything. Penalties are full of it: written with
        spins, "one of many" has fields that most of the couplings cancel.
        """
        coupled = np.sqrt(self._summed(np.zeros_like(self.fields), self.couplings**2))
        sizes = np.abs(self.fields)
        found: np.ndarray = np.where(coupled > 0, np.minimum(sizes, coupled), sizes)
        return found

    @cached_property
    def strength(self) -> np.ndarray:
        """(N,) of each variable: the root of the sum of its squared biases."""
        found: np.ndarray = np.sqrt(self._summed(self.moderate_fields**2, self.couplings**2))
        return found

    @cached_property
    def reach(self) -> float:
        """The widest field or coupling of the model, in log-odds at beta 1."""
        steepest = self._summed(np.abs(self.fields), np.abs(self.couplings)).max(initial=0.0)
        return float(max(2.0 * steepest, 4.0 * np.abs(self.couplings).max(initial=0.0)))

    def _summed(self, of_fields: np.ndarray, of_couplings: np.ndarray) -> np.ndarray:
        """(N,) sums over each variable's field and couplings."""
        n = len(of_fields)
        ends = np.bincount(self.rows, of_couplings, n) + np.bincount(self.columns, of_couplings, n)
        return np.asarray(of_fields + ends, np.float64)

    def fitting_exponent(self, cold: float) -> tuple[int, bool]:
        """(k, whole): biases / 2^k fit whole numbers, whose steps do not show at beta `cold`.

        `whole` is False where no such numbers are fine enough.
        """
        for widest, bits in (NARROW_RANGE, WIDE_RANGE):
            k = math.frexp(self.reach / widest)[1]
            if cold * 2.0 ** (self.exponent + k - bits) <= MAX_ROUNDING_LOG_ODDS:
                return self.exponent + k, True
        return self.exponent, False


def read_biases(bqm: Any) -> SpinBiases:
    """Those of a dimod.BinaryQuadraticModel of either kind."""
    spins = bqm.change_vartype("SPIN", inplace=False)
    linear, (rows, columns, quadratic), _ = spins.to_numpy_vectors()
    biases = np.concatenate([linear, quadratic]).astype(np.float64)
    strong = float(np.abs(biases).max(initial=0.0))
    if not strong < 2.0**MAX_EXPONENT:
        raise ModelError(
            f"expected finite biases below 2^{MAX_EXPONENT}, got {strong}: use large ones as "
            "penalties"
        )
    if not math.isfinite(bqm.offset):
        raise ModelError(f"expected a finite offset, got {bqm.offset}")
    exponent = math.frexp(strong)[1] if strong >= 2.0**-MAX_EXPONENT else 0
    biases = np.ldexp(biases, -exponent)
    biases[
        np.abs(biases)
        < max(RELATIVE_BIAS_ROUNDING * np.ldexp(strong, -exponent), 2.0**-MAX_EXPONENT)
    ] = 0.0
    fields, couplings = biases[: len(linear)], biases[len(linear) :]
    return SpinBiases(fields, rows, columns, couplings, exponent)
