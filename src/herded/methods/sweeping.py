"""One way from a plan and a state to the compiled kernel that advances it."""

from concurrent.futures import Executor
from functools import partial

import numpy as np

from herded.kernels.factor import factor_scalar, factor_vector
from herded.kernels.field import field_scalar
from herded.kernels.lattice import blanket_sweeps, shared_sweeps
from herded.kernels.run import Run
from herded.kernels.table import table_scalar, table_vector
from herded.methods.state import State
from herded.methods.tables import grown
from herded.methods.threads import run_parts
from herded.plan.compile import Plan


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
    elif plan.kind == "field":
        told = partial(field_scalar, plan.field, plan.contexts, plan.scan, run)
    else:
        kernel = factor_scalar if plan.scalar else factor_vector
        told = partial(kernel, plan.factors, plan.contexts, plan.scan, run, betas)
    sweep = partial(told, state.memory, block, done)
    run_parts(sweep, plan.scan.segments * (len(block) - done), pool)


def _advance_lattice(plan: Plan, state: State, block: np.ndarray, run: Run) -> None:
    memory, lattice = state.memory, plan.lattice
    weights = memory.w if memory.w.size else np.empty((2, 0, 0, 0), np.uint32)
    kernel = shared_sweeps if lattice.shared else blanket_sweeps
    kernel(lattice.p, lattice.rows, run.sweep, run.key, memory.x, weights, memory.tally, block)
