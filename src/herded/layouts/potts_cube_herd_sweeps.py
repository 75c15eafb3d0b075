"""Sweeps of a herd over a Potts lattice of up to three dimensions: `potts_herd_sweeps`, rows by a
table.

Numbers of up to six neighbours have three binary digits: the first four are added up as on a
picture, and the others one by one, in the row of words that is free then.
"""

import numpy as np

from herded.layouts.potts_herd_arrays import LANES, WORD
from herded.layouts.potts_herd_choice import CHOSEN, add_conditionals, choose_last, choose_octet
from herded.layouts.potts_herd_order import (
    fill_lanes,
    fill_masks,
    fill_switches,
    mix_members,
    shuffle,
    unmix_members,
)
from herded.layouts.potts_herd_sweeps import (
    ALL,
    NO,
    OCTET,
    PHASE,
    R1,
    R2,
    R3,
    R4,
    SUMMED,
    add_neighbours,
    copy,
    count,
    deliver,
    expand,
    keep,
    split,
    store,
    take_differences,
)
from herded.system.jit import jit
from herded.system.stream import draw

U4, Z = np.uint32, np.uint64
POWERS = 7  # how many neighbours can have a state: 0 to 6
R5, R6 = Z(5 * LANES), Z(6 * LANES)


@jit
def potts_cube_herd_sweeps(
    table,
    there,
    near_rows,
    planes,
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
    """Half-sweeps and cells of these ranges; half-sweep 2 s + c is colour c of sample s.

    As `potts_herd_sweeps`; `near_rows` are rows of x beside each row along further axes.
    """
    sweep, key, order_key = clock
    near, new, hot, octets, phases, switches, counted, cumulated, living, w, sums = room
    words, columns, bits = x.shape[2], x.shape[4] - 2, len(planes)
    height, flat, samples = x.shape[1] - 2, x.reshape(-1), block.reshape(-1)
    sites, sample_shape = height * columns, (2, height, words, bits, columns)
    digits = 1 if bits <= 3 else 2
    rows = 3 * digits  # a plane each, those included that only fill up a digit
    states, around = table.shape[2] // (LANES * POWERS), 2 + near_rows.shape[1]
    nodes = Z(len(phases) // LANES)
    summing = cumulated if tally.size else cumulated[:0]
    order, places = np.zeros(words, np.int64), np.zeros(WORD, np.int64)
    masks = np.zeros(WORD + 4, np.uint32)
    for half in range(*halves):
        s, colour = half // 2, half & 1
        for cell in range(*cells):
            first = cell * LANES
            lanes = min(LANES, sites - first)
            visit = Z(((sweep + s) * 2 + colour) * table.shape[1] + cell)
            if kept.size:
                for k in range(len(phases)):
                    phases[k] = kept[colour, cell, k]
            else:
                for node in range(nodes):
                    fill_lanes(phases, node * R1, draw(key, visit * nodes + node), ALL)
            shuffle(order, words, draw(order_key, visit * Z(words + 1)))
            summed = 0
            for word in order:
                name = draw(order_key, visit * Z(words + 1) + Z(1 + word))
                live = min(WORD, members - word * WORD)
                fill_masks(masks, places, name, live)
                fill_switches(switches, name, live)
                look_around(flat, x.shape, near_rows, colour, word, first, lanes, near)
                for row in range(around * rows):
                    if row % rows >= rows - bits:
                        mix_members(near, row, switches)
                add_up(near, rows, digits, states, there[colour, cell], around, octets, hot)
                for k in range(len(new)):
                    new[k] = NO
                choose_all(
                    table[colour, cell], planes, hot, live, masks, scales, w, sums, phases, new,
                    summing,
                )  # fmt: skip
                for row in range(rows - bits, rows):
                    unmix_members(new, row, switches)
                store(flat, x.shape, colour, word, first, lanes, ring, new)
                if samples.size:
                    at = s * block.shape[1]
                    keep(samples, sample_shape, colour, word, first, lanes, new, at)
                if ones.size:
                    for k in range(LANES):
                        living[k] = (Z(1) << Z(live)) - Z(1)
                    expand(new, 0, digits, states, living, 0, octets, hot)
                    count(hot, states, counted)
                summed += live
                if tally.size and (summed + WORD > SUMMED or word == order[-1]):
                    take_differences(cumulated, states)
                    deliver(cumulated, tally, colour * sites + first, lanes, states)
                    summed = 0
            if ones.size:
                deliver(counted, ones, colour * sites + first, lanes, states)
            if kept.size:
                for k in range(len(phases)):
                    kept[colour, cell, k] = phases[k] & PHASE


@jit
def look_around(flat, shape, near_rows, colour, word, first, lanes, near):
    """Copy the planes of each site's neighbours, of one word: left, right, then axis by axis."""
    _, height, words, planes, columns = shape
    around = 2 + near_rows.shape[1]
    rows = len(near) // (around * LANES)
    lane = 0
    while lane < lanes:
        r, c = (first + lane) // (columns - 2), (first + lane) % (columns - 2)
        run = min(columns - 2 - c, lanes - lane)
        shift = (r + colour) & 1  # as in `grid_sweeps.look_around`
        for d in range(around):
            row = r + 1 if d < 2 else near_rows[r, d - 2]
            left = c + (shift + d if d < 2 else 1)
            for p in range(planes):
                at = (((1 - colour) * height + row) * words + word) * planes + p
                copy(
                    flat,
                    at * columns + left,
                    near,
                    (d * rows + rows - planes + p) * LANES + lane,
                    run,
                )
        lane += run


@jit
def add_up(near, rows, digits, states, there, around, octets, hot):
    """How many neighbours are in state k: three binary digits in rows 4 k to 4 k + 2."""
    for d in range(4):
        if d < around:
            expand(near, d * rows, digits, states, there, d, octets, hot)
        else:
            for k in range(Z(states)):
                for j in range(R1):
                    hot[k * R4 + Z(d) * R1 + j] = NO
    add_neighbours(hot, states)
    for d in range(4, around):
        at, mask = Z(d * rows) * R1, Z(d) * R1
        if digits == 1:
            split(near, at, there, mask, hot, R3)
        else:
            split(near, at, there, mask, octets, Z(0))
            for octet in range(Z((states + 7) // 8)):
                split(near, at + R3, octets, octet * R4, hot, octet * OCTET + R3)
        for k in range(Z(states)):
            row = k * R4
            for j in range(R1):
                more = hot[row + R3 + j]
                over = U4(hot[row + j] & more)
                hot[row + j] = U4(hot[row + j] ^ more)
                hot[row + R2 + j] = U4(hot[row + R2 + j] ^ U4(hot[row + R1 + j] & over))
                hot[row + R1 + j] = U4(hot[row + R1 + j] ^ over)


@jit
def choose_all(table, planes, hot, live, masks, scales, w, sums, phases, new, cumulated):
    """New states of all members of a word, in the order of `masks`; sums of their conditionals."""
    one, above = scales
    for first in range(0, live, 4):
        weigh(hot, table, masks[first], masks[first + 1], masks[first + 2], masks[first + 3], w)
        for m in range(min(4, live - first)):
            if cumulated.size:
                add_conditionals(w, m, above, sums, cumulated)
            if len(planes) > 3:
                choose_octet(w, m, planes, one, masks[first + m], phases, new, sums)
                choose_last(sums, CHOSEN, planes, one, masks[first + m], phases, new)
            else:
                choose_last(w, Z(m) * R1, planes, one, masks[first + m], phases, new)


@jit
def by_count(c0, c1, c2, bit, e0, e1, e2, e3, e4, e5, e6):
    """A state's weight in one member, from the binary digits of how many neighbours are in it."""
    odd, two = U4(c0 & bit) != NO, U4(c1 & bit) != NO
    e01 = e1 if odd else e0
    e23 = e3 if odd else e2
    e45 = e5 if odd else e4
    few = e23 if two else e01
    many = e6 if two else e45
    return many if U4(c2 & bit) != NO else few


@jit
def weigh(counts, table, b0, b1, b2, b3, w):
    """Weights of all states in four members."""
    for k in range(Z(len(table)) // Z(POWERS * LANES)):
        row, entry = k * R4, k * Z(POWERS * LANES)
        for j in range(R1):
            c0, c1, c2 = counts[row + j], counts[row + R1 + j], counts[row + R2 + j]
            e0, e1, e2 = table[entry + j], table[entry + R1 + j], table[entry + R2 + j]
            e3, e4 = table[entry + R3 + j], table[entry + R4 + j]
            e5, e6 = table[entry + R5 + j], table[entry + R6 + j]
            w[row + j] = by_count(c0, c1, c2, b0, e0, e1, e2, e3, e4, e5, e6)
            w[row + R1 + j] = by_count(c0, c1, c2, b1, e0, e1, e2, e3, e4, e5, e6)
            w[row + R2 + j] = by_count(c0, c1, c2, b2, e0, e1, e2, e3, e4, e5, e6)
            w[row + R3 + j] = by_count(c0, c1, c2, b3, e0, e1, e2, e3, e4, e5, e6)
