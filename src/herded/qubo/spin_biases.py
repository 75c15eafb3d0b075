"""The biases of a quadratic model over spins: their strength, and how to scale them.

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

# relative to the strongest bias: smaller ones are rounding errors of biases that cancel
RELATIVE_BIAS_ROUNDING = 1e-9
MAX_EXPONENT = 500  # biases below 2^-500 count as 0, those above 2^500 are refused

# Of whole numbers in kernels: the widest field that they must hold, with room for rounding, and the
# number of fraction bits.
NARROW_RANGE, WIDE_RANGE = (30.0, 10), (120.0, 24)
MAX_ROUNDING_LOG_ODDS = 1 / 2  # largest step of whole numbers, in log-odds at the coldest beta


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
        """Sizes of fields (N,), limited to the sum of each variable's couplings, if there are any.

        A larger field decides its variable anyway. Penalties often have such fields: over spins,
        "one of many" has fields that most of the couplings cancel.
        """
        coupled = np.sqrt(self._summed(np.zeros_like(self.fields), self.couplings**2))
        sizes = np.abs(self.fields)
        found: np.ndarray = np.where(coupled > 0, np.minimum(sizes, coupled), sizes)
        return found

    @cached_property
    def strength(self) -> np.ndarray:
        """The strength of each variable (N,): the root of the sum of its squared biases."""
        found: np.ndarray = np.sqrt(self._summed(self.moderate_fields**2, self.couplings**2))
        return found

    @cached_property
    def reach(self) -> float:
        """The widest field or coupling of the model, in log-odds at beta 1."""
        steepest = self._summed(np.abs(self.fields), np.abs(self.couplings)).max(initial=0.0)
        return float(max(2.0 * steepest, 4.0 * np.abs(self.couplings).max(initial=0.0)))

    def _summed(self, of_fields: np.ndarray, of_couplings: np.ndarray) -> np.ndarray:
        """Sum over each variable's field and couplings, (N,)."""
        n = len(of_fields)
        ends = np.bincount(self.rows, of_couplings, n) + np.bincount(self.columns, of_couplings, n)
        return np.asarray(of_fields + ends, np.float64)

    def fitting_exponent(self, cold: float) -> tuple[int, bool]:
        """Return (k, whole): biases / 2^k fit whole numbers fine enough at beta `cold`.

        `whole` is False if no whole numbers are fine enough.
        """
        for widest, bits in (NARROW_RANGE, WIDE_RANGE):
            k = math.frexp(self.reach / widest)[1]
            if cold * 2.0 ** (self.exponent + k - bits) <= MAX_ROUNDING_LOG_ODDS:
                return self.exponent + k, True
        return self.exponent, False


def read_biases(bqm: Any) -> SpinBiases:
    """Read the biases of a dimod.BinaryQuadraticModel of either kind."""
    spins = bqm.change_vartype("SPIN", inplace=False)
    linear, (rows, columns, quadratic), _ = spins.to_numpy_vectors()
    biases = np.concatenate([linear, quadratic]).astype(np.float64)
    strong = float(np.abs(biases).max(initial=0.0))
    if not strong < 2.0**MAX_EXPONENT:
        raise ModelError(
            f"expected finite biases below 2^{MAX_EXPONENT}, got {strong}: use smaller ones as "
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
