"""Herds on colour-packed lattices of two states: members are bits of words, lanes are sites.

Site m of a strip's colour is lane m % 128 of cell m // 128. A half-sweep of a strip goes over the
words of the herd: it counts neighbours by bitwise adders, 8 members at once, and draws the members
(`layouts.grid.herd_bit_kernels`) with two phases per site, which continue from word to word. A
phase has 8 bits at scale 2^7, where p = 1 exists: a carry is a change of the highest bit. The sum
of the rounded p is carries * 2^7 + last phases - first phases, exactly. Rounding is unbiased, so
these sums are unbiased for the sums of the conditionals, which is all that Rao-Blackwell needs.

Indices are unsigned: Numba tests signed ones for being negative, which is in the way of vectors.
"""

from typing import NamedTuple

import numpy as np

from herded.draws.integer_types import U1, U4, U8
from herded.draws.systematic_lanes import (
    LANES,
    MEMBERS_PER_WORD,
    key_words,
    lane_bits,
    window_start,
)
from herded.layouts.grid.arrays import BYTES_PER_CONDITIONAL, CONTEXTS_BY_BITS, CONTEXTS_BY_COUNT
from herded.layouts.grid.herd_bit_kernels import (
    COLUMNS_U8,
    FINE_RANDOM_BYTES_AT,
    HIGH_PHASES_AT,
    LANES_U8,
    LOW_PHASES_AT,
    NEIGHBOURS_AT,
    NEW_STATES_AT,
    OLD_STATES_AT,
    ONE_COUNTS_AT,
    RANDOM_BYTES_AT,
    ROW_BUFFER_ROWS,
    ROW_BUFFER_SIZE,
    WORDS_PER_ROUNDING,
    count_word,
    draw_4_members_by_count,
    draw_member_by_bits,
    round_conditionals,
    round_to_15_bits,
    subtract_spare_places,
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
_HALF_CELL = U8(LANES // 2)
_PHASE = U1(0x7F)
_STEP = U1(159)  # 0.62 of 256: kept roundings go round by it
MAX_WORDS_PER_BYTE_COUNT = 31  # whose ones a byte counts


class GridHerdArrays(NamedTuple):
    """The arrays of a herd that kernels change; empty where not needed."""

    x: np.ndarray  # (2, rows + 2, words, columns + 2), in a border of zeros or of the other side
    phases: np.ndarray  # (2, strips, cells of low and high ones), if they are kept
    tally: np.ndarray
    ones: np.ndarray


class HerdGridShape(NamedTuple):
    """The sizes of a lattice and its herd."""

    rows: int  # of a strip
    height: int  # of the lattice
    periodic: bool
    spare: int  # places of the last word without a member


@jit
def grid_herd_sweeps(five, sixteen, places, frame, run, herd, block, regions):
    """Sweep `regions` in order; half-sweep 2 s + c is colour c of sample block[s].

    The conditionals are `five` or `sixteen`, (2, strips, entries of a strip); the other is None.
    """
    if five is not None:
        p, strips, contexts = five.reshape(-1), five.shape[1], U8(CONTEXTS_BY_COUNT)
    if sixteen is not None:
        p, strips, contexts = sixteen.reshape(-1), sixteen.shape[1], U8(CONTEXTS_BY_BITS)
    x, phases, samples = herd.x.reshape(-1), herd.phases.reshape(-1), block.reshape(-1)
    tally, ones, orders = herd.tally, herd.ones, places.reshape(-1)
    rows, height = frame.rows, frame.height
    _, tall, words, wide = herd.x.shape
    columns, row = wide - 2, U8(words * wide)
    sites = rows * columns
    cells = -(-sites // LANES)
    lanes, fours = cells * LANES, (MEMBERS_PER_WORD - frame.spare + 3) // 4
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
                mine = U8(colour * tall + first + 1) * row
                other = U8((1 - colour) * tall + first + 1) * row
                for turn in range(words):
                    g = turns[turn]
                    last = g == words - 1
                    word, spare = U8(g * wide), U1(frame.spare % 4 if last else 0)
                    shift = (first + colour) & 1
                    if five is not None:
                        count_neighbours(work, x, other + word, row, rows, columns, shift)
                    if sixteen is not None:
                        copy_neighbours(work, x, other + word, row, rows, columns, shift)
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
                            if five is not None:
                                draw_4_members_by_count(work, at, orders, four)
                            if sixteen is not None:
                                for one in range(four, four + U8(4) * COLUMNS_U8, COLUMNS_U8):
                                    draw_member_by_bits(work, at, orders, one)
                        if spare:
                            subtract_spare_places(work, at, spare)
                        count_word(work, at)
                    below = min(rows, height - first)
                    write_word_rows(work, x, mine + word + _1, row, below, columns)
                    if len(samples):
                        to = s * block.shape[1] + (part * rows * words + g) * columns
                        write_word_rows(work, samples, U8(to), U8(words * columns), rows, columns)
                    if (
                        turn % MAX_WORDS_PER_BYTE_COUNT == MAX_WORDS_PER_BYTE_COUNT - 1
                        or turn == words - 1
                    ):
                        add_ones(work, ones, tally, U8(part * sites), U8(sites))
                if len(phases):
                    save_strip_phases(work, lanes, phases, U8(2 * part * lanes))
                if frame.periodic:
                    copy_periodic_words(x, U8(colour * tall) * row, row, first, rows, height, words)
                if len(tally):
                    add_phase_residues(work, tally, U8(part * sites), U8(sites))


@jit
def draw_strip_phases(work, lanes, bits):
    """Draw fresh phases and roundings."""
    a, b = key_words(bits)
    for m in range(_0, U8(lanes), LANES_U8):
        at = m // LANES_U8 * ROW_BUFFER_SIZE
        for j in range(LANES_U8):
            z = lane_bits(a, b, U4(m + j))
            low, high = U1(z >> U4(25)), U1(U1(z >> U4(18)) & _PHASE)
            work[at + LOW_PHASES_AT + j] = low
            work[at + HIGH_PHASES_AT + j] = high
            work[at + OLD_STATES_AT + j] = U1(low + high)
            work[at + RANDOM_BYTES_AT + j] = U1(z >> U4(10))


@jit
def draw_fine_chances(work, lanes, bits):
    """Draw two random bytes for each lane; 32 random bits serve two lanes of a cell."""
    a, b = key_words(bits)
    for m in range(_0, U8(lanes), LANES_U8):
        at = m // LANES_U8 * ROW_BUFFER_SIZE + FINE_RANDOM_BYTES_AT
        for j in range(_HALF_CELL):
            z = lane_bits(a, b, U4(m + j))
            work[at + j] = U1(z >> U4(24))
            work[at + LANES_U8 + j] = U1(z >> U4(16))
            work[at + _HALF_CELL + j] = U1(z >> U4(8))
            work[at + _HALF_CELL + LANES_U8 + j] = U1(z)


@jit
def load_strip_phases(work, lanes, phases, start, bits, sweep):
    """Load kept phases, and roundings: random numbers of the sites plus turns of `_STEP`."""
    a, b = key_words(bits)
    turned = U1(U1(sweep) * _STEP)
    for m in range(_0, U8(lanes), LANES_U8):
        at = m // LANES_U8 * ROW_BUFFER_SIZE
        for j in range(LANES_U8):
            here = start + U8(2) * m + j
            low, high = U1(phases[here] & _PHASE), U1(phases[here + LANES_U8] & _PHASE)
            work[at + LOW_PHASES_AT + j] = low
            work[at + HIGH_PHASES_AT + j] = high
            work[at + OLD_STATES_AT + j] = U1(low + high)
            work[at + RANDOM_BYTES_AT + j] = U1(U1(lane_bits(a, b, U4(m + j)) >> U4(10)) + turned)


@jit
def save_strip_phases(work, lanes, phases, start):
    """Keep the phases of a strip."""
    for m in range(_0, U8(lanes), LANES_U8):
        at = m // LANES_U8 * ROW_BUFFER_SIZE
        for j in range(LANES_U8):
            here = start + U8(2) * m + j
            phases[here] = U1(work[at + LOW_PHASES_AT + j] & _PHASE)
            phases[here + LANES_U8] = U1(work[at + HIGH_PHASES_AT + j] & _PHASE)


@jit
def shuffle_words(turns, key):
    """Shuffle the words (Fisher and Yates)."""
    for g in range(len(turns)):
        turns[g] = g
    for last in range(len(turns) - 1, 0, -1):
        other = np.int64(random_bits(key, U8(last)) >> U8(11)) % (last + 1)
        turns[last], turns[other] = turns[other], turns[last]


@jit
def run_of_lanes(r, m, columns):
    """Return where in `work` the sites from (r, m) on lie, and how many of the row fit."""
    site = U8(r * columns) + m
    lane = site % LANES_U8
    return site // LANES_U8 * ROW_BUFFER_SIZE + lane, min(LANES_U8 - lane, U8(columns) - m)


@jit
def count_neighbours(work, x, other, row, rows, columns, shift):
    """Count neighbours that are 1, in binary, and clear the new states."""
    for r in range(rows):
        # Column m of a padded half-lattice is m + 1, and a row that starts at column 0 has its left
        # neighbours one column before.
        here, m = other + U8(r) * row, _0
        left_at = here + U8((shift + r) & 1)
        while m < U8(columns):
            start, n = run_of_lanes(r, m, columns)
            at, to = start + NEIGHBOURS_AT, start + NEW_STATES_AT
            left, up, down = left_at + m, here - row + _1 + m, here + row + _1 + m
            for j in range(n):
                a, b, c, d = x[left + j], x[left + _1 + j], x[up + j], x[down + j]
                ab, cd, e, f = U1(a ^ b), U1(c ^ d), U1(a & b), U1(c & d)
                work[at + j] = U1(ab ^ cd)
                work[at + LANES_U8 + j] = U1(U1(e ^ f) ^ U1(ab & cd))
                work[at + U8(2) * LANES_U8 + j] = U1(e & f)
                work[to + j] = U1(0)
            m += n


@jit
def copy_neighbours(work, x, other, row, rows, columns, shift):
    """Copy the neighbours left, right, up, down, and clear the new states."""
    for r in range(rows):
        here, m = other + U8(r) * row, _0
        left_at = here + U8((shift + r) & 1)
        while m < U8(columns):
            start, n = run_of_lanes(r, m, columns)
            at, to = start + NEIGHBOURS_AT, start + NEW_STATES_AT
            left, up, down = left_at + m, here - row + _1 + m, here + row + _1 + m
            for j in range(n):
                work[at + j] = x[left + j]
                work[at + LANES_U8 + j] = x[left + _1 + j]
                work[at + U8(2) * LANES_U8 + j] = x[up + j]
                work[at + U8(3) * LANES_U8 + j] = x[down + j]
                work[to + j] = U1(0)
            m += n


@jit
def write_word_rows(work, target, to, step, rows, columns):
    """Copy a word's new states to rows that are `step` apart."""
    for r in range(rows):
        m = _0
        while m < U8(columns):
            at, n = run_of_lanes(r, m, columns)
            for j in range(n):
                target[to + m + j] = work[at + NEW_STATES_AT + j]
            m += n
        to += step


@jit
def copy_periodic_words(x, mine, row, first, rows, height, words):
    """Copy a strip's outermost states to the other side of a periodic lattice."""
    wide = row // U8(words)
    for r in range(first + 1, min(first + rows, height) + 1):
        at = mine + U8(r) * row
        for left in range(at, at + row, wide):
            x[left], x[left + wide - _1] = x[left + wide - U8(2)], x[left + _1]
        if r == 1 or r == height:
            to = mine + (U8(height + 1) * row if r == 1 else _0)
            for m in range(row):
                x[to + m] = x[at + m]


@jit
def add_ones(work, ones, tally, start, sites):
    """Count the members that are 1, and begin to count again."""
    for m in range(_0, sites, LANES_U8):
        at, n = m // LANES_U8 * ROW_BUFFER_SIZE + ONE_COUNTS_AT, min(LANES_U8, sites - m)
        if len(ones):
            for j in range(n):
                ones[start + m + j] += np.int64(work[at + j])
        if len(tally):
            for j in range(n):
                tally[start + m + j] += np.int64(work[at + j]) << 31
        for j in range(LANES_U8):
            work[at + j] = U1(0)


@jit
def add_phase_residues(work, tally, start, sites):
    """Add what the sum of the members' conditionals is beyond the ones, at scale 2^31."""
    for m in range(_0, sites, LANES_U8):
        at = m // LANES_U8 * ROW_BUFFER_SIZE
        for j in range(min(LANES_U8, sites - m)):
            low, high = (
                U1(work[at + LOW_PHASES_AT + j] & _PHASE),
                U1(work[at + HIGH_PHASES_AT + j] & _PHASE),
            )
            last, before = np.int64(low) + np.int64(high), np.int64(work[at + OLD_STATES_AT + j])
            tally[start + m + j] += (last - before) << 24
