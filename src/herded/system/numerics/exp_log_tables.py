"""The constants of `herded.system.numerics.exp_log`, computed from whole numbers: the same wherever
Python runs.

Whole numbers at scale 2^160 hold far more digits than a double, and Python rounds the quotient of
two whole numbers correctly. The computation takes a millisecond or two.
"""

from math import isqrt

import numpy as np

TABLE_BITS = 160
TABLE_ONE = 1 << TABLE_BITS
PARTS = 128  # parts of an octave, in both tables
FINE_BITS = 42  # fraction bits of numbers whose small multiples and sums are exact


def scaled_log(top: int, bottom: int) -> int:
    """Compute log(top / bottom) at scale 2^160: 2 (z + z^3/3 + ..) with z = (t - b) / (t + b)."""
    z = (top - bottom) * TABLE_ONE // (top + bottom)
    square, power, total, odd = z * z >> TABLE_BITS, z, 0, 1
    while power not in (0, -1):  # shifts round down, so negative powers end at -1
        total += power // odd
        power, odd = power * square >> TABLE_BITS, odd + 2
    return 2 * total


def split_high_low(number: int) -> tuple[float, float]:
    """Split a number at scale 2^160 into a multiple of 2^-42 and the remainder."""
    high = (number + (1 << TABLE_BITS - FINE_BITS - 1)) >> TABLE_BITS - FINE_BITS
    return high / (1 << FINE_BITS), (number - (high << TABLE_BITS - FINE_BITS)) / TABLE_ONE


def exp_table() -> np.ndarray:
    """Compute 2^(j / 128), rounded, and its relative rounding error, for every j in turn."""
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
    """Compute 1 / c, a multiple of 2^-16, and log c in two parts, for 128 intervals of doubles.

    The intervals begin at bits `first`; c is near the middle of each, and 1 in interval `one`.
    """
    table = np.empty((PARTS, 3))
    for j in range(PARTS):
        middle = np.int64(first + (2 * j + 1 << 44)).view(np.float64)
        inverse = 2**16 if j == one else round(2**16 / float(middle))
        table[j] = inverse / 2**16, *split_high_low(scaled_log(2**16, inverse))
    return table.ravel()


LOG_2 = scaled_log(2, 1)
