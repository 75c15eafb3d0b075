"""Counts of how often something is true of each member of a herd, on its bits.

What is true of 64 members is a word: that a variable is in some state, or that two are alike. Such
words are counted for all members at once by adders of single bits, seven words at a time, and
seven carries at a time; where each has a weight of its own, weights are added member by member.
"""

import numpy as np

from herded.layouts.packing.member_bits import WORD_BITS
from herded.system.compilation.jit import jit

LANES = 32  # adjacent counters, each for 64 members
WORDS_PER_ADDER = 7  # words that a counter takes in one go
WORDS_PER_CHUNK = LANES * WORDS_PER_ADDER
# words that are looked at before they are counted: few enough for the cache
WORDS_PER_TILE = WORDS_PER_ADDER * WORDS_PER_CHUNK
COUNTER_BITS = 64  # bits of a counter
# what is looked at: a state, pairs so far apart, listed pairs
COUNT_STATE, COUNT_OFFSET_PAIRS, COUNT_LISTED_PAIRS = 0, 1, 2
_U = np.uint64
_ALL, _NONE, _1 = _U(2**64 - 1), _U(0), _U(1)
_TWOS, _FOURS = _U(0x5555555555555555), _U(0x3333333333333333)
_EIGHTS, _BYTES = _U(0x0F0F0F0F0F0F0F0F), _U(0x0101010101010101)


@jit
def add_counts_where_true(words, kind, value, first, second, holes, weights, totals):
    """Add counts (or weights) of true words to totals[r, m], for member m in row r.

    By `kind`, what is looked at: whether variables are in the state `value`; whether each is as the
    one `value` places behind it; whether first[e] and second[e] are alike. Places in `holes`, in
    order, are left out. Without `weights`, each counts 1.
    """
    rows, n_words, _, n = words.shape
    length = _U(
        n if kind == COUNT_STATE else n - value if kind == COUNT_OFFSET_PAIRS else len(first)
    )
    room, counter = np.empty(WORDS_PER_TILE, np.uint64), np.zeros(COUNTER_BITS * LANES, np.uint64)
    planes = planes_for(length)
    for r in range(rows):
        for w in range(n_words):
            x, mine, hole = words[r, w], totals[r, WORD_BITS * w : WORD_BITS * (w + 1)], 0
            for start in range(_NONE, length, _U(WORDS_PER_TILE)):
                count = min(length - start, _U(WORDS_PER_TILE))
                if kind == COUNT_STATE:
                    fill_state(x, value, start, count, room)
                elif kind == COUNT_OFFSET_PAIRS:
                    fill_along(x, start, _U(value), count, room)
                else:
                    fill_pairs(x, first, second, start, count, room)
                if len(weights):
                    add_weights(room, weights, start, count, mine)
                else:
                    while hole < len(holes) and _U(holes[hole]) < start + count:
                        room[_U(holes[hole]) - start] = _NONE
                        hole += 1
                    add_words_to_counter(room, count, planes, counter)
            if not len(weights):
                add_lanes(counter, planes, mine)


@jit
def planes_for(length):
    """Return the bits of a counter that each lane needs for this many words."""
    planes = 7
    while planes < COUNTER_BITS - 8 and _1 << _U(planes) <= length // _U(LANES) + _U(
        WORDS_PER_CHUNK
    ):
        planes += 1
    return _U(planes)


@jit
def fill_state(x, state, start, count, room):
    """Find the members whose variables are in a state."""
    planes = x.shape[0]
    for p in range(planes):
        line, flip = x[p], _NONE if (state >> (planes - 1 - p)) & 1 else _ALL
        for i in range(count):
            is_so = line[start + i] ^ flip
            room[i] = is_so if p == 0 else room[i] & is_so


@jit
def fill_along(x, start, step, count, room):
    """Find the members whose variables equal those `step` places behind them."""
    for p in range(x.shape[0]):
        line, behind = x[p], start + step
        if p == 0:
            for i in range(count):
                room[i] = ~(line[start + i] ^ line[behind + i])
        else:
            for i in range(count):
                room[i] &= ~(line[start + i] ^ line[behind + i])


@jit
def fill_pairs(x, first, second, start, count, room):
    """Find the members in which pairs of variables are alike."""
    for p in range(x.shape[0]):
        line = x[p]
        for i in range(count):
            alike = ~(line[_U(first[start + i])] ^ line[_U(second[start + i])])
            room[i] = alike if p == 0 else room[i] & alike


@jit
def add_weights(room, weights, start, count, totals):
    """Add the weights of the words that have bit m to totals[m].

    Eight members at a time, whose sums stay in registers; lanes are words.
    """
    for m in range(_NONE, _U(WORD_BITS), _U(8)):
        a = b = c = d = e = f = g = h = np.int64(0)
        for i in range(count):
            bits, weight = np.int64(room[i] >> m), weights[start + i]
            a += weight & -(bits & 1)
            b += weight & -((bits >> 1) & 1)
            c += weight & -((bits >> 2) & 1)
            d += weight & -((bits >> 3) & 1)
            e += weight & -((bits >> 4) & 1)
            f += weight & -((bits >> 5) & 1)
            g += weight & -((bits >> 6) & 1)
            h += weight & -((bits >> 7) & 1)
        for j, sum_of_one in enumerate((a, b, c, d, e, f, g, h)):
            totals[m + _U(j)] += sum_of_one


@jit
def alike_words(words, first, second, found):
    """Set found[r, w, 0, e] to the members in which a pair is alike in row r."""
    for r in range(words.shape[0]):
        for w in range(words.shape[1]):
            fill_pairs(words[r, w], first, second, _NONE, _U(len(first)), found[r, w, 0])


@jit
def count_members(words, members, counts):
    """Add the members with a bit in the words (rows, words, 1, E) to counts[r, e]."""
    for r in range(words.shape[0]):
        for w in range(words.shape[1]):
            live = min(members - WORD_BITS * w, WORD_BITS)
            mask = _ALL >> _U(WORD_BITS - live)
            for e in range(_U(words.shape[3])):
                v = words[r, w, 0, e] & mask
                v -= (v >> _1) & _TWOS
                v = (v & _FOURS) + ((v >> _U(2)) & _FOURS)
                v = (v + (v >> _U(4))) & _EIGHTS
                counts[r, e] += np.int64((v * _BYTES) >> _U(56))


@jit
def full_adder(a, b, c):
    """Return the sum of three bits: its lower bit and its higher one."""
    either = a ^ b
    return either ^ c, (a & b) | (either & c)


@jit
def add_words_to_counter(room, count, planes, counter):
    """Take the first words into a counter, and leave others in their place.

    Bit p of lane j of the counter is at p * LANES + j. The carries of each seven words of a lane
    are words again, and seven are taken at once in turn: few bits are carried to the top.
    """
    lanes, chunk = _U(LANES), _U(WORDS_PER_CHUNK)
    carries, kept = np.empty(WORDS_PER_CHUNK, np.uint64), _NONE
    for i in range(count, (count + chunk - _1) // chunk * chunk):
        room[i] = _NONE
    for start in range(_NONE, count, chunk):
        add_seven(room, start, counter, _NONE, carries, kept)
        kept += lanes
    for i in range(kept, chunk):
        carries[i] = _NONE
    add_seven(carries, _NONE, counter, _U(3) * lanes, room, _NONE)
    for p in range(_U(6), planes):
        for j in range(lanes):
            old, new = counter[p * lanes + j], room[j]
            counter[p * lanes + j], room[j] = old ^ new, old & new


@jit
def add_seven(room, start, counter, low, carries, to):
    """Add seven words of each lane to three bits of the counter, from place `low` on.

    Carries are written elsewhere, or compilers would fear for the words that are still to be read.
    """
    lanes = _U(LANES)
    for j in range(lanes):
        i = start + j
        a, b = full_adder(room[i], room[i + lanes], room[i + _U(2) * lanes])
        i += _U(3) * lanes
        c, d = full_adder(room[i], room[i + lanes], room[i + _U(2) * lanes])
        a, e = full_adder(a, c, room[i + _U(3) * lanes])
        b, d = full_adder(b, d, e)  # seven bits are a + 2 b + 4 d
        at = low + j
        one, two, four = counter[at], counter[at + lanes], counter[at + _U(2) * lanes]
        counter[at], up = one ^ a, one & a
        counter[at + lanes], up = full_adder(two, b, up)
        counter[at + _U(2) * lanes], up = full_adder(four, d, up)
        carries[to + j] = up


@jit
def add_lanes(counter, planes, totals):
    """Add what the lanes of a counter have counted, and set it to zero."""
    lanes = _U(LANES)
    while lanes > _1:
        lanes >>= _1
        planes += _1  # of a sum of two
        for j in range(lanes):
            up = _NONE
            for p in range(planes):
                at = p * _U(LANES) + j
                counter[at], up = full_adder(counter[at], counter[at + lanes], up)
                counter[at + lanes] = _NONE
    for p in range(planes):
        word = counter[p * _U(LANES)]
        counter[p * _U(LANES)] = _NONE
        for m in range(_U(WORD_BITS)):
            totals[m] += np.int64(((word >> m) & _1) << p)
