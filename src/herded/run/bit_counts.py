"""How often something is true of each member of a herd, counted on its bits.

What is true of 64 members is a word: that a variable is in some state, or that two are alike. Such
words are counted for all members at once by adders of single bits, seven words at a time; where
each has a weight of its own, weights are added member by member.
"""

import numpy as np

from herded.layouts.bits import WORD
from herded.system.jit import jit

LANES = 32  # counters side by side, of which each counts for 64 members
AT_ONCE = 7  # words that a counter takes in one go
CHUNK = LANES * AT_ONCE
TILE = 16 * CHUNK  # words that are looked at before they are counted: few enough for the cache
PLANES = 64  # bits of a counter
STATE, ALONG, PAIRS = 0, 1, 2  # what is looked at: a state, pairs so far apart, listed pairs
_U = np.uint64
_ALL, _NONE, _1 = _U(2**64 - 1), _U(0), _U(1)
_TWOS, _FOURS = _U(0x5555555555555555), _U(0x3333333333333333)
_EIGHTS, _BYTES = _U(0x0F0F0F0F0F0F0F0F), _U(0x0101010101010101)


@jit
def add_true(words, kind, value, first, second, holes, weights, totals):
    """totals[r, m] += how often it is true of member m in row r, or the weights of where it is.

    By `kind`, what is looked at: whether variables are in the state `value`; whether each is as the
    one `value` places behind it; whether first[e] and second[e] are alike. Places in `holes`, in
    order, are left out. Without `weights`, each counts 1.
    """
    rows, n_words, _, n = words.shape
    length = _U(n if kind == STATE else n - value if kind == ALONG else len(first))
    room, counter = np.empty(TILE, np.uint64), np.zeros(PLANES * LANES, np.uint64)
    planes = planes_for(length)
    for r in range(rows):
        for w in range(n_words):
            x, mine, hole = words[r, w], totals[r, WORD * w : WORD * (w + 1)], 0
            for start in range(_NONE, length, _U(TILE)):
                count = min(length - start, _U(TILE))
                if kind == STATE:
                    fill_state(x, value, start, count, room)
                elif kind == ALONG:
                    fill_along(x, start, _U(value), count, room)
                else:
                    fill_pairs(x, first, second, start, count, room)
                if len(weights):
                    add_weights(room, weights, start, count, mine)
                else:
                    while hole < len(holes) and _U(holes[hole]) < start + count:
                        room[_U(holes[hole]) - start] = _NONE
                        hole += 1
                    count_words(room, count, planes, counter)
            if not len(weights):
                add_lanes(counter, planes, mine)


@jit
def planes_for(length):
    """Bits of a counter that each lane needs for so many words."""
    planes = 4
    while planes < PLANES - 8 and _1 << _U(planes) <= length // _U(LANES) + _U(CHUNK):
        planes += 1
    return _U(planes)


@jit
def fill_state(x, state, start, count, room):
    """Of which members variables are in a state."""
    planes = x.shape[0]
    for p in range(planes):
        line, flip = x[p], _NONE if (state >> (planes - 1 - p)) & 1 else _ALL
        for i in range(count):
            is_so = line[start + i] ^ flip
            room[i] = is_so if p == 0 else room[i] & is_so


@jit
def fill_along(x, start, step, count, room):
    """In which members variables are as those `step` places behind them."""
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
    """In which members pairs of variables are alike."""
    for p in range(x.shape[0]):
        line = x[p]
        for i in range(count):
            alike = ~(line[_U(first[start + i])] ^ line[_U(second[start + i])])
            room[i] = alike if p == 0 else room[i] & alike


@jit
def add_weights(room, weights, start, count, totals):
    """totals[m] += the weights of the words that have bit m; four words at a time."""
    whole = count // _U(4) * _U(4)
    for i in range(_NONE, whole, _U(4)):
        a, b, c, d = room[i], room[i + _1], room[i + _U(2)], room[i + _U(3)]
        at = start + i
        s, t, u, v = weights[at], weights[at + _1], weights[at + _U(2)], weights[at + _U(3)]
        for m in range(_U(WORD)):
            place = _1 << m
            more = (s if a & place else np.int64(0)) + (t if b & place else np.int64(0))
            more += (u if c & place else np.int64(0)) + (v if d & place else np.int64(0))
            totals[m] += more
    for i in range(whole, count):
        for m in range(_U(WORD)):
            totals[m] += weights[start + i] if room[i] & (_1 << m) else np.int64(0)


@jit
def alike_words(words, first, second, found):
    """found[r, w, 0, e] = in which members a pair is alike in row r."""
    for r in range(words.shape[0]):
        for w in range(words.shape[1]):
            fill_pairs(words[r, w], first, second, _NONE, _U(len(first)), found[r, w, 0])


@jit
def count_members(words, members, counts):
    """counts[r, e] += how many of the members have their bit in the words (rows, words, 1, E)."""
    for r in range(words.shape[0]):
        for w in range(words.shape[1]):
            live = min(members - WORD * w, WORD)
            mask = _ALL >> _U(WORD - live)
            for e in range(_U(words.shape[3])):
                v = words[r, w, 0, e] & mask
                v -= (v >> _1) & _TWOS
                v = (v & _FOURS) + ((v >> _U(2)) & _FOURS)
                v = (v + (v >> _U(4))) & _EIGHTS
                counts[r, e] += np.int64((v * _BYTES) >> _U(56))


@jit
def full_adder(a, b, c):
    """The sum of three bits: its lower bit and its higher one."""
    either = a ^ b
    return either ^ c, (a & b) | (either & c)


@jit
def count_words(room, count, planes, counter):
    """Take the first words into a counter, and leave others in their place.

    Bit p of lane j of the counter is at p * LANES + j.
    """
    lanes, chunk = _U(LANES), _U(CHUNK)
    for i in range(count, (count + chunk - _1) // chunk * chunk):
        room[i] = _NONE
    for start in range(_NONE, count, chunk):
        for j in range(lanes):
            i = start + j
            a, b = full_adder(room[i], room[i + lanes], room[i + _U(2) * lanes])
            i += _U(3) * lanes
            c, d = full_adder(room[i], room[i + lanes], room[i + _U(2) * lanes])
            a, e = full_adder(a, c, room[i + _U(3) * lanes])
            b, d = full_adder(b, d, e)  # seven bits are a + 2 b + 4 d
            one, two, four = counter[j], counter[j + lanes], counter[j + _U(2) * lanes]
            counter[j], up = one ^ a, one & a
            counter[j + lanes], up = full_adder(two, b, up)
            counter[j + _U(2) * lanes], up = full_adder(four, d, up)
            room[start + j] = up
        for p in range(_U(3), planes):
            for j in range(lanes):
                old, up = counter[p * lanes + j], room[start + j]
                counter[p * lanes + j], room[start + j] = old ^ up, old & up


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
        for m in range(_U(WORD)):
            totals[m] += np.int64(((word >> m) & _1) << p)
