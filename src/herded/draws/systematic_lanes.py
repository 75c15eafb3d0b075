"""Herds whose lanes are variables: members are bits of bytes, phases run through them.

A visit goes from word to word in a random order, and in a word from place to place in an order out
of a table. The table has a column for each lane: all of a visit's orders are different, and cost
nothing, since they are applied by masks that a lane would have to load anyway. (With one order for
all lanes they would agree on which members are 1, and what pairs of variables do would be as noisy
as in one chain.) A window of the table is chosen for every word of every visit. There are a
thousand, so that two cells hardly ever have the same one: with 32, which could begin at cache lines
and save 5 % of the time, energies were noisier by 6 %.

Spare places of a last word come last in every order, with an empty mask: they see no neighbour, are
never 1, and what they add to the phase is known and taken off again.
"""

from functools import lru_cache

import numpy as np

from herded.draws.integer_types import U1, U4, U8
from herded.system.aligned_arrays import aligned_zeros
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits_array, stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

MEMBERS_PER_WORD = 8  # members in a word
LANES = 128  # in a cell
WINDOW_BITS = 10
ORDER_COLUMNS = LANES + 2**WINDOW_BITS  # of the table of orders: windows may start anywhere
_GOLDEN, _A, _B = U4(0x9E3779B9), U4(0x21F0AAAD), U4(0x735A2D97)
_15, _16 = U4(15), U4(16)


@jit
def lane_bits(a, b, j):
    """Return 32 random bits of lane j; the two words a and b are the key of its block."""
    z = U4(U4(j * _GOLDEN) + a)
    z = U4(U4(z ^ U4(z >> _16)) * _A)
    z = U4(U4(z ^ U4(z >> _15)) ^ b)
    z = U4(z * _B)
    return U4(z ^ U4(z >> _15))


@jit
def key_words(bits):
    """Return the two words of a key for `lane_bits`, from 64 random bits."""
    return U4(bits >> U8(32)), U4(bits)


@jit
def window_start(bits, last):
    """Return where the window of a cell starts in the table, from 64 random bits."""
    table = U8(MEMBERS_PER_WORD * ORDER_COLUMNS) if last else U8(0)
    return table + (bits >> U8(64 - WINDOW_BITS))


def count_words(members: int) -> int:
    """Return how many words hold all members."""
    return -(-members // MEMBERS_PER_WORD)


def members_in_last_word(members: int) -> int:
    """Return how many places of the last word have a member."""
    return (members - 1) % MEMBERS_PER_WORD + 1


@lru_cache(maxsize=64)
def member_masks(members: int) -> np.ndarray:
    """Draw masks (2, MEMBERS_PER_WORD, ORDER_COLUMNS) of places in the order of visits.

    The first table is of full words, the second of the last word of a herd.
    """
    masks = aligned_zeros((2, MEMBERS_PER_WORD, ORDER_COLUMNS), U1)
    for word, live in enumerate((MEMBERS_PER_WORD, members_in_last_word(members))):
        key = stream_key(0, live, StreamPurpose.MEMBER_ORDERS)
        random = random_bits_array(key, live * ORDER_COLUMNS).reshape(live, ORDER_COLUMNS)
        masks[word, :live] = 1 << random.argsort(axis=0)
    masks.flags.writeable = False
    return masks
