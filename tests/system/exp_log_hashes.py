"""What exp and log give for many arguments, as hashes: for processes that import little else."""

import hashlib

import numpy as np

from herded.system.numerics import exp_log_tables
from herded.system.numerics.counter_rng import mix64
from herded.system.numerics.exp_log import exp_array, log_array

GOLDEN = {
    "exp": "68d2637c3fa208fb19e4b373085d325b4482bad5304d29506fb47da65d277fad",
    "log": "3f6aa7d307438de26a996aace199518b3685ad0fa8662ac231a0486c020ea8d9",
    "tables": "edb5d387537615f40bb8c11131ef19379e5fcdb3a17f9c7763c6eee438b00b63",
}
LENGTH = 10_000
MIX = getattr(mix64, "py_func", mix64)  # NumPy's words are as good: nothing is compiled for it


def random_bits(n):
    """Doubles of all signs and sizes, made from whole numbers."""
    with np.errstate(over="ignore"):
        return MIX(np.arange(n, dtype=np.uint64)).view(np.float64)


def exp_arguments(n):
    """Spread over all of exp's range, and as much close to 0."""
    steps = np.arange(n) - n // 2
    return np.concatenate([steps * (1494.0 / n), steps * (3.0 / n), random_bits(n)])


def log_arguments(n):
    """Of all sizes, and as many close to 1; some of no logarithm."""
    steps = np.arange(n) / n
    return np.concatenate([0.5 + 1.5 * steps, 0.99 + 0.02 * steps, random_bits(n)])


def hashes(n=LENGTH):
    """Of exp, of log, and of their tables."""
    found = {"exp": exp_array(exp_arguments(n)), "log": log_array(log_arguments(n))}
    first = 0x3FF0000000000000 - (151 << 44)
    found["tables"] = np.r_[exp_log_tables.exp_table(), exp_log_tables.log_table(first, 75)]
    return {key: hashlib.sha256(x.astype("<f8").tobytes()).hexdigest() for key, x in found.items()}
