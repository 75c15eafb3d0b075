"""One way from a plan and a state to the compiled kernel that advances it."""

import itertools
from concurrent.futures import Executor
from functools import partial

import numpy as np

from herded.kernels.factor import factor_scalar, factor_vector
from herded.kernels.lattice import blanket_sweeps, shared_sweeps
from herded.kernels.run import Run
from herded.kernels.table import table_scalar, table_vector
from herded.methods.state import State
from herded.methods.tables import grown
from herded.plan.compile import Plan

WORTH_A_THREAD = 2**16  # updates


def advance(
    plan: Plan,
    state: State,
    block: np.ndarray,
    run: Run,
    *,
    betas: np.ndarray | None = None,
    pool: Executor | None = None,
) -> None:
    """Advance `state` by len(block) sweeps and write their samples into `block`."""
    if plan.lattice is not None:
        _advance_lattice(plan, state, block, run)
    else:
        betas = np.ones(len(block)) if betas is None else betas
        done = np.zeros(len(plan.scan.segments), np.int64)
        _advance_segments(plan, state, block, run, betas, done, pool)
        while len(halted := np.flatnonzero(done < len(block))):
            state.memory = grown(state.memory, halted)
            _advance_segments(plan, state, block, run, betas, done, pool)
    state.sweep += len(block)


def _advance_segments(
    plan: Plan,
    state: State,
    block: np.ndarray,
    run: Run,
    betas: np.ndarray,
    done: np.ndarray,
    pool: Executor | None,
) -> None:
    """Run every segment to the end of the block, or until its table of weights must grow."""
    if plan.kind == "table":
        kernel = table_scalar if plan.scalar else table_vector
        told = partial(kernel, plan.tables, plan.contexts, plan.scan, run)
    else:
        kernel = factor_scalar if plan.scalar else factor_vector
        told = partial(kernel, plan.factors, plan.contexts, plan.scan, run, betas)
    sweep = partial(told, state.memory, block, done)
    parts = _split(plan.scan.segments * (len(block) - done), pool)
    if pool is None or len(parts) == 1:
        sweep(0, len(done))
    else:
        jobs = [pool.submit(sweep, first, last) for first, last in parts]
        for job in jobs:
            job.result()


def _split(updates: np.ndarray, pool: Executor | None) -> list[tuple[int, int]]:
    """Ranges of segments with about equal numbers of updates, one for each thread worth it."""
    total = np.concatenate([[0], np.cumsum(updates)])
    threads = 1 if pool is None else getattr(pool, "_max_workers", 2)
    threads = max(1, min(threads, int(total[-1]) // WORTH_A_THREAD, len(updates)))
    cuts = np.searchsorted(total, np.linspace(0, total[-1], threads + 1))
    cuts[0], cuts[-1] = 0, len(updates)
    return list(itertools.pairwise(np.unique(cuts).tolist()))


def _advance_lattice(plan: Plan, state: State, block: np.ndarray, run: Run) -> None:
    memory, lattice = state.memory, plan.lattice
    weights = memory.w if memory.w.size else np.empty((2, 0, 0, 0), np.uint32)
    kernel = shared_sweeps if lattice.shared else blanket_sweeps
    kernel(lattice.p, lattice.rows, run.sweep, run.key, memory.x, weights, memory.tally, block)
