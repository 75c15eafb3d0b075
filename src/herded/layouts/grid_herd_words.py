"""The 16 members of a word at the sites of a cell: lanes are sites, members come one by one.

All of a lane's conditionals are loaded, then each member chooses its own by the bits of its
neighbours, adds it to the lane's phase and keeps whether that carried. Members are written out: a
loop over them would be the one that the compiler vectorises.
"""

from herded.draws.together_lanes import COLUMNS, LANES, U2, U8
from herded.system.jit import jit

N, C = U8(LANES), U8(COLUMNS)
# Rows of a cell in `work`: the phase, what it was before the visit, new states, how many members
# are 1, and the neighbours: three bits of their number, or four of their own. The distances are
# constants, from which the compiler knows that nothing overlaps.
PHASE, BEFORE, NEW, ONES, AROUND = U8(0), N, U8(2) * N, U8(3) * N, U8(4) * N
ROWS = 8
SIZE = U8(ROWS) * N
_TOP, _NONE = U2(0x8000), U2(0)


@jit
def carry(phi, p, new, place):
    """Add p to the phase, at scale 2^15; a change of the highest bit sets the member's place."""
    psi = U2(phi + p)
    return psi, U2(new + place) if U2(psi ^ phi) >= _TOP else new


@jit
def one_by_count(phi, new, s0, s1, s2, place, q):
    """One member: s0, s1, s2 are the bits of the number of its neighbours that are 1."""
    odd = U2(s0 & place) != _NONE
    low = q[1] if odd else q[0]
    high = q[3] if odd else q[2]
    p = high if U2(s1 & place) != _NONE else low
    p = q[4] if U2(s2 & place) != _NONE else p
    return carry(phi, p, new, place)


@jit
def move_by_count(work, at, p, entries, places, order, spare):
    """Draw a word's members where the number of neighbours that are 1 tells p."""
    for m in range(N):
        s0 = work[at + AROUND + m]
        s1 = work[at + AROUND + N + m]
        s2 = work[at + AROUND + U8(2) * N + m]
        q = (
            p[entries + m],
            p[entries + N + m],
            p[entries + U8(2) * N + m],
            p[entries + U8(3) * N + m],
            p[entries + U8(4) * N + m],
        )
        phi, x, o = work[at + PHASE + m], _NONE, order + m
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o], q)
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o + C], q)
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o + U8(2) * C], q)
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o + U8(3) * C], q)
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o + U8(4) * C], q)
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o + U8(5) * C], q)
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o + U8(6) * C], q)
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o + U8(7) * C], q)
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o + U8(8) * C], q)
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o + U8(9) * C], q)
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o + U8(10) * C], q)
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o + U8(11) * C], q)
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o + U8(12) * C], q)
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o + U8(13) * C], q)
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o + U8(14) * C], q)
        phi, x = one_by_count(phi, x, s0, s1, s2, places[o + U8(15) * C], q)
        work[at + PHASE + m] = U2(phi - U2(spare * q[0]))
        work[at + NEW + m] = x
        work[at + ONES + m] = U2(work[at + ONES + m] + population(x))


@jit
def by_row(left, right, q0, q1, q2, q3):
    """The conditional that the neighbours left and right choose out of four."""
    low = q1 if left else q0
    high = q3 if left else q2
    return high if right else low


@jit
def one_by_bits(phi, new, a, b, c, d, place, q):
    """One member: a, b, c, d are its neighbours left, right, up, down."""
    left, right = U2(a & place) != _NONE, U2(b & place) != _NONE
    up, down = U2(c & place) != _NONE, U2(d & place) != _NONE
    p0 = by_row(left, right, q[0], q[1], q[2], q[3])
    p1 = by_row(left, right, q[4], q[5], q[6], q[7])
    p2 = by_row(left, right, q[8], q[9], q[10], q[11])
    p3 = by_row(left, right, q[12], q[13], q[14], q[15])
    return carry(phi, by_row(up, down, p0, p1, p2, p3), new, place)


@jit
def move_by_bits(work, at, p, entries, places, order, spare):
    """Draw a word's members where every setting of the neighbours has its own p."""
    for m in range(N):
        a = work[at + AROUND + m]
        b = work[at + AROUND + N + m]
        c = work[at + AROUND + U8(2) * N + m]
        d = work[at + AROUND + U8(3) * N + m]
        q = (
            p[entries + m],
            p[entries + N + m],
            p[entries + U8(2) * N + m],
            p[entries + U8(3) * N + m],
            p[entries + U8(4) * N + m],
            p[entries + U8(5) * N + m],
            p[entries + U8(6) * N + m],
            p[entries + U8(7) * N + m],
            p[entries + U8(8) * N + m],
            p[entries + U8(9) * N + m],
            p[entries + U8(10) * N + m],
            p[entries + U8(11) * N + m],
            p[entries + U8(12) * N + m],
            p[entries + U8(13) * N + m],
            p[entries + U8(14) * N + m],
            p[entries + U8(15) * N + m],
        )
        phi, x, o = work[at + PHASE + m], _NONE, order + m
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o], q)
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o + C], q)
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o + U8(2) * C], q)
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o + U8(3) * C], q)
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o + U8(4) * C], q)
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o + U8(5) * C], q)
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o + U8(6) * C], q)
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o + U8(7) * C], q)
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o + U8(8) * C], q)
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o + U8(9) * C], q)
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o + U8(10) * C], q)
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o + U8(11) * C], q)
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o + U8(12) * C], q)
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o + U8(13) * C], q)
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o + U8(14) * C], q)
        phi, x = one_by_bits(phi, x, a, b, c, d, places[o + U8(15) * C], q)
        work[at + PHASE + m] = U2(phi - U2(spare * q[0]))
        work[at + NEW + m] = x
        work[at + ONES + m] = U2(work[at + ONES + m] + population(x))


@jit
def population(v):
    """How many bits are set."""
    v = U2(v - U2(U2(v >> U2(1)) & U2(0x5555)))
    v = U2(U2(v & U2(0x3333)) + U2(U2(v >> U2(2)) & U2(0x3333)))
    v = U2(U2(v + U2(v >> U2(4))) & U2(0x0F0F))
    return U2(U2(v + U2(v >> U2(8))) & U2(31))
