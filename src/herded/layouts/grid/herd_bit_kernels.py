"""Members of a herd at the sites of a cell: lanes are sites, members come one by one.

Each member chooses its conditional by the bits of its neighbours, adds it to a phase of the lane
and keeps whether that carried. There are two phases: one for conditionals below 1/2, one for the
others. Members that expect the same then make up for each other, which takes the noise out of
energies; with one phase they would have more of it than independent chains.

Lanes are bytes: a register holds twice as many as words of 16 bits. Conditionals have
31 bits. At every visit they are rounded at random, up with the probability that makes the rounding
unbiased: to 15 bits once (`round_to_15_bits`), and from these to 7 bits for every two words
(`round_conditionals`). So the law of a member is exact to 31 bits, what is certain stays so (p = 1
is 128), and the herd's number of ones is the sum of the rounded conditionals, rounded.

Four members at a time, or one: with more, AVX2 has too few registers, and what is kept on the stack
can take up to four times as long, depending on where that happens to lie.
"""

from herded.draws.integer_types import U1, U8
from herded.draws.systematic_lanes import LANES, ORDER_COLUMNS
from herded.system.compilation.jit import jit

LANES_U8, COLUMNS_U8 = U8(LANES), U8(ORDER_COLUMNS)
ROW_2, ROW_3, ROW_4 = U8(2) * LANES_U8, U8(3) * LANES_U8, U8(4) * LANES_U8  # rows of a cell
COLS_2, COLS_3 = U8(2) * COLUMNS_U8, U8(3) * COLUMNS_U8  # rows of the table of orders
# Rows of a cell in `work`: both phases, what their sum was before the visit, new states, how many
# members are 1, the random bytes that decide how conditionals are rounded to 7 bits (one) and to 15
# (two), the neighbours (three bits of their number, or four of their own), the conditionals of 7
# bits, and those of 15 in two bytes each. The distances are constants, from which the compiler
# knows that nothing overlaps.
(
    LOW_PHASES_AT,
    HIGH_PHASES_AT,
    OLD_STATES_AT,
    NEW_STATES_AT,
    ONE_COUNTS_AT,
    RANDOM_BYTES_AT,
    NEIGHBOURS_AT,
) = (
    U8(0),
    LANES_U8,
    ROW_2,
    ROW_3,
    ROW_4,
    U8(5) * LANES_U8,
    U8(6) * LANES_U8,
)
FINE_RANDOM_BYTES_AT = U8(10) * LANES_U8
P = U8(12) * LANES_U8
P15 = U8(28) * LANES_U8
ROW_BUFFER_ROWS = 60
ROW_BUFFER_SIZE = U8(ROW_BUFFER_ROWS) * LANES_U8
WORDS_PER_ROUNDING = 2  # words are drawn by the same rounded conditionals
_TOP, _HALF, _ONE, _NONE = U1(0x80), U1(0x40), U1(1), U1(0)


@jit
def round_to_15_bits(work, at, p, entries, contexts):
    """Round the conditionals of a cell, whose four bytes are rows of p, to their first two bytes.

    A conditional is rounded up if its last two bytes are more than two random bytes of its lane.
    Two loops: in one, the compiler would have to compare too many addresses to vectorise it.
    """
    for q in range(contexts):
        first, to = entries + q * ROW_4, at + P15 + q * ROW_2
        for m in range(LANES_U8):
            third, chance = p[first + ROW_2 + m], work[at + FINE_RANDOM_BYTES_AT + m]
            last = (
                _ONE
                if p[first + ROW_3 + m] > work[at + FINE_RANDOM_BYTES_AT + LANES_U8 + m]
                else _NONE
            )
            above = _ONE if third > chance else _NONE
            work[to + m] = last if third == chance else above
        for m in range(LANES_U8):
            up = work[to + m]
            second = U1(p[first + LANES_U8 + m] + up)
            work[to + m] = U1(p[first + m] + (up if second == _NONE else _NONE))
            work[to + LANES_U8 + m] = second


@jit
def round_conditionals(work, at, contexts, turn):
    """Round the conditionals of a cell from 15 bits to 7.

    Words that come later in the visit add a quarter to the random byte that decides: of four times
    each is rounded up as often as its last bits ask for, or once more.
    """
    step = U1(turn // WORDS_PER_ROUNDING * 64)
    for q in range(contexts):
        first, to = at + P15 + q * ROW_2, at + P + q * LANES_U8
        for m in range(LANES_U8):
            chance = U1(work[at + RANDOM_BYTES_AT + m] + step)
            over = U1(work[first + LANES_U8 + m] + chance) < chance
            work[to + m] = U1(work[first + m] + U1(1)) if over else work[first + m]


@jit
def add_and_carry(low, high, p, new, place):
    """Add p to its phase, at scale 2^7; a change of the highest bit sets the member's place.

    p = 1 may go to either phase: it changes nothing but the highest bit.
    """
    above = U1(p & _HALF) != _NONE
    phi = high if above else low
    psi = U1(phi + p)
    new = U1(new | place) if U1(psi ^ phi) >= _TOP else new
    return low if above else psi, psi if above else high, new


@jit
def draw_member_by_count(low, high, new, s0, s1, s2, place, q0, q1, q2, q3, q4):
    """Draw one member: s0, s1, s2 are the bits of the number of neighbours that are 1."""
    odd = U1(s0 & place) != _NONE
    few = q1 if odd else q0
    many = q3 if odd else q2
    p = many if U1(s1 & place) != _NONE else few
    p = q4 if U1(s2 & place) != _NONE else p
    return add_and_carry(low, high, p, new, place)


@jit
def draw_4_members_by_count(work, at, places, order):
    """Draw four members where the number of neighbours that are 1 tells p."""
    for m in range(LANES_U8):
        s0, s1, s2 = (
            work[at + NEIGHBOURS_AT + m],
            work[at + NEIGHBOURS_AT + LANES_U8 + m],
            work[at + NEIGHBOURS_AT + ROW_2 + m],
        )
        e, o = at + P + m, order + m
        q0, q1, q2, q3, q4 = (
            work[e],
            work[e + LANES_U8],
            work[e + ROW_2],
            work[e + ROW_3],
            work[e + ROW_4],
        )
        a, b, x = (
            work[at + LOW_PHASES_AT + m],
            work[at + HIGH_PHASES_AT + m],
            work[at + NEW_STATES_AT + m],
        )
        a, b, x = draw_member_by_count(a, b, x, s0, s1, s2, places[o], q0, q1, q2, q3, q4)
        a, b, x = draw_member_by_count(
            a, b, x, s0, s1, s2, places[o + COLUMNS_U8], q0, q1, q2, q3, q4
        )
        a, b, x = draw_member_by_count(a, b, x, s0, s1, s2, places[o + COLS_2], q0, q1, q2, q3, q4)
        a, b, x = draw_member_by_count(a, b, x, s0, s1, s2, places[o + COLS_3], q0, q1, q2, q3, q4)
        work[at + LOW_PHASES_AT + m] = a
        work[at + HIGH_PHASES_AT + m] = b
        work[at + NEW_STATES_AT + m] = x


@jit
def select_of_4(first, second, q0, q1, q2, q3):
    """Select one of four by two bits."""
    low = q1 if first else q0
    high = q3 if first else q2
    return high if second else low


@jit
def draw_member_by_bits(work, at, places, order):
    """Draw one member where every setting of the neighbours left, right, up, down has its own p.

    With two, AVX2 would have too few registers.
    """
    for m in range(LANES_U8):
        place, e = places[order + m], at + P + m
        left = U1(work[at + NEIGHBOURS_AT + m] & place) != _NONE
        right = U1(work[at + NEIGHBOURS_AT + LANES_U8 + m] & place) != _NONE
        p0 = select_of_4(left, right, work[e], work[e + LANES_U8], work[e + ROW_2], work[e + ROW_3])
        e += ROW_4
        p1 = select_of_4(left, right, work[e], work[e + LANES_U8], work[e + ROW_2], work[e + ROW_3])
        e += ROW_4
        p2 = select_of_4(left, right, work[e], work[e + LANES_U8], work[e + ROW_2], work[e + ROW_3])
        e += ROW_4
        p3 = select_of_4(left, right, work[e], work[e + LANES_U8], work[e + ROW_2], work[e + ROW_3])
        up = U1(work[at + NEIGHBOURS_AT + ROW_2 + m] & place) != _NONE
        down = U1(work[at + NEIGHBOURS_AT + ROW_3 + m] & place) != _NONE
        p0 = select_of_4(up, down, p0, p1, p2, p3)
        a, b = work[at + LOW_PHASES_AT + m], work[at + HIGH_PHASES_AT + m]
        a, b, x = add_and_carry(a, b, p0, work[at + NEW_STATES_AT + m], place)
        work[at + LOW_PHASES_AT + m] = a
        work[at + HIGH_PHASES_AT + m] = b
        work[at + NEW_STATES_AT + m] = x


@jit
def subtract_spare_places(work, at, spare):
    """Take off what spare places of a word added to a phase."""
    for m in range(LANES_U8):
        q = work[at + P + m]
        added, above = U1(spare * q), U1(q & _HALF) != _NONE
        low, high = work[at + LOW_PHASES_AT + m], work[at + HIGH_PHASES_AT + m]
        work[at + LOW_PHASES_AT + m] = low if above else U1(low - added)
        work[at + HIGH_PHASES_AT + m] = U1(high - added) if above else high


@jit
def count_word(work, at):
    """Count the members that are 1."""
    for m in range(LANES_U8):
        v = work[at + NEW_STATES_AT + m]
        v = U1(v - U1(U1(v >> U1(1)) & U1(0x55)))
        v = U1(U1(v & U1(0x33)) + U1(U1(v >> U1(2)) & U1(0x33)))
        v = U1(U1(v + U1(v >> U1(4))) & U1(0x0F))
        work[at + ONE_COUNTS_AT + m] = U1(work[at + ONE_COUNTS_AT + m] + v)
