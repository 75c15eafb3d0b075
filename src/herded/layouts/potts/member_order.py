"""The order of a herd's members, where lanes are variables: shuffled at every visit of a cell.

Words come in a random order, and so do the places of a word; both are shared by the lanes of a
cell, for which they cost nothing. Before that every lane exchanges members at distances 1, 2, 4, 8
and 16, by a butterfly with random switches of its own: else the lanes of a cell would agree on
which members are in a state, and what two of them do together would be as noisy as in one chain.
Spare places of the last word stay where they are.
"""

from herded.draws.integer_types import U4, U8
from herded.draws.systematic_lanes import lane_bits
from herded.layouts.potts.herd_arrays import R1
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

_1, _2, _4, _8, _16, _32 = U4(1), U4(2), U4(4), U4(8), U4(16), U8(32)
BUTTERFLY_MASKS = (U4(0x55555555), U4(0x33333333), U4(0x0F0F0F0F), U4(0x00FF00FF), U4(0x0000FFFF))
BUTTERFLY_STAGES = 5  # of the butterfly: places at distances 1, 2, 4, 8 and 16


@jit
def fill_lanes(bits, at, key, allowed):
    """Fill a row's allowed lanes with random bits."""
    a, b = U4(key >> _32), U4(key)
    for j in range(R1):
        bits[at + j] = U4(lane_bits(a, b, U4(j)) & allowed)


@jit
def shuffle_numbers(order, n, key):
    """Shuffle the n first numbers (Fisher and Yates)."""
    for k in range(n):
        order[k] = k
    for last in range(n - 1, 0, -1):
        other = ((random_bits(key, U8(last)) >> _32) * U8(last + 1)) >> _32
        order[last], order[other] = order[other], order[last]


@jit
def fill_masks(masks, places, key, live):
    """Fill a word's places in random order, as masks of one bit, with four empty ones."""
    shuffle_numbers(places, live, random_bits(key, U8(BUTTERFLY_STAGES)))
    for k in range(live):
        masks[k] = U8(1) << U8(places[k])
    masks[live : live + 4] = U4(0)


@jit
def fill_switches(switches, key, live):
    """Draw switches of the butterfly for a word with members in `live` places."""
    places = U4((U8(1) << U8(live)) - U8(1))
    for stage in range(BUTTERFLY_STAGES):
        right = U4(places >> U4(1 << stage))
        fill_lanes(
            switches,
            U8(stage) * R1,
            random_bits(key, U8(stage)),
            U4(BUTTERFLY_MASKS[stage] & right),
        )


@jit
def exchange_member_bits(word, switches, distance):
    """Exchange the bits at places k and k + distance where bit k of the switches is set."""
    t = U4(U4(word ^ U4(word >> distance)) & switches)
    return U4(U4(word ^ t) ^ U4(t << distance))


@jit
def permute_members(words, row, switches):
    """Bring the members of a row of words to their places."""
    at = U8(row) * R1
    for j in range(R1):
        word = exchange_member_bits(words[at + j], switches[j], _1)
        word = exchange_member_bits(word, switches[R1 + j], _2)
        word = exchange_member_bits(word, switches[U8(2) * R1 + j], _4)
        word = exchange_member_bits(word, switches[U8(3) * R1 + j], _8)
        words[at + j] = exchange_member_bits(word, switches[U8(4) * R1 + j], _16)


@jit
def unpermute_members(words, row, switches):
    """Bring members back."""
    at = U8(row) * R1
    for j in range(R1):
        word = exchange_member_bits(words[at + j], switches[U8(4) * R1 + j], _16)
        word = exchange_member_bits(word, switches[U8(3) * R1 + j], _8)
        word = exchange_member_bits(word, switches[U8(2) * R1 + j], _4)
        word = exchange_member_bits(word, switches[R1 + j], _2)
        words[at + j] = exchange_member_bits(word, switches[j], _1)
