"""One way from a plan and a state to the compiled kernel that advances it."""

from concurrent.futures import Executor
from functools import partial

import numpy as np

from herded.layouts.arrays import Run
from herded.layouts.choose import Plan
from herded.layouts.factor_sweeps import factor_scalar, factor_vector
from herded.layouts.field_sweeps import field_scalar
from herded.layouts.grid_sweeps import lattice_sweeps
from herded.layouts.hash_tables import grown
from herded.layouts.pairs_sweeps import pair_sweeps
from herded.layouts.potts_sweeps import potts_sweeps
from herded.layouts.state import State
from herded.layouts.table_sweeps import table_scalar, table_vector
from herded.layouts.waves import schedule, wave_length
from herded.system.threads import run_jobs, run_parts, workers


def advance(
    plan: Plan,
    state: State,
    block: np.ndarray,
    run: Run,
    *,
    betas: np.ndarray | None = None,
    pool: Executor | None = None,
) -> None:
    """Advance `state` by len(block) sweeps and write their samples into `block`, if it has room."""
    if plan.lattice is not None:
        _advance_lattice(plan, state, block, run, pool)
    else:
        done = np.zeros(plan.scan.n_segments, np.int64)
        _advance_segments(plan, state, block, run, betas, done, pool)
        if len(state.memory.slots):  # hashed weights, whose tables may have to grow
            while len(halted := np.flatnonzero(done < len(block))):
                state.memory = grown(state.memory, halted)
                _advance_segments(plan, state, block, run, betas, done, pool)
    state.sweep += len(block)


def _advance_segments(
    plan: Plan,
    state: State,
    block: np.ndarray,
    run: Run,
    betas: np.ndarray | None,
    done: np.ndarray,
    pool: Executor | None,
) -> None:
    """Run every segment to the end of the block, or until its table of weights must grow."""
    if plan.kind == "table":
        kernel = table_scalar if plan.scalar else table_vector
        told = partial(kernel, plan.tables, plan.contexts, plan.scan, run)
    elif plan.kind == "field":
        told = partial(field_scalar, plan.field, plan.contexts, plan.scan, run)
    elif plan.kind == "pairs":
        told = partial(pair_sweeps, plan.pairs, plan.contexts, plan.scan, run)
    else:
        kernel = factor_scalar if plan.scalar else factor_vector
        betas = np.ones(len(block)) if betas is None else betas
        told = partial(kernel, plan.factors, plan.contexts, plan.scan, run, betas)
    sweep = partial(told, state.memory, block, done)
    run_parts(sweep, len(done), lambda: plan.scan.segments * (len(block) - done), pool)


def _advance_lattice(
    plan: Plan, state: State, block: np.ndarray, run: Run, pool: Executor | None
) -> None:
    memory, lattice = state.memory, plan.lattice
    strips = lattice.strips
    tables = [table.reshape(2, strips, -1) for table in lattice.tables]
    if plan.scalar:
        kernel = partial(lattice_sweeps, *tables, lattice.contexts, state.ones)
        w = memory.w.reshape(tables[0].shape) if memory.w.size else np.empty((2, 0, 0), np.uint32)
        near = w.nbytes
    else:
        kernel = partial(potts_sweeps, *tables, plan.width)
        w = memory.w if memory.w.size else np.empty((0, 0), np.int32)
        near = w.nbytes // max(1, len(w))  # a bin
    frame = plan.model.shape[0], lattice.periodic
    sweep = partial(
        kernel, lattice.rows, frame, run.sweep, run.key, memory.x, w, memory.tally, block
    )
    near += sum(table.nbytes for table in tables)
    length = wave_length(near // (2 * strips))
    threads = workers(pool, len(block) * plan.n_stored)
    for jobs in schedule(strips, 2 * len(block), length, lattice.periodic, threads):
        run_jobs(sweep, jobs, pool)
