"""The hash tables of a state: how they start, grow, and are written down.

Each segment of the scan has a table (`draws.hashing`), and all tables lie in two arrays, of keys
and of weights. A table that is half full moves to twice as many slots behind all others and leaves
a gap, so that growing costs what grows; where no room is left, all tables move together into
arrays of twice the size. A state is written down without gaps: as such it does not show in which
order tables grew, which depends on threads and on blocks.
"""

import numpy as np

from herded.draws.hashing import double, gather
from herded.draws.phases import HALF
from herded.layouts.arrays import Memory
from herded.layouts.choose import Plan
from herded.layouts.weights import first_slots


def first_tables(plan: Plan, memory: Memory) -> Memory:
    """`memory` with empty tables, and room for no more."""
    slots = first_slots(plan.scan.segments)
    room, width = int(slots.sum()), 1 if plan.scalar else plan.width
    return memory._replace(
        w=_at_rest(room * width, memory.w.dtype),
        keys=np.zeros(room, np.uint64),
        slot_start=np.cumsum(slots) - slots,
        slots=slots,
        filled=np.zeros_like(slots),
    )


def grown(memory: Memory, which: np.ndarray) -> Memory:
    """`memory` with the tables numbered `which` doubled."""
    more = int(memory.slots[which].sum())
    free = int((memory.slot_start + memory.slots).max())
    if free + 2 * more > len(memory.keys):
        free = int(memory.slots.sum())
        memory = without_gaps(memory, 2 * (free + more))
    double(which, free, _width(memory), memory.slot_start, memory.slots, memory.keys, memory.w)
    return memory


def without_gaps(memory: Memory, room: int) -> Memory:
    """`memory` with its tables one after another, in new arrays of `room` slots."""
    width = _width(memory)
    keys, w = np.zeros(room, np.uint64), _at_rest(room * width, memory.w.dtype)
    start = np.cumsum(memory.slots) - memory.slots
    gather(width, memory.slot_start, memory.slots, memory.keys, memory.w, start, keys, w)
    return memory._replace(keys=keys, w=w, slot_start=start)


def could_be(
    first: Memory, slot_start: np.ndarray, slots: np.ndarray, keys: np.ndarray, filled: np.ndarray
) -> bool:
    """Whether such tables, without gaps, are what those of `first` may have grown to.

    One that is full would be searched for ever.
    """
    if not len(first.slots):
        return True
    doubled = np.log2(np.maximum(slots, 1) / np.maximum(first.slots, 1))
    return bool(
        np.array_equal(slot_start, np.cumsum(slots) - slots)
        and (doubled >= 0).all()
        and (doubled == np.floor(doubled)).all()
        and np.array_equal(filled, np.add.reduceat((keys != 0).astype(np.int64), slot_start))
        and (filled < slots).all()
    )


def _width(memory: Memory) -> int:
    """Entries of one weight."""
    return len(memory.w) // max(1, len(memory.keys))


def _at_rest(size: int, kind: np.dtype) -> np.ndarray:
    """Phases at 1/2 (scalar rule) or weight vectors at 0."""
    return np.full(size, HALF) if kind == HALF.dtype else np.zeros(size, kind)
