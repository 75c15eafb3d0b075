"""Herds whose members are bits: their words in the model's order, and the states they spell.

Layouts pack members in words of 8, 32 or 64 bits, where it suits their kernels. Here a word has
64, and the words of all variables lie beside each other: (rows, words, planes, N). Member m is bit
m % 64 of word m // 64. One of more than two states is written in several planes, the highest bit
first.
"""

from typing import NamedTuple

import numpy as np

from herded.system.jit import jit

WORD = 64  # members
EIGHT = 8
ALL = np.uint64(2**64 - 1)
_U = np.uint64
_LOWEST = _U(0x0101010101010101)  # the lowest bit of each of eight bytes
_NEAR, _PAIRS, _FOURS = _U(0x00FF00FF00FF00FF), _U(0x0000FFFF0000FFFF), _U(0x00000000FFFFFFFF)
_1, _8, _16, _32 = _U(1), _U(8), _U(16), _U(32)


class BitPlaces(NamedTuple):
    """Where a layout has the members' bits in a row of a block of samples."""

    first: np.ndarray  # (N,) where the first members of each variable are, in its first plane
    word: int  # entries from one word of members to the next
    plane: int  # and from one plane to the next
    planes: int

    @classmethod
    def at(cls, first: np.ndarray, word: int, plane: int = 0, planes: int = 1) -> "BitPlaces":
        """Places of as few bytes as they need."""
        short = first.max(initial=0) < 2**32
        return cls(first.reshape(-1).astype(np.uint32 if short else np.int64), word, plane, planes)

    def words_of(self, block: np.ndarray, members: int) -> np.ndarray:
        """(rows, words, planes, N) uint64: the bits of a block of samples."""
        shape = len(block), -(-members // WORD), self.planes, len(self.first)
        found = np.empty(shape, np.uint64)
        size = 8 * block.dtype.itemsize
        gather_words(block, self.first, self.word, self.plane, size, -(-members // size), found)
        return found


@jit
def four_bytes(row, at, step):
    """Bytes so far apart, the first one lowest."""
    low = _U(row[at]) | (_U(row[at + step]) << _8)
    at += _U(2) * step
    return low | (_U(row[at]) << _16) | (_U(row[at + step]) << _U(24))


@jit
def gather_words(block, first, word, plane, size, pieces, found):
    """Words of 64 members out of `pieces` shorter ones, of `size` members."""
    rows, words, planes, n = found.shape
    each, bits = _U(WORD // size), _U(size)
    for r in range(rows):
        row = block[r]
        for w in range(words):
            for p in range(planes):
                line = found[r, w, p]
                left = _U(pieces) - _U(w) * each
                count = left if left < each else each
                start = _U(w) * each * _U(word) + _U(p) * _U(plane)
                if count == _8:  # bytes, all in one go: the most frequent case
                    for i in range(_U(n)):
                        at = _U(first[i]) + start
                        low = four_bytes(row, at, _U(word))
                        line[i] = low | (four_bytes(row, at + _U(4) * _U(word), _U(word)) << _32)
                    continue
                for i in range(_U(n)):
                    line[i] = _U(row[_U(first[i]) + start])
                for e in range(_1, count):
                    start += _U(word)
                    for i in range(_U(n)):
                        line[i] |= _U(_U(row[_U(first[i]) + start]) << _U(e * bits))


@jit
def swapped(a, b, far, mask):
    """Exchange the high parts of the parts of `a` with the low ones of those of `b`."""
    change = _U(_U(_U(a >> far) ^ b) & mask)
    return _U(a ^ _U(change << far)), _U(b ^ change)


def spread(words: np.ndarray, members: int) -> np.ndarray:
    """The states (rows, members, N) of words (rows, words, planes, N), of at most 8 planes."""
    rows, _, _, n = words.shape
    # Bytes are written eight at a time, so that rows are as long as so many.
    found = np.empty((rows, members, -(-n // EIGHT)), np.uint64)
    spread_words(words, found)
    return found.view(np.uint8)[:, :, :n] if n else np.empty((rows, members, 0), np.uint8)


@jit
def spread_words(words, found):
    """Eight variables at a time: byte j of a number of `found` is the state of the j-th.

    A tile of 64 variables is turned first, then written member by member: rows lie so far apart
    that few of them can be in the nearest cache at once.
    """
    rows, n_words, planes, n = words.shape
    members, groups = found.shape[1], _U(found.shape[2])
    tile = np.empty(EIGHT * EIGHT, np.uint64)
    for r in range(rows):
        for w in range(n_words):
            live = min(members - WORD * w, WORD)
            for p in range(planes):
                line, place = words[r, w, p], _U(planes - 1 - p)
                for start in range(_U(0), groups, _8):
                    count = min(groups - start, _8)
                    for group in range(count):
                        turn_bytes(line, (start + group) * _8, _U(n - 1), tile, group)
                    for m in range(live):
                        row, octet, bit = found[r, WORD * w + m], _U(m) & _U(56), _U(m) & _U(7)
                        if count == _8 and p == 0:  # of a length that the compiler knows
                            for group in range(_8):
                                row[start + group] = (tile[octet + group] >> bit & _LOWEST) << place
                            continue
                        for group in range(count):
                            state = (tile[octet + group] >> bit & _LOWEST) << place
                            row[start + group] = state | (row[start + group] if p else _U(0))


@jit
def turn_bytes(line, at, last, tile, group):
    """tile[8 j + group] = the j-th bytes of eight words, the first one lowest.

    Words behind the `last` are never looked at.
    """
    if at + _U(7) <= last:
        a, b, c, d = line[at], line[at + _1], line[at + _U(2)], line[at + _U(3)]
        at += _U(4)
        e, f, g, h = line[at], line[at + _1], line[at + _U(2)], line[at + _U(3)]
    else:
        a, b = line[at], line[min(at + _1, last)]
        c, d = line[min(at + _U(2), last)], line[min(at + _U(3), last)]
        e, f = line[min(at + _U(4), last)], line[min(at + _U(5), last)]
        g, h = line[min(at + _U(6), last)], line[last]
    a, b = swapped(a, b, _8, _NEAR)
    c, d = swapped(c, d, _8, _NEAR)
    e, f = swapped(e, f, _8, _NEAR)
    g, h = swapped(g, h, _8, _NEAR)
    a, c = swapped(a, c, _16, _PAIRS)
    b, d = swapped(b, d, _16, _PAIRS)
    e, g = swapped(e, g, _16, _PAIRS)
    f, h = swapped(f, h, _16, _PAIRS)
    a, e = swapped(a, e, _32, _FOURS)
    b, f = swapped(b, f, _32, _FOURS)
    c, g = swapped(c, g, _32, _FOURS)
    d, h = swapped(d, h, _32, _FOURS)
    tile[group], tile[group + _8], tile[group + _16] = a, b, c
    tile[group + _U(24)], tile[group + _32], tile[group + _U(40)] = d, e, f
    tile[group + _U(48)], tile[group + _U(56)] = g, h
