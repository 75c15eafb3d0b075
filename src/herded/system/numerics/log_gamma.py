"""The logarithm of the gamma function, with the same bits on every machine, as
`system.numerics.exp_log`.
"""

import numpy as np

from herded.system.compilation.jit import jit
from herded.system.numerics.exp_log import log

_HALF_LOG_TWO_PI = 0.9189385332046727
# from here on six terms of Stirling's series are exact to the last digits
_MIN_STIRLING_ARGUMENT = 16.0


@jit
def log_gamma(x):
    """Compute log Gamma(x) for x > 0."""
    shifted = np.float64(1.0)
    x = np.float64(x)
    while x < _MIN_STIRLING_ARGUMENT:  # Gamma(x) = Gamma(x + 1) / x
        shifted *= x
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    tail = 1.0 / 1188.0 + square * (-691.0 / 360360.0)
    tail = -1.0 / 1680.0 + square * tail
    tail = -1.0 / 360.0 + square * (1.0 / 1260.0 + square * tail)
    series = inverse * (1.0 / 12.0 + square * tail)
    return (x - 0.5) * log(x) - x + _HALF_LOG_TWO_PI + series - log(shifted)
