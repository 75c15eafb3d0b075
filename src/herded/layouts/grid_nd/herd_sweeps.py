"""Herds on colour-packed lattices of any dimension (`layouts.grid_nd.arrays`):
`layouts.grid.herd_sweeps`, by runs.
"""

import numpy as np

from herded.draws.integer_types import U1, U8
from herded.draws.systematic_lanes import LANES, MEMBERS_PER_WORD, window_start
from herded.layouts.grid.arrays import BYTES_PER_CONDITIONAL
from herded.layouts.grid.herd_bit_kernels import (
    COLUMNS_U8,
    LANES_U8,
    NEIGHBOURS_AT,
    NEW_STATES_AT,
    ROW_2,
    ROW_3,
    ROW_BUFFER_ROWS,
    ROW_BUFFER_SIZE,
    WORDS_PER_ROUNDING,
    count_word,
    round_conditionals,
    round_to_15_bits,
    subtract_spare_places,
)
from herded.layouts.grid.herd_sweeps import (
    MAX_WORDS_PER_BYTE_COUNT,
    add_ones,
    add_phase_residues,
    draw_fine_chances,
    draw_strip_phases,
    load_strip_phases,
    save_strip_phases,
    shuffle_words,
)
from herded.layouts.grid_nd.arrays import CONTEXTS_UP_TO_3D, CONTEXTS_UP_TO_7D
from herded.layouts.grid_nd.herd_bit_kernels import (
    add_two_bits,
    draw_4_members_of_7_contexts,
    draw_member_of_15_contexts,
)
from herded.layouts.packing.wavefront import (
    HALF_SWEEP_BEGIN,
    HALF_SWEEP_END,
    strip_at_front,
    wave_fronts,
)
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

_0, _1 = U8(0), U8(1)


@jit
def grid_nd_herd_sweeps(seven, fifteen, cube, frame, spare, places, run, herd, block, regions):
    """Sweep `regions` in order; half-sweep 2 s + c is colour c of sample block[s].

    The conditionals are `seven` or `fifteen`, (2, strips, entries of a strip); the other is None.
    `herd` is a `GridHerdArrays` whose states are (2, words, tall, wide). `spare` places of the last
    word have no member.
    """
    if seven is not None:
        p, contexts = seven.reshape(-1), U8(CONTEXTS_UP_TO_3D)
    if fifteen is not None:
        p, contexts = fifteen.reshape(-1), U8(CONTEXTS_UP_TO_7D)
    runs, run_start, side, ring = cube
    layer, rows, strips, height, wide = frame
    x, phases, samples = herd.x.reshape(-1), herd.phases.reshape(-1), block.reshape(-1)
    tally, ones, orders = herd.tally, herd.ones, places.reshape(-1)
    words, size, total = herd.x.shape[1], herd.x.shape[2] * wide, rows * strips * wide
    sites = rows * wide
    cells = -(-sites // LANES)
    lanes, fours = cells * LANES, (MEMBERS_PER_WORD - spare + 3) // 4
    work, turns = np.zeros(cells * ROW_BUFFER_ROWS * LANES, U1), np.empty(words, np.int64)
    for region in regions:
        for front in range(*wave_fronts(region)):
            for half in range(region[HALF_SWEEP_BEGIN], region[HALF_SWEEP_END]):
                strip = strip_at_front(region, front, half - region[HALF_SWEEP_BEGIN], strips)
                if strip < 0:
                    continue
                s, colour, first = half // 2, half & 1, strip * rows
                part = colour * strips + strip
                clock = U8((run.sweep + s) * 2 * strips + part)
                flip = U1(0xFF * ((colour + first // layer) & 1))
                if len(phases):
                    chance = random_bits(run.key, U8(part))
                    load_strip_phases(
                        work, lanes, phases, U8(2 * part * lanes), chance, run.sweep + s
                    )
                else:
                    draw_strip_phases(work, lanes, random_bits(run.key, clock))
                key = random_bits(run.phase_key, clock)
                draw_fine_chances(work, lanes, random_bits(key, _0))
                shuffle_words(turns, key)
                here = min(rows, height - first)
                for turn in range(words):
                    g = turns[turn]
                    last = g == words - 1
                    idle = U1(spare % 4 if last else 0)
                    other = U8(((1 - colour) * words + g) * size)
                    for n in range(run_start[strip], run_start[strip + 1]):
                        count_row_neighbours(
                            work, x, other, runs[n], first, layer, wide, side, flip
                        )
                    for cell in range(cells):
                        bits = random_bits(key, U8((1 + cell) * words + turn))
                        order, at = window_start(bits, last), U8(cell) * ROW_BUFFER_SIZE
                        if turn == 0:
                            entries = (
                                U8(BYTES_PER_CONDITIONAL * (part * cells + cell))
                                * LANES_U8
                                * contexts
                            )
                            round_to_15_bits(work, at, p, entries, contexts)
                        if turn % WORDS_PER_ROUNDING == 0:
                            round_conditionals(work, at, contexts, turn)
                        for rank in range(_0, U8(fours if last else 2)):
                            four = order + rank * U8(4) * COLUMNS_U8
                            if seven is not None:
                                draw_4_members_of_7_contexts(work, at, orders, four)
                            if fifteen is not None:
                                for one in range(four, four + U8(4) * COLUMNS_U8, COLUMNS_U8):
                                    draw_member_of_15_contexts(work, at, orders, one)
                        if idle:
                            subtract_spare_places(work, at, idle)
                        count_word(work, at)
                    to = U8((colour * words + g) * size + (layer + first) * wide)
                    write_word(work, x, to, U8(here * wide))
                    if ring:
                        copy_periodic_ends(x, to, U8(here), U8(wide))
                    if len(samples):
                        at = s * block.shape[1] + (colour * words + g) * total + first * wide
                        write_word(work, samples, U8(at), U8(sites))
                    if (
                        turn % MAX_WORDS_PER_BYTE_COUNT == MAX_WORDS_PER_BYTE_COUNT - 1
                        or turn == words - 1
                    ):
                        add_ones(work, ones, tally, U8(part * sites), U8(sites))
                if len(phases):
                    save_strip_phases(work, lanes, phases, U8(2 * part * lanes))
                if len(tally):
                    add_phase_residues(work, tally, U8(part * sites), U8(sites))


@jit
def count_row_neighbours(work, x, other, run, first, layer, wide, side, flip):
    """Count neighbours that are 1 for each place of a run, and clear the new states."""
    begin, end = U8((run[0] - first) * wide), U8((run[0] - first + run[1]) * wide)
    middle = other + U8((layer + run[0]) * wide)
    m = begin
    while m < end:
        lane = m % LANES_U8
        n, at = min(LANES_U8 - lane, end - m), m // LANES_U8 * ROW_BUFFER_SIZE + lane
        to, at = at + NEW_STATES_AT, at + NEIGHBOURS_AT
        o = middle + m - begin
        for j in range(n):
            left, right = x[o + j - _1], x[o + j + _1]
            a, b = x[o + j], U1(left ^ U1(U1(left ^ right) & U1(side[m + j] ^ flip)))
            work[at + j] = U1(a ^ b)
            work[at + LANES_U8 + j] = U1(a & b)
            work[at + ROW_2 + j] = U1(0)
            work[at + ROW_3 + j] = U1(0)
            work[to + j] = U1(0)
        for axis in range(2, len(run), 2):
            before = other + U8(run[axis] * wide) + m - begin
            behind = other + U8(run[axis + 1] * wide) + m - begin
            for j in range(n):
                s0, s1, s2, over = add_two_bits(
                    work[at + j],
                    work[at + LANES_U8 + j],
                    work[at + ROW_2 + j],
                    x[before + j],
                    x[behind + j],
                )
                work[at + j] = s0
                work[at + LANES_U8 + j] = s1
                work[at + ROW_2 + j] = s2
                work[at + ROW_3 + j] = U1(work[at + ROW_3 + j] ^ over)
        m += n


@jit
def write_word(work, target, to, places):
    """Copy a word's new states."""
    for m in range(_0, places, LANES_U8):
        at = m // LANES_U8 * ROW_BUFFER_SIZE + NEW_STATES_AT
        for j in range(min(LANES_U8, places - m)):
            target[to + m + j] = work[at + j]


@jit
def copy_periodic_ends(x, to, rows, wide):
    """Copy the ends of every row to its other side."""
    for left in range(to, to + rows * wide, wide):
        x[left], x[left + wide - _1] = x[left + wide - U8(2)], x[left + _1]
