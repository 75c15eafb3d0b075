"""w <- w + pi(X_i = 1 | x_N(i)) - x_i: herded Gibbs, Algorithm 1 of Bornn et al. (2013).

    Step 1  x in the support of pi; each weight in (pi - 1, pi]     init
    Step 2  pick the next i of the scan; w = w_(i, x_N(i))          layouts.scan, layouts.weights
    Step 3  x_i = 1 if w > 0 else 0                                 draws.herded
    Step 4  w <- w + pi(X_i = 1 | x_N(i)) - x_i                     draws.herded
    Step 5  everything else stays

Theorem 1 covers empty graphs whose probabilities are rationally independent, theorem 2 complete
graphs (error at most lambda / T after a burn-in). No proof for sparse graphs, where weights shared
by several full contexts leave a small bias; `slack` trades it for a little noise.

With a schedule pi is pi^(1/T), and T falls from sweep to sweep. Weights stay while the conditionals
change: a context's weight balances all its visits, hot and cold. Algorithm 1 keeps a binary weight
in (pi - 1, pi] of one pi; under another pi it is a phase like any other, as the circular form of
appendix A shows. A weight vector of K states that starts within its bounds stays within (K - 1) / 2
of 0, whatever the conditionals are (`MOST_STATES`). At T = 0 a visit takes the argmax and leaves
its weight alone; of several best states herding takes turns.
"""

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from herded.draws.herded import ONE
from herded.draws.modes import BLANKET, MAX_BINS, SHARED
from herded.draws.phases import (
    HALF,
    half_phase,
    start_all_scalar,
    start_all_vector,
)
from herded.errors import MethodError
from herded.layouts import hash_tables as tables
from herded.layouts import sweeping
from herded.layouts.arrays import Run
from herded.layouts.choose import Layout, choose_layout
from herded.layouts.grid import LatticeArrays, start_lattice
from herded.layouts.potts import start_potts
from herded.layouts.state import State, start
from herded.layouts.table import row_entries
from herded.layouts.together import Together
from herded.layouts.together import advance as run_together
from herded.layouts.weights import check_weights, is_hashed
from herded.methods.options import check_seed, frozen_scan, is_between, is_whole
from herded.methods.schedule import (
    Schedule,
    annealed_layout,
    check_schedule,
    inverse_temperatures,
)
from herded.system.arrays import aligned
from herded.system.memory import Size
from herded.system.stream import stream_key

# Let c_j = j (K - j) / 2. No j weights of a vector ever sum to more than c_j. They gain only in a
# visit that takes another state x and may take a state k of the j; then k is at most 1 above x,
# which was the argmax, and with sums after the visit, 2 * (the j) = (the j without k) + (k - x) +
# (the j and x) <= c_(j-1) + 1 + c_(j+1) = 2 c_j: the last have not gained, for they had x. So a
# weight is within (K - 1) / 2 of 0, since all sum to 0, and before its state is taken 1 higher,
# which 32 bits at scale 2^24 hold up to this many states.
MOST_STATES = 254  # of a variable under a schedule


@dataclass(frozen=True)
class HerdedGibbs:
    """Deterministic Gibbs sampling that matches each conditional instead of drawing from it.

    weights      which weight a visit uses: "blanket" (Algorithm 1), "shared", "pooled", "lazy"
                 or "full"; see `herded.layouts.weights`
    slack        0 is herding; c > 0 draws, but no state that was taken c times more than was due
    scan         "auto" (checkerboard on lattices, else sequential), "sequential",
                 "checkerboard", "random", "jacobi", or a permutation of the variables
    phases       where the weights start: at "random", or "half" way (of the first chain; others
                 start at random, so that they differ). Where many variables are alike, weights
                 that start alike move in step, and spoil the marginals
    seed         of random phases, draws and starts
    max_weights  room for hashed contexts ("full", and "lazy" without tables); beyond it they share
    bits         of a weight: 32, or 16 on lattices of two states, with "blanket" or "shared". Half
                 the memory and about half the time, but each conditional is rounded to 2^-15
    schedule     None, or the temperature of a sweep: "linear", or a function of (sweep, total), to
                 find a state of high probability. Weights are then "blanket" (hashed, as "lazy")
                 or "pooled"
    """

    weights: str = "blanket"
    slack: float = 0.0
    scan: Any = "auto"
    phases: str = "random"
    seed: int = 0
    max_weights: int = 2**22
    bits: int = 32
    schedule: Schedule | None = None

    def __post_init__(self) -> None:
        check_weights(self.weights)
        check_seed(self.seed)
        object.__setattr__(self, "scan", frozen_scan(self.scan))
        if not is_between(self.slack, 0, 64):
            raise MethodError(f"expected slack from 0 to 64, got {self.slack!r}")
        if self.phases not in ("half", "random"):
            raise MethodError(f'expected phases "half" or "random", got {self.phases!r}')
        if not is_whole(self.max_weights, 1):
            raise MethodError(f"expected max_weights of 1 or more, got {self.max_weights!r}")
        if not is_whole(self.bits, 0) or self.bits not in (16, 32):
            raise MethodError(f"expected weights of 16 or 32 bits, got bits={self.bits!r}")
        check_schedule(self.schedule)
        if self.schedule is not None and (
            self.weights not in ("blanket", "lazy", "pooled") or self.slack or self.bits != 32
        ):
            raise MethodError(
                'expected weights="lazy" or "pooled" of 32 bits and no slack with a schedule, got '
                f"weights={self.weights!r}, slack={self.slack!r}, bits={self.bits!r}"
            )

    def compile(
        self, model: Any, *, kind: str | None = None, max_memory: Size | None = None
    ) -> Layout:
        if self.schedule is not None:
            kind = annealed_layout(kind)
            _check_states(model)
        layout = choose_layout(
            model,
            kind=kind,
            weights=self._kind_of_weights,
            scan=self.scan,
            vector=self.slack > 0,
            bits=self.bits,
            max_memory=max_memory,
        )
        return replace(layout, made_for=self)

    def init(
        self, layout: Layout, x: np.ndarray, *, chain: int = 0, tally: bool = False, total: int = 0
    ) -> State:
        state = start(layout, x, self._weights(layout, chain), chain, tally, total)
        if is_hashed(self._kind_of_weights, layout.kind):
            state.memory = tables.first_tables(layout, state.memory)
        return state

    def advance(
        self, layout: Layout, state: State, block: np.ndarray, pool: Executor | None = None
    ) -> None:
        betas = inverse_temperatures(self.schedule, state, len(block))
        run = Run(
            sweep=state.sweep,
            key=stream_key(self.seed, state.chain, 1),
            phase_key=stream_key(self.seed, state.chain, 2),
            random_phases=self._random_phases(state.chain),
            slack=round(self.slack * ONE),
            max_weights=min(self.max_weights, 2**62),
        )
        sweeping.advance(layout, state, block, run, betas=betas, pool=pool)

    def advance_together(
        self, layout: Layout, together: Together, blocks: np.ndarray, sweeps: int
    ) -> None:
        """Several chains at once (`layouts.together`), with the bits of one by one."""
        run_together(layout, together, blocks, sweeps, self.seed, round(self.slack * ONE))

    @property
    def _kind_of_weights(self) -> str:
        """Under a schedule nothing is tabulated, so that Algorithm 1's weights are hashed."""
        return "lazy" if self.schedule is not None and self.weights == "blanket" else self.weights

    def _random_phases(self, chain: int) -> bool:
        return self.phases == "random" or chain > 0

    def _weights(self, layout: Layout, chain: int) -> np.ndarray:
        """Every weight at its start; hashed weights start when they are first met."""
        random, key = self._random_phases(chain), stream_key(self.seed, chain, 2)
        if layout.lattice is not None:
            if layout.scalar:
                return _lattice_phases(layout.lattice, random, key)
            return _potts_weights(layout, random, key)
        size = layout.contexts.size
        if layout.scalar:
            phases = np.full(size, HALF)
            if random:
                start_all_scalar(phases, key)
            return phases
        vectors = np.zeros(size, np.int32)
        if random and size:
            start_all_vector(vectors, *_vectors(layout), random, key)
        return vectors


def _check_states(model: Any) -> None:
    states = int(model.cardinalities[model.evidence < 0].max(initial=1))
    if states > MOST_STATES:
        raise MethodError(
            f"expected variables of at most {MOST_STATES} states for annealed herding, whose "
            f"weights would overflow, got {states}: use Gibbs(schedule=...)"
        )


def _lattice_phases(lattice: LatticeArrays, random: bool, key: np.uint64) -> np.ndarray:
    phases = aligned(lattice.p.shape, lattice.p.dtype)
    phases[...] = half_phase(phases.dtype)
    if random:
        start_lattice(phases, lattice.rows * lattice.columns, key)
    return phases


def _potts_weights(layout: Layout, random: bool, key: np.uint64) -> np.ndarray:
    lattice = layout.lattice
    weights = aligned((MAX_BINS, lattice.u.size), np.int32)
    if random:  # the first bin only: the others inherit from it
        h, w = layout.model.shape
        vectors = weights[0].reshape(2, lattice.strips, -1, layout.width)
        start_potts(vectors, h, w, lattice.rows, lattice.columns, key)
    return weights


def _vectors(layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Where each weight vector starts, and how long it is."""
    if len(layout.contexts.mode) in (BLANKET, SHARED):
        owner, entries = row_entries(layout.tables)
        widths = layout.tables.width[owner]
        if len(layout.contexts.mode) == BLANKET:
            return entries, widths
        starts, first = np.unique(layout.contexts.shared, return_index=True)
        return starts, widths[first]
    width = layout.factors.cardinalities
    pools = layout.contexts.pool_start + np.arange(MAX_BINS)[:, None] * int(width.sum())
    return pools.reshape(-1), np.tile(width, MAX_BINS)
