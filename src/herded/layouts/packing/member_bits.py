"""Herds whose members are bits: their words in the model's order, and their states.

Layouts pack members in words of 8, 32 or 64 bits, where it suits their kernels. Here a word has
64, and the words of all variables are adjacent: (rows, words, planes, N). Member m is bit
m % 64 of word m // 64. One of more than two states is written in several planes, the highest bit
first.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from herded.system.compilation.jit import jit

WORD_BITS = 64  # members
BYTE_BITS = 8
ALL_BITS = np.uint64(2**64 - 1)
_U = np.uint64
_LOWEST = _U(0x0101010101010101)  # the lowest bit of each of eight bytes
_MASK_8, _MASK_16, _MASK_32 = _U(0x00FF00FF00FF00FF), _U(0x0000FFFF0000FFFF), _U(0x00000000FFFFFFFF)
_1, _8, _16, _32 = _U(1), _U(8), _U(16), _U(32)


class BitPlaces(NamedTuple):
    """The places of the members' bits in a row of a block of samples.

    A row is (runs, words of members, planes, length): as many places follow each other in a run.
    """

    place: np.ndarray  # (N,) of each variable, counted from run to run
    length: int  # of a run
    planes: int

    @classmethod
    def of(cls, place: np.ndarray, length: int, planes: int = 1) -> "BitPlaces":
        """Return places in the smallest type that holds them."""
        short = place.max(initial=0) < 2**32
        return cls(place.reshape(-1).astype(np.uint32 if short else np.int64), length, planes)

    def words_of(
        self, block: np.ndarray, members: int, first: int = 0, last: int | None = None
    ) -> np.ndarray:
        """Return the bits of a block of samples, (rows, words, planes, N) uint64.

        Only the words `first` to `last` - 1 of 64 members each, if given.
        """
        size = 8 * block.dtype.itemsize
        pieces, words = -(-members // size), -(-members // WORD_BITS)
        if (first, words if last is None else last) != (0, words):
            each = WORD_BITS // size
            runs = block.reshape(len(block), -1, pieces, self.planes * self.length)
            block = runs[:, :, first * each : last and last * each].reshape(len(block), -1)
            return self.words_of(
                block, min(members, (last or words) * WORD_BITS) - first * WORD_BITS
            )
        found = np.empty((len(block), words, self.planes, len(self.place)), np.uint64)
        room = np.empty((words, self.planes, block.shape[1] // (pieces * self.planes)), np.uint64)
        rows = np.ascontiguousarray(block)  # of every tenth row, too: one kernel for both
        gather_words(rows, self.place, self.length, size, pieces, room, found)
        return found


def member_ranges(members: int, most: int) -> Iterator[tuple[int, int]]:
    """Return ranges (first, last) of at most `most` members each, or of one.

    Each has whole words or lies within one word, as `Layout.some_members_of` needs it.
    """
    size = (
        most // WORD_BITS * WORD_BITS if most >= WORD_BITS else 1 << max(most, 1).bit_length() - 1
    )
    size = members if members <= most else size
    for first in range(0, members, size):
        yield first, min(first + size, members)


@jit
def gather_words(block, place, length, size, pieces, room, found):
    """Yield words of 64 members by row, as the layout has them, then in the model's order."""
    for r in range(len(block)):
        join_words(block[r], length, size, pieces, room)
        take_words(room, place, found[r])


@jit
def join_words(row, length, size, pieces, room):
    """Join `pieces` shorter words, of `size` members, into words of 64 members in `room`."""
    words, planes, places = room.shape
    each, length, pieces = _U(WORD_BITS // size), _U(length), _U(pieces)
    for w in range(_U(words)):
        for p in range(_U(planes)):
            line = room[w, p]
            count = min(pieces - w * each, each)
            step = _U(planes) * length  # from one piece to the next
            for run in range(_U(places) // length):
                at, to = ((run * pieces + w * each) * _U(planes) + p) * length, run * length
                if count == _8:  # bytes, all in one go: the most frequent case
                    for i in range(length):
                        line[to + i] = four_bytes(row, at + i, step) | (
                            four_bytes(row, at + _U(4) * step + i, step) << _32
                        )
                    continue
                for i in range(length):
                    line[to + i] = _U(row[at + i])
                for e in range(_1, count):
                    for i in range(length):
                        line[to + i] |= _U(row[at + e * step + i]) << (e * _U(size))


@jit
def four_bytes(row, at, step):
    """Return four bytes at a distance, the first one lowest."""
    low = _U(row[at]) | (_U(row[at + step]) << _8)
    at += _U(2) * step
    return low | (_U(row[at]) << _16) | (_U(row[at + step]) << _U(24))


@jit
def take_words(room, place, found):
    """Set found[w, p, i] to room[w, p, place[i]]."""
    for w in range(room.shape[0]):
        for p in range(room.shape[1]):
            line, mine = room[w, p], found[w, p]
            for i in range(_U(len(place))):
                mine[i] = line[_U(place[i])]


@jit
def exchange_bit_fields(a, b, far, mask):
    """Exchange the high parts of the parts of `a` with the low ones of those of `b`."""
    change = _U(_U(_U(a >> far) ^ b) & mask)
    return _U(a ^ _U(change << far)), _U(b ^ change)


def unpack_states(words: np.ndarray, members: int) -> np.ndarray:
    """Unpack states (rows, members, N) from words (rows, words, planes, N), 8 planes at most."""
    rows, _, _, n = words.shape
    # Bytes are written eight at a time, so that rows are a multiple of 8 long.
    found = np.empty((rows, members, -(-n // BYTE_BITS)), np.uint64)
    spread_words(words, found)
    return found.view(np.uint8)[:, :, :n] if n else np.empty((rows, members, 0), np.uint8)


@jit
def spread_words(words, found):
    """Spread eight variables at a time: byte j of a number of `found` is the state of the j-th.

    A tile of 64 variables is turned first, then written member by member: rows lie so far apart
    that few of them can be in the nearest cache at once.
    """
    rows, n_words, planes, n = words.shape
    members, groups = found.shape[1], _U(found.shape[2])
    tile = np.empty(BYTE_BITS * BYTE_BITS, np.uint64)
    for r in range(rows):
        for w in range(n_words):
            live = min(members - WORD_BITS * w, WORD_BITS)
            for p in range(planes):
                line, place = words[r, w, p], _U(planes - 1 - p)
                for start in range(_U(0), groups, _8):
                    count = min(groups - start, _8)
                    for group in range(count):
                        transpose_bytes(line, (start + group) * _8, _U(n - 1), tile, group)
                    for m in range(live):
                        row, octet, bit = found[r, WORD_BITS * w + m], _U(m) & _U(56), _U(m) & _U(7)
                        if count == _8 and p == 0:  # of a length that the compiler knows
                            for group in range(_8):
                                row[start + group] = (tile[octet + group] >> bit & _LOWEST) << place
                            continue
                        for group in range(count):
                            state = (tile[octet + group] >> bit & _LOWEST) << place
                            row[start + group] = state | (row[start + group] if p else _U(0))


@jit
def transpose_bytes(line, at, last, tile, group):
    """Set tile[8 j + group] to the j-th bytes of eight words, the first one lowest.

    Words behind the `last` are never read.
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
    a, b = exchange_bit_fields(a, b, _8, _MASK_8)
    c, d = exchange_bit_fields(c, d, _8, _MASK_8)
    e, f = exchange_bit_fields(e, f, _8, _MASK_8)
    g, h = exchange_bit_fields(g, h, _8, _MASK_8)
    a, c = exchange_bit_fields(a, c, _16, _MASK_16)
    b, d = exchange_bit_fields(b, d, _16, _MASK_16)
    e, g = exchange_bit_fields(e, g, _16, _MASK_16)
    f, h = exchange_bit_fields(f, h, _16, _MASK_16)
    a, e = exchange_bit_fields(a, e, _32, _MASK_32)
    b, f = exchange_bit_fields(b, f, _32, _MASK_32)
    c, g = exchange_bit_fields(c, g, _32, _MASK_32)
    d, h = exchange_bit_fields(d, h, _32, _MASK_32)
    tile[group], tile[group + _8], tile[group + _16] = a, b, c
    tile[group + _U(24)], tile[group + _32], tile[group + _U(40)] = d, e, f
    tile[group + _U(48)], tile[group + _U(56)] = g, h
