"""Fit an elimination into the memory there is: in segments, and if need be in slices.

The way back needs every message, and all of them together take most of the memory. So the order is
cut into *segments*: of all but the last only the messages that leave them are kept, and the others
are computed again when the way back comes to them. That costs at most one more way forwards, and
leaves a few messages where there were hundreds.

Where messages that are needed at once do not fit, some variables are held at each of their states
in turn: *slices*, each a separate elimination. Every such variable multiplies the
work, but for those in nearly all of the largest tables, which are taken first.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from herded.methods.exact.elimination_order import (
    BYTES_PER_ENTRY,
    MAX_SLICES,
    EliminationOrder,
    exact_refusal_error,
)
from herded.methods.exact.elimination_tables import TABLE_BLOCK_ENTRIES, Scope, fixed_axes

MAX_WORK_ENTRIES = 2.0**42  # entries: hours
PASSES_PER_BUCKET = 3  # a bucket is gone through forwards once, and backwards at the cost of two
WORKING_ENTRIES = 3 * TABLE_BLOCK_ENTRIES  # entries that are there while a bucket is worked on


class BucketOperation(NamedTuple):
    """One step of an elimination: an operation on the bucket at a place."""

    kind: str  # "forward", or "again" where messages are kept for the way back, or "backward"
    place: int


class EliminationPlan(NamedTuple):
    """The plan by which a model is summed out."""

    order: np.ndarray  # variables
    held: np.ndarray  # variables that are held at one state after another
    scopes: tuple[Scope, ...]  # of each bucket, in places of the order
    segments: np.ndarray  # of each place, ascending
    possible: np.ndarray  # (N, K) which states can occur
    slices: int
    memory: float  # bytes at the worst moment
    work: float  # entries of all buckets, as often as they are gone through
    treewidth: int

    def operations(self, back: bool = True) -> list[BucketOperation]:
        """Count the steps of one slice, there and back, or only there."""
        if not back:
            return [BucketOperation("forward", k) for k in range(len(self.order))]
        return list(_operations(self.segments.tolist()))

    def entries(self) -> np.ndarray:
        """Count the entries of each bucket."""
        states = self.possible.sum(axis=1)[self.order].tolist()
        return np.array([float(math.prod(states[p] for p in scope)) for scope in self.scopes])


def _operations(segments: list[int]) -> Iterator[BucketOperation]:
    within = _places(segments)
    for places in within[:-1]:
        for k in places:
            yield BucketOperation("forward", k)
    for places in reversed(within):
        for k in places:
            yield BucketOperation("again", k)
        for k in reversed(places):
            yield BucketOperation("backward", k)


def _places(segments: list[int]) -> list[range]:
    """Return the places of each segment, which are consecutive."""
    starts = [k for k, segment in enumerate(segments) if k == 0 or segment > segments[k - 1]]
    return [range(*ends) for ends in pairwise([*starts, len(segments)])]


def plan_elimination(
    found: EliminationOrder,
    max_memory: float = math.inf,
    beside: float = 0.0,
    *,
    whole: bool = False,
) -> EliminationPlan:
    """Plan the fewest slices and segments that fit into `max_memory` bytes.

    With `whole` it is not cut, but refused where it does not fit.
    """
    order, held = list(found.clusters), list[int]()
    states = list(found.states)
    while True:
        sizes = BucketSizes(order, found, states)
        for count in _counts(1 if whole else len(order)):
            segments = sizes.cut(count)
            memory = beside + BYTES_PER_ENTRY * sizes.peak(segments)
            if memory <= max_memory:
                break
        slices = math.prod(found.states[i] for i in held)
        if memory <= max_memory and slices * sizes.work <= MAX_WORK_ENTRIES:
            break
        chosen = sizes.best_to_hold() if slices <= MAX_SLICES else None
        if whole or chosen is None or slices * sizes.work > MAX_WORK_ENTRIES:
            raise exact_refusal_error(memory, found.treewidth + 1, max_memory)
        held.append(chosen)
        states[chosen] = 1
        order.remove(chosen)
    return EliminationPlan(
        order=np.array(order, np.int64),
        held=np.array(held, np.int64),
        scopes=tuple(sizes.scopes),
        segments=np.array(segments, np.int64),
        possible=found.possible,
        slices=slices,
        memory=memory,
        work=slices * sizes.all_work(segments),
        treewidth=found.treewidth,
    )


def _counts(places: int) -> Iterator[int]:
    """Yield numbers of segments: 1, 2, 3, 4, 6, 8, 12, ..."""
    count = 1
    while count <= max(1, places):
        yield count
        if count > 1 and 3 * count // 2 <= places:
            yield 3 * count // 2
        count *= 2


class BucketSizes:
    """The sizes of the buckets of an order, where some variables are held."""

    def __init__(self, order: list[int], found: EliminationOrder, states: list[int]) -> None:
        self.order, self.states, self.clusters = order, states, found.clusters
        place = {i: k for k, i in enumerate(order)}
        self.scopes = [
            (k, *sorted(place[j] for j in found.clusters[i] if j in place))
            for k, i in enumerate(order)
        ]
        self.messages = [math.prod(states[order[p]] for p in scope[1:]) for scope in self.scopes]
        self.own = [states[i] for i in order]
        self.work = sum(n * m for n, m in zip(self.own, self.messages, strict=True))
        self.parents = [scope[1] if len(scope) > 1 else -1 for scope in self.scopes]
        self.children = child_buckets(self.scopes)
        self.summed = [self._summed(k) for k in range(len(order))]

    def cut(self, count: int) -> list[int]:
        """Return the segment of every place: each has about as much to keep."""
        total, so_far, share, segment, segments = max(1, sum(self.messages)), 0, 0, 0, []
        for message in self.messages:
            previous, share = share, min(count - 1, so_far * count // total)
            segment += share > previous  # where a message is as much as several shares, by one
            segments.append(segment)
            so_far += message
        return segments

    def peak(self, segments: list[int]) -> int:
        """Return the entries at the worst moment, with the work space of its bucket."""
        within = _places(segments)
        there = peak = 0
        for places in within[:-1]:
            for k in places:
                there += self.messages[k]
                peak = max(peak, there)
                there -= sum([self.messages[c] for c in self.children[k] if c in places])
        for places in reversed(within):
            is_last = places is within[-1]  # of the others, what leaves them is there
            kept = [k for k in places if is_last or self.parents[k] in places]
            there += sum([self.messages[k] for k in kept])
            peak = max(peak, there)
            for k in reversed(places):
                peak = max(peak, there + self.summed[k])
                there -= self.messages[k]
        largest = max((n * m for n, m in zip(self.own, self.messages, strict=True)), default=0)
        return peak + min(WORKING_ENTRIES, 4 * largest)

    def _summed(self, k: int) -> int:
        """Return the entries of sums to which several blocks of a bucket contribute."""
        shape = [self.states[self.order[p]] for p in self.scopes[k]]
        fixed = set(self.scopes[k][1 : 1 + fixed_axes(shape)])
        return sum(self.messages[c] for c in self.children[k] if not fixed <= set(self.scopes[c]))

    def all_work(self, segments: list[int]) -> float:
        """Return the entries of all buckets, times the passes over each."""
        last = segments[-1] if segments else 0
        each = zip(self.own, self.messages, segments, strict=True)
        return float(sum(n * m * (PASSES_PER_BUCKET + (s < last)) for n, m, s in each))

    def best_to_hold(self) -> int | None:
        """Return the variable of the largest bucket that leaves the least work to all slices."""
        largest = max(range(len(self.scopes)), key=self.messages.__getitem__, default=-1)
        if largest < 0 or len(self.scopes[largest]) == 1:
            return None
        sizes = [n * m for n, m in zip(self.own, self.messages, strict=True)]
        within: dict[int, int] = dict.fromkeys(self.scopes[largest], 0)
        for scope, size in zip(self.scopes, sizes, strict=True):
            for p in scope:
                if p in within:
                    within[p] += size
        spared = {p: (self.own[p] - 1) * (sum(sizes) - size) for p, size in within.items()}
        return self.order[min(spared, key=lambda p: (spared[p], p))]


def child_buckets(scopes: Sequence[Scope]) -> list[list[int]]:
    """Return the buckets whose messages go to each."""
    found: list[list[int]] = [[] for _ in scopes]
    for k, scope in enumerate(scopes):
        if len(scope) > 1:
            found[scope[1]].append(k)
    return found
