"""Phases of lanes that are variables: members of herds move them one after another.

A lane has two phases: one for p below 1/2 and one for the others. Members that expect the same make
up for each other so, and energies have less noise than those of independent chains; with one phase
they would have more. Where those below 1/2 expect a 1 or more among them, fresh phases are one all
the same: that of the others begins where theirs will end, as if they had all drawn first, and the
herd's number of ones is one rounded sum. Where they do not, members of exactly 1/2 take turns
between both sides. (`draws.systematic` says why.)

Sums wrap at 2^16 and p is at scale 2^15: a carry is a change of the top bit, need not be taken
away, and p = 1 exists. Carries tell the sum of all p: carries * 2^15 + last phases - first phases.
"""

import numpy as np

from herded.draws.integer_types import I2, U2, U4, U8
from herded.draws.systematic_lanes import lane_bits
from herded.layouts.binary_pairs.herd_arrays import L2, L3, L4, L5, L6, L7, L8, L
from herded.system.compilation.jit import jit

_1, _2, _4, _8, _32 = U8(1), U8(2), U8(4), U8(8), U8(32)
PHASE_MASK_U, HALF_PHASE_U, HALF_PHASE_PLUS_1_U = U2(0x7FFF), U2(0x4000), U2(0x4001)
_C, MIN_SUM_FOR_ONE_PHASE_U, MAX_COARSE_SUM_U = U2(4), U2(2**11), U2(2**15)


@jit
def draw_low_and_high_phases(key, phase):
    """Draw uniform phases, low ones, then high ones; their top bits do not matter."""
    a, b = U4(key), U4(key >> _32)
    for j in range(L):
        both = lane_bits(a, b, U4(j))
        phase[j] = U2(both >> U4(16))
        phase[L + j] = U2(both)


@jit
def load_block_phases(phases, at, phase):
    """Load the stored phases of a block."""
    for j in range(L2):
        phase[j] = phases[at + j]


@jit
def save_block_phases(phases, at, phase):
    """Keep the phases of a block."""
    for j in range(L2):
        phases[at + j] = phase[j]


@jit
def sum_below(p, at, below):
    """Add those p of sixteen members that are below 1/2: sums that wrap, and behind them coarser
    ones at scale 2^11, which end at 16."""
    for j in range(L):
        o, q = at + j, at + L8 + j
        a = sum_4_below_half(p[o], p[o + L], p[o + L2], p[o + L3])
        b = sum_4_below_half(p[o + L4], p[o + L5], p[o + L6], p[o + L7])
        c = sum_4_below_half(p[q], p[q + L], p[q + L2], p[q + L3])
        d = sum_4_below_half(p[q + L4], p[q + L5], p[q + L6], p[q + L7])
        below[j] = U2(below[j] + U2(U2(a + b) + U2(c + d)))
        coarse = U2(U2(U2(a >> _C) + U2(b >> _C)) + U2(U2(c >> _C) + U2(d >> _C)))
        below[L + j] = min(U2(below[L + j] + coarse), MAX_COARSE_SUM_U)


@jit
def sum_4_below_half(a, b, c, d):
    """Return the sum of those of four p that are below 1/2."""
    a, b = a if a < HALF_PHASE_U else U2(0), b if b < HALF_PHASE_U else U2(0)
    c, d = c if c < HALF_PHASE_U else U2(0), d if d < HALF_PHASE_U else U2(0)
    return U2(U2(a + b) + U2(c + d))


@jit
def continue_phases_from_low_to_high(phase, below):
    """Start high phases where low ones end, if the sum below is 1.

    The coarse sums give way to the least p that moves the high phase at odd places of the order.
    """
    for j in range(L):
        end, one = U2(phase[j] + below[j]), below[L + j] >= MIN_SUM_FOR_ONE_PHASE_U
        phase[L + j] = end if one else phase[L + j]
        below[L + j] = HALF_PHASE_U if one else HALF_PHASE_PLUS_1_U


@jit
def sum_phases(phase, total):
    """Return the sum of both phases of each lane."""
    for j in range(L):
        total[j] = U2(U2(phase[j] & PHASE_MASK_U) + U2(phase[L + j] & PHASE_MASK_U))


@jit
def add_member(low, high, new, p, least, bit):
    """Add one member, whose bit is `bit`, to the phases and the word.

    It moves the high phase from p = `least` on.
    """
    above = p >= least
    a = low if above else U2(low + p)
    b = U2(high + p) if above else high
    moved = U2(U2(low ^ a) | U2(high ^ b))
    return a, b, U2(new | (bit if I2(moved) < I2(0) else U2(0)))


@jit
def draw_16_members(p, phase, least, out, to, k, i):
    """Add the p of sixteen members to the phases of all lanes; carries are the new states.

    Behind the sums of `continue_phases_from_low_to_high`, `least` has the least p at odd places
    that moves the high phase.
    """
    k0, k1, k2, k3 = k[i], k[i + _1], k[i + _2], k[i + U8(3)]
    k4, k5, k6, k7 = k[i + _4], k[i + U8(5)], k[i + U8(6)], k[i + U8(7)]
    k8, k9, ka, kb = k[i + _8], k[i + U8(9)], k[i + U8(10)], k[i + U8(11)]
    kc, kd, ke, kf = k[i + U8(12)], k[i + U8(13)], k[i + U8(14)], k[i + U8(15)]
    for j in range(L):
        o, more = i * L + j, least[L + j]
        a, b, new = add_member(phase[j], phase[L + j], U2(0), p[o], HALF_PHASE_U, k0)
        a, b, new = add_member(a, b, new, p[o + L], more, k1)
        a, b, new = add_member(a, b, new, p[o + L2], HALF_PHASE_U, k2)
        a, b, new = add_member(a, b, new, p[o + L3], more, k3)
        a, b, new = add_member(a, b, new, p[o + L4], HALF_PHASE_U, k4)
        a, b, new = add_member(a, b, new, p[o + L5], more, k5)
        a, b, new = add_member(a, b, new, p[o + L6], HALF_PHASE_U, k6)
        a, b, new = add_member(a, b, new, p[o + L7], more, k7)
        o += L8
        a, b, new = add_member(a, b, new, p[o], HALF_PHASE_U, k8)
        a, b, new = add_member(a, b, new, p[o + L], more, k9)
        a, b, new = add_member(a, b, new, p[o + L2], HALF_PHASE_U, ka)
        a, b, new = add_member(a, b, new, p[o + L3], more, kb)
        a, b, new = add_member(a, b, new, p[o + L4], HALF_PHASE_U, kc)
        a, b, new = add_member(a, b, new, p[o + L5], more, kd)
        a, b, new = add_member(a, b, new, p[o + L6], HALF_PHASE_U, ke)
        a, b, new = add_member(a, b, new, p[o + L7], more, kf)
        phase[j] = a
        phase[L + j] = b
        out[to + j] = new


@jit
def add_phase_sums(tally, here, phase, begin, carries):
    """Add the sums of the members' conditionals, at scale 2^31."""
    for j in range(L):
        last = np.int64(phase[j] & PHASE_MASK_U) + np.int64(phase[L + j] & PHASE_MASK_U)
        tally[here + j] += ((carries[j] << 15) + last - np.int64(begin[j])) << 16
