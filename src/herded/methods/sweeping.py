"""One way from a plan and a state to the compiled kernel that advances it."""

import itertools
from concurrent.futures import Executor

import numpy as np

from herded.kernels.factor import factor_scalar, factor_vector
from herded.kernels.lattice import blanket_sweeps, shared_sweeps
from herded.kernels.run import Memory, Run
from herded.kernels.table import table_scalar, table_vector
from herded.kernels.weights import HALF, rehash
from herded.methods.state import State
from herded.plan.compile import Plan

WORTH_A_THREAD = 2**16  # updates


def advance(
    plan: Plan,
    state: State,
    block: np.ndarray,
    run: Run,
    *,
    betas: np.ndarray | None = None,
    max_weights: int = 0,
    pool: Executor | None = None,
) -> None:
    """Advance `state` by len(block) sweeps and write their samples into `block`."""
    if plan.lattice is not None:
        _advance_lattice(plan, state, block, run)
    else:
        betas = np.ones(len(block)) if betas is None else betas
        parts = _split(plan, block, pool)
        if pool is None or len(parts) == 1:
            _advance_part(plan, state, block, run, betas, max_weights, *parts[0])
        else:
            jobs = [
                pool.submit(_advance_part, plan, state, block, run, betas, max_weights, *part)
                for part in parts
            ]
            for job in jobs:
                job.result()
    state.sweep += len(block)


def _split(plan: Plan, block: np.ndarray, pool: Executor | None) -> list[tuple[int, int]]:
    """Ranges of segments of about equal work, one for each thread that is worth it."""
    start = plan.scan.segment_start
    threads = 1 if pool is None else getattr(pool, "_max_workers", 2)
    threads = max(1, min(threads, block.size // WORTH_A_THREAD, len(start) - 1))
    goals = np.linspace(0, start[-1], threads + 1)
    cuts = np.unique(np.searchsorted(start, goals))
    return [(int(a), int(b)) for a, b in itertools.pairwise(cuts)] or [(0, 0)]


def _advance_part(
    plan: Plan,
    state: State,
    block: np.ndarray,
    run: Run,
    betas: np.ndarray,
    max_weights: int,
    first: int,
    last: int,
) -> None:
    done = 0
    while done < len(block):
        now = run._replace(sweep=run.sweep + done)
        rest = (state.memory, block[done:], first, last)
        if plan.kind == "table":
            kernel = table_scalar if plan.scalar else table_vector
            done += kernel(plan.tables, plan.contexts, plan.scan, now, *rest)
        else:
            kernel = factor_scalar if plan.scalar else factor_vector
            done += kernel(plan.factors, plan.contexts, plan.scan, now, betas[done:], *rest)
        _grow(plan, state, max_weights)


def _grow(plan: Plan, state: State, max_weights: int) -> None:
    """Double the table of hashed weights when it is half full, up to `max_weights`."""
    keys, filled = state.memory.keys, int(state.memory.filled[0])
    if filled <= len(keys) // 2 or 2 * len(keys) > max_weights:
        return
    width = 1 if plan.scalar else plan.width
    larger = hashed_memory(plan, 2 * len(keys))
    rehash(keys, state.memory.w, width, larger.keys, larger.w)
    state.memory = state.memory._replace(keys=larger.keys, w=larger.w)


def hashed_memory(plan: Plan, slots: int) -> Memory:
    """An empty table of hashed weights, each at rest."""
    empty = np.zeros(0)
    weights = np.full(slots, HALF) if plan.scalar else np.zeros(slots * plan.width, np.int32)
    keys = np.zeros(slots, np.uint64)
    return Memory(empty, empty, weights, keys, np.zeros(1, np.int64), empty)


def _advance_lattice(plan: Plan, state: State, block: np.ndarray, run: Run) -> None:
    memory, lattice = state.memory, plan.lattice
    weights = memory.w if memory.w.size else np.empty((2, 0, 0, 0), np.uint32)
    kernel = shared_sweeps if lattice.shared else blanket_sweeps
    kernel(lattice.p, lattice.rows, run.sweep, run.key, memory.x, weights, memory.tally, block)
