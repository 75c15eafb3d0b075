"""The choice of blocks: sets of variables whose joint conditional takes small tables to compute.

A block is what is left when some variables are cut out of the graph, that is, conditioned on.
Variables are eliminated one after another, the smallest cluster first; where even that has too many
entries, a variable is cut: the one that was cut least often so far, of these one with most
neighbours. So several blocks, chosen one after another, are cut in different places, and what stays
as it is in one moves in another.

Hard zeros. Variables that decide each other (equal, or opposite) are all in a block or all cut: if
one of them is cut, the others cannot move. And where a hard factor was cut in every
block, further blocks keep the variables of such factors together, as far as they can be.
"""

from typing import NamedTuple

import numpy as np

from herded.layouts.factor_arrays import compile_factors
from herded.models.factor_graph import FactorGraph
from herded.moves.blocks.block_builder import LOG_SCALE, build_block
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

ROUNDING_SLACK = 64  # what their rounding may add up to


class BlockChoice(NamedTuple):
    """Blocks, each in its order of elimination."""

    blocks: list[np.ndarray]
    entries: float  # of all tables of the block that has most


def choose_blocks(graph: FactorGraph, entries: int, count: int) -> BlockChoice:
    """Choose blocks whose tables have at most `entries` entries.

    As many as `count`, or one where nothing need be cut, or more where variables or hard factors
    would be left out. A variable of more states than `entries` is a table of its own.
    """
    movable = (graph.evidence < 0) & (graph.cardinalities > 1)
    widest = int(graph.cardinalities[movable].max(initial=1))
    chooser = BlockChooser(graph, movable, max(entries, widest))
    blocks: list[np.ndarray] = []
    for _ in range(count):
        block = chooser.next()
        if len(block) == movable.sum():  # all of it: no need of others
            return BlockChoice([block] if len(block) else [], chooser.most)
        blocks += [block] if len(block) else []
    left = movable.copy()
    for block in blocks:
        left[block] = False
    while left.any():
        blocks.append(chooser.next(left))
        left[blocks[-1]] = False
    ties = _hard_scopes(graph, movable, chooser.entries) if graph.has_hard_zeros else []
    for _ in range(count):
        ties = _scopes_in_no_block(ties, blocks, len(movable))
        if not ties:
            break
        held = np.zeros(len(movable), np.int64)
        held[np.concatenate(ties)] = 1
        held[ties[0]] = 2  # these at least are kept together
        blocks.append(chooser.next(held))
    return BlockChoice(blocks, chooser.most)


def elimination_order_within(
    graph: FactorGraph, block: np.ndarray
) -> tuple[np.ndarray, float, float]:
    """Return the elimination order of a block, its largest table and all entries."""
    inside = np.zeros(graph.n_variables, np.bool_)
    inside[block] = True
    chooser = BlockChooser(graph, inside, np.inf)
    return chooser.next(inside), chooser.largest, chooser.most


class BlockChooser:
    """A chooser of blocks, one after another, that counts how often each variable was cut."""

    def __init__(self, graph: FactorGraph, movable: np.ndarray, entries: float) -> None:
        factors = compile_factors(graph)
        self.entries, self.movable, self.largest, self.most = entries, movable, 0.0, 0.0
        self.near = factors.neighbour_start, factors.neighbour
        self.logs = np.round(LOG_SCALE * np.log2(graph.cardinalities)).astype(np.int64)
        self.limit = (
            2**62 if entries == np.inf else int(LOG_SCALE * np.log2(entries)) + ROUNDING_SLACK
        )
        self.cuts = np.zeros(graph.n_variables, np.int64)
        self.classes = _equivalence_classes(graph, movable)
        self.number = 0

    def next(self, held: np.ndarray | None = None) -> np.ndarray:
        """Return one more block; variables that are `held` (1 or 2) are cut last."""
        held = np.zeros(len(self.movable), np.int64) if held is None else held.astype(np.int64)
        order = np.empty(int(self.movable.sum()), np.int64)
        length, largest, total = build_block(
            *self.near,
            self.logs,
            self.movable,
            self.limit,
            self.cuts,
            held,
            stream_key(self.number, StreamPurpose.BLOCK_TIES),
            order,
        )
        order = order[:length]
        self.number += 1
        self.largest, self.most = float(np.exp2(largest / LOG_SCALE)), max(self.most, total)
        if not held.any():
            torn = np.zeros(len(self.movable), np.bool_)  # classes with a variable that was cut
            torn[self.classes[self._without(order)]] = True
            order = order[~torn[self.classes[order]]]
        self.cuts += self._without(order)
        return order

    def _without(self, order: np.ndarray) -> np.ndarray:
        """Return which variables move outside this block, (N,)."""
        left = self.movable.copy()
        left[order] = False
        return left


def _scopes_in_no_block(
    scopes: list[np.ndarray], blocks: list[np.ndarray], variables: int
) -> list[np.ndarray]:
    """Return the scopes that no block contains."""
    inside = np.zeros((len(blocks), variables), np.bool_)
    for b, block in enumerate(blocks):
        inside[b, block] = True
    return [scope for scope in scopes if not inside[:, scope].all(axis=1).any()]


def _hard_scopes(graph: FactorGraph, movable: np.ndarray, entries: float) -> list[np.ndarray]:
    """Return the movable scope of each factor with hard zeros, if a table holds it."""
    is_hard = np.logical_or.reduceat(np.isneginf(graph.log_tables), graph.table_start[:-1])
    found: dict[bytes, np.ndarray] = {}
    for f in np.flatnonzero(is_hard).tolist():
        scope = graph.factor_variables[graph.factor_start[f] : graph.factor_start[f + 1]]
        scope = np.sort(scope[movable[scope]])
        if len(scope) > 1 and np.prod(graph.cardinalities[scope].astype(float)) <= entries:
            found[scope.tobytes()] = scope
    return list(found.values())


def _equivalence_classes(graph: FactorGraph, movable: np.ndarray) -> np.ndarray:
    """Return (N,) the first variable of the class of variables that decide each other."""
    first = np.arange(graph.n_variables)
    if not graph.has_hard_zeros:
        return first

    def find(i: int) -> int:
        while first[i] != i:
            first[i] = first[first[i]]
            i = int(first[i])
        return i

    is_hard = np.logical_or.reduceat(np.isneginf(graph.log_tables), graph.table_start[:-1])
    for f in np.flatnonzero(is_hard).tolist():
        scope, table = graph.factor(f)
        free = movable[scope]
        if free.sum() != 2:
            continue
        known = np.maximum(graph.evidence[scope], 0)
        possible = ~np.isneginf(
            table[tuple(slice(None) if a else k for a, k in zip(free, known, strict=True))]
        )
        if (possible.sum(axis=0) <= 1).all() and (possible.sum(axis=1) <= 1).all():
            i, j = sorted(find(int(v)) for v in scope[free])
            first[j] = i
    return np.array([find(i) for i in range(len(first))], np.int64)
