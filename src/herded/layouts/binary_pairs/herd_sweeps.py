"""Sweeps of a herd in which lanes are variables of one colour, and members are bits of words.

A visit of a block finds the fields of sixteen members of all its lanes and looks their p up, until
it has those of the whole herd. Then the members draw with the phases of the lanes, one after
another (`layouts.binary_pairs.herd_phases`).

The members of a block come in an order that is drawn at each visit: words at random, then groups of
sixteen, then members, all by `orders`. It is common to all lanes. So that lanes do not agree on
which members are 1, every lane exchanges members within each word first: in six rounds (a
butterfly), member k with member k + d or not, d = 1, 2, .. 32, by a random bit each. Neighbours'
words are changed so when they are read, and the new word is changed back when it is stored. Where
all lanes have the same neighbours, fields are changed so instead
(`layouts.binary_pairs.shared_neighbour_fields`).

Loops over lanes have a literal length, unsigned indices, and every sum is cast: only so they are
vectorised in 16 bits.
"""

import numpy as np

from herded.draws.integer_types import I2, I4, U2, U4, U8
from herded.draws.systematic import order_offsets
from herded.draws.systematic_lanes import lane_bits
from herded.layouts.binary_pairs.herd_arrays import (
    BLOCK_LANES,
    L2,
    L3,
    L4,
    L5,
    L6,
    L7,
    MEMBERS_PER_UINT64,
    L,
)
from herded.layouts.binary_pairs.herd_phases import (
    HALF_PHASE_U,
    add_phase_sums,
    continue_phases_from_low_to_high,
    draw_16_members,
    draw_low_and_high_phases,
    load_block_phases,
    save_block_phases,
    sum_below,
    sum_phases,
)
from herded.layouts.binary_pairs.herd_rounding import (
    draw_factors,
    look_up_at_scale_15,
    round_couplings_of_block,
    scale_by_beta,
)
from herded.layouts.binary_pairs.shared_neighbour_fields import (
    NEIGHBOURS_PER_TABLE,
    exchange_member_fields,
    number_states,
    shared_fields_of_word,
    take_fields,
)
from herded.layouts.general.site_herd_sweeps import count_members_in_state_1
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

MEMBERS_PER_GROUP = 16  # members whose words are 16 bits
_0, _1, _2, _4, _8, _16, _32, _48 = U8(0), U8(1), U8(2), U8(4), U8(8), U8(16), U8(32), U8(48)


@jit
def binary_pairs_herd_sweeps(a, table, orders, run, betas, members, width, m, block, when, part):
    """Run sweeps `when` [from, to) of samples, over blocks `part` [from, to) of lanes.

    `betas` is None, or what fields are multiplied by.
    """
    row_start, neighbour = a.row_start, a.neighbour
    x, phases, tally, ones, shared = m.x, m.phases, m.tally, m.ones, a.shared
    of_words, of_groups, of_members = orders
    words, blocks = U8((members + MEMBERS_PER_UINT64 - 1) // MEMBERS_PER_UINT64), len(row_start) - 1
    begins, ends = U8(part[0]) * L * words, U8(part[1]) * L * words
    if part[1] == blocks:
        ends = U8(len(x))  # the last place is behind all blocks
    most = _0
    for b in range(part[0], part[1]):
        most = max(most, U8(row_start[b + 1] - row_start[b]) * L)
    near, halves, coupling = np.empty(most, U8), np.empty(_4 * most, U2), np.empty(most, I2)
    alone, random = np.empty(BLOCK_LANES, I2), np.empty(BLOCK_LANES, U2)
    chance, found = np.empty(BLOCK_LANES, U4), np.empty(BLOCK_LANES, U4)
    factors, dither = np.empty(BLOCK_LANES, I4), np.empty(BLOCK_LANES, I4)
    four_f, p = (
        np.empty(MEMBERS_PER_GROUP * BLOCK_LANES // 4, U8),
        np.empty(words * U8(MEMBERS_PER_UINT64 * BLOCK_LANES), U2),
    )
    f = four_f.view(I2)
    bits, slots, turns = (
        np.empty(words * U8(MEMBERS_PER_UINT64), U2),
        np.empty(MEMBERS_PER_GROUP, U8),
        np.empty(words * _4, U8),
    )
    phase, begin, carries = (
        np.empty(2 * BLOCK_LANES, U2),
        np.empty(BLOCK_LANES, U2),
        np.empty(BLOCK_LANES, np.int64),
    )
    out, mix, below = (
        np.empty(4 * BLOCK_LANES, U2),
        np.empty(words * L6, U8),
        np.empty(2 * BLOCK_LANES, U2),
    )
    all_fields, tables = (
        np.zeros(MEMBERS_PER_UINT64 * BLOCK_LANES, I2),
        np.empty(4 * 16 * BLOCK_LANES, I2),
    )
    states = np.empty(
        (most // L + U8(NEIGHBOURS_PER_TABLE)) * U8(MEMBERS_PER_UINT64 // 4), np.uint8
    )
    rest = np.empty(NEIGHBOURS_PER_TABLE * BLOCK_LANES, I2)
    for s in range(when[0], when[1]):
        for b in range(part[0], part[1]):
            first, rows, here = U8(row_start[b]) * L, U8(row_start[b + 1] - row_start[b]), U8(b) * L
            name = U8(run.sweep + s) * U8(blocks) + U8(b)
            if len(phases):
                load_block_phases(phases, _2 * here, phase)
            else:
                draw_low_and_high_phases(random_bits(run.key, name), phase)
            for j in range(L):
                below[j] = U2(0)
                below[L + j] = U2(0) if not len(phases) else HALF_PHASE_U
            visit = random_bits(run.phase_key, name)
            rounding = random_bits(visit, words * U8(6))  # further names of the visit are below
            round_couplings_of_block(
                a, first, rows, here, rounding, coupling, alone, random, chance
            )
            if betas is not None:
                shift = draw_factors(betas[s], rounding, factors, dither)
            r, q = order_offsets(visit, len(of_words) // words, words)
            for n in range(words):
                word, mine = U8(of_words[r + U8(of_words[q + n])]), n * L6
                left = U8(members) - word * U8(MEMBERS_PER_UINT64)
                draw_exchanges(random_bits(visit, words + word), left, mix, mine)
                if shared[b]:
                    number_states(x, words, word, neighbour, first, rows, states)
                    last = min(left, U8(MEMBERS_PER_UINT64))
                    shared_fields_of_word(
                        all_fields, alone, coupling, rows, rest, states, tables, last
                    )
                    exchange_member_fields(all_fields, mix, mine, out)
                else:
                    gather_neighbour_words(
                        x, words, word, neighbour, first, rows, mix, mine, near, halves, most
                    )
                t, u = order_offsets(random_bits(visit, word), len(of_groups) // 4, 4)
                for turn in range(n * _4, n * _4 + _4):
                    g, i = U8(of_groups[t + U8(of_groups[u + turn % _4])]), turn * _16
                    turns[turn] = g
                    if g * _16 >= left:
                        continue
                    choice = random_bits(visit, words + words + word * _4 + g)
                    order_bits(choice, of_members, bits, i, slots)
                    if shared[b]:
                        take_fields(f, all_fields, g, slots)
                    else:
                        for o in range(_0, _16, _8):
                            k = i + o
                            sum_fields_of_8_members(
                                f, o * L, halves, g * most, coupling, alone, rows,
                                bits[k], bits[k + _1], bits[k + _2], bits[k + U8(3)],
                                bits[k + _4], bits[k + U8(5)], bits[k + U8(6)], bits[k + U8(7)],
                            )  # fmt: skip
                    if betas is not None:
                        scale_by_beta(f, factors, shift, dither)
                    live = U2((_1 << min(left - g * _16, _16)) - _1)
                    look_up_at_scale_15(four_f, p, i, table, bits, live, chance, found)
                    if not len(phases):
                        sum_below(p, i * L, below)
            if not len(phases):
                continue_phases_from_low_to_high(phase, below)
            sum_phases(phase, begin)
            for j in range(L):
                carries[j] = 0
            for n in range(words):
                word = U8(of_words[r + U8(of_words[q + n])])
                for j in range(L4):
                    out[j] = U2(0)
                for turn in range(n * _4, n * _4 + _4):
                    if word * U8(MEMBERS_PER_UINT64) + turns[turn] * _16 < U8(members):
                        draw_16_members(p, phase, below, out, turns[turn] * L, bits, turn * _16)
                store_word(x, here, words, word, mix, n * L6, out, carries)
            if len(phases):
                save_block_phases(phases, _2 * here, phase)
            if len(ones):
                for j in range(L):
                    count_members_in_state_1(ones, width, here + j, np.int64(members), carries[j])
            if len(tally):
                add_phase_sums(tally, here, phase, begin, carries)
        if block.shape[1]:
            for i in range(begins, ends):
                block[s, i] = x[i]


@jit
def draw_exchanges(key, left, mix, at):
    """Draw which members of each lane change places, in six rounds; spare bits stay."""
    a, b = U4(key), U4(key >> _32)
    live = ~_0 if left >= U8(MEMBERS_PER_UINT64) else (_1 << left) - _1
    both1, both2, both4 = live & (live >> _1), live & (live >> _2), live & (live >> _4)
    both8, both16, both32 = live & (live >> _8), live & (live >> _16), live & (live >> _32)
    for j in range(L):
        i = U4(U4(j) * U4(6))
        o = at + j
        mix[o] = random_bits_of_pairs(lane_bits(a, b, i), U4(1), U4(0x55555555)) & both1
        mix[o + L] = (
            random_bits_of_pairs(lane_bits(a, b, U4(i + U4(1))), U4(2), U4(0x33333333)) & both2
        )
        mix[o + L2] = (
            random_bits_of_pairs(lane_bits(a, b, U4(i + U4(2))), U4(4), U4(0x0F0F0F0F)) & both4
        )
        mix[o + L3] = (
            random_bits_of_pairs(lane_bits(a, b, U4(i + U4(3))), U4(8), U4(0x00FF00FF)) & both8
        )
        mix[o + L4] = (
            random_bits_of_pairs(lane_bits(a, b, U4(i + U4(4))), U4(16), U4(0x0000FFFF)) & both16
        )
        mix[o + L5] = U8(lane_bits(a, b, U4(i + U4(5)))) & both32


@jit
def random_bits_of_pairs(bits, distance, places):
    """Return random bits at the first members of pairs that are `distance` apart."""
    low, high = U4(bits & places), U4(U4(bits >> distance) & places)
    return U8(low) | (U8(high) << _32)


@jit
def exchange_bits(z, mask, distance):
    """Exchange bits under the mask with those `distance` above them."""
    t = ((z >> distance) ^ z) & mask
    return z ^ t ^ (t << distance)


@jit
def order_bits(choice, of_members, bits, at, slots):
    """Return a group's members and their bits of its words, in the order of this visit."""
    r, q = order_offsets(choice, len(of_members) // MEMBERS_PER_GROUP, MEMBERS_PER_GROUP)
    for k in range(_16):
        slots[k] = U8(of_members[r + U8(of_members[q + k])])
        bits[at + k] = U2(_1 << slots[k])


@jit
def gather_neighbour_words(x, words, word, neighbour, first, rows, mix, mine, near, halves, most):
    """Gather neighbours' words, then their four groups: the second loop is vectorised."""
    for i in range(rows * L):
        near[i] = x[U8(neighbour[first + i]) * words + word]
    for row in range(rows):
        at = row * L
        for j in range(L):
            o = mine + j
            z = exchange_bits(exchange_bits(near[at + j], mix[o], _1), mix[o + L], _2)
            z = exchange_bits(exchange_bits(z, mix[o + L2], _4), mix[o + L3], _8)
            z = exchange_bits(exchange_bits(z, mix[o + L4], _16), mix[o + L5], _32)
            halves[at + j] = U2(z)
            halves[most + at + j] = U2(z >> _16)
            halves[most + most + at + j] = U2(z >> _32)
            halves[most + most + most + at + j] = U2(z >> _48)


@jit
def sum_fields_of_8_members(
    f, at, halves, group, coupling, alone, rows, k0, k1, k2, k3, k4, k5, k6, k7
):
    """Sum fields of eight members with bits k0 to k7, in all lanes, by pairs of rows."""
    for j in range(L):
        h = alone[j]
        f[at + j] = h
        f[at + L + j] = h
        f[at + L2 + j] = h
        f[at + L3 + j] = h
        f[at + L4 + j] = h
        f[at + L5 + j] = h
        f[at + L6 + j] = h
        f[at + L7 + j] = h
    for row in range(_0, rows, _2):
        above, below = group + row * L, group + (row + _1) * L
        upper, lower = row * L, (row + _1) * L
        for j in range(L):
            y, z = halves[above + j], halves[below + j]
            c, d = coupling[upper + j], coupling[lower + j]
            f[at + j] = add_two_couplings(f[at + j], y, z, c, d, k0)
            f[at + L + j] = add_two_couplings(f[at + L + j], y, z, c, d, k1)
            f[at + L2 + j] = add_two_couplings(f[at + L2 + j], y, z, c, d, k2)
            f[at + L3 + j] = add_two_couplings(f[at + L3 + j], y, z, c, d, k3)
            f[at + L4 + j] = add_two_couplings(f[at + L4 + j], y, z, c, d, k4)
            f[at + L5 + j] = add_two_couplings(f[at + L5 + j], y, z, c, d, k5)
            f[at + L6 + j] = add_two_couplings(f[at + L6 + j], y, z, c, d, k6)
            f[at + L7 + j] = add_two_couplings(f[at + L7 + j], y, z, c, d, k7)


@jit
def add_two_couplings(f, y, z, c, d, bit):
    """Return a member's field and the couplings to those of two neighbours that are 1."""
    more = c if U2(y & bit) != U2(0) else I2(0)
    also = d if U2(z & bit) != U2(0) else I2(0)
    return I2(f + I2(more + also))


@jit
def store_word(x, here, words, word, mix, mine, out, carries):
    """Store the four groups of a word, all members in their places, and count its ones."""
    for j in range(L):
        z = (
            U8(out[j])
            | (U8(out[L + j]) << _16)
            | (U8(out[L2 + j]) << _32)
            | (U8(out[L3 + j]) << _48)
        )
        o = mine + j
        z = exchange_bits(exchange_bits(z, mix[o + L5], _32), mix[o + L4], _16)
        z = exchange_bits(exchange_bits(z, mix[o + L3], _8), mix[o + L2], _4)
        z = exchange_bits(exchange_bits(z, mix[o + L], _2), mix[o], _1)
        x[(here + j) * words + word] = z
        z -= (z >> _1) & U8(0x5555555555555555)
        z = (z & U8(0x3333333333333333)) + ((z >> _2) & U8(0x3333333333333333))
        z = (z + (z >> _4)) & U8(0x0F0F0F0F0F0F0F0F)
        carries[j] += np.int64((z * U8(0x0101010101010101)) >> U8(56))
