"""The constants of `herded.system.numerics.exp_log`, from whole numbers only: the same wherever
Python runs.

Whole numbers at scale 2^160 are exact to far more digits than a double has, and Python's quotient
of two whole numbers is correctly rounded. All of it takes a millisecond or two.
"""

from math import isqrt

import numpy as np

TABLE_BITS = 160
TABLE_ONE = 1 << TABLE_BITS
PARTS = 128  # of an octave, in both tables
FINE_BITS = 42  # bits behind the point of numbers whose small multiples and sums are exact


def scaled_log(top: int, bottom: int) -> int:
    """log(top / bottom) at scale 2^160: 2 atanh(z) = 2 (z + z^3/3 + ..), z = (t - b) / (t + b)."""
    z = (top - bottom) * TABLE_ONE // (top + bottom)
    square, power, total, odd = z * z >> TABLE_BITS, z, 0, 1
    while power not in (0, -1):  # shifts round down, so negative powers end at -1
        total += power // odd
        power, odd = power * square >> TABLE_BITS, odd + 2
    return 2 * total


def split_high_low(number: int) -> tuple[float, float]:
    """A number at scale 2^160 as a multiple of 2^-42, and what is left of it."""
    high = (number + (1 << TABLE_BITS - FINE_BITS - 1)) >> TABLE_BITS - FINE_BITS
    return high / (1 << FINE_BITS), (number - (high << TABLE_BITS - FINE_BITS)) / TABLE_ONE


def exp_table() -> np.ndarray:
    """2^(j / 128) rounded, and by which part of it that is too small, for every j in turn."""
    root = 2 * TABLE_ONE
    for _ in range(PARTS.bit_length() - 1):
        root = isqrt(root * TABLE_ONE)
    table, power = np.empty((PARTS, 2)), TABLE_ONE
    for j in range(PARTS):
        rounded = power / TABLE_ONE
        exactly = int(rounded * 2.0**52) << TABLE_BITS - 52
        table[j] = rounded, (power - exactly) / exactly
        power = power * root >> TABLE_BITS
    return table.ravel()


def log_table(first: int, one: int) -> np.ndarray:
    """Of each of 128 intervals of doubles from bits `first` on, 1 / c as a multiple of 2^-16 and
    log c in two parts, where c is near the middle, and 1 in interval number `one`."""
    table = np.empty((PARTS, 3))
    for j in range(PARTS):
        middle = np.int64(first + (2 * j + 1 << 44)).view(np.float64)
        inverse = 2**16 if j == one else round(2**16 / float(middle))
        table[j] = inverse / 2**16, *split_high_low(scaled_log(2**16, inverse))
    return table.ravel()


LOG_2 = scaled_log(2, 1)
