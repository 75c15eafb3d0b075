"""A single block: variables are eliminated, smallest cluster first, or cut if clusters are large.

Two heaps give the variable that comes next, one of the sizes of clusters and one of the order in
which variables would be cut; both change with every step.
"""

import numpy as np

from herded.layouts.chain_arrays import shuffle_visits
from herded.system.compilation.jit import jit

LOG_SCALE = 2**20  # logarithms of sizes are whole multiples of 1 / LOG_SCALE
HELD_PRIORITY = 2.0**36  # in the order of cuts a held variable comes after all others,
CUT_PRIORITY = 2.0**20  # a variable cut once more comes after those with more neighbours


@jit
def build_block(near_start, near, logs, movable, limit, cuts, held, key, order):
    """Write a block's order of elimination into `order`; give its length, the log of the entries of
    its largest table, and the entries of all.

    Neighbours that are left are linked lists of `ends`, to which elimination adds. What is gone
    stays in the lists and is passed over.
    """
    n = len(movable)
    gone = np.empty(n, np.bool_)
    head, degree, size = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    ends, following = np.empty(len(near) + 64, np.int64), np.empty(len(near) + 64, np.int64)
    tie, used, around = np.empty(n), 0, np.arange(n)
    shuffle_visits(around, np.arange(n), key, np.uint64(0))
    for i in range(n):
        gone[i] = not movable[i]
        head[i], degree[i], size[i] = -1, 0, logs[i]
        tie[around[i]] = i / n
    left = 0
    for i in range(n):
        if gone[i]:
            continue
        left += 1
        for e in range(near_start[i], near_start[i + 1]):
            j = np.int64(near[e])
            if movable[j]:
                ends[used], following[used], head[i] = j, head[i], used
                used += 1
                degree[i] += 1
                size[i] += logs[j]
    smallest, small_place, small_key = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    first_cut, cut_place, cut_key = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    at = 0
    for i in range(n):
        if not gone[i]:
            smallest[at], small_place[i], small_key[i] = i, at, size[i] + tie[i]
            first_cut[at], cut_place[i] = i, at
            cut_key[i] = HELD_PRIORITY * held[i] + CUT_PRIORITY * cuts[i] - degree[i] + tie[i]
            at += 1
    for at in range(left // 2 - 1, -1, -1):
        sift_down(smallest, small_place, small_key, at, left)
        sift_down(first_cut, cut_place, cut_key, at, left)
    length, largest, total = 0, 0, 0.0
    while left > 0:
        i = smallest[0]
        eliminates = size[i] <= limit
        if not eliminates:
            i = first_cut[0]
        remove_from_heap(smallest, small_place, small_key, i, left)
        remove_from_heap(first_cut, cut_place, cut_key, i, left)
        left -= 1
        gone[i] = True
        count, e = 0, head[i]
        while e >= 0:
            j = ends[e]
            if not gone[j]:
                around[count] = j
                count += 1
                degree[j] -= 1
                size[j] -= logs[i]
            e = following[e]
        if eliminates:
            order[length] = i
            length += 1
            largest = max(largest, size[i])
            total += 2.0 ** (size[i] / LOG_SCALE)
            for a in range(count):
                for b in range(a):
                    j, k = around[a], around[b]
                    if degree[j] > degree[k]:
                        j, k = k, j
                    e = head[j]
                    while e >= 0 and ends[e] != k:
                        e = following[e]
                    if e >= 0:
                        continue
                    if used + 2 > len(ends):
                        ends, following = doubled_copy(ends), doubled_copy(following)
                    ends[used], following[used], head[j] = k, head[j], used
                    ends[used + 1], following[used + 1], head[k] = j, head[k], used + 1
                    used += 2
                    degree[j] += 1
                    degree[k] += 1
                    size[j] += logs[k]
                    size[k] += logs[j]
        for a in range(count):
            j = around[a]
            small_key[j] = size[j] + tie[j]
            cut_key[j] = HELD_PRIORITY * held[j] + CUT_PRIORITY * cuts[j] - degree[j] + tie[j]
            restore_heap_order(smallest, small_place, small_key, j, left)
            restore_heap_order(first_cut, cut_place, cut_key, j, left)
    return length, largest, total


@jit
def doubled_copy(array):
    """Return a copy with room for as much again."""
    copy = np.empty(2 * len(array), np.int64)
    for at in range(len(array)):
        copy[at] = array[at]
    return copy


# -- a heap of variables whose keys may change -----------------------------------------------------


@jit
def sift_down(heap, place, keys, at, length):
    """Let the variable at `at` sink to where it belongs."""
    i = heap[at]
    while True:
        child = 2 * at + 1
        if child >= length:
            break
        if child + 1 < length and keys[heap[child + 1]] < keys[heap[child]]:
            child += 1
        if not keys[heap[child]] < keys[i]:
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at] = i
    place[i] = at


@jit
def restore_heap_order(heap, place, keys, i, length):
    """Put a variable whose key has changed where it belongs."""
    at = place[i]
    while at > 0 and keys[i] < keys[heap[(at - 1) // 2]]:
        heap[at] = heap[(at - 1) // 2]
        place[heap[at]] = at
        at = (at - 1) // 2
    heap[at] = i
    place[i] = at
    sift_down(heap, place, keys, at, length)


@jit
def remove_from_heap(heap, place, keys, i, length):
    """Take a variable out of a heap of `length`."""
    at, last = place[i], heap[length - 1]
    if last != i:
        heap[at] = last
        place[last] = at
        restore_heap_order(heap, place, keys, last, length - 1)
