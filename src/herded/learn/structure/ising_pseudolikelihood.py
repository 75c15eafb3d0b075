"""The pseudo-likelihood of an Ising model on all pairs: spins s = -1, 1, p(s_i | rest) by fields.

f_i = h_i + sum_j J_ij s_j, log p(s_i | rest) = -log(1 + exp(-2 s_i f_i)).
"""

import numpy as np

from herded.learn.boltzmann.rbm_kernels import soft_plus
from herded.system.compilation.jit import jit
from herded.system.numerics.exp_log import exp


@jit
def spin_pseudo_likelihood(spins, weight, field, coupling, of_field, of_coupling):
    """Return the weighted sum over rows of spins (R, N); adds its derivatives.

    of_coupling[j, i] is that of J as it stands in f_i alone: both halves belong to one coupling.
    """
    rows, n = spins.shape
    f, slope, value = np.empty(n), np.empty(n), 0.0
    for r in range(rows):
        f[:] = field
        for j in range(n):
            s, row = spins[r, j], coupling[j]
            for i in range(n):
                f[i] += s * row[i]
        for i in range(n):
            against = -2.0 * spins[r, i] * f[i]
            value -= weight[r] * soft_plus(against)
            slope[i] = weight[r] * 2.0 * spins[r, i] / (1.0 + exp(-against))
            of_field[i] += slope[i]
        for j in range(n):
            s, row = spins[r, j], of_coupling[j]
            for i in range(n):
                row[i] += s * slope[i]
    return value
