"""The arrays of a chain as kernels take them, and the parts of a sweep that kernels share."""

from typing import NamedTuple

import numpy as np

from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits


class ChainArrays(NamedTuple):
    """The arrays of a chain that kernels change."""

    x: np.ndarray  # current state
    y: np.ndarray  # where new values go: x itself, or another array for the jacobi scan
    w: np.ndarray  # weights
    tally: np.ndarray  # sums of the conditionals seen, empty if not asked for
    # Hashed weights; empty for others. Segment g has the table keys[slot_start[g]:][:slots[g]].
    keys: np.ndarray  # of all tables, 0 where empty
    slot_start: np.ndarray
    slots: np.ndarray
    filled: np.ndarray  # how many slots of each table are taken


@jit
def shuffle_visits(order, variables, key, name):
    """Write a random permutation of `variables` into `order`: a function of key and name alone."""
    for o in range(len(order)):  # a copy by NumPy takes seconds to compile
        order[o] = variables[o]
    for last in range(len(order) - 1, 0, -1):
        bits = random_bits(key + name, np.uint64(last))
        other = np.int64(bits >> np.uint64(11)) % (last + 1)
        order[last], order[other] = order[other], order[last]


@jit
def publish_jacobi_sweep(order, x, y):
    """End of a jacobi sweep: all new values become visible at once."""
    for o in range(len(order)):
        x[order[o]] = y[order[o]]
