"""Sweeps of a herd in which lanes are variables of one colour, and members are bits of words.

A visit of a block finds the fields of sixteen members of all its lanes, looks their p up, and adds
them to the phases of the lanes one member after another. Sums wrap at 2^16 and p is at scale 2^15, so
that a carry is a change of the top bit: it need not be taken away, and p = 1 exists. The carries
tell the sum of all p: carries * 2^15 + last phase - first phase.

The members of a block come in an order that is drawn at each visit: words at random, then groups of
sixteen, then members, all by `orders`. A bit for each lane and pair of members that follow each
other swaps the two: without it lanes would agree on which members are 1.

Loops over lanes have a literal length, unsigned indices, and every sum is cast: only so they are
vectorised in 16 bits.
"""

import numpy as np

from herded.draws.together import order_rows
from herded.layouts.field_herd_arrays import LANES, WORD, multiplier
from herded.layouts.site_herd_sweeps import count_ones
from herded.system.jit import jit
from herded.system.stream import draw

I, I4, U, U4, Z = np.int16, np.int32, np.uint16, np.uint32, np.uint64
GROUP = 16  # members whose words are 16 bits
L, L2, L3 = Z(LANES), Z(2 * LANES), Z(3 * LANES)
_0, _1, _16, _32, _48 = Z(0), Z(1), Z(16), Z(32), Z(48)
PHASE = U(0x7FFF)


@jit
def field_herd_sweeps(a, table, orders, run, betas, members, width, m, block):
    """All sweeps of a block of samples; `betas` is None, or what fields are multiplied by."""
    row_start, neighbour, coupling, alone = a.row_start, a.neighbour, a.coupling, a.alone
    x, phases, tally, ones = m.x, m.phases, m.tally, m.ones
    of_words, of_groups, of_members = orders
    words, blocks = Z((members + WORD - 1) // WORD), len(row_start) - 1
    most = _0
    for b in range(blocks):
        most = max(most, Z(row_start[b + 1] - row_start[b]) * L)
    near, halves = np.empty(most, Z), np.empty(Z(4) * most, U)
    f, p, bits = np.empty(GROUP * LANES, I), np.empty(GROUP * LANES, U), np.empty(GROUP, U)
    phase, begin, carries = np.empty(LANES, U), np.empty(LANES, U), np.empty(LANES, np.int64)
    out, swap = np.empty(4 * LANES, U), np.empty(4 * LANES, U)
    for s in range(len(block)):
        if betas is not None:
            factor, shift = multiplier(betas[s], 15)
        for b in range(blocks):
            first, rows, here = Z(row_start[b]) * L, Z(row_start[b + 1] - row_start[b]), Z(b) * L
            name = Z(run.sweep + s) * Z(blocks) + Z(b)
            if len(phases):
                keep_phases(phases, here, phase, begin)
            else:
                fresh_phases(draw(run.key, name), phase, begin)
            visit = draw(run.phase_key, name)
            r, q = order_rows(visit, len(of_words) // words, words)
            for j in range(L):
                carries[j] = 0
            for n in range(words):
                word = Z(of_words[r + Z(of_words[q + n])])
                left = Z(members) - word * Z(WORD)
                gather(x, words, word, neighbour, first, rows * L, near, halves, most)
                draw_swaps(draw(visit, words + word), swap)
                t, u = order_rows(draw(visit, word), len(of_groups) // 4, 4)
                for k in range(Z(4)):
                    g = Z(of_groups[t + Z(of_groups[u + k])])
                    if g * _16 >= left:
                        for j in range(L):
                            out[g * L + j] = 0
                        continue
                    order_bits(draw(visit, words + words + word * Z(4) + g), of_members, bits)
                    for i in range(_0, _16, Z(4)):
                        fields(
                            f, i * L, halves, g * most, coupling, first, alone, here, rows,
                            bits[i], bits[i + _1], bits[i + Z(2)], bits[i + Z(3)],
                        )  # fmt: skip
                    if betas is not None:
                        cool(f, factor, shift)
                    live = U((_1 << min(left - g * _16, _16)) - _1)
                    look_up(f, p, table, bits, live)
                    carry(p, phase, swap, out, g * L, bits)
                put(x, here, words, word, out, carries)
            for j in range(L):
                last = np.int64(phase[j] & PHASE)
                if len(phases):
                    phases[here + j] = phase[j]
                if len(ones):
                    count_ones(ones, width, here + j, np.int64(members), carries[j])
                if len(tally):
                    total = (carries[j] << 15) + last - np.int64(begin[j] & PHASE)
                    tally[here + j] += total << 16
        for i in range(block.shape[1]):
            block[s, i] = x[i]


@jit
def lane_bits(a, b, j):
    """32 random bits for lane j of a block whose key is the words a and b."""
    z = U4(U4(j * U4(0x9E3779B9)) + a)
    z = U4(U4(z ^ (z >> U4(16))) * U4(0x21F0AAAD))
    z = U4(U4(z ^ (z >> U4(15))) ^ b)
    z = U4(z * U4(0x735A2D97))
    return U4(z ^ (z >> U4(15)))


@jit
def fresh_phases(key, phase, begin):
    """Uniform phases; their top bits do not matter."""
    a, b = U4(key), U4(key >> _32)
    for j in range(L):
        phase[j] = U(lane_bits(a, b, U4(j)) >> U4(16))
        begin[j] = phase[j]


@jit
def keep_phases(phases, here, phase, begin):
    """The phases where they were left."""
    for j in range(L):
        phase[j] = phases[here + j]
        begin[j] = phase[j]


@jit
def draw_swaps(key, swap):
    """Eight bits for each lane and group of sixteen: which pairs of members are swapped."""
    a, b = U4(key), U4(key >> _32)
    for j in range(L):
        z = lane_bits(a, b, U4(j))
        swap[j] = U(z & U4(255))
        swap[L + j] = U((z >> U4(8)) & U4(255))
        swap[L2 + j] = U((z >> U4(16)) & U4(255))
        swap[L3 + j] = U(z >> U4(24))


@jit
def order_bits(choice, of_members, bits):
    """The members of a group as bits of its words, in their order at this visit."""
    r, q = order_rows(choice, len(of_members) // GROUP, GROUP)
    for k in range(_16):
        bits[k] = U(_1 << Z(of_members[r + Z(of_members[q + k])]))


@jit
def gather(x, words, word, neighbour, first, count, near, halves, most):
    """The neighbours' words, then their four groups: the second loop is vectorised."""
    for i in range(count):
        near[i] = x[Z(neighbour[first + i]) * words + word]
    for i in range(count):
        z = near[i]
        halves[i] = U(z)
        halves[most + i] = U(z >> _16)
        halves[most + most + i] = U(z >> _32)
        halves[most + most + most + i] = U(z >> _48)


@jit
def fields(f, at, halves, group, coupling, first, alone, here, rows, k0, k1, k2, k3):
    """Fields of four members, whose bits are k0 to k3, in all lanes: two rows at a time."""
    for j in range(L):
        h = alone[here + j]
        f[at + j] = h
        f[at + L + j] = h
        f[at + L2 + j] = h
        f[at + L3 + j] = h
    for row in range(_0, rows, Z(2)):
        above, below = group + row * L, group + (row + _1) * L
        upper, lower = first + row * L, first + (row + _1) * L
        for j in range(L):
            y, z = halves[above + j], halves[below + j]
            c, d = coupling[upper + j], coupling[lower + j]
            f[at + j] = plus(f[at + j], y, z, c, d, k0)
            f[at + L + j] = plus(f[at + L + j], y, z, c, d, k1)
            f[at + L2 + j] = plus(f[at + L2 + j], y, z, c, d, k2)
            f[at + L3 + j] = plus(f[at + L3 + j], y, z, c, d, k3)


@jit
def plus(f, y, z, c, d, bit):
    """A member's field and the couplings to those of two neighbours that are 1."""
    more = c if U(y & bit) != U(0) else I(0)
    also = d if U(z & bit) != U(0) else I(0)
    return I(f + I(more + also))


@jit
def cool(f, factor, shift):
    """Multiply fields by an inverse temperature, and hold them within 16 bits."""
    m, places, half = I4(factor), I4(shift), I4((1 << shift) >> 1)
    for i in range(Z(GROUP * LANES)):
        wide = I4(I4(I4(I4(f[i]) * m) + half) >> places)
        f[i] = I(min(max(wide, I4(-32767)), I4(32767)))


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
def pair(w, new, p, q, swapped, a, b):
    """Two members, whose bits are a and b, in either order: the phase and the word so far."""
    between = U(w + (q if swapped else p))
    after = U(w + U(p + q))
    early, late = U(w ^ between), U(between ^ after)
    one, two = late if swapped else early, early if swapped else late
    more = U((a if I(one) < I(0) else U(0)) | (b if I(two) < I(0) else U(0)))
    return after, U(new | more)


@jit
def carry(p, phase, swap, out, at, k):
    """Add the p of sixteen members to the phases of all lanes; carries are the new states."""
    k0, k1, k2, k3, k4, k5, k6, k7 = k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7]
    k8, k9, ka, kb, kc, kd, ke, kf = k[8], k[9], k[10], k[11], k[12], k[13], k[14], k[15]
    for j in range(L):
        w, s, new = phase[j], swap[at + j], U(0)
        w, new = pair(w, new, p[j], p[L + j], U(s & U(1)) != U(0), k0, k1)
        w, new = pair(w, new, p[L2 + j], p[L3 + j], U(s & U(2)) != U(0), k2, k3)
        w, new = pair(w, new, p[Z(4) * L + j], p[Z(5) * L + j], U(s & U(4)) != U(0), k4, k5)
        w, new = pair(w, new, p[Z(6) * L + j], p[Z(7) * L + j], U(s & U(8)) != U(0), k6, k7)
        w, new = pair(w, new, p[Z(8) * L + j], p[Z(9) * L + j], U(s & U(16)) != U(0), k8, k9)
        w, new = pair(w, new, p[Z(10) * L + j], p[Z(11) * L + j], U(s & U(32)) != U(0), ka, kb)
        w, new = pair(w, new, p[Z(12) * L + j], p[Z(13) * L + j], U(s & U(64)) != U(0), kc, kd)
        w, new = pair(w, new, p[Z(14) * L + j], p[Z(15) * L + j], U(s & U(128)) != U(0), ke, kf)
        phase[j] = w
        out[at + j] = new


@jit
def put(x, here, words, word, out, carries):
    """Store the four groups of a word, and count its ones."""
    for j in range(L):
        z = Z(out[j]) | (Z(out[L + j]) << _16) | (Z(out[L2 + j]) << _32) | (Z(out[L3 + j]) << _48)
        x[(here + j) * words + word] = z
        z -= (z >> _1) & Z(0x5555555555555555)
        z = (z & Z(0x3333333333333333)) + ((z >> Z(2)) & Z(0x3333333333333333))
        z = (z + (z >> Z(4))) & Z(0x0F0F0F0F0F0F0F0F)
        carries[j] += np.int64((z * Z(0x0101010101010101)) >> Z(56))
