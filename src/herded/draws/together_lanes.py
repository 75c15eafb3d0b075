"""Herds whose lanes are variables: members are bits of 16-bit words, one phase runs through them.

A visit goes from word to word, and in a word from place to place. Two things shuffle the members:

- the places of a word are visited in an order out of a table, the same for a cell of lanes. It is
  applied by masks: no lane does anything for it;
- before that every lane exchanges places k and k + 8, then k and k + 4, each with a random bit of
  its own (two stages of a butterfly). Otherwise the lanes of a cell would agree on which members
  are 1, and what pairs of variables do would be as noisy as in one chain.

Four places that are k modulo 4 are a *quad*: the two stages move a member to any of its four
places with equal probability. In an order of the table the visits to a quad are one each of 0, 1, 2
and 3 modulo 4. So lanes do not agree where every second or every fourth member carries either,
which is what probabilities near 1/2 and 1/4 do.

Spare places of a last word come last in every order, with an empty mask: they see no neighbour, are
never 1, and what they add to the phase is known and taken off again.
"""

from functools import lru_cache

import numpy as np

from herded.draws.together import ORDERS
from herded.system.jit import jit
from herded.system.stream import draws, stream_key

WORD = 16  # members in a word
LANES = 128  # in a cell
STEP, WINDOWS = 32, 32  # windows of the table of orders begin at whole cache lines
COLUMNS = LANES + STEP * (WINDOWS - 1)
U2, U4, U8 = np.uint16, np.uint32, np.uint64
_GOLDEN, _A, _B = U4(0x9E3779B9), U4(0x21F0AAAD), U4(0x735A2D97)
_15, _16, _32 = U4(15), U4(16), U8(32)


@jit
def lane_bits(a, b, j):
    """32 random bits of lane j; the two words a and b are the key of its block."""
    z = U4(U4(j * _GOLDEN) + a)
    z = U4(U4(z ^ U4(z >> _16)) * _A)
    z = U4(U4(z ^ U4(z >> _15)) ^ b)
    z = U4(z * _B)
    return U4(z ^ U4(z >> _15))


@jit
def key_words(bits):
    """The two words of a key for `lane_bits`, from 64 random bits."""
    return U4(bits >> _32), U4(bits)


@lru_cache(maxsize=64)
def places(members: int) -> np.ndarray:
    """(2, 16, COLUMNS) masks of one place each: orders of a full word, and of the last of a herd."""
    masks = np.zeros((2, WORD, COLUMNS), U2)
    for word, live in enumerate((WORD, (members - 1) % WORD + 1)):
        random = draws(stream_key(0, live, ORDERS), live * COLUMNS).reshape(live, COLUMNS)
        masks[word, :live] = 1 << random.argsort(axis=0)
    masks.flags.writeable = False
    return masks
