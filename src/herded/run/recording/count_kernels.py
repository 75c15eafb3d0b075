"""Compute counts, pair counts and the best state of each part from a block of samples.

Parts are the components of the free variables. The last part has the clamped variables and the
factors that are over nothing else.
"""

from typing import NamedTuple

import numpy as np

from herded.models.factor_graph import FactorGraph
from herded.system.aligned_arrays import make_read_only, start_offsets
from herded.system.compilation.jit import jit

SAMPLES_PER_PASS = 64  # samples that are scored together
VARIABLES_PER_GROUP = 2**13  # variables of a group: few enough for the nearest cache


@jit
def count_ones_in_samples(block, counts, first, last):
    """Add the number of samples with x_i = 1 to counts[i], for some groups of variables.

    Bytes are counted in bytes, as many at once as a register holds, and widened before they could
    overflow.
    """
    part = np.empty(VARIABLES_PER_GROUP, np.uint8)
    for group in range(first, last):
        start = np.uint64(group * VARIABLES_PER_GROUP)
        rest = np.uint64(len(counts)) - start
        n = rest if rest < VARIABLES_PER_GROUP else np.uint64(VARIABLES_PER_GROUP)
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
def drain_counts(ones, counts):
    """Add ones to counts, and set ones to 0."""
    for i in range(len(ones)):
        counts[i] += ones[i]
        ones[i] = 0


@jit
def count_states_in_samples(block, width, counts):
    """Add the number of samples with x_i = k to counts[i * width + k]."""
    for s in range(len(block)):
        for i in range(block.shape[1]):
            counts[i * width + block[s, i]] += 1


@jit
def count_pairs_in_samples(block, first, second, width, counts):
    """Add the samples with edge e at (a, b) to counts[e * width^2 + a * width + b]."""
    for s in range(len(block)):
        for e in range(len(first)):
            a, b = np.int64(block[s, first[e]]), np.int64(block[s, second[e]])
            counts[(e * width + a) * width + b] += 1


class ComponentFactorArrays(NamedTuple):
    """Factors and variables, each sorted by the part they are in."""

    first_factor: np.ndarray  # (P+1,) factors of each part, in the order of the model
    factor_start: np.ndarray  # (F+1,) into the next two
    variable: np.ndarray  # uint32
    radix: np.ndarray  # its cardinality
    table_start: np.ndarray  # (F,) into log_tables
    log_tables: np.ndarray
    first_member: np.ndarray  # (P+1,) variables of each part
    member: np.ndarray


def sort_factors_by_component(
    graph: FactorGraph, part: np.ndarray, n_parts: int
) -> ComponentFactorArrays:
    """Sort a `FactorGraph` by `part` (N,): the number of each variable's part."""
    arity = np.diff(graph.factor_start)
    slot_factor = np.repeat(np.arange(graph.n_factors), arity)
    free = graph.evidence[graph.factor_variables] < 0
    of_factor = np.full(graph.n_factors, n_parts - 1)
    of_factor[slot_factor[free]] = part[graph.factor_variables[free]]
    factors = np.argsort(of_factor, kind="stable")
    slots = np.argsort(of_factor[slot_factor], kind="stable")
    variables = graph.factor_variables[slots]
    return make_read_only(
        ComponentFactorArrays(
            first_factor=start_offsets(np.bincount(of_factor, minlength=n_parts)),
            factor_start=start_offsets(arity[factors]),
            variable=variables.astype(np.uint32),
            radix=graph.cardinalities[variables],
            table_start=graph.table_start[factors],
            log_tables=graph.log_tables,
            first_member=start_offsets(np.bincount(part, minlength=n_parts)),
            member=np.argsort(part, kind="stable"),
        )
    )


@jit
def update_best_states(parts, block, best_score, best, first, last):
    """Store each part of a sample that scores higher than before.

    Part by part and several samples at once, so that a factor's table is in cache for all of them.
    """
    first_factor, factor_start, variable = parts.first_factor, parts.factor_start, parts.variable
    radix, table_start, log_tables = parts.radix, parts.table_start, parts.log_tables
    first_member, member = parts.first_member, parts.member
    scores, entry = np.empty(SAMPLES_PER_PASS), np.empty(SAMPLES_PER_PASS, np.int64)
    for c in range(first, last):
        for start in range(0, len(block), SAMPLES_PER_PASS):
            samples = block[start : start + SAMPLES_PER_PASS]
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
