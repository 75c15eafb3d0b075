"""Layout "blocks": sets of variables that change at once, by their joint conditional."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from herded.draws.herded_weights import start_all_vector
from herded.draws.protocol import Draw
from herded.draws.systematic import member_orders, start_kept_phases
from herded.layouts.base import Layout, SweepableLayout, SweepCall
from herded.layouts.blocks.arrays import BlockArrays, compile_blocks
from herded.layouts.blocks.elimination_kernels import allocate_workspace
from herded.layouts.blocks.sweeps import (
    BINS_PER_CONDITIONAL,
    sweep_blocks_of_chain,
    sweep_blocks_of_herd,
)
from herded.layouts.factor_arrays import compile_factors
from herded.layouts.herd_base import NO_PHASES, MemberLanesLayout
from herded.layouts.proposal import LayoutRequest, Proposal
from herded.layouts.state import EMPTY_INTEGERS, State
from herded.layouts.visit_order import connected_components
from herded.models.factor_graph import to_factor_graph

BLOCKS_KIND = "blocks"
NO_WEIGHT_VECTORS = np.zeros(0, np.int32)
BYTES_PER_STEP, BYTES_PER_INPUT, BYTES_PER_TABLE_ENTRY = 120.0, 48.0, 8.0  # bytes


class BlockLayoutBase(Layout):
    """Chains and herds in blocks: both read `BlockArrays`."""

    arrays: BlockArrays
    kind: ClassVar[str] = BLOCKS_KIND
    can_anneal: ClassVar[bool] = True

    @cached_property
    def moves(self) -> int:
        """Blocks in a sweep, which moves a variable about once on average."""
        steps, blocks = len(self.arrays.variable), len(self.arrays.block_start) - 1
        movable = int(self.arrays.free[self.model.cardinalities > 1].sum())
        return max(1, round(movable * blocks / steps)) if steps else 0

    @cached_property
    def longest(self) -> int:
        """Steps of the largest block."""
        return int(np.diff(self.arrays.block_start).max(initial=0))

    @property
    def visits(self) -> int:
        return self.moves

    @property
    def variable_blocks(self) -> tuple[np.ndarray, ...]:
        edges = itertools.pairwise(self.arrays.block_start.tolist())
        return tuple(self.arrays.variable[first:last] for first, last in edges)

    def components(self) -> np.ndarray | None:
        factors = compile_factors(to_factor_graph(self.model))
        found: np.ndarray | None = connected_components(factors, self.arrays.free)
        return found

    def tables(self) -> tuple[np.ndarray, ...]:
        return self.arrays.block_start, self.arrays.variable, self.arrays.log_tables


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockLayout(BlockLayoutBase, SweepableLayout):
    """One chain, drawn at random or herded in time."""

    @property
    def signature(self) -> tuple[Any, ...]:
        return self.kind, self.is_herd, self.width

    @cached_property
    def weight_at(self) -> np.ndarray:
        """Where the weights of each step begin: a vector for each bin."""
        sizes = BINS_PER_CONDITIONAL * self.arrays.states
        found: np.ndarray = np.cumsum(sizes) - sizes
        return found

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        states = np.repeat(self.arrays.states, BINS_PER_CONDITIONAL)
        w = np.zeros(int(states.sum()), np.int32)
        if random and len(w):
            start_all_vector(w, np.cumsum(states) - states, states, random, key)
        return {"w": w}

    def start(self, draw: Draw, x: np.ndarray, *, chain: int, tally: bool, total: int) -> State:
        sums = np.zeros(self.n_stored * self.width, np.int64) if tally else EMPTY_INTEGERS
        return State(self.store(x), draw.start(self, chain), sums, 0, chain, total)

    def sweep(self, call: SweepCall) -> None:
        state = call.state
        sweep_blocks_of_chain(
            self.arrays,
            self.moves,
            call.step,
            call.inverse_temperatures,
            allocate_workspace(self.arrays, 1, self.longest),
            state.x,
            state.method_arrays.get("w", NO_WEIGHT_VECTORS),
            self.weight_at,
            state.conditional_sums,
            self.width,
            call.block,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockHerdLayout(BlockLayoutBase, MemberLanesLayout):
    """A herd, whose members draw each variable of a block together."""

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        phases = np.empty(len(self.arrays.variable) * self.width, np.uint32)
        start_kept_phases(phases, key)
        return {"phases": phases}

    def sweep(self, call: SweepCall) -> None:
        state = call.state
        sweep_blocks_of_herd(
            self.arrays,
            self.moves,
            call.step,
            call.inverse_temperatures,
            allocate_workspace(self.arrays, self.members, self.longest),
            member_orders(self.members),
            state.x,
            state.method_arrays.get("phases", NO_PHASES),
            state.conditional_sums,
            state.state_counts,
            self.width,
            call.block,
        )


def propose_blocks(task: LayoutRequest, blocks: Sequence[np.ndarray], entries: float) -> Proposal:
    """Propose to lay out blocks, each in its order of elimination.

    `entries` counts all tables of the largest block.
    """
    draw, graph = task.draw, task.graph
    width, steps = int(graph.cardinalities.max()), float(sum(map(len, blocks)))
    slots = len(blocks) * float(len(graph.factor_variables))
    shared = (
        BYTES_PER_STEP * steps
        + BYTES_PER_INPUT * slots
        + BYTES_PER_TABLE_ENTRY * len(graph.log_tables)
    )
    chain = 2.0 * BYTES_PER_TABLE_ENTRY * draw.members * entries
    if draw.members > 1:
        a_state = 3 * draw.members * (1 if width <= 256 else 2)  # an earlier one, and a start
        phases = 4.0 * steps * width * task.herd.kept
        chain += graph.n_variables * (a_state + 8.0 * width) + phases
    elif draw.weights is not None:
        chain += 4.0 * BINS_PER_CONDITIONAL * width * steps
    layout = BlockHerdLayout if draw.members > 1 else BlockLayout
    return task.offer(
        layout,
        tables=shared,
        chain=chain,
        what="tables of blocks",
        make=lambda **facts: layout(arrays=compile_blocks(graph, blocks), **facts),
    )
