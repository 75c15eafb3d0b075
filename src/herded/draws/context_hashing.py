"""Hash tables of contexts (`lazy`, `full`): one for each segment of the scan.

All tables lie in one array of keys, the weight of a key at the same place in the array of weights.
Segments never meet each other's contexts, so a table is filled, and grows, by its own segment's
sweeps alone: the same whichever thread runs it and however a run is cut into blocks.
"""

import numpy as np

from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import mix64

_ODD = np.uint64(0xD6E8FEB86659FD93)
_33 = np.uint64(33)
_ZERO, _FIRST = np.uint64(0), np.uint64(1)


@jit
def hash_neighbours(neighbour_start, neighbour, i, x):
    """Return the key of variable i's context from its neighbours' states."""
    h = mix64(np.uint64(i) + _FIRST)
    for n in range(neighbour_start[i], neighbour_start[i + 1]):
        h = (h ^ np.uint64(x[neighbour[n]] + 1)) * _ODD
        h ^= h >> _33
    return mix64(h)


@jit
def hash_one(i, k):
    """Return a word for "variable i is in state k"; the whole state's hash is the xor of these."""
    return mix64((np.uint64(i) << np.uint64(20)) + np.uint64(k) + _FIRST)


@jit
def hash_state(x):
    """Return the xor of hash_one over all variables."""
    h = _ZERO
    for i in range(len(x)):
        h ^= hash_one(i, x[i])
    return h


@jit
def hash_others(h, i, k):
    """Return the key of variable i's full context, from the whole state's hash."""
    return mix64((h ^ hash_one(i, k)) + np.uint64(i))


@jit
def find_slot(table, filled, g, key):
    """Return the slot of `key` in the table of segment g, and whether it is new.

    Beyond 3/4 full, new keys share the slot they hash to.
    """
    if key == _ZERO:
        key = _FIRST
    mask = len(table) - 1
    home = np.int64(key & np.uint64(mask))
    slot = home
    while table[slot] != _ZERO:
        if table[slot] == key:
            return slot, False
        slot = (slot + 1) & mask
    if filled[g] >= len(table) // 4 * 3:
        return home, False
    table[slot] = key
    filled[g] += 1
    return slot, True


@jit
def slot_share(max_weights, variables, of):
    """Return how many of at most `max_weights` slots the table of some `variables` may have."""
    return np.int64(max_weights * (variables / of))


@jit
def needs_growth(filled, size, most):
    """Return whether a table is half full and may be doubled."""
    return filled > size // 2 and 2 * size <= most


@jit
def double_tables(which, free, width, slot_start, slots, keys, w):
    """Move the tables `which` to twice as many slots each, from slot `free` on."""
    for g in which:
        first, size = slot_start[g], slots[g]
        mask = 2 * size - 1
        for old in range(first, first + size):
            if keys[old] != _ZERO:
                slot = np.int64(keys[old] & np.uint64(mask))
                while keys[free + slot] != _ZERO:
                    slot = (slot + 1) & mask
                keys[free + slot] = keys[old]
                for k in range(width):
                    w[(free + slot) * width + k] = w[old * width + k]
        slot_start[g], slots[g] = free, 2 * size
        free += 2 * size


@jit
def compact_into(width, slot_start, slots, keys, w, new_start, new_keys, new_w):
    """Copy all tables, without what lies between them, to where they start in new arrays."""
    for g in range(len(slots)):
        old, new = slot_start[g], new_start[g]
        for at in range(slots[g]):
            new_keys[new + at] = keys[old + at]
        for at in range(slots[g] * width):
            new_w[new * width + at] = w[old * width + at]
