"""Moves of learned blocks, or leaps: sets of variables that a ladder has seen change together.

A model with a few strong modes needs a trip through all rungs for every change of mode, even one
that it has made many times. So the states that the coldest rung has passed through in the
burn-in are kept, as many as there is room for, evenly in time. At its end each is quenched: single
variables take their likelier value until none wants to. Where two that follow each other differ, by
connected sets of variables, these sets are what lies between modes. The most frequent become leaps.

From then on they are fixed. To change all binary variables of a set is its own inverse, so that a
leap from x to x' that is accepted with probability

    min(1, exp(beta (S(x') - S(x)))),   S: the log of the model's product of factors

leaves the distribution of any rung as it is. Nothing else is lost if the sets are ill chosen.
"""

from itertools import pairwise

import numpy as np

from herded.layouts.binary_pairs.arrays import FIELD_ONE
from herded.moves.tempering.binary_pairs_exchange import CouplingArrays, flood_fill
from herded.moves.tempering.replica_exchange import metropolis_probability, uniform
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits, random_bits_array

MAX_BLOCKS = 64  # states that are kept in the burn-in, and sets after it
_1 = np.uint64(1)


@jit
def recording_interval(done):
    """Return the sweeps between the states that are kept, after `done` sweeps."""
    every = 1
    while done > every * MAX_BLOCKS:
        every *= 2
    return every


@jit
def record_burn_in_state(kept, x, rungs, done):
    """Keep the state of the coldest rung after `done` sweeps, if it is time for one.

    Where room ends, every other of the states stays.
    """
    n = len(kept) // MAX_BLOCKS
    every = recording_interval(done)
    if every > recording_interval(done - 1):
        for row in range(MAX_BLOCKS // 2):
            for i in range(n):
                kept[row * n + i] = kept[(2 * row + 1) * n + i]
    if done % every == 0:
        for i in range(n):
            kept[(done // every - 1) * n + i] = x[(i + 1) * rungs - 1]


def learn_blocks(q: CouplingArrays, kept: np.ndarray, done: int) -> None:
    """Put the sets that become leaps, as rows of marks, in the place of the states."""
    n = len(q.alone)
    states = kept.reshape(MAX_BLOCKS, n)
    sets: dict[int, tuple[int, np.ndarray]] = {}  # by name: how often it was met, and its variables
    names = random_bits_array(np.uint64(0), n)
    queue, ends = np.empty(n + 1, np.uint32), np.empty(n, np.int64)
    count = done // recording_interval(done)
    for state in states[:count]:
        descend_greedily(q, state)
    for before, after in pairwise(states[:count]):
        first = 0
        for end in ends[
            : split_into_components(q, (before != after).astype(np.uint8), queue, ends)
        ].tolist():
            found = np.sort(queue[first:end])
            first = end
            if len(found) > 1:
                name = int(np.add.reduce(names[found]))  # whatever order they were found in
                sets[name] = sets.get(name, (0, found))[0] + 1, found
    often = sorted(sets.values(), key=lambda one: -one[0])[:MAX_BLOCKS]
    states[:] = 0
    for row, (_, found) in zip(states, often, strict=False):
        row[found] = 1


@jit
def descend_greedily(q, x):
    """Let single variables take their likelier value until none wants to."""
    moves = 1
    while moves:
        moves = 0
        for i in range(len(x)):
            field = q.alone[i]
            for e in range(q.link_start[i], q.link_start[i + 1]):
                field += q.coupling[e] * np.float64(x[q.neighbour[e]])
            likelier = 1 if field > 0.0 else 0 if field < 0.0 else np.int64(x[i])
            moves += likelier != x[i]
            x[i] = likelier


@jit
def split_into_components(q, is_open, queue, ends):
    """Write the connected sets of open variables one after another; how many there are."""
    size, sets = 0, 0
    for i in range(len(is_open)):
        if is_open[i]:
            size = flood_fill(q, i, is_open, queue, size)
            ends[sets] = size
            sets += 1
    return sets


@jit
def block_lists(kept):
    """Return where the variables of each set start, and the variables."""
    n, size = len(kept) // MAX_BLOCKS, 0
    for k in range(len(kept)):
        size += 1 if kept[k] else 0
    start, variables = np.zeros(MAX_BLOCKS + 1, np.int64), np.empty(size, np.uint64)
    size = 0
    for row in range(MAX_BLOCKS):
        for i in range(n):
            if kept[row * n + i]:
                variables[size] = i
                size += 1
        start[row + 1] = size
    return start, variables


@jit
def propose_block_flips(q, m, start, variables, key, sweep, is_in):
    """Try sets in turn, as many as make up one change of every variable, on the colder half."""
    rungs, sets = len(m.betas), 0
    while sets < MAX_BLOCKS and start[sets + 1] > start[sets]:
        sets += 1
    if sets == 0:
        return
    tries = min(sets, max(1, len(q.alone) * sets // start[sets]))
    for k in range(tries):
        row = (sweep * tries + k) % sets
        for at in range(start[row], start[row + 1]):
            is_in[variables[at]] = 1
        for r in range(rungs // 2, rungs):
            bits = random_bits(key, np.uint64((sweep * rungs + r) * MAX_BLOCKS + k))
            gain = flip_gain(q, m.x, np.uint64(rungs), np.uint64(r), start, variables, row, is_in)
            if uniform(bits) < metropolis_probability(m.betas[r] / FIELD_ONE * gain):
                for at in range(start[row], start[row + 1]):
                    place = variables[at] * np.uint64(rungs) + np.uint64(r)
                    m.x[place] = 1 - m.x[place]
        for at in range(start[row], start[row + 1]):
            is_in[variables[at]] = 0


@jit
def flip_gain(q, x, rungs, r, start, variables, row, is_in):
    """Return S(x') - S(x) on rung r: changes times the mean of the fields before and after."""
    total = 0.0
    for at in range(start[row], start[row + 1]):
        v = variables[at]
        both = 2.0 * q.alone[v]
        for e in range(q.link_start[v], q.link_start[v + _1]):
            u = np.uint64(q.neighbour[e])
            both += q.coupling[e] * (1.0 if is_in[u] else 2.0 * np.float64(x[u * rungs + r]))
        total += (1.0 - 2.0 * np.float64(x[v * rungs + r])) * both
    return 0.5 * total
