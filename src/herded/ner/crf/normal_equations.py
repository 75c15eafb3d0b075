"""Normal equations in fixed steps, because BLAS and LAPACK round differently on each CPU.

They have a few dozen unknowns, so speed does not matter here.
"""

import numpy as np

from herded.system.compilation.jit import jit

MIN_PIVOT = 1e-30  # smallest pivot: rounding may leave less


@jit
def gram_matrix(parts):
    """Compute parts^T parts."""
    rows, width = parts.shape
    total = np.zeros((width, width))
    for s in range(rows):
        for i in range(width):
            for j in range(width):
                total[i, j] += parts[s, i] * parts[s, j]
    return total


@jit
def solve_symmetric(matrix, right):
    """Solve matrix x = right for a symmetric positive matrix, as L D L^T x."""
    n = len(right)
    lower, pivots, x = matrix.copy(), np.empty(n), right.copy()
    for j in range(n):
        pivots[j] = max(lower[j, j], MIN_PIVOT)
        for i in range(j + 1, n):
            lower[i, j] /= pivots[j]
        for i in range(j + 1, n):
            for k in range(j + 1, i + 1):
                lower[i, k] -= lower[i, j] * lower[k, j] * pivots[j]
    for i in range(n):
        for k in range(i):
            x[i] -= lower[i, k] * x[k]
    for i in range(n):
        x[i] /= pivots[i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= lower[k, i] * x[k]
    return x
