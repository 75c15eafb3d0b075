"""Layout "field" of herds: sparse graphs of binary variables, blocks of one colour side by side."""

import itertools
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar, NamedTuple

import numpy as np

from herded.draws.systematic import member_orders
from herded.layouts.base import SweepCall
from herded.layouts.binary_pairs.arrays import find_couplings
from herded.layouts.binary_pairs.herd_arrays import (
    ANNEALED_FIELD_BITS,
    BLOCK_LANES,
    MAX_16_BIT_FIELD,
    MAX_FIELD_BITS,
    MAX_LAW_ERROR,
    MEMBERS_PER_UINT64,
    MIN_FIELD_BITS,
    compile_lanes,
    find_lanes,
    finest_field_bits,
    law_error,
    pack_members,
    sigmoid_of_field,
)
from herded.layouts.binary_pairs.herd_sweeps import binary_pairs_herd_sweeps
from herded.layouts.herd_base import HerdLayout
from herded.layouts.packing.member_bits import ALL_BITS, BitPlaces, unpack_states
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.layouts.state import State
from herded.system import memory_limits
from herded.system.numerics.counter_rng import random_bits_array
from herded.system.threads import count_threads, run_jobs, split_work

# scans that do not prescribe an order
COLOUR_SCANS = ("sequential", "checkerboard", "colour")
# the cost of a visit, without its sum, in couplings that could be summed in that time
VISIT_COST_IN_COUPLINGS = 16
# up to 3 times the necessary work this layout is still faster than layout "dense"
MAX_IDLE_WORK_RATIO = 3
# variables that leave even a single block too empty, however they are coupled
MAX_UNFILLED_VARIABLES = BLOCK_LANES // MAX_IDLE_WORK_RATIO
# times the work that is worth a thread elsewhere: all wait after every colour
BARRIER_COST_FACTOR = 8
NO_LANE_PHASES = np.zeros(0, np.uint16)
BlockRange = tuple[int, int]  # [from, to)


class BinaryPairsHerdArrays(NamedTuple):
    """The arrays that kernels change."""

    x: np.ndarray  # (n_stored * words,) uint64
    phases: np.ndarray  # (blocks * 2 * BLOCK_LANES,) uint16 if they are kept, else empty
    tally: np.ndarray
    ones: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class BinaryPairsHerdLayout(HerdLayout):
    """Whole-number couplings of 16 bits and a tabulated sigmoid, in `BinaryPairsHerdTables`."""

    bits: int  # behind the point of fields
    colours: np.ndarray  # (colours + 1,) which block is the first of each
    scalar: bool = True

    kind: ClassVar[str] = "field"
    any_size: ClassVar[bool] = True
    can_anneal: ClassVar[bool] = True

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        """Accept any scan without a named order, if its colours fill the blocks."""
        if not (isinstance(task.scan, str) and task.scan in COLOUR_SCANS):
            return Refusal(
                f"the scan is {task.scan!r:.40}, and its variables are visited by colour"
            )
        if not forced and 0 < task.free.sum() <= MAX_UNFILLED_VARIABLES:
            return Refusal("its colours have too few variables each")
        couplings = find_couplings(task.graph)
        if isinstance(couplings, Refusal):
            return couplings
        bits = finest_field_bits(couplings, MAX_FIELD_BITS, MAX_16_BIT_FIELD, MIN_FIELD_BITS)
        if bits is None:
            return Refusal("its fields are too wide for 16 bits")
        error = law_error(couplings, bits)
        if error > 0 and error * max(1.0, task.beta) ** 2 > MAX_LAW_ERROR:
            return Refusal("its couplings would be rounded too coarsely to 16 bits")
        lanes = find_lanes(couplings, task.free)
        work = len(couplings.first) + VISIT_COST_IN_COUPLINGS * int(task.free.sum())
        if (
            not forced
            and lanes.size + VISIT_COST_IN_COUPLINGS * BLOCK_LANES * len(lanes.rows)
            > MAX_IDLE_WORK_RATIO * work
        ):
            return Refusal("its colours have too few variables each")
        members = task.herd.members
        words = -(-members // MEMBERS_PER_UINT64)
        chain = 8.0 * (len(lanes.rows) * BLOCK_LANES + 1) * (2 * words + 3)  # with an earlier state
        tables = lanes.bytes + 2.0 * len(task.free) * members  # and starts to pack
        if not forced and not memory_limits.fits_in_memory(tables + chain, task.max_memory):
            return Refusal("its links would be large")
        return task.offer(
            cls,
            tables=tables,
            chain=chain,
            what="couplings and the states of a herd",
            make=lambda **facts: cls(
                arrays=compile_lanes(couplings, lanes, bits),
                bits=bits,
                colours=lanes.colours,
                **facts,
            ),
        )

    @cached_property
    def n_stored(self) -> int:
        """Blocks may have idle lanes; a last place is that of all known variables."""
        return len(self.arrays.alone) + 1

    @cached_property
    def words(self) -> int:
        return -(-self.members // MEMBERS_PER_UINT64)

    @cached_property
    def sample_size(self) -> int:
        return self.n_stored * self.words

    @property
    def sample_type(self) -> type[np.integer]:
        return np.uint64

    @cached_property
    def n_parallel_parts(self) -> int:
        """Blocks of the largest colour: threads share them."""
        return int(np.diff(self.colours).max(initial=1))

    @cached_property
    def work(self) -> np.ndarray:
        """(blocks,) what they take, in updates of a thread that need not wait for others."""
        visits = (
            BLOCK_LANES * self.members * (VISIT_COST_IN_COUPLINGS + np.diff(self.arrays.row_start))
        )
        work: np.ndarray = visits // (VISIT_COST_IN_COUPLINGS * BARRIER_COST_FACTOR)
        return work

    def tables(self) -> tuple[np.ndarray, ...]:
        return (*self.arrays[:-1], sigmoid_of_field(self.bits))  # `shared` follows from the others

    def unstore(self, stored: np.ndarray) -> np.ndarray:
        return stored[..., self.arrays.place]

    def pack(self, states: np.ndarray) -> np.ndarray:
        return pack_members(states, self.arrays.place, self.n_stored)

    @cached_property
    def places(self) -> BitPlaces:
        """Of free variables; known ones have no place of their own."""
        return BitPlaces.of(self.arrays.place, 1)

    @property
    def bit_places(self) -> BitPlaces | None:
        """None where a known variable has more states than a bit can tell."""
        return self.places if self.width == 2 else None

    def words_of(self, block: np.ndarray, first: int = 0, last: int | None = None) -> np.ndarray:
        words = self.places.words_of(block, self.members, first, last)
        words[..., self.model.evidence == 1] = ALL_BITS
        return words

    def members_of(self, block: np.ndarray) -> np.ndarray:
        return self._spread(self.places.words_of(block, self.members), self.members)

    def some_members_of(self, block: np.ndarray, first: int, last: int) -> np.ndarray:
        words = self.places.words_of(
            block, self.members, first // MEMBERS_PER_UINT64, -(-last // MEMBERS_PER_UINT64)
        )
        if first % MEMBERS_PER_UINT64:
            words >>= np.uint64(first % MEMBERS_PER_UINT64)
        return self._spread(words, last - first)

    def _spread(self, words: np.ndarray, members: int) -> np.ndarray:
        """Return the states of members, known variables included."""
        states = unpack_states(words, members)
        known = self.model.evidence >= 0
        states = states.astype(self.state_type, copy=False)
        states[..., known] = self.model.evidence[known]
        return states

    def fill(self, block: np.ndarray, state: State) -> None:
        """Do nothing: samples are copies of the whole herd."""

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        phases = 2 * len(self.arrays.alone)
        return {"phases": (random_bits_array(key, phases) >> np.uint64(48)).astype(np.uint16)}

    def sweep(self, call: SweepCall) -> None:
        state, betas = call.state, call.betas
        changed = BinaryPairsHerdArrays(
            state.x,
            state.method_arrays.get("phases", NO_LANE_PHASES),
            state.conditional_sums,
            state.state_counts,
        )
        heat = None if betas is None else betas * 2.0 ** (ANNEALED_FIELD_BITS - self.bits)
        sweep = partial(
            binary_pairs_herd_sweeps,
            self.arrays,
            sigmoid_of_field(self.bits if betas is None else ANNEALED_FIELD_BITS),
            tuple(member_orders(n).reshape(-1) for n in (self.words, 4, 16)),
            call.step,
            heat,
            self.members,
            self.width,
            changed,
            call.block,
        )
        for jobs in self.jobs(len(call.block), call.pool):
            run_jobs(lambda job: sweep(*job), jobs, call.pool)

    def jobs(
        self, sweeps: int, pool: Executor | None
    ) -> Iterator[list[tuple[BlockRange, BlockRange]]]:
        """Yield sweeps and blocks of jobs that run at once, by colour; or all in one."""
        blocks = len(self.arrays.row_start) - 1
        threads = count_threads(pool, sys.maxsize)
        if pool is not None and threads not in self.by_threads:
            self.by_threads[threads] = self.share(pool)
        parts = self.by_threads.get(threads, [])
        if max(map(len, parts), default=1) <= 1:
            yield [((0, sweeps), (0, blocks))]
        else:
            for s in range(sweeps):
                for ranges in parts:
                    yield [((s, s + 1), one) for one in ranges]

    @cached_property
    def by_threads(self) -> dict[int, list[list[BlockRange]]]:
        """Cached results of `share` by threads: computing them took a fifth of each call."""
        return {}

    def share(self, pool: Executor) -> list[list[BlockRange]]:
        """Return the blocks of each colour, as threads share them; small colours go together."""
        parts: list[list[BlockRange]] = []
        for first, last in itertools.pairwise(self.colours.tolist()):
            ranges = [(first + a, first + b) for a, b in split_work(self.work[first:last], pool)]
            if len(ranges) == 1 and parts and len(parts[-1]) == 1:
                parts[-1] = [(parts[-1][0][0], last)]
            else:
                parts.append(ranges)
        return parts
