"""exp and log step by step, with constants from `decimal` and exact fractions for what is exact.

Bit for bit those of `herded.system.numerics.exp_log`.
"""

import math
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache

DIGITS = Context(prec=60)
LOG_2 = Fraction(DIGITS.ln(Decimal(2)))


def in_two(number):
    """The nearest multiple of 2^-42 and the float nearest to what is left."""
    high = Fraction(round(number * 2**42), 2**42)
    return float(high), float(number - high)


@cache
def power_of_two(j):
    """2^(j / 128) as a float, and how much more it is, relative to that."""
    power = Fraction(DIGITS.power(Decimal(2), Decimal(j) / 128))
    return float(power), float(power / Fraction(float(power)) - 1)


@cache
def minus_log(fraction):
    """In two parts."""
    up, down = Decimal(fraction.denominator), Decimal(fraction.numerator)
    return in_two(Fraction(DIGITS.ln(DIGITS.divide(up, down))))


STEP, TWO = in_two(LOG_2 / 128), in_two(LOG_2)


def naive_exp(x):
    """2^octave * 2^(j / 128) * e^r, the last by its series."""
    if math.isnan(x) or x == math.inf:
        return x
    if x == -math.inf:
        return 0.0
    k = round(max(-800.0, min(x, 800.0)) * float(128 / LOG_2))
    octave, j = divmod(k, 128)
    if octave > 1024 or octave < -1080:
        return math.inf if octave > 0 else 0.0
    (rounded, more), (high, low) = power_of_two(j), STEP
    r = (x - k * high) - k * low
    rest = (0.5 + r * (1 / 6)) + r * r * (1 / 24 + r * (1 / 120))
    rest = r + (more + r * r * rest)
    try:
        return math.ldexp(rounded + rounded * rest, octave)
    except OverflowError:
        return math.inf


def naive_log(x):
    """e log 2 + log c + log(1 + r), the last by its series, where x = 2^e c (1 + r)."""
    if math.isnan(x) or x < 0:
        return math.nan
    if x in (0.0, math.inf):
        return x if x else -math.inf
    m, e = math.frexp(x)
    m, e = (m, e) if m >= 1 - 75.5 / 256 else (2 * m, e - 1)
    step = 256 if m < 1 - 0.5 / 256 else 128  # intervals in 1, one of which has 1 in its middle
    middle = 1 + Fraction(math.floor((m - 1) * step + Fraction(1, 2)), step)
    if m >= 1 - 0.5 / 256 and m < 1 + 1 / 256:
        middle = Fraction(1)
    inverse = Fraction(round(2**16 / middle), 2**16)
    exactly = Fraction(m) * inverse - 1
    r = float(exactly)
    (high, low), (two_high, two_low) = minus_log(inverse), TWO
    whole = float(e * Fraction(two_high) + Fraction(high))
    low = float(exactly - Fraction(r)) + (e * two_low + low)
    square = r * r
    series = (r * (1 / 5) - 1 / 4) + square * (r * (1 / 7) - 1 / 6)
    series = square * ((r * (1 / 3) - 0.5) + square * series)
    total = whole + r
    return total + (float(Fraction(whole) + Fraction(r) - Fraction(total)) + low + series)
