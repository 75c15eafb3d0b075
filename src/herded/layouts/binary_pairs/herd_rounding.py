"""Random rounding of a block of binary variables: couplings to 16 bits, conditionals to 15.

A number is rounded up with the probability that is its rest, by random bits of its own for every
variable and visit. All members of a herd share them: whatever its neighbours are, the field
of each member is right on average, and so is the conditional that is read off it.
"""

import numpy as np

from herded.draws.integer_types import I2, I4, U2, U4, U8
from herded.draws.systematic_lanes import lane_bits
from herded.layouts.binary_pairs.herd_arrays import BLOCK_LANES, L
from herded.system.compilation.jit import jit

LANE_QUARTERS = U8(BLOCK_LANES // 4)
_1, _2, _3, _4, _16, _32, _48 = U8(1), U8(2), U8(3), U8(4), U8(16), U8(32), U8(48)
LOW_BITS_MASK = U8(0xFFFF)
MULTIPLIER, INCREMENT = U2(25173), U8(40503)  # 5 modulo 8: its powers repeat after 2^14


@jit
def round_couplings_of_block(a, first, rows, here, key, coupling, alone, random, chance):
    """Round the couplings (rows, BLOCK_LANES) of a block and what its variables have alone.

    Also draw `chance`, numbers below 2^16 that decide how their conditionals are rounded.
    """
    low, high = U4(key), U4(key >> _32)
    for j in range(L):
        bits = lane_bits(low, high, U4(j))
        random[j] = U2(bits >> U4(16))
        chance[j] = bits & U4(0xFFFF)
    for j in range(L):
        up = I2(1) if a.alone_rest[here + j] > random[j] else I2(0)
        alone[j] = I2(a.alone[here + j] + up)
    for row in range(rows):
        to = row * L
        round_coupling_row(
            a.coupling, a.coupling_rest, first + to, U2(row * INCREMENT), random, coupling, to
        )


@jit
def round_coupling_row(coupling, rest, at, increment, random, rounded, to):
    """Round the couplings to one neighbour of every lane, with the next random number of the lane.

    It follows from the one before by a linear congruence of 16 bits, which costs a third of a hash:
    each number is uniform, which is what makes each rounding unbiased.
    """
    for j in range(L):
        r = U2(U2(random[j] * MULTIPLIER) + increment)
        random[j] = r
        up = I2(1) if rest[at + j] > r else I2(0)
        rounded[to + j] = I2(coupling[at + j] + up)


@jit
def draw_factors(value, key, factors, dither):
    """Round the inverse temperature at random for every lane: it is factors / 2^shift on average.

    Factors have at most 15 bits. Also draw `dither`, below 2^shift, which decides how products are
    rounded; the shift is given back.
    """
    shift = U8(0)
    while value < 2.0**14 and shift < U8(30):
        value *= 2.0
        shift += U8(1)
    value = min(value, 2.0**15 - 1.0)  # which stands for all larger values, and for infinity
    whole = np.int64(value)
    rest = U4((value - whole) * 2.0**16)
    low, high = U4(key), U4(key >> _32)
    for j in range(L):
        bits = lane_bits(low, high, U4(L + j))
        factors[j] = I4(whole) + (I4(1) if rest > bits >> U4(16) else I4(0))
        dither[j] = I4((U8(bits & U4(0xFFFF)) << shift) >> _16)
    return shift


@jit
def scale_by_beta(f, factors, shift, dither):
    """Multiply the fields of 16 members by an inverse temperature, and hold them within 16 bits."""
    places = I4(shift)
    for k in range(_16):
        for j in range(L):
            wide = I4(I4(I4(I4(f[k * L + j]) * factors[j]) + dither[j]) >> places)
            f[k * L + j] = I2(min(max(wide, I4(-32767)), I4(32767)))


@jit
def look_up_at_scale_15(f, p, first, table, bits, live, chance, found):
    """Look up p of every member and lane at scale 2^15, in a table at scale 2^31.

    Four fields are loaded at once, which spares loads. The rounding, which `chance` decides, has a
    loop of its own, which is vectorised. The p of a bit that no member has is 0: it must not move a
    phase.
    """
    for k in range(_16):
        at, o = (first + k) * L, k * LANE_QUARTERS
        if U2(bits[first + k] & live) != U2(0):
            for j in range(LANE_QUARTERS):
                z, to = f[o + j], j * _4
                found[to] = table[z & LOW_BITS_MASK]
                found[to + _1] = table[(z >> _16) & LOW_BITS_MASK]
                found[to + _2] = table[(z >> _32) & LOW_BITS_MASK]
                found[to + _3] = table[z >> _48]
            for j in range(L):
                p[at + j] = U2(U4(found[j] + chance[j]) >> U4(16))
        else:
            for j in range(L):
                p[at + j] = U2(0)
