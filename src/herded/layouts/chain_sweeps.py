"""Chains side by side: the graph is read once for up to 64 of them.

A variable's states in all chains are the bits of one word, so a neighbour is one load for all, and
what it does to the fields or rows of the chains is a loop without branches over lanes, which the
compiler vectorises. Only weights are each chain's own. The bits of every chain are those it has
alone (`site_sweeps`): a sweep visits the variables in the same order.
"""

import numpy as np

from herded.draws.herded import herd_scalar
from herded.draws.modes import DRAW, MAX_BINS, POOLED, SHARED
from herded.draws.phases import bin_scalar, bin_shift, bins_at, split_pools
from herded.draws.random import draw_scalar
from herded.layouts.field_arrays import coupling_of, fixed_sigmoid, near_row, neighbour_of
from herded.system.jit import jit
from herded.system.stream import draw

_1, _2, _3, _4 = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


@jit
def scalar_together(t, q, c, order, sweep, sweeps, keys, x, w, tally, blocks):
    """Conditionals from tables `t` or from fields `q`; the other is None, as in `site_sweeps`.

    x (C, N), w and tally (C, ..), blocks (C, at least `sweeps`, N).
    """
    mode, chains, n = len(c.mode), x.shape[0], x.shape[1]
    plane, size, flat = c.size // MAX_BINS, w.shape[1], w.reshape(-1)
    words = _words_of(x)
    if t is not None:
        entry_start, row_start, p_table, shared = t.entry_start, t.row_start, t.p, c.shared
        n_start, neighbour, rows = t.neighbour_start, t.neighbour, np.empty(chains, np.uint64)
    if q is not None:
        alone, near, far_start, far, sigmoid = q.alone, q.near, q.far_start, q.far, q.sigmoid
        fields = np.empty(chains, np.int64)
    for s in range(sweeps):
        clock, shift = np.uint64(sweep + s) * np.uint64(n), bin_shift(bins_at(sweep + s))
        if mode == POOLED:
            _split_all(w, order, c.pool_start, c.width, plane, sweep + s)
        for o in range(len(order)):
            i = np.uint32(order[o])
            if t is not None:
                rows[:] = 0
                for e in range(n_start[i], n_start[i + 1]):
                    _append_bits(rows, words[neighbour[e]])
            if q is not None:
                _near_fields(fields, alone[i], near, near_row(i), words)
                e = np.uint64(far_start[i])
                while far[e]:
                    _add_coupling(fields, coupling_of(far[e]), words[neighbour_of(far[e])])
                    e += _1
            word = np.uint64(0)
            for k in range(chains):
                if t is not None:
                    row = np.int64(rows[k])
                    at = entry_start[i] + row
                    p = p_table[at]
                    if mode == SHARED:
                        at = np.int64(shared[row_start[i] + row])
                if q is not None:
                    p = fixed_sigmoid(fields[k], sigmoid)
                if mode == DRAW:
                    new = np.uint32(draw_scalar(draw(keys[k], clock + np.uint64(i)), p))
                else:
                    if mode == POOLED:
                        at = i + bin_scalar(p, shift) * plane
                    new = herd_scalar(flat, np.uint64(k * size + at), p)
                word |= np.uint64(new) << np.uint64(k)
                blocks[k, s, i] = new
                if tally.shape[1]:
                    tally[k, i] += p
            words[i] = word
    _write_states(words, x)


@jit
def _append_bits(rows, word):
    """One step of Horner's rule in every chain."""
    for k in range(len(rows)):
        rows[k] = (rows[k] << _1) | ((word >> np.uint64(k)) & _1)


@jit
def _near_fields(fields, alone, near, row, words):
    """The fields of a variable with the couplings of its NEAR first neighbours.

    These are written out to stay in registers: with a loop over neighbours outside that over chains
    fields would go to memory and back for each of them, and few chains would gain nothing.
    """
    a, b, c, d = _ends(near, row, words)
    e, f, g, h = _ends(near, row + _4, words)
    to_a, to_b, to_c, to_d = _couplings(near, row)
    to_e, to_f, to_g, to_h = _couplings(near, row + _4)
    for k in range(len(fields)):
        near_four = _of(a, to_a, k) + _of(b, to_b, k) + _of(c, to_c, k) + _of(d, to_d, k)
        next_four = _of(e, to_e, k) + _of(f, to_f, k) + _of(g, to_g, k) + _of(h, to_h, k)
        fields[k] = alone + near_four + next_four


@jit
def _ends(near, at, words):
    """The words of the neighbours at the ends of four links."""
    return (
        words[neighbour_of(near[at])],
        words[neighbour_of(near[at + _1])],
        words[neighbour_of(near[at + _2])],
        words[neighbour_of(near[at + _3])],
    )


@jit
def _couplings(near, at):
    return (
        coupling_of(near[at]),
        coupling_of(near[at + _1]),
        coupling_of(near[at + _2]),
        coupling_of(near[at + _3]),
    )


@jit
def _of(word, coupling, k):
    """What a neighbour adds to the field in chain k."""
    return coupling & -np.int64((word >> np.uint64(k)) & _1)


@jit
def _add_coupling(fields, coupling, word):
    """The same for one more neighbour, in every chain."""
    for k in range(len(fields)):
        fields[k] += _of(word, coupling, k)


@jit
def _split_all(w, order, pool_start, width, plane, sweep):
    for k in range(len(w)):
        split_pools(w[k], order, pool_start, width, plane, sweep)


@jit
def _words_of(x):
    """Bit k of word i is the state of variable i in chain k."""
    words = np.zeros(x.shape[1], np.uint64)
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            words[i] |= (np.uint64(x[k, i]) & _1) << np.uint64(k)
    return words


@jit
def _write_states(words, x):
    """The other way; what is clamped to a third state stays there."""
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            x[k, i] ^= (np.uint64(x[k, i]) ^ (words[i] >> np.uint64(k))) & _1
