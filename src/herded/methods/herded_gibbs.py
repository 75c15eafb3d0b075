"""w <- w + pi(X_i = 1 | x_N(i)) - x_i: herded Gibbs, Algorithm 1 of Bornn et al. (2013).

    Step 1  x in the support of pi; each weight in (pi - 1, pi]          init
    Step 2  pick the next i of the scan; w = w_(i, x_N(i))               plan.scan, plan.contexts
    Step 3  x_i = 1 if w > 0 else 0                                      kernels.choose
    Step 4  w <- w + pi(X_i = 1 | x_N(i)) - x_i                          kernels.choose
    Step 5  everything else stays

Theorem 1 covers empty graphs whose probabilities are rationally independent, theorem 2 complete
graphs (error at most lambda / T after a burn-in). No proof for sparse graphs, where weights shared
by several full contexts leave a small bias; `slack` trades it for a little noise.
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
from herded.layouts.choose import Plan, compile_plan
from herded.layouts.grid import LatticeArrays, start_lattice
from herded.layouts.potts import start_potts
from herded.layouts.state import State, start
from herded.layouts.table import row_entries
from herded.layouts.together import Together
from herded.layouts.together import advance as run_together
from herded.layouts.weights import check_weights, is_hashed
from herded.methods.options import check_seed, frozen_scan, is_between, is_whole
from herded.system.arrays import aligned
from herded.system.stream import stream_key


@dataclass(frozen=True)
class HerdedGibbs:
    """Deterministic Gibbs sampling that matches each conditional instead of drawing from it.

    weights      which weight a visit uses: "blanket" (Algorithm 1), "shared", "pooled", "lazy"
                 or "full"; see `herded.layouts.weights`
    slack        0 is herding; c > 0 draws, but no state that was taken c times more than was due
    scan         "auto" (checkerboard on lattices, else sequential), "sequential",
                 "checkerboard", "random", "jacobi", or a permutation of the variables
    phases       where the weights start: "half" way, or "random"; chains after the first
                 always start at random, so that they differ
    seed         of random phases, draws and starts
    max_weights  room for hashed contexts ("full", and "lazy" without tables); beyond it they share
    bits         of a weight: 32, or 16 on lattices of two states, with "blanket" or "shared". Half
                 the memory and about half the time, but each conditional is rounded to 2^-15
    """

    weights: str = "blanket"
    slack: float = 0.0
    scan: Any = "auto"
    phases: str = "half"
    seed: int = 0
    max_weights: int = 2**22
    bits: int = 32

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

    def compile(self, model: Any, *, kind: str | None = None, cap: float | None = None) -> Plan:
        plan = compile_plan(
            model,
            kind=kind,
            weights=self.weights,
            scan=self.scan,
            vector=self.slack > 0,
            bits=self.bits,
            cap=cap,
        )
        return replace(plan, made_for=self)

    def init(
        self, plan: Plan, x: np.ndarray, *, chain: int = 0, tally: bool = False, total: int = 0
    ) -> State:
        state = start(plan, x, self._weights(plan, chain), chain, tally, total)
        if is_hashed(self.weights, plan.kind):
            state.memory = tables.first_tables(plan, state.memory)
        return state

    def advance(
        self,
        plan: Plan,
        state: State,
        block: np.ndarray,
        pool: Executor | None = None,
        *,
        betas: np.ndarray | None = None,
    ) -> None:
        """`betas` are the sweeps' inverse temperatures, all 1 unless given."""
        run = Run(
            sweep=state.sweep,
            key=stream_key(self.seed, state.chain, 1),
            phase_key=stream_key(self.seed, state.chain, 2),
            random_phases=self._random_phases(state.chain),
            slack=round(self.slack * ONE),
            max_weights=min(self.max_weights, 2**62),
        )
        sweeping.advance(plan, state, block, run, betas=betas, pool=pool)

    def advance_together(
        self, plan: Plan, together: Together, blocks: np.ndarray, sweeps: int
    ) -> None:
        """Several chains at once (`methods.together`), with the bits of one by one."""
        run_together(plan, together, blocks, sweeps, self.seed, round(self.slack * ONE))

    def _random_phases(self, chain: int) -> bool:
        return self.phases == "random" or chain > 0

    def _weights(self, plan: Plan, chain: int) -> np.ndarray:
        """Every weight at its start; hashed weights start when they are first met."""
        random, key = self._random_phases(chain), stream_key(self.seed, chain, 2)
        if plan.lattice is not None:
            if plan.scalar:
                return _lattice_phases(plan.lattice, random, key)
            return _potts_weights(plan, random, key)
        size = plan.contexts.size
        if plan.scalar:
            phases = np.full(size, HALF)
            if random:
                start_all_scalar(phases, key)
            return phases
        vectors = np.zeros(size, np.int32)
        if random and size:
            start_all_vector(vectors, *_vectors(plan), random, key)
        return vectors


def _lattice_phases(lattice: LatticeArrays, random: bool, key: np.uint64) -> np.ndarray:
    phases = aligned(lattice.p.shape, lattice.p.dtype)
    phases[...] = half_phase(phases.dtype)
    if random:
        start_lattice(phases, lattice.rows * lattice.columns, key)
    return phases


def _potts_weights(plan: Plan, random: bool, key: np.uint64) -> np.ndarray:
    lattice = plan.lattice
    weights = aligned((MAX_BINS, lattice.u.size), np.int32)
    if random:  # the first bin only: the others inherit from it
        h, w = plan.model.shape
        vectors = weights[0].reshape(2, lattice.strips, -1, plan.width)
        start_potts(vectors, h, w, lattice.rows, lattice.columns, key)
    return weights


def _vectors(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Where each weight vector starts, and how long it is."""
    if len(plan.contexts.mode) in (BLANKET, SHARED):
        owner, entries = row_entries(plan.tables)
        widths = plan.tables.width[owner]
        if len(plan.contexts.mode) == BLANKET:
            return entries, widths
        starts, first = np.unique(plan.contexts.shared, return_index=True)
        return starts, widths[first]
    width = plan.factors.cardinalities
    pools = plan.contexts.pool_start + np.arange(MAX_BINS)[:, None] * int(width.sum())
    return pools.reshape(-1), np.tile(width, MAX_BINS)
