"""Where the chains of a run start: at given or random states, or where an earlier run ended."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from herded.errors import MethodError
from herded.layouts.choose import Plan
from herded.layouts.state import State
from herded.methods.protocol import Sampler
from herded.models.checks import whole_array
from herded.models.support import check_start, dispersed_starts
from herded.system.stream import stream_key


def first_states(
    plan: Plan, method: Sampler, chains: int, start: Any, tally: bool, total: int
) -> list[State]:
    """The chains' states: continued, or new at given or random places of the support."""
    start = (start,) if isinstance(start, State) else start
    if _are_states(start):
        if len(start) != chains:
            raise MethodError(f"expected states of {chains} chains, got {len(start)}")
        continued = []
        for c, given in enumerate(start):
            x = np.zeros(plan.model.n_variables, np.int64)
            fresh = method.init(plan, x, chain=c, tally=tally, total=total)
            sums = fresh.memory.tally
            given = given.copy()
            given.memory = given.memory._replace(tally=sums)
            fresh.restore(given.arrays())
            fresh.total = given.sweep + total
            check_start(plan.model, fresh.values(plan))
            continued.append(fresh)
        return continued
    starts = _starts(plan, method, chains, start)
    return [method.init(plan, x, chain=c, tally=tally, total=total) for c, x in enumerate(starts)]


def _are_states(start: Any) -> bool:
    return isinstance(start, Sequence) and len(start) > 0 and isinstance(start[0], State)


def _starts(plan: Plan, method: Sampler, chains: int, start: Any) -> list[np.ndarray]:
    model = plan.model
    if start is None:
        return dispersed_starts(model, [stream_key(method.seed, c, 3) for c in range(chains)])
    x = whole_array("the start", start)
    if x.shape[:1] == (chains,) and x.ndim in (2, 1 + len(model.shape)) and x.shape != model.shape:
        return [check_start(model, one) for one in x]
    return [check_start(model, x)] * chains
