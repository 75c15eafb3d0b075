"""What is computed from a block of samples: counts, pair counts and scores."""

import numpy as np

from herded.jit import jit


@jit
def count_ones(block, counts):
    """counts[i] += how many samples have x_i = 1 (binary variables)."""
    n = block.shape[1]
    part = np.zeros(n, np.int32)
    for s in range(len(block)):
        row = block[s]
        for i in range(n):
            part[i] += row[i]
    for i in range(n):
        counts[i] += part[i]


@jit
def count_states(block, width, counts):
    """counts[i * width + k] += how many samples have x_i = k."""
    for s in range(len(block)):
        for i in range(block.shape[1]):
            counts[i * width + block[s, i]] += 1


@jit
def count_pairs(block, first, second, width, counts):
    """counts[e * width^2 + a * width + b] += how many samples have edge e at (a, b)."""
    for s in range(len(block)):
        for e in range(len(first)):
            a, b = np.int64(block[s, first[e]]), np.int64(block[s, second[e]])
            counts[(e * width + a) * width + b] += 1


@jit
def score_parts(block, factor_start, variables, strides, table_start, log_tables, part, scores):
    """scores[s, c] = log-score of component c in sample s; part[f] is factor f's component."""
    scores[:] = 0.0
    for s in range(len(block)):
        for f in range(len(factor_start) - 1):
            at = table_start[f]
            for v in range(factor_start[f], factor_start[f + 1]):
                at += np.int64(block[s, variables[v]]) * strides[v]
            scores[s, part[f]] += log_tables[at]


@jit
def keep_best(block, scores, owner, best_score, best):
    """Where a component scores higher than ever, remember its part of the sample."""
    n_parts = scores.shape[1]
    better = np.empty(n_parts, np.bool_)
    for s in range(len(block)):
        found = False
        for c in range(n_parts):
            better[c] = scores[s, c] > best_score[c]
            if better[c]:
                best_score[c] = scores[s, c]
                found = True
        if found:
            for i in range(block.shape[1]):
                if better[owner[i]]:
                    best[i] = block[s, i]
