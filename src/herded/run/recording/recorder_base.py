"""The base of all recorders: arrays, those that grow with the run, and states of some members.

A recorder reads blocks of samples (sweeps, variables) as the layout stores them. Its arrays are all
it knows, so a checkpoint of them and of the states resumes a run bit for bit.
"""

from collections.abc import Iterator
from concurrent.futures import Executor
from typing import ClassVar

import numpy as np

from herded.layouts.base import Layout
from herded.layouts.packing.member_bits import member_ranges
from herded.layouts.state import State

STATES_PER_PASS = 2**22  # states of variables that are unpacked together: a byte each, mostly


class Recorder:
    """A record of one thing over the samples of one chain."""

    arrays: dict[str, np.ndarray]
    piles: ClassVar[str] = "none"  # how the names of arrays begin that grow with the run

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.arrays = {}
        self.piled: dict[str, list[np.ndarray]] = {}
        self.rooms: dict[str, np.ndarray] = {}  # of such arrays, where their length is known

    def add(self, block: np.ndarray, state: State, pool: Executor | None = None) -> None:
        """Take in a block of samples; `state` is the chain after them, `pool` may help."""
        raise NotImplementedError

    def is_pile(self, name: str) -> bool:
        """Return whether an array only grows during the run."""
        return name.startswith(self.piles)

    def reservable(self) -> Iterator[tuple[str, int]]:
        """Return names of arrays whose length follows from the sweeps, with sweeps per entry."""
        yield from ()

    def pile(self, name: str, more: np.ndarray) -> None:
        """Add to the end of such an array; `gather` puts it together."""
        room = self.rooms.get(name)
        if room is None:
            self.piled.setdefault(name, []).append(more)
            return
        done = len(self.arrays[name])
        room[done : done + len(more)] = more
        self.arrays[name] = room[: done + len(more)]

    def restore(self, name: str, array: np.ndarray) -> None:
        """Take an array from a checkpoint, which may lie in the room for it already."""
        if name in self.rooms and not np.may_share_memory(array, self.rooms[name]):
            self.arrays[name] = self.rooms[name][:0]
            self.pile(name, array)
        else:
            self.arrays[name] = array

    def gather(self) -> None:
        """Put together what was piled up."""
        for name, parts in self.piled.items():
            self.arrays[name] = np.concatenate([self.arrays[name], *parts])
        self.piled = {}

    def states_in(self, block: np.ndarray, replicas: bool = False) -> Iterator[np.ndarray]:
        """Yield samples (rows, N) of members or replicas in a block, some at a time."""
        layout = self.layout
        count = layout.n_replicas if replicas else layout.members
        some = layout.some_replicas_of if replicas else layout.some_members_of
        n = max(layout.model.n_variables, 1)
        rows = max(1, STATES_PER_PASS // (count * n))
        for early in range(0, len(block), rows):
            part = block[early : early + rows]
            for first, last in member_ranges(count, STATES_PER_PASS // n):
                states = some(part, first, last)
                yield np.ascontiguousarray(states.reshape(-1, states.shape[2]))
