"""Compute counts, pair counts and the best state of each part from a block of samples."""

import numpy as np

from herded.system.jit import jit

AT_ONCE = 64  # samples that are scored together
AT_HAND = 2**13  # variables of a group: few enough for the nearest cache


@jit
def count_ones(block, counts, first, last):
    """counts[i] += how many samples have x_i = 1: binary variables, groups first..last-1 of them.

    Bytes are counted in bytes, as many at once as a register holds, and widened before they could
    overflow.
    """
    part = np.empty(AT_HAND, np.uint8)
    for group in range(first, last):
        start = np.uint64(group * AT_HAND)
        rest = np.uint64(len(counts)) - start
        n = rest if rest < AT_HAND else np.uint64(AT_HAND)
        for early in range(0, len(block), 255):
            late = early + 255 if early + 255 < len(block) else len(block)
            for i in range(n):
                part[i] = 0
            for s in range(early, late):
                for i in range(n):
                    part[i] += block[s, start + i]
            for i in range(n):
                counts[start + i] += part[i]


@jit
def take_ones(ones, counts):
    """counts += ones, and set ones to 0."""
    for i in range(len(ones)):
        counts[i] += ones[i]
        ones[i] = 0


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
def keep_best(parts, block, best_score, best, first, last):
    """Where a part of a sample scores higher than ever, remember it; parts first..last-1.

    Part by part and several samples at once, so that a factor's table is in cache for all of them.
    """
    first_factor, factor_start, variable = parts.first_factor, parts.factor_start, parts.variable
    radix, table_start, log_tables = parts.radix, parts.table_start, parts.log_tables
    first_member, member = parts.first_member, parts.member
    scores, entry = np.empty(AT_ONCE), np.empty(AT_ONCE, np.int64)
    for c in range(first, last):
        for start in range(0, len(block), AT_ONCE):
            samples = block[start : start + AT_ONCE]
            count = len(samples)
            scores[:count] = 0.0
            for f in range(first_factor[c], first_factor[c + 1]):
                entry[:count] = 0
                for v in range(factor_start[f], factor_start[f + 1]):
                    i, k = variable[v], radix[v]
                    for s in range(count):
                        entry[s] = entry[s] * k + np.int64(samples[s, i])
                table = table_start[f]
                for s in range(count):
                    scores[s] += log_tables[table + entry[s]]
            for s in range(count):
                if scores[s] > best_score[c]:
                    best_score[c] = scores[s]
                    for m in range(first_member[c], first_member[c + 1]):
                        best[member[m]] = samples[s, member[m]]
