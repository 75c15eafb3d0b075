"""A counter-based stream of random bits: u = mix64(key + golden * counter).

The finaliser is SplitMix64 (Steele, Lea, Flood 2014). A draw depends only on its key and its
counter, and not on order, threads or interruptions.
"""

from functools import lru_cache

import numpy as np

from herded.system.compilation.jit import jit

GOLDEN_RATIO_64 = np.uint64(0x9E3779B97F4A7C15)
_A, _B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
WORD_RANGE = 2**64
_27, _30, _31 = np.uint64(27), np.uint64(30), np.uint64(31)


@jit
def mix64(z):
    """Map 64-bit words one to one to words that look random."""
    z = (z ^ (z >> _30)) * _A
    z = (z ^ (z >> _27)) * _B
    return z ^ (z >> _31)


@jit
def random_bits(key, counter):
    """Return 64 random bits for `counter` in the stream `key`."""
    return mix64(key + GOLDEN_RATIO_64 * counter)


def random_bits_array(key: np.uint64, n: int) -> np.ndarray:
    """Return the draws for counters 0 to n - 1, without compiling anything."""
    z = np.arange(n, dtype=np.uint64)
    z *= GOLDEN_RATIO_64
    z += key
    z ^= z >> _30
    z *= _A
    z ^= z >> _27
    z *= _B
    z ^= z >> _31
    return z


@lru_cache(maxsize=4096)  # a small run needs few, and computing them would dominate it
def stream_key(*numbers: int) -> np.uint64:
    """Return the key of a stream named by whole numbers, such as (seed, chain, purpose)."""
    key = 0
    for number in numbers:
        z = ((key ^ int(number)) + int(GOLDEN_RATIO_64)) % WORD_RANGE
        z = ((z ^ (z >> 30)) * int(_A)) % WORD_RANGE
        z = ((z ^ (z >> 27)) * int(_B)) % WORD_RANGE
        key = z ^ (z >> 31)
    return np.uint64(key)
