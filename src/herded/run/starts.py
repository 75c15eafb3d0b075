"""Where the chains of a run start: at given or random states, or where an earlier run ended."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from herded.errors import MethodError
from herded.layouts.choose import Layout
from herded.layouts.state import State
from herded.methods.protocol import Sampler
from herded.models.checks import whole_array
from herded.models.support import check_start, dispersed_starts
from herded.system.stream import stream_key


def first_states(
    layout: Layout, method: Sampler, chains: int, start: Any, tally: bool, total: int
) -> list[State]:
    """The state of each chain: continued, or new at a given or random state of the support."""
    start = (start,) if isinstance(start, State) else start
    if _are_states(start):
        if len(start) != chains:
            raise MethodError(f"expected states of {chains} chains, got {len(start)}")
        continued = []
        for c, given in enumerate(start):
            x = np.zeros(layout.model.n_variables, np.int64)
            fresh = method.init(layout, x, chain=c, tally=tally, total=total)
            sums = fresh.memory.tally
            given = given.copy()
            given.memory = given.memory._replace(tally=sums)
            fresh.restore(given.arrays())
            fresh.total = given.sweep + total
            check_start(layout.model, fresh.values(layout))
            continued.append(fresh)
        return continued
    starts = _starts(layout, method, chains, start)
    return [method.init(layout, x, chain=c, tally=tally, total=total) for c, x in enumerate(starts)]


def _are_states(start: Any) -> bool:
    return isinstance(start, Sequence) and len(start) > 0 and isinstance(start[0], State)


def _starts(layout: Layout, method: Sampler, chains: int, start: Any) -> list[np.ndarray]:
    model = layout.model
    if start is None:
        return dispersed_starts(model, [stream_key(method.seed, c, 3) for c in range(chains)])
    x = whole_array("the start", start)
    if x.shape[:1] == (chains,) and x.ndim in (2, 1 + len(model.shape)) and x.shape != model.shape:
        return [check_start(model, one) for one in x]
    return [check_start(model, x)] * chains
