"""Sweeps and exchanges of a ladder on binary variables with pair interactions.

As in `layouts.field_arrays` a conditional is a sigmoid of a field, here times beta,

    pi_r(X_i = 1 | x) = sigmoid(beta_r field_i),   field_i = alone_i + sum over j of J_ij x_j

and fields and couplings are whole numbers at scale 2^24, kept as doubles, which hold them exactly:
fields follow flips and exchanges, and are what they would be if they were summed anew. Rungs lie
side by side, so that the loops over them, which have no branches, are vector code.

An exchanged component takes its fields along. How much it is worth is known from them, too:
S(hot) - S(cold) is the sum over its variables of (hot - cold) times the mean of both fields.
"""

from typing import NamedTuple

import numpy as np

from herded.draws.random import draw_scalar
from herded.layouts.arrays import shuffle
from herded.layouts.field_arrays import FIELD_ONE, Couplings, fixed_sigmoid, sigmoid_table
from herded.layouts.scan import RANDOM
from herded.moves.components import accepts, respace_in_time, swap_variable
from herded.moves.ladder_sweeps import finish
from herded.system.arrays import lock
from herded.system.jit import jit
from herded.system.stream import draw

_0, _1, _31, _33 = np.uint64(0), np.uint64(1), np.uint64(31), np.uint64(33)


class LinkArrays(NamedTuple):
    """Couplings by variable."""

    alone: np.ndarray  # (N,) the field where all neighbours are 0
    link_start: np.ndarray  # (N+1,)
    neighbour: np.ndarray
    coupling: np.ndarray
    sigmoid: np.ndarray  # uint32 at scale 2^31, from -23 to 23


def compile_links(c: Couplings) -> LinkArrays:
    """Lay the couplings out as doubles."""
    start = np.searchsorted(c.first, np.arange(len(c.alone) + 1))
    alone, coupling = c.alone.astype(np.float64), c.coupling.astype(np.float64)
    return lock(LinkArrays(alone, start, c.second.astype(np.uint64), coupling, sigmoid_table()))


@jit
def field_ladder(q, scan, run, key, m, tally, ones, width, block):
    """Sweep all rungs and exchange components, or whole states, len(block) times."""
    x, betas = m.x, m.betas
    alone, link_start, neighbour, coupling, sigmoid = q
    rungs, n, order = np.uint64(len(betas)), np.uint64(len(alone)), scan.order.copy()
    pairs = (rungs + _1) >> _1  # of rungs that share the bits of a draw
    fields, change = sum_fields(q, x, rungs), np.empty(rungs)
    bits = np.empty(2 * pairs, np.uint64)
    met, stack = np.zeros(n, np.int64), np.empty(n, np.int64)
    for s in range(len(block)):
        sweep = run.sweep + s
        clock = np.uint64(sweep) * n
        if scan.policy[0] == RANDOM:
            shuffle(order, scan.order, run.phase_key, clock)
        for o in range(len(order)):
            i = np.uint64(order[o])
            at, name = i * rungs, (clock + i) * pairs
            for pair in range(pairs):
                both = draw(key, name + pair)
                bits[_1 * pair] = both
                bits[pairs + pair] = both << _31
            p, moves = np.uint32(0), 0.0
            for r in range(rungs):
                p = fixed_sigmoid(np.int64(fields[at + r] * betas[r]), sigmoid)
                new = draw_scalar(bits[r], p)
                change[r] = np.float64(new) - np.float64(x[at + r])
                moves += abs(change[r])
                x[at + r] = new
            if len(tally):
                tally[i] += p
            if moves != 0.0:
                for e in range(link_start[i], link_start[i + _1]):
                    to, strength = neighbour[e] * rungs, coupling[e]
                    for r in range(rungs):
                        fields[to + r] += strength * change[r]
        finish(m, ones, width, block, s)
        exchange_fields(q, m, fields, run.key, sweep, met, stack)
        respace_in_time(m, sweep)


@jit
def sum_fields(q, x, rungs):
    """The fields of all variables on all rungs."""
    n = len(q.alone)
    fields = np.empty(np.uint64(n) * rungs)
    for i in range(n):
        at = np.uint64(i) * rungs
        for r in range(rungs):
            fields[at + r] = q.alone[i]
        for e in range(q.link_start[i], q.link_start[i + 1]):
            for r in range(rungs):
                fields[at + r] += q.coupling[e] * np.float64(x[q.neighbour[e] * rungs + r])
    return fields


@jit
def exchange_fields(q, m, fields, key, sweep, met, stack):
    """The exchanges after sweep number `sweep`: even pairs of rungs, odd ones after the next.

    A variable is met on rung r in this sweep where met[i] says so.
    """
    x, rungs, n = m.x, np.uint64(len(m.betas)), len(q.alone)
    for r in range(sweep % 2, len(m.betas) - 1, 2):
        hot, stamp = np.uint64(r), sweep * len(m.betas) + r + 1
        gap = (m.betas[r + 1] - m.betas[r]) / FIELD_ONE
        clock = np.uint64((sweep * len(m.betas) + r) * n)
        m.tried[r] += n
        size, difference, total = 0, 0.0, 0.0
        for i in range(n):
            at = np.uint64(i) * rungs + hot
            if x[at] == x[at + _1] or met[i] == stamp:
                continue
            size, change = gather_fields(q, m, fields, hot, i, stamp, met, stack, size)
            difference += change
            total += change
            if not m.is_whole:
                bits = draw(key, clock + np.uint64(i))
                if accepts(m, r, size, gap * difference, bits):
                    swap_fields(q, m, fields, r, stack, size)
                size, difference = 0, 0.0
        m.apart[r] -= gap * total * n
        if size and accepts(m, r, size, gap * difference, draw(key, clock)):
            swap_fields(q, m, fields, r, stack, size)


@jit
def gather_fields(q, m, fields, hot, first, stamp, met, stack, size):
    """Add the component of variable `first` to the stack; its new size, and S(hot) - S(cold)."""
    x, rungs = m.x, np.uint64(len(m.betas))
    link_start, neighbour = q.link_start, q.neighbour
    met[first] = stamp
    stack[size] = first
    at, difference = size, 0.0
    size += 1
    while at < size:
        v = np.uint64(stack[at])
        at += 1
        a = v * rungs + hot
        both = fields[a] + fields[a + _1]
        difference += 0.5 * (both if x[a] > x[a + _1] else -both)
        for e in range(link_start[v], link_start[v + _1]):
            u = neighbour[e]
            b = u * rungs + hot
            if x[b] != x[b + _1] and met[u] != stamp:
                met[u] = stamp
                stack[size] = u
                size += 1
    return size, difference


@jit
def swap_fields(q, m, fields, r, stack, size):
    """Exchange the variables on the stack; those around them, alike on both rungs, feel it."""
    x, rungs, hot = m.x, np.uint64(len(m.betas)), np.uint64(r)
    for at in range(size):
        v = np.uint64(stack[at])
        a = v * rungs + hot
        change = np.float64(x[a + _1]) - np.float64(x[a])
        for e in range(q.link_start[v], q.link_start[v + _1]):
            b = q.neighbour[e] * rungs + hot
            fields[b] += q.coupling[e] * change
            fields[b + _1] -= q.coupling[e] * change
    for at in range(size):
        swap_variable(m, r, r, stack[at])
