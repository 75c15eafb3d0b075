"""Convert between potentials, which files have, and their logarithms, which models have.

log and exp do not invert each other exactly. Reading takes the logarithm of a file's potential, so
writing looks for a potential whose logarithm is exactly the model's: reading it again then gives
the same bits.
"""

import math

import numpy as np

from herded.errors import ModelError
from herded.models.factor_graph import FactorGraph
from herded.system.exp import exp_array, log_array

HIGHEST = 709.0  # exp of it is a float
ROUNDING = 2.0**-52  # the distance of 1 and the next float
NEIGHBOURS = (1, -1, 2, -2)  # floats beside exp(x), the nearest first


def log_of(potentials: np.ndarray) -> np.ndarray:
    """The logarithms of numbers of 0 or more; -inf for 0. A file is one model on every machine."""
    return log_array(potentials)


def exp_of(log_potentials: np.ndarray) -> np.ndarray:
    """Floats whose logarithm, as `log_of` takes it, is the one given.

    There is one wherever the given logarithm is that of a float. For others the nearest float is
    taken, whose logarithm differs by at most ROUNDING, relatively, if exp does not overflow.
    """
    best = exp_array(log_potentials)
    missed = np.flatnonzero(log_of(best) != log_potentials)
    for steps in NEIGHBOURS:
        beside = best[missed]
        for _ in range(abs(steps)):
            beside = np.nextafter(beside, math.copysign(math.inf, steps))
        found = log_of(beside) == log_potentials[missed]
        best[missed[found]] = beside[found]
        missed = missed[~found]
    return best


def table_potentials(model: FactorGraph) -> np.ndarray:
    """The potentials of all factors, one after another.

    A factor with potentials above 1e308 or below 1e-308 is multiplied with a constant: the
    distribution stays the same, its normalising constant changes.
    """
    result = exp_of(model.log_tables)
    lost = np.flatnonzero(_lost(result, model.log_tables))
    for f in np.unique(np.searchsorted(model.table_start, lost, side="right") - 1).tolist():
        table = slice(model.table_start[f], model.table_start[f + 1])
        result[table] = _moved(model.log_tables[table], f)
    return result


def _moved(log_table: np.ndarray, f: int) -> np.ndarray:
    high = log_table.max()
    moved = log_table - (high - HIGHEST)
    result = exp_of(moved)
    if _lost(result, moved).any():
        low = log_table[np.isfinite(log_table)].min()
        raise ModelError(
            f"expected log-potentials within 1400 of each other, so that their exp are floats, "
            f"got {low:.6g} and {high:.6g} in factor {f}: use save_model, which keeps logarithms, "
            "or -inf for what is impossible"
        )
    return result


def _lost(potentials: np.ndarray, log_potentials: np.ndarray) -> np.ndarray:
    """Where the logarithm of a potential differs from the given one by more than rounding."""
    finite = np.isfinite(log_potentials)
    back = log_of(potentials)
    with np.errstate(invalid="ignore"):  # -inf of hard zeros, which come back
        off = np.abs(back - log_potentials)
    found: np.ndarray = finite & ~(off <= ROUNDING * np.maximum(1.0, np.abs(log_potentials)))
    return found
