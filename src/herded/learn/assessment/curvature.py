"""The largest curvature of a log-likelihood, which limits how long a stable step can be.

A step that is a Newton step of each parameter alone diverges where statistics are correlated: along
the leading eigenvector of their correlation matrix the curvature is its eigenvalue, and a step of
rate r is stable only below r = 2 / eigenvalue. Spin models on all pairs easily have eigenvalues of
30. The power method finds it from rows of data, without the (P, P) matrix.
"""

import numpy as np

from herded.learn.fitting.conditional_kernels import count_entries
from herded.learn.fitting.lbfgs import dot
from herded.learn.fitting.log_linear import replace_tables
from herded.learn.fitting.objectives import TrainingRows
from herded.system.numerics.counter_rng import random_bits_array, stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

MAX_CURVATURE_ROWS = 2_000  # an estimate within a few per cent is enough
MIN_ITERATIONS, MAX_ITERATIONS = 20, 40  # too few can stall near another eigenvector
EIGENVALUE_TOLERANCE = 0.01  # relative change of the eigenvalue at which the power method ends


def largest_curvature(
    rows: TrainingRows, variance: np.ndarray, states: np.ndarray, seed: int
) -> float:
    """Estimate the largest eigenvalue of the correlation matrix of the statistics.

    Parameters
    ----------
    rows : Rows
    variance : ndarray of shape (P,)
        The divisor of each parameter's step: the variance of its statistic, and penalties.
    states : ndarray of shape (N, R)
        The rows as columns, without unknown states.
    seed : int
        The seed of the first direction of the power method.
    """
    family = rows.family
    step = -(-states.shape[1] // MAX_CURVATURE_ROWS)
    x = np.ascontiguousarray(states[:, ::step])
    members = np.ascontiguousarray(x.T).astype(np.int64)
    scale = 1.0 / np.sqrt(variance)
    bits = random_bits_array(stream_key(seed, 0, StreamPurpose.CURVATURE_DIRECTION), family.count)
    direction = 2.0**-52 * (bits >> np.uint64(11)).astype(np.float64) - 1.0
    eigenvalue = 0.0
    for iteration in range(MAX_ITERATIONS):
        direction = direction / np.sqrt(dot(direction, direction))
        tables = np.where(family.group >= 0, family.tables(scale * direction), 0.0)
        projection = replace_tables(family.graph, tables).log_score(members)
        counts = np.zeros(len(family.group))
        weight = (projection - projection.mean()) / len(members)
        count_entries(rows.links, x, weight, counts)
        direction = scale * family.gathered(counts)
        before, eigenvalue = eigenvalue, float(np.sqrt(dot(direction, direction)))
        is_stable = abs(eigenvalue - before) <= EIGENVALUE_TOLERANCE * eigenvalue
        if eigenvalue == 0.0 or (is_stable and iteration + 1 >= MIN_ITERATIONS):
            break
    return eigenvalue
