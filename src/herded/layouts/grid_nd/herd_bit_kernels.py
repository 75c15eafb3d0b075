"""Members of a herd at the sites of a cell, as in `layouts.grid.herd_bit_kernels`, with up to 14
neighbours.

Numbers of neighbours are added up axis by axis. The two of an axis are both 1 only where no 1 is
carried from the lowest bit, so that each carry enters the next.
"""

from herded.draws.integer_types import U1
from herded.layouts.grid.herd_bit_kernels import (
    COLS_2,
    COLS_3,
    COLUMNS_U8,
    HIGH_PHASES_AT,
    LANES_U8,
    LOW_PHASES_AT,
    NEIGHBOURS_AT,
    NEW_STATES_AT,
    ROW_2,
    ROW_3,
    ROW_4,
    P,
    add_and_carry,
)
from herded.system.compilation.jit import jit

_NONE = U1(0)


@jit
def add_two_bits(s0, s1, s2, a, b):
    """Add two bits to a number of three."""
    either, both = U1(a ^ b), U1(a & b)
    up = U1(both | U1(s0 & either))
    s0, over = U1(s0 ^ either), U1(s1 & up)
    return s0, U1(s1 ^ up), U1(s2 ^ over), U1(s2 & over)


@jit
def draw_member_of_7_contexts(low, high, new, s0, s1, s2, place, q0, q1, q2, q3, q4, q5, q6):
    """Draw one member: s0, s1, s2 are the bits of the count of neighbours that are 1."""
    odd, two = U1(s0 & place) != _NONE, U1(s1 & place) != _NONE
    p01 = q1 if odd else q0
    p23 = q3 if odd else q2
    p45 = q5 if odd else q4
    few = p23 if two else p01
    many = q6 if two else p45
    return add_and_carry(low, high, many if U1(s2 & place) != _NONE else few, new, place)


@jit
def draw_4_members_of_7_contexts(work, at, places, order):
    """Draw four members of at most six neighbours."""
    for m in range(LANES_U8):
        s0, s1, s2 = (
            work[at + NEIGHBOURS_AT + m],
            work[at + NEIGHBOURS_AT + LANES_U8 + m],
            work[at + NEIGHBOURS_AT + ROW_2 + m],
        )
        e, o = at + P + m, order + m
        q0, q1, q2, q3 = work[e], work[e + LANES_U8], work[e + ROW_2], work[e + ROW_3]
        q4, q5, q6 = work[e + ROW_4], work[e + ROW_4 + LANES_U8], work[e + ROW_4 + ROW_2]
        a, b, x = (
            work[at + LOW_PHASES_AT + m],
            work[at + HIGH_PHASES_AT + m],
            work[at + NEW_STATES_AT + m],
        )
        a, b, x = draw_member_of_7_contexts(
            a, b, x, s0, s1, s2, places[o], q0, q1, q2, q3, q4, q5, q6
        )
        a, b, x = draw_member_of_7_contexts(
            a, b, x, s0, s1, s2, places[o + COLUMNS_U8], q0, q1, q2, q3, q4, q5, q6
        )
        a, b, x = draw_member_of_7_contexts(
            a, b, x, s0, s1, s2, places[o + COLS_2], q0, q1, q2, q3, q4, q5, q6
        )
        a, b, x = draw_member_of_7_contexts(
            a, b, x, s0, s1, s2, places[o + COLS_3], q0, q1, q2, q3, q4, q5, q6
        )
        work[at + LOW_PHASES_AT + m] = a
        work[at + HIGH_PHASES_AT + m] = b
        work[at + NEW_STATES_AT + m] = x


@jit
def select_of_8(odd, two, four, q0, q1, q2, q3, q4, q5, q6, q7):
    """Select one of eight by three bits."""
    p01 = q1 if odd else q0
    p23 = q3 if odd else q2
    p45 = q5 if odd else q4
    p67 = q7 if odd else q6
    few = p23 if two else p01
    many = p67 if two else p45
    return many if four else few


@jit
def draw_member_of_15_contexts(work, at, places, order):
    """Draw one member of at most fourteen neighbours."""
    for m in range(LANES_U8):
        place, e = places[order + m], at + P + m
        odd = U1(work[at + NEIGHBOURS_AT + m] & place) != _NONE
        two = U1(work[at + NEIGHBOURS_AT + LANES_U8 + m] & place) != _NONE
        four = U1(work[at + NEIGHBOURS_AT + ROW_2 + m] & place) != _NONE
        eight = U1(work[at + NEIGHBOURS_AT + ROW_3 + m] & place) != _NONE
        q0, q1, q2, q3 = work[e], work[e + LANES_U8], work[e + ROW_2], work[e + ROW_3]
        e += ROW_4
        few = select_of_8(
            odd,
            two,
            four,
            q0,
            q1,
            q2,
            q3,
            work[e],
            work[e + LANES_U8],
            work[e + ROW_2],
            work[e + ROW_3],
        )
        e += ROW_4
        q0, q1, q2, q3 = work[e], work[e + LANES_U8], work[e + ROW_2], work[e + ROW_3]
        e += ROW_4
        many = select_of_8(
            odd,
            two,
            four,
            q0,
            q1,
            q2,
            q3,
            work[e],
            work[e + LANES_U8],
            work[e + ROW_2],
            work[e + ROW_2],
        )
        a, b = work[at + LOW_PHASES_AT + m], work[at + HIGH_PHASES_AT + m]
        a, b, x = add_and_carry(a, b, many if eight else few, work[at + NEW_STATES_AT + m], place)
        work[at + LOW_PHASES_AT + m] = a
        work[at + HIGH_PHASES_AT + m] = b
        work[at + NEW_STATES_AT + m] = x
