"""Sweeps of a ladder by tables: where variables have few neighbours, all that these can say.

The states of eight rungs are the bytes of a word. Shifted by their place and put together, the
words of a variable's neighbours have in every byte the number of their states on that rung, which
is where its conditional is found. Tables are refilled when temperatures change.
"""

import numpy as np

from herded.layouts.binary_pairs.arrays import fixed_sigmoid
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

MAX_TABULATED_NEIGHBOURS = 6
MAX_CONTEXT_ENTRIES = 2**20  # of tables of four bytes: more would not stay in a core's own cache
_1, _3, _8, _31, _33, _BYTE = (np.uint64(k) for k in (1, 3, 8, 31, 33, 255))


@jit
def allocate_context_table(q, rungs):
    """Allocate all conditionals; empty where sums of couplings are better."""
    most = np.int64(0)
    for i in range(len(q.alone)):
        links = np.int64(q.link_start[i + 1] - q.link_start[i])
        most = links if links > most else most
    size = len(q.alone) * rungs << min(most, MAX_TABULATED_NEIGHBOURS)
    fits = rungs % 8 == 0 and most <= MAX_TABULATED_NEIGHBOURS and size <= MAX_CONTEXT_ENTRIES
    return np.empty(size if fits else 0, np.uint32)


@jit
def fill_context_table(q, betas, table):
    """Tabulate p of every variable, state of its neighbours, and rung."""
    rungs = len(betas)
    row = len(table) // (len(q.alone) * rungs)
    for i in range(len(q.alone)):
        first = q.link_start[i]
        for c in range(1 << np.int64(q.link_start[i + 1] - first)):
            field = q.alone[i]
            for k in range(q.link_start[i + 1] - first):
                field += q.coupling[first + k] * np.float64(c >> np.int64(k) & 1)
            at = (i * row + c) * rungs
            for r in range(rungs):
                table[at + r] = fixed_sigmoid(np.int64(field * betas[r]), q.sigmoid)


@jit
def sweep_by_table(q, table, order, key, clock, m, tally):
    """Draw every variable on all rungs, which share the bits of a draw in pairs."""
    rungs, words = np.uint64(len(m.betas)), m.x.view(np.uint64)
    row = np.uint64(len(table) // len(q.alone))
    pairs, span = rungs >> _1, rungs >> _3
    bits = np.empty(rungs, np.uint64)
    for o in range(len(order)):
        i = np.uint64(order[o])
        name, first = (clock + i) * pairs, q.link_start[i]
        for pair in range(pairs):
            both = random_bits(key, name + pair)
            bits[_1 * pair] = both >> _33
            bits[pairs + pair] = (both << _31) >> _33
        p = np.uint64(0)
        for w in range(span):
            context, new, at = np.uint64(0), np.uint64(0), i * row + w * _8
            for k in range(q.link_start[i + _1] - first):
                context |= words[np.uint64(q.neighbour[first + k]) * span + w] << k
            for lane in range(8):
                shift = np.uint64(lane) * _8
                place = at + (context >> shift & _BYTE) * rungs + np.uint64(lane)
                p = np.uint64(table[place])
                new |= np.uint64(bits[w * _8 + np.uint64(lane)] < p) << shift
            words[i * span + w] = new
        if len(tally):
            tally[i] += np.int64(p)
