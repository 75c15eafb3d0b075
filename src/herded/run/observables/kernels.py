"""Log-scores and counts of samples, the parts of built-in observables."""

import numpy as np

from herded.system.compilation.jit import jit

SAMPLES_PER_PASS = 64  # samples that are scored together


@jit
def lattice_scores(x, unary, slope, steps, couplings, first, second, joined, scores):
    """Add the sum of the terms of a lattice in the sample x[s] to scores[s].

    Along axis a the neighbour of site i is i + steps[a], with couplings[a, i], 0 at its end; pairs
    that join the ends are listed. `slope` is unary[:, 1] - unary[:, 0] of two states, else empty.
    All are whole numbers, whose sum is the same in any order, so that it can be vectorised.
    """
    n = np.uint64(x.shape[1])
    for s in range(len(x)):
        row, total = x[s], np.int64(0)
        if len(slope):
            for i in range(n):
                total += slope[i] if row[i] != 0 else 0
        else:
            for i in range(n):
                total += unary[i, row[i]]
        for a in range(len(steps)):
            along, step = couplings[a], np.uint64(steps[a])
            for i in range(n - step):
                total += along[i] if row[i] == row[i + step] else 0
        for e in range(len(first)):
            total += joined[e] if row[first[e]] == row[second[e]] else 0
        scores[s] += total


@jit
def factor_scores(columns, factor_start, variables, strides, table_start, log_tables, scores):
    """Add the log-potentials of all factors in the sample columns[:, s] to scores[s].

    Several samples at once, which lie side by side.
    """
    entry = np.empty(SAMPLES_PER_PASS, np.int64)
    for early in range(0, columns.shape[1], SAMPLES_PER_PASS):
        count = min(SAMPLES_PER_PASS, columns.shape[1] - early)
        mine = scores[early : early + count]
        for f in range(len(table_start) - 1):
            for s in range(count):
                entry[s] = table_start[f]
            for v in range(factor_start[f], factor_start[f + 1]):
                states, stride = columns[variables[v], early : early + count], strides[v]
                for s in range(count):
                    entry[s] += stride * np.int64(states[s])
            for s in range(count):
                mine[s] += log_tables[entry[s]]


@jit
def count_row_states(x, counts):
    """Add the number of variables in state k in the sample x[s] to counts[s, k]."""
    for s in range(len(x)):
        row = x[s]
        if counts.shape[1] == 2:
            ones = 0
            for i in range(len(row)):
                ones += row[i]
            counts[s, 1] += ones
            counts[s, 0] += len(row) - ones
        else:
            for i in range(len(row)):
                counts[s, row[i]] += 1
