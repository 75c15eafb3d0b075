"""The hash tables of a state: how they start, grow, and are saved.

Each segment of the scan has a table (`draws.context_hashing`), and all tables lie in two arrays, of
keys and of weights w. A table that is half full moves to twice as many slots behind all others and
leaves a gap, so that growing costs what grows; where no room is left, all tables move together into
arrays of twice the size. A state is written down without gaps: as such it does not show in which
order tables grew, which depends on threads and on blocks.

Segment g has the table keys[slot_start[g]:][:slots[g]], and filled[g] of its slots are taken.
"""

from collections.abc import Mapping

import numpy as np

from herded.draws.context_hashing import compact_into, double_tables
from herded.draws.herded_weights import HALF_PHASE

HashTables = dict[str, np.ndarray]


def has_hash_tables(own: Mapping[str, np.ndarray]) -> bool:
    """Return whether a chain keeps hash tables, not a method's own arrays of like names."""
    return {"w", "keys", "slot_start", "slots", "filled"} <= own.keys()


def initial_slot_counts(segments: np.ndarray) -> np.ndarray:
    """Return slots of the segments' tables: a sweep fills at most a quarter."""
    found: np.ndarray = 4 << np.ceil(np.log2(segments)).astype(np.int64)
    return found


def empty_tables(segments: np.ndarray, width: int, kind: np.dtype) -> HashTables:
    """Empty tables, of weights of `width` entries, with no spare room."""
    slots = initial_slot_counts(segments)
    room = int(slots.sum())
    return {
        "w": _neutral_weights(room * width, kind),
        "keys": np.zeros(room, np.uint64),
        "slot_start": np.cumsum(slots) - slots,
        "slots": slots,
        "filled": np.zeros_like(slots),
    }


def grow_tables(tables: HashTables, which: np.ndarray) -> HashTables:
    """Return `tables` with those numbered `which` doubled."""
    more = int(tables["slots"][which].sum())
    free = int((tables["slot_start"] + tables["slots"]).max())
    if free + 2 * more > len(tables["keys"]):
        free = int(tables["slots"].sum())
        tables = compact_tables(tables, 2 * (free + more))
    places = (tables[name] for name in ("slot_start", "slots", "keys", "w"))
    double_tables(which, free, _weight_width(tables), *places)
    return tables


def compact_tables(tables: HashTables, room: int) -> HashTables:
    """Return the tables one after another, in new arrays of `room` slots."""
    width, slots = _weight_width(tables), tables["slots"]
    keys, w = np.zeros(room, np.uint64), _neutral_weights(room * width, tables["w"].dtype)
    start = np.cumsum(slots) - slots
    old = (tables[name] for name in ("slot_start", "slots", "keys", "w"))
    compact_into(width, *old, start, keys, w)
    return {**tables, "keys": keys, "w": w, "slot_start": start}


def can_have_grown_from(first: Mapping[str, np.ndarray], later: Mapping[str, np.ndarray]) -> bool:
    """Return whether the tables `later`, without gaps, may be what those of `first` have grown to.

    A full table would be searched without end.
    """
    slots, keys, filled = later["slots"], later["keys"], later["filled"]
    doubled = np.log2(np.maximum(slots, 1) / np.maximum(first["slots"], 1))
    return bool(
        np.array_equal(later["slot_start"], np.cumsum(slots) - slots)
        and (doubled >= 0).all()
        and (doubled == np.floor(doubled)).all()
        and np.array_equal(
            filled, np.add.reduceat((keys != 0).astype(np.int64), later["slot_start"])
        )
        and (filled < slots).all()
    )


def _weight_width(tables: HashTables) -> int:
    """Return the entries of one weight."""
    return len(tables["w"]) // max(1, len(tables["keys"]))


def _neutral_weights(size: int, kind: np.dtype) -> np.ndarray:
    """Return phases at 1/2 (scalar rule) or weight vectors at 0."""
    return np.full(size, HALF_PHASE) if kind == HALF_PHASE.dtype else np.zeros(size, kind)
