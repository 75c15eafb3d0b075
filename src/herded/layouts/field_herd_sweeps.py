"""Sweeps of a herd in which lanes are variables of one colour, and members are bits of words.

A visit of a block finds the fields of sixteen members of all its lanes, looks their p up, and adds
them to the phases of the lanes one member after another. A lane has two phases: one for p below
1/2 and one for the others. Members that expect the same make up for each other so, and energies
have less noise than those of independent chains; with one phase they would have more. Sums wrap at
2^16 and p is at scale 2^15: a carry is a change of the top bit, need not be taken away, and p = 1
exists. The carries tell the sum of all p: carries * 2^15 + last phases - first phases.

The members of a block come in an order that is drawn at each visit: words at random, then groups of
sixteen, then members, all by `orders`. It is common to all lanes. So that lanes do not agree on
which members are 1, every lane exchanges members within each word first: in six rounds (a
butterfly), member k with member k + d or not, d = 1, 2, .. 32, by a random bit each. Neighbours'
words are changed so when they are read, and the new word is changed back when it is stored. Where
all lanes have the same neighbours, fields are changed so instead (`field_herd_shared`).

Loops over lanes have a literal length, unsigned indices, and every sum is cast: only so they are
vectorised in 16 bits.
"""

import numpy as np

from herded.draws.together import order_rows
from herded.draws.together_lanes import lane_bits
from herded.layouts.field_herd_arrays import LANES, WORD, multiplier
from herded.layouts.field_herd_shared import (
    AT_ONCE,
    exchange_fields,
    fields_of_all,
    number_states,
    take_fields,
)
from herded.layouts.site_herd_sweeps import count_ones
from herded.system.jit import jit
from herded.system.stream import draw

I2, I4, U, U4, Z = np.int16, np.int32, np.uint16, np.uint32, np.uint64
GROUP = 16  # members whose words are 16 bits
L, L2, L3, L4 = Z(LANES), Z(2 * LANES), Z(3 * LANES), Z(4 * LANES)
L5, L6, L7 = Z(5 * LANES), Z(6 * LANES), Z(7 * LANES)
_0, _1, _2, _4, _8, _16, _32, _48 = Z(0), Z(1), Z(2), Z(4), Z(8), Z(16), Z(32), Z(48)
PHASE, HALF = U(0x7FFF), U(0x4000)


@jit
def field_herd_sweeps(a, table, orders, run, betas, members, width, m, block, when, part):
    """Sweeps `when` [from, to) of a block of samples, over blocks of lanes `part` [from, to).

    `betas` is None, or what fields are multiplied by.
    """
    row_start, neighbour, coupling, alone = a.row_start, a.neighbour, a.coupling, a.alone
    x, phases, tally, ones, shared = m.x, m.phases, m.tally, m.ones, a.shared
    of_words, of_groups, of_members = orders
    words, blocks = Z((members + WORD - 1) // WORD), len(row_start) - 1
    begins, ends = Z(part[0]) * L * words, Z(part[1]) * L * words
    if part[1] == blocks:
        ends = Z(len(x))  # the last place is behind all blocks
    most = _0
    for b in range(part[0], part[1]):
        most = max(most, Z(row_start[b + 1] - row_start[b]) * L)
    near, halves = np.empty(most, Z), np.empty(_4 * most, U)
    f, p, bits = np.empty(GROUP * LANES, I2), np.empty(GROUP * LANES, U), np.empty(GROUP, U)
    phase, begin, carries = np.empty(2 * LANES, U), np.empty(LANES, U), np.empty(LANES, np.int64)
    out, mix, slots = np.empty(4 * LANES, U), np.empty(6 * LANES, Z), np.empty(GROUP, Z)
    all_fields, tables = np.zeros(WORD * LANES, I2), np.empty(4 * 16 * LANES, I2)
    states = np.empty((most // L + Z(AT_ONCE)) * Z(WORD // 4), np.uint8)
    rest = np.empty(AT_ONCE * LANES, I2)
    for s in range(when[0], when[1]):
        if betas is not None:
            factor, shift = multiplier(betas[s], 15)
        for b in range(part[0], part[1]):
            first, rows, here = Z(row_start[b]) * L, Z(row_start[b + 1] - row_start[b]), Z(b) * L
            name = Z(run.sweep + s) * Z(blocks) + Z(b)
            if len(phases):
                load_phases(phases, _2 * here, phase)
            else:
                draw_phases(draw(run.key, name), phase)
            add_phases(phase, begin)
            visit = draw(run.phase_key, name)
            r, q = order_rows(visit, len(of_words) // words, words)
            for j in range(L):
                carries[j] = 0
            for n in range(words):
                word = Z(of_words[r + Z(of_words[q + n])])
                left = Z(members) - word * Z(WORD)
                draw_exchanges(draw(visit, words + word), left, mix)
                if shared[b]:
                    number_states(x, words, word, neighbour, first, rows, states)
                    last = min(left, Z(WORD))
                    fields_of_all(
                        all_fields, alone, here, coupling, first, rows, rest, states, tables, last
                    )
                    exchange_fields(all_fields, mix, out)
                else:
                    gather(x, words, word, neighbour, first, rows, mix, near, halves, most)
                t, u = order_rows(draw(visit, word), len(of_groups) // 4, 4)
                for k in range(_4):
                    g = Z(of_groups[t + Z(of_groups[u + k])])
                    if g * _16 >= left:
                        for j in range(L):
                            out[g * L + j] = 0
                        continue
                    order_bits(draw(visit, words + words + word * _4 + g), of_members, bits, slots)
                    if shared[b]:
                        take_fields(f, all_fields, g, slots)
                    else:
                        for i in range(_0, _16, _8):
                            fields(
                                f, i * L, halves, g * most, coupling, first, alone, here, rows,
                                bits[i], bits[i + _1], bits[i + _2], bits[i + Z(3)],
                                bits[i + _4], bits[i + Z(5)], bits[i + Z(6)], bits[i + Z(7)],
                            )  # fmt: skip
                    if betas is not None:
                        cool(f, factor, shift)
                    live = U((_1 << min(left - g * _16, _16)) - _1)
                    look_up(f, p, table, bits, live)
                    carry(p, phase, out, g * L, bits)
                put(x, here, words, word, mix, out, carries)
            if len(phases):
                save_phases(phases, _2 * here, phase)
            if len(ones):
                for j in range(L):
                    count_ones(ones, width, here + j, np.int64(members), carries[j])
            if len(tally):
                add_up(tally, here, phase, begin, carries)
        if block.shape[1]:
            for i in range(begins, ends):
                block[s, i] = x[i]


@jit
def draw_phases(key, phase):
    """Uniform phases, low ones and then high ones; their top bits do not matter."""
    a, b = U4(key), U4(key >> _32)
    for j in range(L):
        both = lane_bits(a, b, U4(j))
        phase[j] = U(both >> U4(16))
        phase[L + j] = U(both)


@jit
def load_phases(phases, at, phase):
    """The phases of a block where they were left."""
    for j in range(L2):
        phase[j] = phases[at + j]


@jit
def save_phases(phases, at, phase):
    """Keep the phases of a block."""
    for j in range(L2):
        phases[at + j] = phase[j]


@jit
def add_phases(phase, total):
    """The sum of both phases of each lane."""
    for j in range(L):
        total[j] = U(U(phase[j] & PHASE) + U(phase[L + j] & PHASE))


@jit
def add_up(tally, here, phase, begin, carries):
    """Add the sums of the members' conditionals, at scale 2^31."""
    for j in range(L):
        last = np.int64(phase[j] & PHASE) + np.int64(phase[L + j] & PHASE)
        tally[here + j] += ((carries[j] << 15) + last - np.int64(begin[j])) << 16


@jit
def draw_exchanges(key, left, mix):
    """Which members of each lane change places, in six rounds; spare bits stay where they are."""
    a, b = U4(key), U4(key >> _32)
    live = ~_0 if left >= Z(WORD) else (_1 << left) - _1
    both1, both2, both4 = live & (live >> _1), live & (live >> _2), live & (live >> _4)
    both8, both16, both32 = live & (live >> _8), live & (live >> _16), live & (live >> _32)
    for j in range(L):
        i = U4(U4(j) * U4(6))
        mix[j] = firsts(lane_bits(a, b, i), U4(1), U4(0x55555555)) & both1
        mix[L + j] = firsts(lane_bits(a, b, U4(i + U4(1))), U4(2), U4(0x33333333)) & both2
        mix[L2 + j] = firsts(lane_bits(a, b, U4(i + U4(2))), U4(4), U4(0x0F0F0F0F)) & both4
        mix[L3 + j] = firsts(lane_bits(a, b, U4(i + U4(3))), U4(8), U4(0x00FF00FF)) & both8
        mix[L4 + j] = firsts(lane_bits(a, b, U4(i + U4(4))), U4(16), U4(0x0000FFFF)) & both16
        mix[L5 + j] = Z(lane_bits(a, b, U4(i + U4(5)))) & both32


@jit
def firsts(bits, distance, places):
    """32 random bits at the places of the first members of pairs that are `distance` apart."""
    low, high = U4(bits & places), U4(U4(bits >> distance) & places)
    return Z(low) | (Z(high) << _32)


@jit
def exchange(z, mask, distance):
    """Bits under the mask change places with those `distance` above them."""
    t = ((z >> distance) ^ z) & mask
    return z ^ t ^ (t << distance)


@jit
def order_bits(choice, of_members, bits, slots):
    """The members of a group and their bits of its words, in their order at this visit."""
    r, q = order_rows(choice, len(of_members) // GROUP, GROUP)
    for k in range(_16):
        slots[k] = Z(of_members[r + Z(of_members[q + k])])
        bits[k] = U(_1 << slots[k])


@jit
def gather(x, words, word, neighbour, first, rows, mix, near, halves, most):
    """The neighbours' words, then their four groups: the second loop is vectorised."""
    for i in range(rows * L):
        near[i] = x[Z(neighbour[first + i]) * words + word]
    for row in range(rows):
        at = row * L
        for j in range(L):
            z = exchange(exchange(near[at + j], mix[j], _1), mix[L + j], _2)
            z = exchange(exchange(z, mix[L2 + j], _4), mix[L3 + j], _8)
            z = exchange(exchange(z, mix[L4 + j], _16), mix[L5 + j], _32)
            halves[at + j] = U(z)
            halves[most + at + j] = U(z >> _16)
            halves[most + most + at + j] = U(z >> _32)
            halves[most + most + most + at + j] = U(z >> _48)


@jit
def fields(
    f, at, halves, group, coupling, first, alone, here, rows, k0, k1, k2, k3, k4, k5, k6, k7
):
    """Fields of eight members, whose bits are k0 to k7, in all lanes: two rows at a time."""
    for j in range(L):
        h = alone[here + j]
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
        upper, lower = first + row * L, first + (row + _1) * L
        for j in range(L):
            y, z = halves[above + j], halves[below + j]
            c, d = coupling[upper + j], coupling[lower + j]
            f[at + j] = plus(f[at + j], y, z, c, d, k0)
            f[at + L + j] = plus(f[at + L + j], y, z, c, d, k1)
            f[at + L2 + j] = plus(f[at + L2 + j], y, z, c, d, k2)
            f[at + L3 + j] = plus(f[at + L3 + j], y, z, c, d, k3)
            f[at + L4 + j] = plus(f[at + L4 + j], y, z, c, d, k4)
            f[at + L5 + j] = plus(f[at + L5 + j], y, z, c, d, k5)
            f[at + L6 + j] = plus(f[at + L6 + j], y, z, c, d, k6)
            f[at + L7 + j] = plus(f[at + L7 + j], y, z, c, d, k7)


@jit
def plus(f, y, z, c, d, bit):
    """A member's field and the couplings to those of two neighbours that are 1."""
    more = c if U(y & bit) != U(0) else I2(0)
    also = d if U(z & bit) != U(0) else I2(0)
    return I2(f + I2(more + also))


@jit
def cool(f, factor, shift):
    """Multiply fields by an inverse temperature, and hold them within 16 bits."""
    m, places, half = I4(factor), I4(shift), I4((1 << shift) >> 1)
    for i in range(Z(GROUP * LANES)):
        wide = I4(I4(I4(I4(f[i]) * m) + half) >> places)
        f[i] = I2(min(max(wide, I4(-32767)), I4(32767)))


@jit
def look_up(f, p, table, bits, live):
    """p of every member and lane; none of a bit that no member has: it must not move a phase."""
    for k in range(_16):
        at = k * L
        if U(bits[k] & live) != U(0):
            for j in range(L):
                p[at + j] = table[Z(U(f[at + j]))]
        else:
            for j in range(L):
                p[at + j] = U(0)


@jit
def add(low, high, new, p, bit):
    """One member, whose bit is `bit`: the phases and the word so far."""
    above = p >= HALF
    a = low if above else U(low + p)
    b = U(high + p) if above else high
    moved = U(U(low ^ a) | U(high ^ b))
    return a, b, U(new | (bit if I2(moved) < I2(0) else U(0)))


@jit
def carry(p, phase, out, at, k):
    """Add the p of sixteen members to the phases of all lanes; carries are the new states."""
    k0, k1, k2, k3, k4, k5, k6, k7 = k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7]
    k8, k9, ka, kb, kc, kd, ke, kf = k[8], k[9], k[10], k[11], k[12], k[13], k[14], k[15]
    for j in range(L):
        a, b, new = add(phase[j], phase[L + j], U(0), p[j], k0)
        a, b, new = add(a, b, new, p[L + j], k1)
        a, b, new = add(a, b, new, p[L2 + j], k2)
        a, b, new = add(a, b, new, p[L3 + j], k3)
        a, b, new = add(a, b, new, p[L4 + j], k4)
        a, b, new = add(a, b, new, p[L5 + j], k5)
        a, b, new = add(a, b, new, p[L6 + j], k6)
        a, b, new = add(a, b, new, p[L7 + j], k7)
        a, b, new = add(a, b, new, p[_8 * L + j], k8)
        a, b, new = add(a, b, new, p[Z(9) * L + j], k9)
        a, b, new = add(a, b, new, p[Z(10) * L + j], ka)
        a, b, new = add(a, b, new, p[Z(11) * L + j], kb)
        a, b, new = add(a, b, new, p[Z(12) * L + j], kc)
        a, b, new = add(a, b, new, p[Z(13) * L + j], kd)
        a, b, new = add(a, b, new, p[Z(14) * L + j], ke)
        a, b, new = add(a, b, new, p[Z(15) * L + j], kf)
        phase[j] = a
        phase[L + j] = b
        out[at + j] = new


@jit
def put(x, here, words, word, mix, out, carries):
    """Store the four groups of a word, all members in their places, and count its ones."""
    for j in range(L):
        z = Z(out[j]) | (Z(out[L + j]) << _16) | (Z(out[L2 + j]) << _32) | (Z(out[L3 + j]) << _48)
        z = exchange(exchange(z, mix[L5 + j], _32), mix[L4 + j], _16)
        z = exchange(exchange(z, mix[L3 + j], _8), mix[L2 + j], _4)
        z = exchange(exchange(z, mix[L + j], _2), mix[j], _1)
        x[(here + j) * words + word] = z
        z -= (z >> _1) & Z(0x5555555555555555)
        z = (z & Z(0x3333333333333333)) + ((z >> _2) & Z(0x3333333333333333))
        z = (z + (z >> _4)) & Z(0x0F0F0F0F0F0F0F0F)
        carries[j] += np.int64((z * Z(0x0101010101010101)) >> Z(56))
