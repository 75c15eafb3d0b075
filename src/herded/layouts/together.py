"""Several chains of one sampler, advanced by one kernel (`chain_sweeps`, `pairs_chain_sweeps`)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from herded.draws.modes import BLANKET, DRAW, POOLED, SHARED
from herded.layouts.chain_sweeps import MOST_CHAINS, field_together, table_together
from herded.layouts.choose import Plan
from herded.layouts.pairs_chain_sweeps import LANES, pairs_together
from herded.layouts.scan import SEQUENTIAL
from herded.layouts.state import State
from herded.system.stream import stream_key

WORTH_IT = {"table": 4, "field": 8, "pairs": 12}  # chains: fewer are as fast one by one
MODES = {
    "table": (DRAW, BLANKET, SHARED, POOLED),
    "field": (DRAW, POOLED),
    "pairs": (DRAW, POOLED),
}
# From so many states on all that is gained is to read rows once: nothing if they stay in the cache.
WIDE, NEAR = 6, 2**20  # states; bytes of all rows


@dataclass
class Together:
    """States whose arrays are rows of these."""

    states: Sequence[State]
    x: np.ndarray  # (C, N)
    w: np.ndarray  # (C, weights)
    tally: np.ndarray  # (C, N), or (C, 0)


def can_run_together(plan: Plan, states: Sequence[State]) -> bool:
    """Whether there is a kernel for these chains, and enough of them to be worth it."""
    return (
        plan.kind in WORTH_IT
        and len(plan.contexts.mode) in MODES[plan.kind]
        and (plan.scalar or plan.kind == "pairs")
        and plan.scan.policy[0] == SEQUENTIAL
        and len(states) <= MOST_CHAINS
        and _is_worth_it(plan, len(states))
        and len({state.sweep for state in states}) == 1
    )


def _is_worth_it(plan: Plan, chains: int) -> bool:
    """Enough chains; for pairs enough in all lanes, of which the empty ones cost as much."""
    if plan.kind != "pairs":
        return chains >= WORTH_IT[plan.kind]
    is_wide = int(plan.model.cardinalities[plan.model.evidence < 0].max()) >= WIDE
    return (not is_wide or plan.pairs.rows.nbytes > NEAR) and chains >= WORTH_IT["pairs"] * -(
        -chains // LANES
    )


def gather(states: Sequence[State]) -> Together:
    """Move the states' arrays into common ones, where the states go on as rows."""
    first = states[0].memory
    common = {
        name: np.empty((len(states), len(getattr(first, name))), getattr(first, name).dtype)
        for name in ("x", "w", "tally")
    }
    for k, state in enumerate(states):
        for name, rows in common.items():
            rows[k] = getattr(state.memory, name)
        own = {name: rows[k] for name, rows in common.items()}
        state.memory = state.memory._replace(**own, y=own["x"])
    return Together(states, **common)


def advance(
    plan: Plan, together: Together, blocks: np.ndarray, sweeps: int, seed: int, slack: int = 0
) -> None:
    """Advance all states by `sweeps` and write their samples into the first rows of `blocks`."""
    states = together.states
    keys = np.array([stream_key(seed, state.chain, 1) for state in states], np.uint64)
    when = plan.contexts, plan.scan.order, states[0].sweep, sweeps, keys
    changed = together.x, together.w, together.tally, blocks
    if plan.kind == "table":
        table_together(plan.tables, *when, *changed)
    elif plan.kind == "field":
        field_together(plan.field, *when, *changed)
    else:
        pairs_together(plan.pairs, *when, slack, *changed)
    for state in states:
        state.sweep += sweeps
