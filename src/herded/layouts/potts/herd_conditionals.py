"""The conditionals of a cell of Potts sites, and the choices of herd members from them.

A state is written with one digit of three bits, or from nine states on with two. A digit is found
in a tree: a member that has come to a node adds its share of the right branch, right / (left +
right), to a phase of that node, at scale 2^31, and a carry is a step to the right. A node has two
phases, one for shares above 1/2 and one for the others: members that expect the same then make up
for each other, and energies have less noise than those of independent chains. With one phase they
would have more, and with one for all nodes of a level more still. The node that bits b lead to has
rows 2 n and 2 n + 1 of its digit's phases, n = 2^len(b) - 1 + b. All octets share the nodes of the
second digit.

Weights are single-precision numbers, or doubles; every operation is one IEEE operation in a fixed
order, so bits are the same everywhere. The share of the lighter branch is rounded to a multiple of
2^-31, and the heavier one has the rest: so a rare branch is off by a few parts of 2^24 of itself,
from roundings of weights and of their sums, and by at most 2^-32. Branches of weight 0 are never
taken.

Weights of four members are found at once, which spares loads. Row 4 k + i of an array is that of
state k and member i, or of state k and neighbour i.
"""

import numpy as np

from herded.draws.integer_types import I4, U4, U8
from herded.layouts.potts.herd_arrays import OCTET, POTTS_LANES, R1, R2, R3, R4
from herded.system.compilation.jit import jit

CARRY_BIT_U4, NO_BITS_U4, ZERO_WEIGHT, ROUNDING_HALF = (
    U4(2**31),
    U4(0),
    np.float32(0.0),
    np.float32(0.5),
)
# 0.618 of 2^32; bits that a fraction of 24 bits leaves
GOLDEN_TURN_U4, FRACTION_BITS_U4 = U4(0x9E3779B9), U4(8)
R5, R6, R7, R8, R9, R10, R11, R12, R13 = (U8(rows) * R1 for rows in range(5, 14))
R16, R20, R24, R28 = (U8(rows) * R1 for rows in (16, 20, 24, 28))
O2, O3, O4, O5, O6, O7 = (U8(octet) * OCTET for octet in range(2, 8))
CHOSEN_OCTET_AT = OCTET  # where, behind sums of weights, those of the chosen octet are


@jit
def choose_states_of_word(
    table,
    factors,
    planes,
    powers,
    hot,
    live,
    masks,
    scales,
    w,
    sums,
    phases,
    new,
    dither,
    recorded_sums,
):
    """Draw a word's members in the order of `masks`; add up their conditionals."""
    one, recorded, fraction = scales
    states = U8(len(table)) // U8(len(powers) * POTTS_LANES)
    for first in range(0, live, 4):
        b0, b1, b2, b3 = masks[first], masks[first + 1], masks[first + 2], masks[first + 3]
        if factors is None:
            weigh_equal(hot, table, powers, b0, b1, b2, b3, w)
        if factors is not None:
            fours = U8(len(factors)) // R4
            step = U8(len(hot)) // fours
            multiply_4_members(
                hot, U8(0), factors, U8(0), b0, b1, b2, b3, table, R1, U8(0), w, states
            )
            for four in range(U8(1), fours):
                multiply_4_members(
                    hot, four * step, factors, four * R4, b0, b1, b2, b3, w, R4, R1, w, states
                )
        for m in range(min(4, live - first)):
            if recorded_sums.size:
                add_lane_conditionals(w, m, recorded, fraction, dither, sums, recorded_sums)
            if len(planes) > 3:
                choose_octet(w, m, planes, one, masks[first + m], phases, new, sums)
                choose_last(sums, CHOSEN_OCTET_AT, planes, one, masks[first + m], phases, new)
            else:
                choose_last(w, U8(m) * R1, planes, one, masks[first + m], phases, new)


@jit
def weight_by_count(c0, c1, c2, bit, e0, e1, e2, e3, e4):
    """Return a state's weight in one member, from the bits of its neighbour count."""
    odd = U4(c0 & bit) != NO_BITS_U4
    low = e1 if odd else e0
    high = e3 if odd else e2
    some = high if U4(c1 & bit) != NO_BITS_U4 else low
    return e4 if U4(c2 & bit) != NO_BITS_U4 else some


@jit
def weight_of_4_or_more(c0, c1, bit, e4, e5, e6):
    """Return the weight of a state that four neighbours or more are in."""
    five = e5 if U4(c0 & bit) != NO_BITS_U4 else e4
    return e6 if U4(c1 & bit) != NO_BITS_U4 else five


@jit
def weigh_equal(counts, table, powers, b0, b1, b2, b3, w):
    """Compute weights in four members from neighbour counts up to 4 or up to 6."""
    step = U8(len(powers) * POTTS_LANES)
    for k in range(U8(len(table)) // step):
        row, entry = k * R4, k * step
        for j in range(R1):
            c0, c1, c2 = counts[row + j], counts[row + R1 + j], counts[row + R2 + j]
            e0, e1, e2 = table[entry + j], table[entry + R1 + j], table[entry + R2 + j]
            e3, e4 = table[entry + R3 + j], table[entry + R4 + j]
            m0 = m1 = m2 = m3 = e4
            if len(powers) == 7:
                e5, e6 = table[entry + R5 + j], table[entry + R6 + j]
                m0, m1 = (
                    weight_of_4_or_more(c0, c1, b0, e4, e5, e6),
                    weight_of_4_or_more(c0, c1, b1, e4, e5, e6),
                )
                m2, m3 = (
                    weight_of_4_or_more(c0, c1, b2, e4, e5, e6),
                    weight_of_4_or_more(c0, c1, b3, e4, e5, e6),
                )
            w[row + j] = weight_by_count(c0, c1, c2, b0, e0, e1, e2, e3, m0)
            w[row + R1 + j] = weight_by_count(c0, c1, c2, b1, e0, e1, e2, e3, m1)
            w[row + R2 + j] = weight_by_count(c0, c1, c2, b2, e0, e1, e2, e3, m2)
            w[row + R3 + j] = weight_by_count(c0, c1, c2, b3, e0, e1, e2, e3, m3)


@jit
def multiply_weights(h0, h1, h2, h3, bit, u, f0, f1, f2, f3):
    """Return a state's weight in one member, from which neighbours are in it."""
    u = u * f0 if U4(h0 & bit) != NO_BITS_U4 else u
    u = u * f1 if U4(h1 & bit) != NO_BITS_U4 else u
    u = u * f2 if U4(h2 & bit) != NO_BITS_U4 else u
    return u * f3 if U4(h3 & bit) != NO_BITS_U4 else u


@jit
def multiply_4_members(hot, first, f, at, b0, b1, b2, b3, u, step, apart, w, states):
    """Compute weights in four members, for four neighbours with different couplings.

    Those of state k before that are at k `step` of u, members so far `apart`.
    """
    f0, f1, f2, f3 = at, at + R1, at + R2, at + R3
    for k in range(states):
        row, o = k * R4, first + k * R4
        u0 = k * step
        u1, u2, u3 = u0 + apart, u0 + apart + apart, u0 + apart + apart + apart
        for j in range(R1):
            h0, h1, h2, h3 = hot[o + j], hot[o + R1 + j], hot[o + R2 + j], hot[o + R3 + j]
            a, b, c, d = f[f0 + j], f[f1 + j], f[f2 + j], f[f3 + j]
            w[row + j] = multiply_weights(h0, h1, h2, h3, b0, u[u0 + j], a, b, c, d)
            w[row + R1 + j] = multiply_weights(h0, h1, h2, h3, b1, u[u1 + j], a, b, c, d)
            w[row + R2 + j] = multiply_weights(h0, h1, h2, h3, b2, u[u2 + j], a, b, c, d)
            w[row + R3 + j] = multiply_weights(h0, h1, h2, h3, b3, u[u3 + j], a, b, c, d)


@jit
def lighter_share(left, right, one):
    """Return the share of the lighter of two branches, at the scale `one`, rounded."""
    both = left + right
    both = both if both > ZERO_WEIGHT else one  # no member comes to a node without weight
    return I4(one * (left if right > left else right) / both + ROUNDING_HALF)


@jit
def right_branch_shares(left, right, one):
    """Return the right branch's shares at scale 2^31, for the low and the high phase.

    At most one of them is above 0: the second for a share above 1/2, the first for others.
    """
    small, above = U4(lighter_share(left, right, one)), right > left
    return NO_BITS_U4 if above else small, U4(CARRY_BIT_U4 - small) if above else NO_BITS_U4


@jit
def move_phases_where_present(low, high, few, many, here):
    """Move the phases of a node, where a member is here: both, and bits that changed."""
    a, b = U4(low + (few if here else NO_BITS_U4)), U4(high + (many if here else NO_BITS_U4))
    return a, b, U4(U4(low ^ a) | U4(high ^ b))


@jit
def move_phases(p, left, right, one):
    """Move the phases of a node: both, and whether one carries."""
    few, many = right_branch_shares(left, right, one)
    low, high, moved = move_phases_where_present(p[0], p[1], few, many, True)
    return (low, high), U4(moved & CARRY_BIT_U4) != NO_BITS_U4


@jit
def step_of_4(p, a, b, c, d, one):
    """Move the phases of a tree of four weights: its phases, and the bits of where it leads."""
    q, h = move_phases((p[0], p[1]), a + b, c + d, one)
    few, many = right_branch_shares(c if h else a, d if h else b, one)
    a1, b1, left = move_phases_where_present(p[2], p[3], few, many, not h)
    a2, b2, right = move_phases_where_present(p[4], p[5], few, many, h)
    return (q[0], q[1], a1, b1, a2, b2), h, U4(U4(left | right) & CARRY_BIT_U4) != NO_BITS_U4


@jit
def select_leaf(h, m, w0, w1, w2, w3):
    """Return the one of four weights that two bits lead to."""
    a, b = w2 if h else w0, w3 if h else w1
    return b if m else a


@jit
def step_below(p, h, m, left, right, one):
    """Move the phases of the nodes below a tree of four; whether the one that bits lead to carries.

    A function for all levels would be too large for the compiler to bring into loops.
    """
    few, many = right_branch_shares(left, right, one)
    few0, many0 = NO_BITS_U4 if m else few, NO_BITS_U4 if m else many
    few1, many1 = few if m else NO_BITS_U4, many if m else NO_BITS_U4
    a0, b0, m0 = move_phases_where_present(p[0], p[1], few0, many0, not h)
    a1, b1, m1 = move_phases_where_present(p[2], p[3], few1, many1, not h)
    a2, b2, m2 = move_phases_where_present(p[4], p[5], few0, many0, h)
    a3, b3, m3 = move_phases_where_present(p[6], p[7], few1, many1, h)
    moved = U4(U4(m0 | m1) | U4(m2 | m3))
    return (a0, b0, a1, b1, a2, b2, a3, b3), U4(moved & CARRY_BIT_U4) != NO_BITS_U4


@jit
def choose_octet(w, member, planes, one, bit, phases, new, sums):
    """Choose the first of two digits of a member's state; return the weights of its octet.

    Loops lie in one function: Numba counts references to arrays in every call.
    """
    at, octets = U8(member) * R1, 1 << (len(planes) - 3)
    for octet in range(U8(octets)):
        row = at + octet * OCTET
        for j in range(R1):
            a, b = w[row + j] + w[row + R4 + j], w[row + R8 + j] + w[row + R12 + j]
            c, d = w[row + R16 + j] + w[row + R20 + j], w[row + R24 + j] + w[row + R28 + j]
            sums[octet * R1 + j] = (a + b) + (c + d)
    for j in range(R1):
        h, m = False, False
        a, b, p0, p1 = sums[j], sums[R1 + j], phases[j], phases[R1 + j]
        if len(planes) == 4:
            q, n = move_phases((p0, p1), a, b, one)
        else:
            c, d = sums[R2 + j], sums[R3 + j]
            p2, p3, p4, p5 = phases[R2 + j], phases[R3 + j], phases[R4 + j], phases[R5 + j]
            if len(planes) == 5:
                q, m, n = step_of_4((p0, p1, p2, p3, p4, p5), a, b, c, d, one)
            else:
                e, f, g, i = sums[R4 + j], sums[R5 + j], sums[R6 + j], sums[R7 + j]
                q, h, m = step_of_4((p0, p1, p2, p3, p4, p5), a + b, c + d, e + f, g + i, one)
                p0, p1, p2, p3 = phases[R6 + j], phases[R7 + j], phases[R8 + j], phases[R9 + j]
                p4, p5, p6 = phases[R10 + j], phases[R11 + j], phases[R12 + j]
                p = p0, p1, p2, p3, p4, p5, p6, phases[R13 + j]
                left, right = select_leaf(h, m, a, c, e, g), select_leaf(h, m, b, d, f, i)
                below, n = step_below(p, h, m, left, right, one)
                phases[R6 + j], phases[R7 + j], phases[R8 + j], phases[R9 + j] = below[:4]
                phases[R10 + j], phases[R11 + j], phases[R12 + j], phases[R13 + j] = below[4:]
            phases[R2 + j], phases[R3 + j], phases[R4 + j], phases[R5 + j] = q[2:6]
        phases[j], phases[R1 + j] = q[:2]
        new[j] = U4(new[j] | (bit if h else NO_BITS_U4))
        new[R1 + j] = U4(new[R1 + j] | (bit if m else NO_BITS_U4))
        new[R2 + j] = U4(new[R2 + j] | (bit if n else NO_BITS_U4))
    for k in range(U8(0), OCTET, R8):  # two states at once: shorter loops would not be vectorised
        left, right, to = at + k, at + k + R4, CHOSEN_OCTET_AT + k
        for j in range(R1):  # all are loaded first: a load that depends on something is slow
            h, m, n = new[j] & bit, new[R1 + j] & bit, new[R2 + j] & bit
            a, b, c, d = w[left + j], w[right + j], w[left + OCTET + j], w[right + OCTET + j]
            a, b = c if U4(n) != NO_BITS_U4 else a, d if U4(n) != NO_BITS_U4 else b
            if len(planes) > 4:
                c, d, e, f = (
                    w[left + O2 + j],
                    w[right + O2 + j],
                    w[left + O3 + j],
                    w[right + O3 + j],
                )
                c, d = e if U4(n) != NO_BITS_U4 else c, f if U4(n) != NO_BITS_U4 else d
                a, b = c if U4(m) != NO_BITS_U4 else a, d if U4(m) != NO_BITS_U4 else b
            if len(planes) > 5:
                c, d, e, f = (
                    w[left + O4 + j],
                    w[right + O4 + j],
                    w[left + O5 + j],
                    w[right + O5 + j],
                )
                c, d = e if U4(n) != NO_BITS_U4 else c, f if U4(n) != NO_BITS_U4 else d
                e, f, g, i = (
                    w[left + O6 + j],
                    w[right + O6 + j],
                    w[left + O7 + j],
                    w[right + O7 + j],
                )
                e, f = g if U4(n) != NO_BITS_U4 else e, i if U4(n) != NO_BITS_U4 else f
                c, d = e if U4(m) != NO_BITS_U4 else c, f if U4(m) != NO_BITS_U4 else d
                a, b = c if U4(h) != NO_BITS_U4 else a, d if U4(h) != NO_BITS_U4 else b
            sums[to + j], sums[to + R4 + j] = a, b


@jit
def choose_last(w, at, planes, one, bit, phases, new):
    """Choose the last digit of a member's state, of two or three bits, by weights at `at`."""
    top, first = U8(0), U8(0)  # rows of the digit's planes and phases
    if len(planes) > 3:
        top, first = R3, U8((1 << (len(planes) - 3)) - 1) * R2
    for j in range(R1):
        h = False
        a, b, c, d = w[at + j], w[at + R4 + j], w[at + R8 + j], w[at + R12 + j]
        o = first + j
        p0, p1, p2 = phases[o], phases[o + R1], phases[o + R2]
        p3, p4, p5 = phases[o + R3], phases[o + R4], phases[o + R5]
        if len(planes) == 2:
            q, m, n = step_of_4((p0, p1, p2, p3, p4, p5), a, b, c, d, one)
        else:
            e, f, g, i = w[at + R16 + j], w[at + R20 + j], w[at + R24 + j], w[at + R28 + j]
            q, h, m = step_of_4((p0, p1, p2, p3, p4, p5), a + b, c + d, e + f, g + i, one)
            p0, p1, p2, p3 = phases[o + R6], phases[o + R7], phases[o + R8], phases[o + R9]
            p4, p5, p6, p7 = phases[o + R10], phases[o + R11], phases[o + R12], phases[o + R13]
            p = p0, p1, p2, p3, p4, p5, p6, p7
            left, right = select_leaf(h, m, a, c, e, g), select_leaf(h, m, b, d, f, i)
            below, n = step_below(p, h, m, left, right, one)
            phases[o + R6], phases[o + R7], phases[o + R8], phases[o + R9] = below[:4]
            phases[o + R10], phases[o + R11], phases[o + R12], phases[o + R13] = below[4:]
        phases[o], phases[o + R1], phases[o + R2] = q[:3]
        phases[o + R3], phases[o + R4], phases[o + R5] = q[3:6]
        new[top + j] = U4(new[top + j] | (bit if h else NO_BITS_U4))
        new[top + R1 + j] = U4(new[top + R1 + j] | (bit if m else NO_BITS_U4))
        new[top + R2 + j] = U4(new[top + R2 + j] | (bit if n else NO_BITS_U4))


@jit
def fraction_of(dither, unit):
    """Return a number in [0, 1) of the precision of `unit`, 2^-24, from 32 random bits."""
    return np.float32(I4(dither >> FRACTION_BITS_U4)) * unit


@jit
def add_rounded(total, weight, factor, fraction):
    """Return a sum and a conditional at the scale of the factor, rounded by a fraction."""
    return U4(total + U4(I4(weight * factor + fraction)))


@jit
def add_lane_conditionals(w, member, recorded, unit, dither, sums, found):
    """Add a member's conditional to sums, at the scale `recorded`, 2^24, rounded at random.

    The lanes' random numbers `dither` move on by 0.618 for the next member. Each state is rounded
    by itself, so that rare ones are right on average. An impossible state has 0.
    """
    at, octets = U8(member) * R1, U8(len(found)) // U8(8 * POTTS_LANES)
    for j in range(R1):
        sums[R8 + j] = ZERO_WEIGHT
    for octet in range(octets):
        row = at + octet * OCTET
        for j in range(R1):
            t = sums[R8 + j]
            t = t + w[row + j] + w[row + R4 + j] + w[row + R8 + j] + w[row + R12 + j]
            t = t + w[row + R16 + j] + w[row + R20 + j] + w[row + R24 + j] + w[row + R28 + j]
            sums[R8 + j] = t
    for j in range(R1):
        total = sums[R8 + j]
        sums[R8 + j] = recorded / (total if total > ZERO_WEIGHT else recorded)
        sums[R9 + j] = fraction_of(dither[j], unit)
        dither[j] = U4(dither[j] + GOLDEN_TURN_U4)
    for octet in range(octets):
        row, to = at + octet * OCTET, octet * R8
        for j in range(R1):
            f, u = sums[R8 + j], sums[R9 + j]
            found[to + j] = add_rounded(found[to + j], w[row + j], f, u)
            found[to + R1 + j] = add_rounded(found[to + R1 + j], w[row + R4 + j], f, u)
            found[to + R2 + j] = add_rounded(found[to + R2 + j], w[row + R8 + j], f, u)
            found[to + R3 + j] = add_rounded(found[to + R3 + j], w[row + R12 + j], f, u)
            found[to + R4 + j] = add_rounded(found[to + R4 + j], w[row + R16 + j], f, u)
            found[to + R5 + j] = add_rounded(found[to + R5 + j], w[row + R20 + j], f, u)
            found[to + R6 + j] = add_rounded(found[to + R6 + j], w[row + R24 + j], f, u)
            found[to + R7 + j] = add_rounded(found[to + R7 + j], w[row + R28 + j], f, u)
