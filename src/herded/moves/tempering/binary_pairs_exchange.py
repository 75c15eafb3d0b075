"""Exchanges between rungs of binary variables with pair interactions, by their fields.

What a component is worth is known from the fields of its variables: S(hot) - S(cold) is the sum
over them of (hot - cold) times the mean of both fields
(`moves.tempering.binary_pairs_ladder_sweeps`). The variables of a component are written one after
another without asking whether to, since what a flood of a few variables waits for is branches that
were guessed wrong.
"""

from typing import NamedTuple

import numpy as np

from herded.layouts.binary_pairs.arrays import FIELD_ONE, Couplings, sigmoid_table
from herded.moves.tempering.replica_exchange import is_exchange_accepted, swap_variable
from herded.system.aligned_arrays import make_read_only
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

_1 = np.uint64(1)


class CouplingArrays(NamedTuple):
    """Couplings by variable, at scale 2^24, as doubles, which hold them exactly."""

    alone: np.ndarray  # (N,) the field where all neighbours are 0
    link_start: np.ndarray  # (N+1,)
    neighbour: np.ndarray
    coupling: np.ndarray
    sigmoid: np.ndarray  # uint32 at scale 2^31, from -23 to 23


def compile_coupling_arrays(c: Couplings) -> CouplingArrays:
    """Lay the couplings out."""
    start = np.searchsorted(c.first, np.arange(len(c.alone) + 1)).astype(np.uint64)
    alone, coupling = c.alone.astype(np.float64), c.coupling.astype(np.float64)
    return make_read_only(
        CouplingArrays(alone, start, c.second.astype(np.uint32), coupling, sigmoid_table())
    )


@jit
def exchange_binary_pairs(q, m, key, sweep, is_open, queue):
    """Exchange after sweep number `sweep`: even pairs of rungs, then odd ones."""
    x, rungs, n = m.x, np.uint64(len(m.betas)), len(q.alone)
    for r in range(sweep % 2, len(m.betas) - 1, 2):
        hot = np.uint64(r)
        gap = (m.betas[r + 1] - m.betas[r]) / FIELD_ONE
        clock = np.uint64((sweep * len(m.betas) + r) * n)
        m.tried[r] += n
        for i in range(n):
            at = np.uint64(i) * rungs + hot
            is_open[i] = x[at] != x[at + _1]
        size, difference, total = 0, 0.0, 0.0
        for i in range(n):
            if not is_open[i]:
                continue
            begin, size = size, flood_fill(q, i, is_open, queue, size)
            change = component_gain(q, x, rungs, hot, queue, begin, size)
            difference += change
            total += change
            if not m.is_whole:
                if is_exchange_accepted(
                    m, r, size, gap * difference, random_bits(key, clock + np.uint64(i))
                ):
                    swap_component(m, r, queue, size)
                size, difference = 0, 0.0
        m.apart[r] -= gap * total * n
        if size and is_exchange_accepted(m, r, size, gap * difference, random_bits(key, clock)):
            swap_component(m, r, queue, size)


@jit
def flood_fill(q, first, is_open, queue, size):
    """Add the open variables that are linked with `first`, which are no longer open then.

    Gives the new size of the queue, which has room for one more than there are variables.
    """
    is_open[first] = 0
    queue[size] = first
    at = size
    size += 1
    while at < size:
        v = np.uint64(queue[at])
        at += 1
        for e in range(q.link_start[v], q.link_start[v + _1]):
            u = q.neighbour[e]
            queue[size] = u
            size += np.int64(is_open[u])
            is_open[u] = 0
    return size


@jit
def component_gain(q, x, rungs, hot, queue, begin, end):
    """Return S(hot) - S(cold) of the component in queue[begin:end]."""
    total = 0.0
    for k in range(begin, end):
        v = np.uint64(queue[k])
        both = 2.0 * q.alone[v]
        for e in range(q.link_start[v], q.link_start[v + _1]):
            b = np.uint64(q.neighbour[e]) * rungs + hot
            both += q.coupling[e] * np.float64(x[b] + x[b + _1])
        a = v * rungs + hot
        total += (np.float64(x[a]) - np.float64(x[a + _1])) * both
    return 0.5 * total


@jit
def swap_component(m, r, queue, size):
    """Exchange the variables in the queue between rungs r and r + 1."""
    for k in range(size):
        swap_variable(m, r, r, queue[k])
