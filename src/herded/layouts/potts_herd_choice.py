"""The conditionals of a cell of Potts sites, and how the members of a herd choose from them.

A state is written with one digit of three bits, or from nine states on with two. Each bit is a
carry of its own phase, at scale 2^24: a member that has come to a node of the tree adds its share
of the right branch, right / (left + right), to the phase of that level. Weights are
single-precision numbers, or doubles; every operation is one IEEE operation in a fixed order, so
bits are the same everywhere. A share is rounded down to a multiple of 2^-24, after roundings of the
weights and of their sums of 2^-24 each; branches of weight 0 are never taken.

Weights of four members are found at once, which spares loads. Row 4 k + i of an array is that of
state k and member i, or of state k and neighbour i.
"""

import numpy as np

from herded.layouts.potts_herd_arrays import LANES
from herded.system.jit import jit

U4, I4, Z = np.uint32, np.int32, np.uint64
ONE = I4(2**24)
CARRY, NO, NONE = U4(2**24), U4(0), np.float32(0.0)
R1, R2, R3, R4 = Z(LANES), Z(2 * LANES), Z(3 * LANES), Z(4 * LANES)
OCTET = Z(8 * 4 * LANES)  # rows of eight states


@jit
def choose_all(table, factors, planes, hot, live, masks, scales, w, sums, phases, new, cumulated):
    """New states of all members of a word, in the order of `masks`; sums of their conditionals."""
    one, above = scales
    for first in range(0, live, 4):
        b0, b1, b2, b3 = masks[first], masks[first + 1], masks[first + 2], masks[first + 3]
        if factors is None:
            weigh_equal(hot, table, b0, b1, b2, b3, w)
        else:
            weigh_unequal(hot, table, factors, b0, b1, b2, b3, w)
        for m in range(min(4, live - first)):
            if cumulated.size:
                add_conditionals(w, m, above, sums, cumulated)
            choose(w, m, planes, one, masks[first + m], phases, new, sums)


@jit
def by_count(c0, c1, c2, bit, e0, e1, e2, e3, e4):
    """A state's weight in one member, from the binary digits of how many neighbours are in it."""
    odd = U4(c0 & bit) != NO
    low = e1 if odd else e0
    high = e3 if odd else e2
    some = high if U4(c1 & bit) != NO else low
    return e4 if U4(c2 & bit) != NO else some


@jit
def weigh_equal(counts, table, b0, b1, b2, b3, w):
    """Weights of all states in four members where all couplings are equal."""
    for k in range(Z(len(table)) // Z(5 * LANES)):
        row, entry = k * R4, k * Z(5 * LANES)
        for j in range(R1):
            c0, c1, c2 = counts[row + j], counts[row + R1 + j], counts[row + R2 + j]
            e0, e1, e2 = table[entry + j], table[entry + R1 + j], table[entry + R2 + j]
            e3, e4 = table[entry + R3 + j], table[entry + R4 + j]
            w[row + j] = by_count(c0, c1, c2, b0, e0, e1, e2, e3, e4)
            w[row + R1 + j] = by_count(c0, c1, c2, b1, e0, e1, e2, e3, e4)
            w[row + R2 + j] = by_count(c0, c1, c2, b2, e0, e1, e2, e3, e4)
            w[row + R3 + j] = by_count(c0, c1, c2, b3, e0, e1, e2, e3, e4)


@jit
def product(h0, h1, h2, h3, bit, u, f0, f1, f2, f3):
    """A state's weight in one member, from which neighbours are in it."""
    u = u * f0 if U4(h0 & bit) != NO else u
    u = u * f1 if U4(h1 & bit) != NO else u
    u = u * f2 if U4(h2 & bit) != NO else u
    return u * f3 if U4(h3 & bit) != NO else u


@jit
def weigh_unequal(hot, table, f, b0, b1, b2, b3, w):
    """Weights of all states in four members where couplings differ."""
    for k in range(Z(len(table)) // R1):
        row, entry = k * R4, k * R1
        for j in range(R1):
            h0, h1, h2, h3 = hot[row + j], hot[row + R1 + j], hot[row + R2 + j], hot[row + R3 + j]
            f0, f1, f2, f3 = f[j], f[R1 + j], f[R2 + j], f[R3 + j]
            u = table[entry + j]
            w[row + j] = product(h0, h1, h2, h3, b0, u, f0, f1, f2, f3)
            w[row + R1 + j] = product(h0, h1, h2, h3, b1, u, f0, f1, f2, f3)
            w[row + R2 + j] = product(h0, h1, h2, h3, b2, u, f0, f1, f2, f3)
            w[row + R3 + j] = product(h0, h1, h2, h3, b3, u, f0, f1, f2, f3)


@jit
def step(phase, left, right, one):
    """Add the right branch's share to a phase: the new phase, and whether it carries."""
    both = left + right
    both = both if both > NONE else one  # nobody comes to a node without weight
    moved = U4(phase + U4(I4(one * right / both)))
    return moved, U4(U4(moved ^ phase) & CARRY) != NO


@jit
def choose_of_2(w, at, one, bit, phases, new, level):
    """One bit of a member's state, by its weights of two branches."""
    for j in range(R1):
        moved, right = step(phases[level + j], w[at + j], w[at + R4 + j], one)
        phases[level + j] = moved
        new[level + j] = U4(new[level + j] | (bit if right else NO))


@jit
def choose_of_4(w, at, one, bit, phases, new, level):
    """Two bits of a member's state, by its weights of four branches."""
    low = level + R1
    for j in range(R1):
        a, b = w[at + j], w[at + R4 + j]
        c, d = w[at + Z(2) * R4 + j], w[at + Z(3) * R4 + j]
        moved, h = step(phases[level + j], a + b, c + d, one)
        phases[level + j] = moved
        new[level + j] = U4(new[level + j] | (bit if h else NO))
        moved, m = step(phases[low + j], c if h else a, d if h else b, one)
        phases[low + j] = moved
        new[low + j] = U4(new[low + j] | (bit if m else NO))


@jit
def choose_of_8(w, at, one, bit, phases, new, level):
    """A digit of a member's state, by its weights of eight branches."""
    middle, low = level + R1, level + R2
    for j in range(R1):
        w0, w1 = w[at + j], w[at + R4 + j]
        w2, w3 = w[at + Z(2) * R4 + j], w[at + Z(3) * R4 + j]
        w4, w5 = w[at + Z(4) * R4 + j], w[at + Z(5) * R4 + j]
        w6, w7 = w[at + Z(6) * R4 + j], w[at + Z(7) * R4 + j]
        a, b, c, d = w0 + w1, w2 + w3, w4 + w5, w6 + w7
        moved, h = step(phases[level + j], a + b, c + d, one)
        phases[level + j] = moved
        new[level + j] = U4(new[level + j] | (bit if h else NO))
        moved, m = step(phases[middle + j], c if h else a, d if h else b, one)
        phases[middle + j] = moved
        new[middle + j] = U4(new[middle + j] | (bit if m else NO))
        a, b = w4 if h else w0, w5 if h else w1
        c, d = w6 if h else w2, w7 if h else w3
        moved, n = step(phases[low + j], c if m else a, d if m else b, one)
        phases[low + j] = moved
        new[low + j] = U4(new[low + j] | (bit if n else NO))


@jit
def choose(w, member, planes, one, bit, phases, new, sums):
    """A member's new state, written into the planes of `new`; spoils its weights."""
    at = Z(member) * R1
    if len(planes) == 2:
        choose_of_4(w, at, one, bit, phases, new, R1)
    elif len(planes) == 3:
        choose_of_8(w, at, one, bit, phases, new, Z(0))
    else:
        octets = 1 << (len(planes) - 3)
        for octet in range(Z(octets)):
            add_octet(w, at + octet * OCTET, sums, octet * R4)
        if len(planes) == 4:
            choose_of_2(sums, Z(0), one, bit, phases, new, R2)
        elif len(planes) == 5:
            choose_of_4(sums, Z(0), one, bit, phases, new, R1)
        else:
            choose_of_8(sums, Z(0), one, bit, phases, new, Z(0))
        for level in range(6 - len(planes), 3):
            octets //= 2
            keep_branch(w, at, octets * 8, bit, new, Z(level) * R1)
        choose_of_8(w, at, one, bit, phases, new, R3)


@jit
def add_octet(w, at, sums, to):
    """The weight of eight states together."""
    for j in range(R1):
        a, b = w[at + j] + w[at + R4 + j], w[at + Z(2) * R4 + j] + w[at + Z(3) * R4 + j]
        c = w[at + Z(4) * R4 + j] + w[at + Z(5) * R4 + j]
        d = w[at + Z(6) * R4 + j] + w[at + Z(7) * R4 + j]
        sums[to + j] = (a + b) + (c + d)


@jit
def keep_branch(w, at, half, bit, new, level):
    """Put the weights of the branch that was taken in the place of the left one's."""
    for k in range(Z(0), Z(half), Z(4)):
        left, right = at + k * R4, at + (k + Z(half)) * R4
        for j in range(R1):
            taken = U4(new[level + j] & bit) != NO
            a, b = w[left + j], w[left + R4 + j]
            c, d = w[left + Z(2) * R4 + j], w[left + Z(3) * R4 + j]
            e, f = w[right + j], w[right + R4 + j]
            g, h = w[right + Z(2) * R4 + j], w[right + Z(3) * R4 + j]
            w[left + j], w[left + R4 + j] = e if taken else a, f if taken else b
            w[left + Z(2) * R4 + j], w[left + Z(3) * R4 + j] = g if taken else c, h if taken else d


@jit
def add_conditionals(w, member, above, sums, cumulated):
    """Add a member's conditional at scale 2^24, cumulated over states, to sums.

    Rounded so that the last is 2^24 exactly, and that of an impossible state no more than the one
    before: `above` is a little more than 2^24.
    """
    at, octets = Z(member) * R1, Z(len(cumulated)) // Z(8 * LANES)
    for octet in range(octets):
        add_up(w, at + octet * OCTET, sums, octet == Z(0))
    for octet in range(octets):
        add_shares(w, at + octet * OCTET, octet == Z(0), above, sums, cumulated, octet * Z(8) * R1)


@jit
def add_up(w, at, sums, first):
    """Add the weights of eight states, one after the other, to those before."""
    for j in range(R1):
        t = NONE if first else sums[j]
        t = t + w[at + j] + w[at + R4 + j] + w[at + Z(2) * R4 + j] + w[at + Z(3) * R4 + j]
        t = t + w[at + Z(4) * R4 + j] + w[at + Z(5) * R4 + j]
        sums[j] = t + w[at + Z(6) * R4 + j] + w[at + Z(7) * R4 + j]


@jit
def add_shares(w, at, first, above, sums, cumulated, to):
    """Add the cumulated conditionals of eight states."""
    for j in range(R1):
        factor, t = above / sums[j], NONE if first else sums[R1 + j]
        t = t + w[at + Z(0) * R4 + j]
        cumulated[to + Z(0) * R1 + j] = added(cumulated[to + Z(0) * R1 + j], t * factor)
        t = t + w[at + Z(1) * R4 + j]
        cumulated[to + Z(1) * R1 + j] = added(cumulated[to + Z(1) * R1 + j], t * factor)
        t = t + w[at + Z(2) * R4 + j]
        cumulated[to + Z(2) * R1 + j] = added(cumulated[to + Z(2) * R1 + j], t * factor)
        t = t + w[at + Z(3) * R4 + j]
        cumulated[to + Z(3) * R1 + j] = added(cumulated[to + Z(3) * R1 + j], t * factor)
        t = t + w[at + Z(4) * R4 + j]
        cumulated[to + Z(4) * R1 + j] = added(cumulated[to + Z(4) * R1 + j], t * factor)
        t = t + w[at + Z(5) * R4 + j]
        cumulated[to + Z(5) * R1 + j] = added(cumulated[to + Z(5) * R1 + j], t * factor)
        t = t + w[at + Z(6) * R4 + j]
        cumulated[to + Z(6) * R1 + j] = added(cumulated[to + Z(6) * R1 + j], t * factor)
        t = t + w[at + Z(7) * R4 + j]
        cumulated[to + Z(7) * R1 + j] = added(cumulated[to + Z(7) * R1 + j], t * factor)
        sums[R1 + j] = t


@jit
def added(total, share):
    p = I4(share)
    return U4(total + U4(p if p < ONE else ONE))
