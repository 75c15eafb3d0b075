"""Members of a herd at the sites of a cell: lanes are sites, members come one by one.

Each member chooses its conditional by the bits of its neighbours, adds it to a phase of the lane
and keeps whether that carried. There are two phases: one for conditionals below 1/2, one for the
others. Members that expect the same then make up for each other, which takes the noise out of
energies; with one phase they would have more of it than independent chains. Four members at a time,
or one: with more, AVX2 has too few registers, and what is kept on the stack takes up to four times
as long, depending on where that happens to lie.
"""

from herded.draws.together_lanes import COLUMNS, LANES, U2, U8
from herded.system.jit import jit

N, C = U8(LANES), U8(COLUMNS)
_2N, _3N, _4N, _2C, _3C = U8(2) * N, U8(3) * N, U8(4) * N, U8(2) * C, U8(3) * C
# Rows of a cell in `work`: both phases, what their sum was before the visit, new states, how many
# members are 1, and the neighbours: three bits of their number, or four of their own. The distances
# are constants, from which the compiler knows that nothing overlaps.
LOW, HIGH, BEFORE, NEW, ONES, AROUND = U8(0), N, _2N, _3N, _4N, U8(5) * N
ROWS = 9
SIZE = U8(ROWS) * N
_TOP, _HALF, _NONE = U2(0x8000), U2(0x4000), U2(0)


@jit
def carry(low, high, p, new, place):
    """Add p to its phase, at scale 2^15; a change of the highest bit sets the member's place."""
    above = p >= _HALF
    phi = high if above else low
    psi = U2(phi + p)
    new = U2(new + place) if U2(psi ^ phi) >= _TOP else new
    return low if above else psi, psi if above else high, new


@jit
def one_by_count(low, high, new, s0, s1, s2, place, q0, q1, q2, q3, q4):
    """One member: s0, s1, s2 are the bits of the number of its neighbours that are 1."""
    odd = U2(s0 & place) != _NONE
    few = q1 if odd else q0
    many = q3 if odd else q2
    p = many if U2(s1 & place) != _NONE else few
    p = q4 if U2(s2 & place) != _NONE else p
    return carry(low, high, p, new, place)


@jit
def four_by_count(work, at, p, entries, places, order):
    """Draw four members where the number of neighbours that are 1 tells p."""
    for m in range(N):
        s0, s1, s2 = work[at + AROUND + m], work[at + AROUND + N + m], work[at + AROUND + _2N + m]
        e, o = entries + m, order + m
        q0, q1, q2, q3, q4 = p[e], p[e + N], p[e + _2N], p[e + _3N], p[e + _4N]
        a, b, x = work[at + LOW + m], work[at + HIGH + m], work[at + NEW + m]
        a, b, x = one_by_count(a, b, x, s0, s1, s2, places[o], q0, q1, q2, q3, q4)
        a, b, x = one_by_count(a, b, x, s0, s1, s2, places[o + C], q0, q1, q2, q3, q4)
        a, b, x = one_by_count(a, b, x, s0, s1, s2, places[o + _2C], q0, q1, q2, q3, q4)
        a, b, x = one_by_count(a, b, x, s0, s1, s2, places[o + _3C], q0, q1, q2, q3, q4)
        work[at + LOW + m] = a
        work[at + HIGH + m] = b
        work[at + NEW + m] = x


@jit
def choose(first, second, q0, q1, q2, q3):
    """One of four, by two bits."""
    low = q1 if first else q0
    high = q3 if first else q2
    return high if second else low


@jit
def one_by_bits(work, at, p, entries, places, order):
    """Draw one member where every setting of the neighbours left, right, up, down has its own p.

    With two, AVX2 would have too few registers.
    """
    for m in range(N):
        place, e = places[order + m], entries + m
        left = U2(work[at + AROUND + m] & place) != _NONE
        right = U2(work[at + AROUND + N + m] & place) != _NONE
        p0 = choose(left, right, p[e], p[e + N], p[e + _2N], p[e + _3N])
        e += _4N
        p1 = choose(left, right, p[e], p[e + N], p[e + _2N], p[e + _3N])
        e += _4N
        p2 = choose(left, right, p[e], p[e + N], p[e + _2N], p[e + _3N])
        e += _4N
        p3 = choose(left, right, p[e], p[e + N], p[e + _2N], p[e + _3N])
        up = U2(work[at + AROUND + _2N + m] & place) != _NONE
        down = U2(work[at + AROUND + _3N + m] & place) != _NONE
        p0 = choose(up, down, p0, p1, p2, p3)
        a, b = work[at + LOW + m], work[at + HIGH + m]
        a, b, x = carry(a, b, p0, work[at + NEW + m], place)
        work[at + LOW + m] = a
        work[at + HIGH + m] = b
        work[at + NEW + m] = x


@jit
def finish_word(work, at, p, entries, spare):
    """Count the members that are 1; take off what spare places of the word added to a phase."""
    for m in range(N):
        q = p[entries + m]
        added = U2(spare * q)
        low, high = work[at + LOW + m], work[at + HIGH + m]
        work[at + LOW + m] = low if q >= _HALF else U2(low - added)
        work[at + HIGH + m] = U2(high - added) if q >= _HALF else high
        v = work[at + NEW + m]
        v = U2(v - U2(U2(v >> U2(1)) & U2(0x5555)))
        v = U2(U2(v & U2(0x3333)) + U2(U2(v >> U2(2)) & U2(0x3333)))
        v = U2(U2(v + U2(v >> U2(4))) & U2(0x0F0F))
        v = U2(U2(v + U2(v >> U2(8))) & U2(31))
        work[at + ONES + m] = U2(work[at + ONES + m] + v)
