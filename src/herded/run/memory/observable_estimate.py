"""Estimates of the memory of observables: arguments and values of functions, and what is kept.

A function may give much for each member. Before its first call each observable counts as one number
for each member; after it, the shape and the type of what it gives are known.
"""

import math
from typing import cast

import numpy as np

from herded.layouts.base import Layout
from herded.layouts.packing.member_bits import WORD_BITS
from herded.run.observables.batched import bytes_of_terms, find_batched_observable
from herded.run.observables.recorder import (
    FIRST_MEMBERS,
    MAX_STATES_PER_PASS,
    ObservableRecorder,
    Observables,
    members_at_once,
    rows_at_once,
    sums_blocks,
)
from herded.run.query import KeepOptions
from herded.run.sampler_run import BLOCK_ENTRIES, Chain

NUMBER = 8.0  # bytes of a number of 64 bits
CALL_BYTES_PER_STATE = 16.0  # bytes of a state of a variable that a function gets, and works with
IS_FINITE = 1.0  # a byte for each number, whether it is finite


def bytes_of_calls(
    layout: Layout, keep: KeepOptions, rows: int, parallel: int, chain: Chain | None
) -> float:
    """Return the bytes of calls to functions of states by `parallel` chains.

    Parameters
    ----------
    rows
        Sweeps of a block.
    chain
        One that is about to start, whose observables have shapes; None before the first call.
    """
    choices = keep.each_observable
    if not choices:
        return 0.0
    sizes = [numbers_of(chain, k) for k in range(len(choices))]
    rows = min(rows, rows_at_once(layout, max(sizes)))
    kept = sum(
        NUMBER * rows * size * (1 if sums_blocks(layout, choice, size) else layout.members)
        for choice, size in zip(choices, sizes, strict=True)
    )
    once, first, terms = 0.0, 0.0, 0.0
    some = min(layout.members, members_at_once(layout, max(sizes)))
    for k, (choice, size) in enumerate(zip(choices, sizes, strict=True)):
        # As given, and as numbers of 64 bits with those of the draw before.
        each = size * (_item_size(chain, k) + 2 * NUMBER + IS_FINITE)
        is_fast, states = (
            find_batched_observable(choice.f) is not None,
            states_at_once(layout, MAX_STATES_PER_PASS),
        )
        if not is_fast:
            need = states + some * (CALL_BYTES_PER_STATE * layout.model.n_variables + each)
        elif layout.bit_places is None:  # it reads a copy of the states
            need = 2 * states
        else:  # it reads bits, and joins what it counts
            need = states + NUMBER * rows * size * layout.members
        once = max(once, need, 3 * NUMBER * rows * size)
        first = max(first, FIRST_MEMBERS * (each + CALL_BYTES_PER_STATE * layout.model.n_variables))
        terms = max(terms, bytes_of_terms(choice.f, layout.model))
    return terms + max(first, parallel * (kept + once))


def bytes_of_sums(keep: KeepOptions, chains: int, chain: Chain | None) -> float:
    """Return the bytes of the sums of values of all chains, and of their means."""
    sizes = (numbers_of(chain, k) for k in range(len(keep.each_observable)))
    return sum(4 * chains * NUMBER * size for size in sizes)


def numbers_of(chain: Chain | None, k: int) -> int:
    """Return how many numbers an observable has for each member; 1 before its first call."""
    return 1 if chain is None else max(1, math.prod(_recorder(chain).shapes[k]))


def _item_size(chain: Chain | None, k: int) -> float:
    """Return the bytes of each number that the function gives."""
    return NUMBER if chain is None else float(_recorder(chain).item_sizes[k])


def _recorder(chain: Chain) -> ObservableRecorder:
    return cast(ObservableRecorder, chain.recorders[Observables])


def states_at_once(layout: Layout, most: int, whole: bool = False) -> float:
    """Return the bytes of a block of states, and of the words they are unpacked from."""
    n, size = layout.model.n_variables, np.dtype(layout.state_type).itemsize
    of_a_sweep = max(layout.n_replicas * n, 1)
    rows = min(max(1, BLOCK_ENTRIES // max(layout.sample_size, 1)), max(1, most // of_a_sweep))
    one = n * (layout.members if whole else 1)
    found = float(size * min(rows * of_a_sweep, max(most, one)))
    if layout.bit_places is not None:  # twice: as the layout has them, and in the model's order
        words = -(-layout.members // WORD_BITS) if whole or rows > 1 else 1
        found += 2 * NUMBER * n * float(rows * words * layout.bit_places.planes)
    return found
