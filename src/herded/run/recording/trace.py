"""The trace of every sampler's run: states of some variables at some moments.

Sums over a run, which is what most recorders keep, cannot tell how long chains remember their
states. A trace can: it has the states of up to `MAX_VARIABLES` variables of every member at evenly
spaced sweeps. When it is full every second moment is dropped and the spacing doubles, so that what
a trace holds depends on the number of sweeps alone, not on blocks, threads or interruptions; where
that number is known the spacing is what it will be in the end.
`run/diagnostics/run_length.py` judges by it whether a run is long enough.
"""

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from herded.layouts.base import Layout
from herded.layouts.herd_base import HerdLayout
from herded.layouts.packing.member_bits import unpack_states
from herded.layouts.state import State
from herded.run.recording.recorder_base import Recorder
from herded.run.recording.recorders import Joint, PairMarginals, PairRecorder
from herded.system.numerics.counter_rng import random_bits_array, stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

MAX_TRACE_STATES = 2**13  # of all members at one moment
MIN_VARIABLES, MAX_VARIABLES = 16, 128
MAX_LONE_VARIABLES = 64  # of a chain that is no herd: their autocorrelations take longer
MAX_TRACE_LOOKS = 32  # moments that a herd's trace holds
MAX_LONE_LOOKS = 128  # of a single chain whose samples lie in a block anyway, or of a ladder:
FEWEST_LOOKS = 8  # of a run that would be quicker without a stop for each
FEW_TRACED_MEMBERS = 4  # so few that only autocorrelations tell a time
MAX_PAIRS = 64


@dataclass(frozen=True)
class Trace:
    """A request to record the states of some variables at evenly spaced sweeps."""

    def recorder(
        self, layout: Layout, recorders: dict[type, Recorder], reads: bool
    ) -> "TraceRecorder":
        return TraceRecorder(layout, recorders, reads)


class TraceRecorder(Recorder):
    """The trace of one chain or herd.

    Parameters
    ----------
    layout
    recorders
        What else records the chain: of pairs that are counted the trace has both variables.
    reads
        Whether blocks hold samples. Otherwise the run stops for every look (`until_look`).
    """

    piles: ClassVar[str] = "series"

    def __init__(self, layout: Layout, recorders: dict[type, Recorder], reads: bool) -> None:
        super().__init__(layout)
        self.reads = reads
        many = layout.members < FEW_TRACED_MEMBERS and (reads or layout.is_herd)
        self.most = MAX_LONE_LOOKS if many else MAX_TRACE_LOOKS
        self.variables, self.pairs = _choose_traced(layout, recorders)
        self.places = layout.bit_places
        if self.places is not None:
            self.places = self.places._replace(place=self.places.place[self.variables])
        self.stored: np.ndarray | None = None  # where the variables are in a state as it is stored
        shape = layout.members, len(self.variables)
        self.arrays = {
            "start": np.zeros(shape, layout.state_type),
            "series looks": np.empty((0, *shape), layout.state_type),
            "series sweeps": np.empty(0, np.int64),
            "seen": np.zeros(1, np.int64),
            "every": np.ones(1, np.int64),
        }

    def expect(self, sweeps: int) -> None:
        """Set the spacing of looks to that after `sweeps` sweeps, so that none is dropped."""
        every = self.arrays["every"]
        cheap = 1 if self.reads else self.layout.min_block_sweeps  # sweeps at once
        while sweeps > self.most * every[0] or (
            every[0] < cheap and sweeps >= 2 * FEWEST_LOOKS * every[0]
        ):
            every *= 2

    def begin(self, state: State) -> None:
        """Note the state before the burn-in."""
        self.arrays["start"] = self._kept(self._now(state)[0])

    def until_look(self) -> int:
        """Return the sweeps from now to the next look."""
        every = int(self.arrays["every"][0])
        return every - int(self.arrays["seen"][0]) % every

    def add(self, block: np.ndarray, state: State, pool: Executor | None = None) -> None:
        # Sweeps number every, 2 every, ... of those seen, counted from 1.
        seen = self.arrays["seen"]
        before = int(seen[0])
        seen += len(block)
        self.expect(int(seen[0]))
        step = int(self.arrays["every"][0])
        first = -(before + 1) % step
        if first >= len(block):
            return
        if block.shape[1]:
            looks = self._look(block[first::step])
            numbers = np.arange(before + 1 + first, seen[0] + 1, step)
        elif seen[0] % step == 0:
            looks, numbers = self._now(state), seen.copy()
        else:
            return
        self.pile("series looks", self._kept(looks))
        self.pile("series sweeps", numbers)

    def gather(self) -> None:
        super().gather()
        left = self.arrays["series sweeps"] % self.arrays["every"][0] == 0
        if not left.all():
            for name in ("series looks", "series sweeps"):
                self.arrays[name] = self.arrays[name][left]

    def looks(self) -> np.ndarray:
        """Return the states (looks, members, variables) so far."""
        self.gather()
        return self.arrays["series looks"]

    def _kept(self, states: np.ndarray) -> np.ndarray:
        """Return a copy as checkpoints write it."""
        return np.array(states, dtype=self.layout.state_type, order="C")

    def _now(self, state: State) -> np.ndarray:
        """Return the states (1, members, variables) of now."""
        if self.places is None:
            return self.layout.values(state)[None, :, self.variables]
        return self._look(cast(HerdLayout, self.layout).packed(state)[None])

    def _look(self, rows: np.ndarray) -> np.ndarray:
        """Return the states (rows, members, variables) in rows of a block of samples."""
        layout = self.layout
        if self.places is not None:
            return unpack_states(self.places.words_of(rows, layout.members), layout.members)
        if layout.is_herd:
            return layout.members_of(rows)[:, :, self.variables]
        if self.stored is None:
            self.stored = layout.unstore(np.arange(layout.n_stored))[self.variables]
        return rows[:, None, self.stored]


def trace_bytes(layout: Layout, with_pairs: bool) -> float:
    """Return the memory of one chain's trace at most, and of the final computation on it.

    Up to twice as many looks are piled up as are left when they are put together, which makes one
    more copy. Of few members autocorrelations are computed from numbers of 64 bits.
    """
    members, size = layout.members, np.dtype(layout.state_type).itemsize
    variables = _most_variables(members) + 2 * MAX_PAIRS * with_pairs
    looks = MAX_LONE_LOOKS if members < FEW_TRACED_MEMBERS else MAX_TRACE_LOOKS
    copies = 4.0 * size + (8.0 if members < FEW_TRACED_MEMBERS else 0.0)
    return float((1 + looks) * copies * members * min(variables, layout.model.n_variables))


def _most_variables(members: int) -> int:
    """Return the largest number of variables that are chosen at random."""
    most = MAX_VARIABLES if members > 1 else MAX_LONE_VARIABLES
    return min(max(MAX_TRACE_STATES // members, MIN_VARIABLES), most)


def _choose_traced(
    layout: Layout, recorders: dict[type, Recorder]
) -> tuple[np.ndarray, np.ndarray]:
    """Free variables at random, and pairs (P, 2) of them whose products are looked at, too.

    All chains have the same ones. Of pairs that are counted both variables are chosen.
    """
    model = layout.model
    chosen = _some_free(model.evidence, model.cardinalities, _most_variables(layout.members))
    pairs = _some_pairs(layout, recorders, chosen)
    variables = np.union1d(chosen, pairs.reshape(-1))
    return variables, np.searchsorted(variables, pairs)


def _some_free(evidence: np.ndarray, cardinalities: np.ndarray, size: int) -> np.ndarray:
    """Return at most `size` free variables of two states or more, in order."""
    n = len(evidence)
    some = np.arange(n) if n <= 4 * size else np.unique(_random_numbers(4 * size) % np.uint64(n))
    some = some.astype(np.int64)
    free = some[(evidence[some] < 0) & (cardinalities[some] > 1)]
    if len(free) < size < n:  # most are known
        free = np.flatnonzero((evidence < 0) & (cardinalities > 1))
    order = np.argsort(_random_numbers(len(free)), kind="stable")
    chosen: np.ndarray = np.sort(free[order[:size]])
    return chosen


def _some_pairs(layout: Layout, recorders: dict[type, Recorder], chosen: np.ndarray) -> np.ndarray:
    """Return at most `MAX_PAIRS` of the pairs that are counted, or of all where the joint is."""
    pairs = np.zeros((0, 2), np.int64)
    if PairMarginals in recorders:
        pairs = cast(PairRecorder, recorders[PairMarginals]).edges
    elif Joint in recorders:
        pairs = np.stack(np.triu_indices(len(chosen), 1), axis=1)
        pairs = chosen[pairs]
    free = (layout.model.evidence[pairs] < 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])
    pairs = pairs[free]
    order = np.argsort(_random_numbers(len(pairs)), kind="stable")
    some: np.ndarray = pairs[order[:MAX_PAIRS]].astype(np.int64)
    return some


def _random_numbers(n: int) -> np.ndarray:
    return random_bits_array(stream_key(0, StreamPurpose.TRACED_VARIABLES), n)


def start_is_shared(recorders: Iterator[TraceRecorder]) -> bool:
    """Return whether there are several chains or members that all began at one state."""
    starts = np.concatenate([recorder.arrays["start"] for recorder in recorders])
    return len(starts) > 1 and starts.shape[1] > 0 and bool((starts == starts[0]).all())
