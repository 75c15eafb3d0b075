"""Sweeps of a herd over a Potts lattice packed in bit planes (`layouts.potts.herd_arrays`),
vectorised.

Cell by cell of 32 lanes. A visit copies the planes of all neighbours into adjacent rows, a word of
32 members at a time; makes of them, by bitwise arithmetic for all members at once, words that
say which members have a neighbour in state k, or how many; and then goes from member to member with
the phases of the cell (`layouts.potts.herd_conditionals`), in an order of its own
(`layouts.potts.member_order`).
"""

import numpy as np

from herded.draws.fixed_point import PHASE_MASK
from herded.draws.integer_types import U4, U8
from herded.layouts.potts.herd_arrays import MEMBERS_PER_UINT32, OCTET, POTTS_LANES, R1, R2, R3, R4
from herded.layouts.potts.herd_conditionals import NO_BITS_U4, choose_states_of_word
from herded.layouts.potts.member_order import (
    BUTTERFLY_STAGES,
    fill_lanes,
    fill_masks,
    fill_switches,
    permute_members,
    shuffle_numbers,
    unpermute_members,
)
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

ALL_BITS_U4 = U4(2**32 - 1)
MEMBERS_PER_SUM = 128  # members whose conditionals 32 bits can sum


@jit
def potts_herd_sweeps(
    table,
    factors,
    has_side,
    adjacent_rows,
    planes,
    powers,
    ring,
    members,
    clock,
    x,
    kept,
    ones,
    tally,
    block,
    scales,
    room,
    halves,
    cells,
):
    """Run ranges of half-sweeps and cells; half-sweep 2 s + c is colour c of sample s.

    The first seven are those of `PottsHerdArrays`, without dimensions beyond cells; `clock` is
    (sweep, key of phases, key of orders), kept (2, cells, rows * POTTS_LANES) phases or empty,
    block (sweeps, words of a sample or 0), `scales` 2^31, 2^24 and 2^-24 in the type of the
    table, `room` has arrays for what a visit needs.
    """
    sweep, key, order_key = clock
    near, new, hot, octets, phases, switches, counted, recorded, living, dither, w, sums = room
    words, columns, bits = x.shape[2], x.shape[4] - 2, len(planes)
    height, flat, samples = x.shape[1], x.reshape(-1), block.reshape(-1)
    sites, sample_shape = height * columns, (2, height, words, bits, columns)
    digits = 1 if bits <= 3 else 2
    rows = 3 * digits  # a plane each, those included that only fill up a digit
    states, around = table.shape[2] // (POTTS_LANES * len(powers)), 2 + adjacent_rows.shape[1]
    moving = U8(len(phases) // POTTS_LANES)  # rows of phases
    summing = recorded if tally.size else recorded[:0]
    order, places = np.zeros(words, np.int64), np.zeros(MEMBERS_PER_UINT32, np.int64)
    masks = np.zeros(MEMBERS_PER_UINT32 + 4, np.uint32)
    for half in range(*halves):
        s, colour = half // 2, half & 1
        for cell in range(*cells):
            first = cell * POTTS_LANES
            lanes = min(POTTS_LANES, sites - first)
            visit = U8(((sweep + s) * 2 + colour) * table.shape[1] + cell)
            if kept.size:
                for k in range(len(phases)):
                    phases[k] = kept[colour, cell, k]
            else:
                for nth in range(moving):
                    fill_lanes(
                        phases, nth * R1, random_bits(key, visit * moving + nth), ALL_BITS_U4
                    )
            shuffle_numbers(order, words, random_bits(order_key, visit * U8(words + 1)))
            summed = 0
            for word in order:
                name = random_bits(order_key, visit * U8(words + 1) + U8(1 + word))
                live = min(MEMBERS_PER_UINT32, members - word * MEMBERS_PER_UINT32)
                fill_masks(masks, places, name, live)
                fill_switches(switches, name, live)
                if tally.size:
                    fill_lanes(
                        dither, U8(0), random_bits(name, U8(BUTTERFLY_STAGES + 1)), ALL_BITS_U4
                    )
                look_around(flat, x.shape, adjacent_rows, colour, word, first, lanes, near, rows)
                for row in range(around * rows):
                    if row % rows >= rows - bits:
                        permute_members(near, row, switches)
                near_has_side = has_side[colour, cell]
                if factors is None:
                    find_four(near, U8(rows), states, near_has_side, U8(0), octets, hot, U8(0))
                    add_four(hot, states)
                    for d in range(U8(4), U8(around)):
                        at, start = d * U8(rows) * R1, d * R1
                        expand_state_masks(
                            near, at, digits, states, near_has_side, start, octets, hot, R3
                        )
                        add_one(hot, states)
                if factors is not None:
                    part = U8(len(hot)) // (U8(factors.shape[2]) // R4)
                    for four in range(U8(factors.shape[2]) // R4):
                        at = four * part
                        find_four(near, U8(rows), states, near_has_side, four, octets, hot, at)
                for k in range(len(new)):
                    new[k] = NO_BITS_U4
                choose_states_of_word(
                    table[colour, cell],
                    None if factors is None else factors[colour, cell],
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
                    summing,
                )
                for row in range(rows - bits, rows):
                    unpermute_members(new, row, switches)
                store_herd_word(flat, x.shape, colour, word, first, lanes, ring, new)
                if samples.size:
                    at = s * block.shape[1]
                    write_word_planes(samples, sample_shape, colour, word, first, lanes, new, at)
                if ones.size:
                    for k in range(POTTS_LANES):
                        living[k] = (U8(1) << U8(live)) - U8(1)
                    expand_state_masks(
                        new, U8(0), digits, states, living, U8(0), octets, hot, U8(0)
                    )
                    count_cell_members(hot, states, counted)
                summed += live
                if tally.size and (
                    summed + MEMBERS_PER_UINT32 > MEMBERS_PER_SUM or word == order[-1]
                ):
                    flush_sums(recorded, tally, colour * sites + first, lanes, states)
                    summed = 0
            if ones.size:
                flush_sums(counted, ones, colour * sites + first, lanes, states)
            if kept.size:
                for k in range(len(phases)):
                    kept[colour, cell, k] = phases[k] & PHASE_MASK


@jit
def look_around(flat, shape, adjacent_rows, colour, word, first, lanes, near, rows):
    """Copy the planes of each site's neighbours, of one word: left, right, then axis by axis.

    `flat` and `shape` are those of the herd, its border included.
    """
    _, height, words, planes, columns = shape
    lane = 0
    while lane < lanes:
        r, c = (first + lane) // (columns - 2), (first + lane) % (columns - 2)
        run = min(columns - 2 - c, lanes - lane)
        shift = (r + colour) & 1  # as in `grid_sweeps.look_around`
        for d in range(2 + adjacent_rows.shape[1]):
            row = r if d < 2 else adjacent_rows[r, d - 2]
            left = c + (shift + d if d < 2 else 1)
            at = (((1 - colour) * height + row) * words + word) * planes
            to = ((d + 1) * rows - planes) * POTTS_LANES + lane
            for p in range(planes):
                copy_words(flat, (at + p) * columns + left, near, to + p * POTTS_LANES, run)
        lane += run


@jit
def copy_words(words, at, to, start, run):
    for m in range(U8(run)):
        to[U8(start) + m] = words[U8(at) + m]


@jit
def expand_state_masks(planes, at, digits, states, masks, start, octets, hot, to):
    """Store words of the members in state k, in row 4 k of `hot`; 0 beyond the masks.

    Planes, masks and `hot` begin at these places.
    """
    if digits == 1:
        split_by_digit(planes, at, masks, start, hot, to)
    else:
        split_by_digit(planes, at, masks, start, octets, U8(0))
        for octet in range(U8((states + 7) // 8)):
            split_by_digit(planes, at + R3, octets, octet * R4, hot, octet * OCTET + to)


@jit
def split_by_digit(planes, at, masks, start, hot, to):
    """Split a mask by one digit into eight words that partition its members."""
    for j in range(R1):
        high, middle, low = planes[at + j], planes[at + R1 + j], planes[at + R2 + j]
        mask, even = masks[start + j], U4(~low)
        left, right = U4(mask & U4(~high)), U4(mask & high)
        a, b = U4(left & U4(~middle)), U4(left & middle)
        c, d = U4(right & U4(~middle)), U4(right & middle)
        hot[to + j], hot[to + R4 + j] = U4(a & even), U4(a & low)
        hot[to + U8(2) * R4 + j], hot[to + U8(3) * R4 + j] = U4(b & even), U4(b & low)
        hot[to + U8(4) * R4 + j], hot[to + U8(5) * R4 + j] = U4(c & even), U4(c & low)
        hot[to + U8(6) * R4 + j], hot[to + U8(7) * R4 + j] = U4(d & even), U4(d & low)


@jit
def find_four(near, rows, states, has_side, four, octets, hot, to):
    """Set row 4 k + d of `hot` to the members with neighbour 4 four + d in state k."""
    digits = rows // U8(3)
    for d in range(U8(4)):
        side = U8(4) * four + d
        at, start = side * rows * R1, side * R1
        expand_state_masks(near, at, digits, states, has_side, start, octets, hot, to + d * R1)


@jit
def add_four(hot, states):
    """Count in binary how many of four neighbours are in state k, in rows 4 k to 4 k + 2."""
    for k in range(U8(states)):
        row = k * R4
        for j in range(R1):
            a, b, c, d = hot[row + j], hot[row + R1 + j], hot[row + R2 + j], hot[row + R3 + j]
            ab, cd, both, too = U4(a ^ b), U4(c ^ d), U4(a & b), U4(c & d)
            hot[row + j] = U4(ab ^ cd)
            hot[row + R1 + j] = U4(U4(both ^ too) ^ U4(ab & cd))
            hot[row + R2 + j] = U4(both & too)


@jit
def add_one(hot, states):
    """Add one neighbour, in the row that is free then."""
    for k in range(U8(states)):
        row = k * R4
        for j in range(R1):
            more = hot[row + R3 + j]
            over = U4(hot[row + j] & more)
            hot[row + j] = U4(hot[row + j] ^ more)
            hot[row + R2 + j] = U4(hot[row + R2 + j] ^ U4(hot[row + R1 + j] & over))
            hot[row + R1 + j] = U4(hot[row + R1 + j] ^ over)


@jit
def store_herd_word(flat, shape, colour, word, first, lanes, ring, new):
    """Store the planes of one word in the herd, and in its border if rows are rings."""
    _, height, words, planes, columns = shape
    lane = 0
    while lane < lanes:
        r, c = (first + lane) // (columns - 2), (first + lane) % (columns - 2)
        run = min(columns - 2 - c, lanes - lane)
        for p in range(planes):
            at = len(new) + (p - planes) * POTTS_LANES + lane
            to = (((colour * height + r) * words + word) * planes + p) * columns + c + 1
            copy_words(new, at, flat, to, run)
            if ring and c == 0:
                flat[to + columns - 2] = new[at]
            if ring and c + run == columns - 2:
                flat[to + run - 1 - (columns - 2)] = new[at + run - 1]
        lane += run


@jit
def write_word_planes(flat, shape, colour, word, first, lanes, new, at):
    """Write the planes of one word into a sample, a herd of this shape at place `at`."""
    _, height, words, planes, columns = shape
    lane = 0
    while lane < lanes:
        r, c = (first + lane) // columns, (first + lane) % columns
        run = min(columns - c, lanes - lane)
        for p in range(planes):
            to = (((colour * height + r) * words + word) * planes + p) * columns + c
            copy_words(new, len(new) + (p - planes) * POTTS_LANES + lane, flat, at + to, run)
        lane += run


@jit
def ones_in(v):
    """Return how many bits are 1."""
    v = U4(v - U4(U4(v >> U4(1)) & U4(0x55555555)))
    v = U4(U4(v & U4(0x33333333)) + U4(U4(v >> U4(2)) & U4(0x33333333)))
    v = U4(U4(v + U4(v >> U4(4))) & U4(0x0F0F0F0F))
    v = U4(v + U4(v >> U4(8)))
    return U4(U4(v + U4(v >> U4(16))) & U4(63))


@jit
def count_cell_members(hot, states, counted):
    """Add the number of members in each state."""
    for k in range(U8(states)):
        for j in range(R1):
            counted[k * R1 + j] = U4(counted[k * R1 + j] + ones_in(hot[k * R4 + j]))


@jit
def flush_sums(sums, found, site, lanes, states):
    """Add the sums of a cell to those of the run, and reset them."""
    for k in range(states):
        for m in range(lanes):
            found[(site + m) * states + k] += np.int64(sums[k * POTTS_LANES + m])
    for k in range(len(sums)):
        sums[k] = NO_BITS_U4
