"""Where the chains of a run start: at given or random states, or where an earlier run ended."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from herded.errors import MethodError
from herded.layouts.protocol import Layout
from herded.layouts.state import State
from herded.methods.protocol import Sampler
from herded.models.checks import whole_array
from herded.models.support import check_start, dispersed_starts
from herded.system.stream import stream_key


def first_states(
    layout: Layout, method: Sampler, chains: int, start: Any, keep: dict[type, Any], total: int
) -> list[State]:
    """The chains' states: continued, or new at given or random places of the support."""
    tally = any(getattr(choice, "rao_blackwell", False) for choice in keep.values())
    start = (start,) if isinstance(start, State) else start
    if isinstance(start, Sequence) and len(start) and isinstance(start[0], State):
        if len(start) != chains:
            raise MethodError(f"expected states of {chains} chains, got {len(start)}")
        return [_continued(layout, method, c, given, tally, total) for c, given in enumerate(start)]
    return [
        method.init(layout, x, chain=c, tally=tally, total=total)
        for c, x in enumerate(_places(layout, method, chains, start))
    ]


def _continued(
    layout: Layout, method: Sampler, chain: int, given: State, tally: bool, total: int
) -> State:
    """A state that goes on from `given`, with sums of its own."""
    x = np.zeros(layout.model.n_variables, np.int64)
    fresh = method.init(layout, x, chain=chain, tally=tally, total=total)
    fresh.restore({**given.arrays(), "tally": fresh.tally})
    fresh.total = given.sweep + total
    check_start(layout.model, layout.values(fresh))
    return fresh


def _places(layout: Layout, method: Sampler, chains: int, start: Any) -> list[np.ndarray]:
    model = layout.model
    if start is None:
        return dispersed_starts(model, [stream_key(method.seed, c, 3) for c in range(chains)])
    x = whole_array("the start", start)
    if x.shape[:1] == (chains,) and x.ndim in (2, 1 + len(model.shape)) and x.shape != model.shape:
        return [check_start(model, one) for one in x]
    return [check_start(model, x)] * chains
