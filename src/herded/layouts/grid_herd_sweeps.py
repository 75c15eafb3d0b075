"""Herds on colour-packed lattices of two states: members are bits of words, lanes are sites.

Site m of a strip's colour is lane m % 128 of cell m // 128. A half-sweep of a strip goes over the
words of the herd; all 16 members of a word run one after the other in registers while the phases of
a vector of sites go side by side. Neighbours are counted by bitwise adders, for 16 members at once.
A phase has 16 bits at scale 2^15, where p = 1 exists: a carry is a change of the highest bit. The
sum of the p is then carries * 2^15 + last phase - first phase, all that Rao-Blackwell needs.

What a cell needs lies side by side in `work`: distances are constants, and the compiler sees that
nothing overlaps. Indices are unsigned, which spares a test for negative ones.
"""

import numpy as np

from herded.draws.together_lanes import (
    U2,
    U4,
    U8,
    COLUMNS, STEP, WORD,
    key_words,
    lane_bits,
)
from herded.layouts.grid_arrays import BITS, COUNTS, LANES
from herded.layouts.waves import BEGIN, END, fronts, strip_in
from herded.system.jit import jit
from herded.system.stream import draw

N, C = U8(LANES), U8(COLUMNS)
# Rows of a cell in `work`: the phase, that before the visit, random bits for the swaps of two
# words, new states, how many members are 1, and the neighbours: three bits of their number, or
# four of their own.
PHASE, FIRST, SWAPS, NEW, ONES, AROUND = U8(0), N, U8(2) * N, U8(4) * N, U8(5) * N, U8(6) * N
SIZE = U8(10) * N
_0, _1, _2, _3 = U8(0), U8(1), U8(2), U8(3)
_TOP, _NONE = U2(0x8000), U2(0)


@jit
def herd_sweeps(five, sixteen, places, live, ones, phases, rows, frame, run, x, tally, block, regions):
    """Sweep `regions` in order; half-sweep 2 s + c is colour c of sample block[s].

    p is (2, strips, entries of a strip). x is (2, rows + 2, words, columns + 2) with a border of
    zeros or, where periodic, of what lies on the other side. `phases` is (2, strips, places) or
    empty. `frame` is the height of the lattice and whether it is periodic, `run` the number of the
    first sweep and the keys of phases and of orders, `live` the members of the last word.
    """
    height, periodic = frame
    first_sweep, key, order_key = run
    if five is not None:
        p, contexts = five, COUNTS
    else:
        p, contexts = sixteen, BITS
    strips, words, columns = p.shape[1], x.shape[2], x.shape[3] - 2
    sites = rows * columns
    cells = p.shape[2] // (contexts * LANES)
    work = np.zeros(cells * 10 * LANES, U2)
    turns = np.empty(words, np.int64)
    flat_p, flat_x, flat_places = p.reshape(-1), x.reshape(-1), places.reshape(-1)
    flat_phases = phases.reshape(-1)
    stride, row = U8(columns + 2), U8((columns + 2) * words)
    for region in regions:
        for front in range(*fronts(region)):
            for half in range(region[BEGIN], region[END]):
                strip = strip_in(region, front, half - region[BEGIN], strips)
                if strip < 0:
                    continue
                s, colour = half // 2, half & 1
                part = colour * strips + strip
                clock = U8((first_sweep + s) * 2 * strips + part)
                order = draw(order_key, clock)
                if len(flat_phases):
                    load_phases(work, cells, flat_phases, U8(part * cells * LANES))
                else:
                    draw_phases(work, cells, draw(key, clock))
                shuffle_words(turns, order)
                for turn in range(words):
                    g = turns[turn]
                    last = g == words - 1
                    look_around(
                        work, flat_x, five is not None, colour, strip * rows, rows,
                        columns, x.shape[1], U8(g) * stride, stride, row,
                    )
                    spare = U2(WORD - live if last else 0)
                    for cell in range(cells):
                        bits = draw(order, U8((1 + cell) * words + turn))
                        window = (bits >> U8(59)) * U8(STEP) + U8(WORD if last else 0) * C
                        at, entries = U8(cell) * SIZE, U8(part * cells + cell) * U8(contexts) * N
                        if five is not None:
                            move_by_count(work, at, flat_p, entries, flat_places, window, spare)
                        else:
                            move_by_bits(work, at, flat_p, entries, flat_places, window, spare)
                    store(work, flat_x, colour, strip * rows, rows, height, columns, x.shape[1], U8(g) * stride, row)
                    if block.shape[1]:
                        keep(work, block, s, part * rows, g, rows, columns, words)
                if len(flat_phases):
                    save_phases(work, cells, flat_phases, U8(part * cells * LANES))
                if periodic:
                    wrap(x, colour, strip * rows, rows, height)
                if ones.size:
                    count(work, ones, U8(part * sites), sites)
                if tally.size:
                    add_up(work, tally, U8(part * sites), sites)


@jit
def draw_phases(work, cells, bits):
    """Fresh phases, and nothing counted."""
    a, b = key_words(bits)
    for cell in range(U8(cells)):
        at = cell * SIZE
        for m in range(N):
            phi = U2(lane_bits(a, b, U4(cell * N + m)) >> U4(16))
            work[at + PHASE + m] = phi
            work[at + FIRST + m] = phi
            work[at + ONES + m] = _NONE


@jit
def load_phases(work, cells, phases, start):
    """Kept phases, and nothing counted."""
    for cell in range(U8(cells)):
        at, mine = cell * SIZE, start + cell * N
        for m in range(N):
            phi = phases[mine + m]
            work[at + PHASE + m] = phi
            work[at + FIRST + m] = phi
            work[at + ONES + m] = _NONE


@jit
def save_phases(work, cells, phases, start):
    for cell in range(U8(cells)):
        at, mine = cell * SIZE, start + cell * N
        for m in range(N):
            phases[mine + m] = work[at + PHASE + m]


@jit
def shuffle_words(turns, key):
    """A random order of the words (Fisher and Yates)."""
    for g in range(len(turns)):
        turns[g] = g
    for last in range(len(turns) - 1, 0, -1):
        other = np.int64(draw(key, U8(last)) >> U8(11)) % (last + 1)
        turns[last], turns[other] = turns[other], turns[last]


@jit
def look_around(work, x, by_count, colour, first, rows, columns, height, word, stride, row):
    """The number of neighbours that are 1, in binary, or the neighbours left, right, up, down."""
    other = U8((1 - colour) * height) * row + word
    for r in range(first, first + rows):
        # Row r of the padded half-lattices is r + 1; column m is m + 1.
        shift = U8((r + colour) & 1)  # 0: the colour starts at column 0, its left neighbour one before
        here = other + U8(r + 1) * row
        m = _0
        while m < U8(columns):
            site = U8((r - first) * columns) + m
            lane = site % N
            at = site // N * SIZE + AROUND + lane
            left = here + shift + m
            up, down = here - row + _1 + m, here + row + _1 + m
            n = min(N - lane, U8(columns) - m)
            if by_count:
                for j in range(n):
                    a, b, c, d = x[left + j], x[left + _1 + j], x[up + j], x[down + j]
                    ab, cd, e, f = U2(a ^ b), U2(c ^ d), U2(a & b), U2(c & d)
                    work[at + j] = U2(ab ^ cd)
                    work[at + N + j] = U2(U2(e ^ f) ^ U2(ab & cd))
                    work[at + _2 * N + j] = U2(e & f)
            else:
                for j in range(n):
                    work[at + j] = x[left + j]
                    work[at + N + j] = x[left + _1 + j]
                    work[at + _2 * N + j] = x[up + j]
                    work[at + _3 * N + j] = x[down + j]
            m += n


@jit
def carry(phi, p, new, place):
    """Add p to the phase; a change of the highest bit sets the member's place."""
    psi = U2(phi + p)
    return psi, U2(new + place) if U2(psi ^ phi) >= _TOP else new


@jit
def by_count(phi, new, s0, s1, s2, place, q0, q1, q2, q3, q4):
    """One member: s0, s1, s2 are the bits of the number of its neighbours that are 1."""
    odd = U2(s0 & place) != _NONE
    p = q1 if odd else q0
    upper = q3 if odd else q2
    p = upper if U2(s1 & place) != _NONE else p
    p = q4 if U2(s2 & place) != _NONE else p
    return carry(phi, p, new, place)


@jit
def move_by_count(work, at, p, entries, places, order, spare):
    """Draw 16 members of all sites of a cell."""
    for m in range(N):
        s0 = work[at + AROUND + m]
        s1 = work[at + AROUND + N + m]
        s2 = work[at + AROUND + _2 * N + m]
        q0 = p[entries + m]
        q1 = p[entries + N + m]
        q2 = p[entries + _2 * N + m]
        q3 = p[entries + _3 * N + m]
        q4 = p[entries + U8(4) * N + m]
        phi, x = work[at + PHASE + m], _NONE
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(0) * C + m], q0, q1, q2, q3, q4)
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(1) * C + m], q0, q1, q2, q3, q4)
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(2) * C + m], q0, q1, q2, q3, q4)
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(3) * C + m], q0, q1, q2, q3, q4)
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(4) * C + m], q0, q1, q2, q3, q4)
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(5) * C + m], q0, q1, q2, q3, q4)
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(6) * C + m], q0, q1, q2, q3, q4)
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(7) * C + m], q0, q1, q2, q3, q4)
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(8) * C + m], q0, q1, q2, q3, q4)
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(9) * C + m], q0, q1, q2, q3, q4)
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(10) * C + m], q0, q1, q2, q3, q4)
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(11) * C + m], q0, q1, q2, q3, q4)
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(12) * C + m], q0, q1, q2, q3, q4)
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(13) * C + m], q0, q1, q2, q3, q4)
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(14) * C + m], q0, q1, q2, q3, q4)
        phi, x = by_count(phi, x, s0, s1, s2, places[order + U8(15) * C + m], q0, q1, q2, q3, q4)
        work[at + PHASE + m] = U2(phi - U2(spare * q0))
        work[at + NEW + m] = x
        work[at + ONES + m] = U2(work[at + ONES + m] + population(x))


@jit
def by_bits(
    phi, new, a, b, c, d, place,
    q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15,
):
    """One member: a, b, c, d are its neighbours left, right, up, down."""
    left, right = U2(a & place) != _NONE, U2(b & place) != _NONE
    p0 = q1 if left else q0
    p1 = q3 if left else q2
    p2 = q5 if left else q4
    p3 = q7 if left else q6
    p4 = q9 if left else q8
    p5 = q11 if left else q10
    p6 = q13 if left else q12
    p7 = q15 if left else q14
    p0 = p1 if right else p0
    p2 = p3 if right else p2
    p4 = p5 if right else p4
    p6 = p7 if right else p6
    up = U2(c & place) != _NONE
    p0 = p2 if up else p0
    p4 = p6 if up else p4
    p = p4 if U2(d & place) != _NONE else p0
    return carry(phi, p, new, place)


@jit
def move_by_bits(work, at, p, entries, places, order, spare):
    """Draw 16 members of all sites of a cell."""
    for m in range(N):
        a = work[at + AROUND + m]
        b = work[at + AROUND + N + m]
        c = work[at + AROUND + _2 * N + m]
        d = work[at + AROUND + _3 * N + m]
        q0 = p[entries + U8(0) * N + m]
        q1 = p[entries + U8(1) * N + m]
        q2 = p[entries + U8(2) * N + m]
        q3 = p[entries + U8(3) * N + m]
        q4 = p[entries + U8(4) * N + m]
        q5 = p[entries + U8(5) * N + m]
        q6 = p[entries + U8(6) * N + m]
        q7 = p[entries + U8(7) * N + m]
        q8 = p[entries + U8(8) * N + m]
        q9 = p[entries + U8(9) * N + m]
        q10 = p[entries + U8(10) * N + m]
        q11 = p[entries + U8(11) * N + m]
        q12 = p[entries + U8(12) * N + m]
        q13 = p[entries + U8(13) * N + m]
        q14 = p[entries + U8(14) * N + m]
        q15 = p[entries + U8(15) * N + m]
        phi, x = work[at + PHASE + m], _NONE
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(0) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(1) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(2) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(3) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(4) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(5) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(6) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(7) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(8) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(9) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(10) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(11) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(12) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(13) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(14) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        phi, x = by_bits(phi, x, a, b, c, d, places[order + U8(15) * C + m], q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15)
        work[at + PHASE + m] = U2(phi - U2(spare * q0))
        work[at + NEW + m] = x
        work[at + ONES + m] = U2(work[at + ONES + m] + population(x))


@jit
def population(v):
    """How many bits are set."""
    v = U2(v - U2(U2(v >> U2(1)) & U2(0x5555)))
    v = U2(U2(v & U2(0x3333)) + U2(U2(v >> U2(2)) & U2(0x3333)))
    v = U2(U2(v + U2(v >> U2(4))) & U2(0x0F0F))
    return U2(U2(v + U2(v >> U2(8))) & U2(31))


@jit
def store(work, x, colour, first, rows, height, columns, tall, word, row):
    """Write the new states of a word into the lattice."""
    mine = U8(colour * tall) * row + word
    for r in range(first, min(first + rows, height)):
        to = mine + U8(r + 1) * row + _1
        m = _0
        while m < U8(columns):
            site = U8((r - first) * columns) + m
            lane = site % N
            at = site // N * SIZE + NEW + lane
            n = min(N - lane, U8(columns) - m)
            for j in range(n):
                x[to + m + j] = work[at + j]
            m += n


@jit
def keep(work, block, s, first, g, rows, columns, words):
    """Write the new states of a word into the sample, (2, rows, words, columns)."""
    sample = block[s]
    for r in range(rows):
        to = U8(((first + r) * words + g) * columns)
        for m in range(U8(columns)):
            site = U8(r * columns) + m
            sample[to + m] = work[site // N * SIZE + NEW + site % N]


@jit
def wrap(x, colour, first, rows, height):
    """Copy a strip's outermost states to the other side of a periodic lattice."""
    words, columns = x.shape[2], x.shape[3] - 2
    mine = x[colour]
    for r in range(first + 1, min(first + rows, height) + 1):
        for g in range(words):
            mine[r, g, 0], mine[r, g, columns + 1] = mine[r, g, columns], mine[r, g, 1]
        if r == 1 or r == height:
            to = height + 1 if r == 1 else 0
            for g in range(words):
                for m in range(columns + 2):
                    mine[to, g, m] = mine[r, g, m]


@jit
def count(work, ones, start, sites):
    """Count the members that are 1."""
    m = _0
    while m < U8(sites):
        at, n = m // N * SIZE, min(N, U8(sites) - m)
        for j in range(n):
            ones[start + m + j] += np.int64(work[at + ONES + j])
        m += n


@jit
def add_up(work, tally, start, sites):
    """Add the sum of the members' conditionals, at scale 2^31."""
    m = _0
    while m < U8(sites):
        at, n = m // N * SIZE, min(N, U8(sites) - m)
        for j in range(n):
            carries, last = np.int64(work[at + ONES + j]), work[at + PHASE + j]
            moved = np.int64(U2(last & U2(0x7FFF))) - np.int64(U2(work[at + FIRST + j] & U2(0x7FFF)))
            tally[start + m + j] += ((carries << 15) + moved) << 16
        m += n
