"""exp and log with the same bits on every machine, compiled or not.

Those of the C library and of NumPy differ in the last bit from one CPU or system to the next, and
one bit of one conditional changes a run. These use only +, -, * in a fixed order, a table, and
whole numbers of 32 and 64 bits for the exponent. Nothing is fused and nothing depends on the CPU,
so any language with doubles, such as JavaScript, can repeat the steps.

exp: x = k log(2) / 128 + r, e^x = 2^(k / 128) e^r, the first from a table and the second by its
series up to r^5 (Tang, "Table-driven implementation of the exponential function in IEEE
floating-point arithmetic", 1989). log: x = 2^e m, m = c (1 + r), log x = e log 2 + log c +
log(1 + r), the last by its series up to r^7 (Tang, "Table-driven implementation of the logarithm
function in IEEE floating-point arithmetic", 1990); 1 / c is short, so that r is exact without a
division. Both are within 0.52 units in the last place (ulp); where exp is subnormal, 0.76.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from herded.system.compilation.jit import jit, plain_python_if_short
from herded.system.numerics.exp_log_tables import (
    LOG_2,
    PARTS,
    TABLE_ONE,
    exp_table,
    log_table,
    split_high_low,
)

_EXP = exp_table()
_PER_PART = PARTS * TABLE_ONE / LOG_2
_PART_HIGH, _PART_LOW = split_high_low(LOG_2 // PARTS)
_SHIFT = 1.5 * 2.0**52  # adding it leaves the nearest whole number in the last bits
_SHIFT_BITS = 0x4338000000000000
_SAFE = 700.0  # up to here no step is near subnormal numbers or overflow
_LEAST, _MOST = -746.0, 710.0  # exp is 0 below and inf above
_3, _4, _5, _6, _7, _24, _120 = 1 / 3, 1 / 4, 1 / 5, 1 / 6, 1 / 7, 1 / 24, 1 / 120

_AT_ONE = 75  # the interval around 1; all of them span 0.705 to 1.41
_FIRST = 0x3FF0000000000000 - (2 * _AT_ONE + 1 << 44)
_LOG = log_table(_FIRST, _AT_ONE)
_LOG_2, _TWO_HIGH, _TWO_LOW = LOG_2 / TABLE_ONE, *split_high_low(LOG_2)
_NORMAL = 2.0**-1022
_LIFT = 2.0**54  # makes subnormal numbers normal


@jit
def exp(x):
    """Compute e^x; inf from 709.79 on, 0 below -745.14."""
    x = np.float64(x)
    far = not abs(x) < _SAFE
    if far:
        if x != x:
            return np.nan
        if x > _MOST:
            return np.inf
        if x < _LEAST:
            return 0.0
    # x = k log(2) / 128 + r, k = 128 octave + j; `rest` is e^r - 1 with the table's error in it.
    shifted = x * _PER_PART + _SHIFT
    k = np.float64(shifted).view(np.int64) - _SHIFT_BITS
    whole = shifted - _SHIFT
    r = (x - whole * _PART_HIGH) - whole * _PART_LOW
    square = r * r
    j, octave = k & (PARTS - 1), k >> 7
    rest = r + (_EXP[2 * j + 1] + square * ((0.5 + r * _6) + square * (_24 + r * _120)))
    power = _EXP[2 * j]
    if far:
        half = octave >> 1  # two steps; only the second can round or overflow
        return (power + power * rest) * _two_to(half) * _two_to(octave - half)
    power = np.int64(np.float64(power).view(np.int64) + (octave << 52)).view(np.float64)
    return power + power * rest


@jit
def _two_to(n):
    return np.int64((n + 1023) << 52).view(np.float64)


@jit
def log(x):
    """Compute the natural logarithm; -inf at 0, nan below."""
    x, lifted = np.float64(x), 0
    if not _NORMAL <= x < np.inf:
        if x == 0.0:
            return -np.inf
        if x == np.inf:
            return np.inf
        if not x > 0.0:
            return np.nan
        x, lifted = x * _LIFT, 54
    return _log(x, lifted)


@jit
def _log(x, lifted):
    """Compute log x - lifted log 2 of a normal number x."""
    bits = np.float64(x).view(np.int64)
    above = bits - _FIRST
    octave = above >> 52
    bits -= octave << 52
    j = 3 * (above >> 45 & (PARTS - 1))
    inverse = _LOG[j]
    m = np.int64(bits).view(np.float64)
    # 21 bits: its product with 1 / c is exact.
    high = np.int64((bits >> 32) << 32).view(np.float64)
    r_high, r_low = high * inverse - 1.0, (m - high) * inverse
    r = r_high + r_low
    e = np.float64(octave - lifted)
    whole = e * _TWO_HIGH + _LOG[j + 1]  # exact: multiples of 2^-42
    low = (r_high - r) + r_low + (e * _TWO_LOW + _LOG[j + 2])
    square = r * r
    tail = (r * _5 - _4) + square * (r * _7 - _6)
    series = square * ((r * _3 - 0.5) + square * tail)
    total = whole + r
    return total + (((whole - total) + r) + low + series)


@jit
def log_add_exp(a, b):
    """Compute log(e^a + e^b)."""
    a, b = np.float64(a), np.float64(b)
    if a == b:  # this covers two infinities
        return a + _LOG_2
    top, other = (a, b) if a > b else (b, a)
    if not other < top:
        return np.nan
    if other == -np.inf or top == np.inf:
        return top
    ratio = exp(other - top)
    one = 1.0 + ratio  # log(1 + ratio), with the rounding error of the sum
    return top + (log(one) + (ratio - (one - 1.0)) / one)


def exp_array(values: ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
    """Compute exp of every number as a double, into `out` if given (which may be `values`)."""
    return _each(_exp_each, values, out)


def log_array(values: ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
    """Compute log of every number in the same way; no warning at 0."""
    return _each(_log_each, values, out)


def _each(
    kernel: Callable[[np.ndarray], None], values: ArrayLike, out: np.ndarray | None
) -> np.ndarray:
    if out is None:
        out = np.array(values, np.float64, order="C")
    elif out is not values:
        out[...] = values
    flat = out.reshape(-1)  # a copy where `out` has gaps
    plain_python_if_short(kernel, len(flat))(flat)
    if not out.flags.c_contiguous:
        out[...] = flat.reshape(out.shape)
    return out


@jit
def _exp_each(values):
    for i in range(len(values)):
        values[i] = exp(values[i])


@jit
def _log_each(values):
    for i in range(len(values)):
        values[i] = log(values[i])
