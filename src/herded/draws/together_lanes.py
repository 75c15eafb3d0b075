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
ROWS = 256  # orders in the table: a byte chooses one
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


@jit
def swap_far(word, mask):
    """Exchange places k and k + 8 where bit k of the mask is set."""
    t = U2(U2(word ^ U2(word >> U2(8))) & mask)
    return U2(U2(word ^ t) ^ U2(t << U2(8)))


@jit
def swap_near(word, mask):
    """Exchange places k and k + 4 where bit k of the mask is set."""
    t = U2(U2(word ^ U2(word >> U2(4))) & mask)
    return U2(U2(word ^ t) ^ U2(t << U2(4)))


@jit
def near_bits(bits):
    """The upper byte of 16 bits, spread to where `swap_near` wants it."""
    upper = U2(bits >> U2(8))
    return U2(upper ^ U2(upper << U2(4)))


@lru_cache(maxsize=64)
def masks(members: int) -> tuple[np.ndarray, np.ndarray]:
    """The orders of a full word and of the last word of a herd, and the swaps these words allow.

    (2, ROWS, 16) masks, of one place each, in the order of visits, and (2, 2) masks of the places
    k of `swap_far` and of `swap_near` that may be exchanged.
    """
    orders, swaps = np.zeros((2, ROWS, WORD), U2), np.zeros((2, 2), U2)
    for word, live in enumerate((WORD, (members - 1) % WORD + 1)):
        for row, places in enumerate(_places()):
            there = places[places < live]
            orders[word, row, : len(there)] = 1 << there
        far, near = (sum(1 << k for k in range(live - d) if not k & d) for d in (8, 4))
        swaps[word] = far, near
    orders.flags.writeable = swaps.flags.writeable = False
    return orders, swaps


@lru_cache(maxsize=1)
def _places() -> np.ndarray:
    """(ROWS, 16) places in the order of visits."""
    random = draws(stream_key(0, 1, ORDERS), ROWS * 2 * WORD).reshape(2, ROWS, 4, 4)
    which, turn = random.argsort(axis=3)
    places = np.empty((ROWS, WORD), np.int64)
    for time in range(4):  # modulo 4
        for quad in range(4):
            visit = 4 * which[:, time, quad] + time
            places[np.arange(ROWS), visit] = 4 * turn[:, quad, time] + quad
    return places
