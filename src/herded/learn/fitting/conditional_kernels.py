"""Visits of variables in many states at once: conditionals, expected entries, and draws.

A *row* is a state of all variables, either of the data or of a member of a herd. Visiting variable
i computes its conditional p(k) in every row, given the rest of the row. It is used in three ways:

    expected[e] += p(k) / d       for every factor of i, of d variables; e is the entry of its table
                                  with x_i = k and the rest as it is
    value += log p(x_i)           the pseudo-likelihood of the row
    x_i = a draw from p           in all rows, as systematic draws of members of a herd
      (draws/systematic.py)

Visits to all variables without draws give the pseudo-likelihood and (d times `expected`) the part
of its gradient that depends on parameters. With draws they are a sweep of Gibbs sampling, and
`expected` the Rao-Blackwellised statistics of the herd. Known variables of a row keep their
states.

The state of row r at variable i is x[i, r]. A table's entries are log-potentials.
"""

from typing import NamedTuple

import numpy as np

from herded.draws.fixed_point import SCALAR_ONE
from herded.draws.systematic import draw_members, fresh_phase, order_offsets, second_phase
from herded.models.factor_graph import FactorGraph
from herded.system.aligned_arrays import make_read_only, start_offsets
from herded.system.compilation.jit import jit
from herded.system.numerics.argmax_kernel import max_value
from herded.system.numerics.counter_rng import random_bits
from herded.system.numerics.exp_log import exp, log

ROWS_PER_PASS = 256  # rows visited at once without draws; they fit in a cache


class FactorLinks(NamedTuple):
    """The factors of each variable, and the other variables of each of these."""

    states: np.ndarray  # (N,)
    link_start: np.ndarray  # (N + 1,) into the next four
    table: np.ndarray  # where the factor's table starts
    stride: np.ndarray  # of the variable in it
    share: np.ndarray  # 1 / variables of the factor
    other_start: np.ndarray  # (links + 1,) into the next two
    other: np.ndarray
    other_stride: np.ndarray


def links_of(graph: FactorGraph) -> FactorLinks:
    """Return the graph as visits read it."""
    arity = np.diff(graph.factor_start)
    factor = np.repeat(np.arange(graph.n_factors), arity)
    order = np.argsort(graph.factor_variables, kind="stable")
    owner = factor[order]
    slots = np.arange(len(factor))
    others = [slots[graph.factor_start[f] : graph.factor_start[f + 1]] for f in owner.tolist()]
    kept = [part[part != s] for part, s in zip(others, order.tolist(), strict=True)]
    flat = np.concatenate([np.empty(0, np.int64), *kept])
    return make_read_only(
        FactorLinks(
            graph.cardinalities,
            start_offsets(np.bincount(graph.factor_variables, minlength=graph.n_variables)),
            graph.table_start[owner],
            graph.factor_strides[order],
            1.0 / arity[owner],
            start_offsets(arity[owner] - 1),
            graph.factor_variables[flat],
            graph.factor_strides[flat],
        )
    )


@jit
def find_entries(links, i, x, first, last, entry):
    """Find entry[l, r], the table entry of factor l of variable i in row r with x_i = 0."""
    for at in range(links.link_start[i], links.link_start[i + 1]):
        row = entry[at - links.link_start[i]]
        for r in range(last - first):
            row[r] = links.table[at]
        for o in range(links.other_start[at], links.other_start[at + 1]):
            beside, stride = x[links.other[o]], links.other_stride[o]
            for r in range(last - first):
                row[r] += beside[first + r] * stride


@jit
def find_conditionals(links, tables, i, rows, entry, p):
    """Compute p[k, r], the probability of state k in row r, from log-potentials."""
    states = links.states[i]
    for k in range(states):
        for r in range(rows):
            p[k, r] = 0.0
    for at in range(links.link_start[i], links.link_start[i + 1]):
        row, stride = entry[at - links.link_start[i]], links.stride[at]
        for k in range(states):
            for r in range(rows):
                p[k, r] += tables[row[r] + k * stride]
    for r in range(rows):
        most = p[0, r]
        for k in range(1, states):
            most = max(most, p[k, r])
        total = 0.0
        for k in range(states):
            p[k, r] = exp(p[k, r] - most)
            total += p[k, r]
        for k in range(states):
            p[k, r] /= total


@jit
def expected_entries(links, i, rows, entry, p, weight, expected):
    """Add the conditionals, times the weights of rows, to the entries they are of."""
    for at in range(links.link_start[i], links.link_start[i + 1]):
        row, stride, share = entry[at - links.link_start[i]], links.stride[at], links.share[at]
        for k in range(links.states[i]):
            for r in range(rows):
                expected[row[r] + k * stride] += share * weight[r] * p[k, r]


@jit
def most_links(links):
    """Return the largest number of links of a variable."""
    most = 1
    for i in range(len(links.states)):
        most = max(most, links.link_start[i + 1] - links.link_start[i])
    return most


@jit
def pseudo_likelihood(links, tables, x, weight, expected):
    """Return the weighted sum over rows of sum_i log p(x_i | rest); conditionals go to `expected`.

    Entries of `expected` are divided by the number of their factor's variables.
    """
    n, total = x.shape
    entry = np.empty((most_links(links), ROWS_PER_PASS), np.int64)
    p = np.empty((max_value(links.states), ROWS_PER_PASS))
    value = 0.0
    for first in range(0, total, ROWS_PER_PASS):
        last = min(first + ROWS_PER_PASS, total)
        for i in range(n):
            find_entries(links, i, x, first, last, entry)
            find_conditionals(links, tables, i, last - first, entry, p)
            expected_entries(links, i, last - first, entry, p, weight[first:last], expected)
            part = 0.0
            for r in range(last - first):
                part += weight[first + r] * log(p[x[i, first + r], r])
            value += part
    return value


@jit
def sweep_members(links, tables, known, x, key, order_key, sweep, sweeps, orders, weight, expected):
    """Run sweeps of a herd with systematic draws, from sweep number `sweep` on.

    known[i, r] is a state that member r keeps at variable i, or -1; without rows all is free.
    """
    n, members = x.shape
    entry = np.empty((most_links(links), members), np.int64)
    p = np.empty((max_value(links.states), members))
    later, carried = np.empty(members, np.uint32), np.empty(members, np.uint8)
    for s in range(sweep, sweep + sweeps):
        for i in range(n):
            find_entries(links, i, x, 0, members, entry)
            find_conditionals(links, tables, i, members, entry, p)
            for r in range(members if len(known) else 0):
                if known[i, r] >= 0:
                    for k in range(links.states[i]):
                        p[k, r] = 1.0 if k == known[i, r] else 0.0
            expected_entries(links, i, members, entry, p, weight, expected)
            clock = np.uint64(s * n + i)
            draw_systematically(
                p, links.states[i], key, order_key, clock, orders, later, carried, x[i]
            )


@jit
def draw_systematically(p, states, key, order_key, clock, orders, later, carried, x):
    """Draw a state x[r] from p[:, r] systematically over all members r.

    Each member decides between state k and a later one, for k = 0, 1, ...; each k has its own
    phase.
    """
    members = len(x)
    count = np.uint64(members)
    a, b = order_offsets(random_bits(order_key, clock), orders.shape[0], count)
    x[:] = 0
    for k in range(states - 1):
        split = key + np.uint64(k)
        for r in range(members):
            later[r] = np.uint32(0)
            if x[r] == k:
                later[r] = share_behind(p, k, states, r)
        phi, second = fresh_phase(split, clock), second_phase(split, clock)
        draw_members(later, phi, second, orders.reshape(-1), a, b, carried, np.uint64(0), count)
        for r in range(members):
            x[r] += carried[r]


@jit
def share_behind(p, k, states, r):
    """Return the share of states after k among k and later ones, times 2^31; 0 and 1 are exact."""
    behind = 0.0
    for other in range(k + 1, states):
        behind += p[other, r]
    return np.uint32(behind / (behind + p[k, r]) * SCALAR_ONE)


@jit
def count_entries(links, x, weight, counts):
    """Add to counts[e] the weights of rows in which a factor is in the state of entry e."""
    n, total = x.shape
    entry = np.empty((most_links(links), ROWS_PER_PASS), np.int64)
    for first in range(0, total, ROWS_PER_PASS):
        last = min(first + ROWS_PER_PASS, total)
        for i in range(n):
            find_entries(links, i, x, first, last, entry)
            for at in range(links.link_start[i], links.link_start[i + 1]):
                row, stride = entry[at - links.link_start[i]], links.stride[at]
                for r in range(last - first):
                    e = row[r] + x[i, first + r] * stride
                    counts[e] += links.share[at] * weight[first + r]


@jit
def score_rows(links, tables, x, scores):
    """Add to scores[k, r] the score of row r under the log-potentials tables[k]."""
    n, total = x.shape
    entry = np.empty((most_links(links), ROWS_PER_PASS), np.int64)
    for first in range(0, total, ROWS_PER_PASS):
        last = min(first + ROWS_PER_PASS, total)
        for i in range(n):
            find_entries(links, i, x, first, last, entry)
            for at in range(links.link_start[i], links.link_start[i + 1]):
                row, stride = entry[at - links.link_start[i]], links.stride[at]
                for k in range(len(tables)):
                    for r in range(last - first):
                        e = row[r] + x[i, first + r] * stride
                        scores[k, first + r] += links.share[at] * tables[k, e]


@jit
def squared_statistics(links, group, weight, x, rows_weight, squares):
    """Add to squares[q] the weight of each row times the square of its statistic q."""
    n, rows = x.shape
    entry = np.empty((most_links(links), 1), np.int64)
    own = np.empty(len(squares))
    for r in range(rows):
        own[:] = 0.0
        for i in range(n):
            find_entries(links, i, x, r, r + 1, entry)
            for at in range(links.link_start[i], links.link_start[i + 1]):
                e = entry[at - links.link_start[i], 0] + x[i, r] * links.stride[at]
                if group[e] >= 0:
                    own[group[e]] += links.share[at] * weight[e]
        for q in range(len(squares)):
            squares[q] += rows_weight[r] * own[q] * own[q]
