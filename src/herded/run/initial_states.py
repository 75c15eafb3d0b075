"""Starts of chains: given or random states of the support, or the end of an earlier run."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import MethodError
from herded.layouts.base import Layout
from herded.layouts.packing.member_bits import member_ranges
from herded.layouts.state import State
from herded.methods.protocol import Sampler
from herded.models.constraints.start_states import check_start, dispersed_starts, member_starts
from herded.run.query import KeepOptions
from herded.run.recording.recorder_base import STATES_PER_PASS
from herded.system.argument_checks import as_integer_array
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.stream_purposes import StreamPurpose


def initial_states(
    layout: Layout,
    method: Sampler,
    chains: int,
    start: ArrayLike | State | Sequence[State] | None,
    keep: KeepOptions,
    total: int,
) -> list[State]:
    """Return the chains' states: continued, or new at given or random places of the support."""
    tally = keep.averages_conditionals
    start = (start,) if isinstance(start, State) else start
    if isinstance(start, Sequence) and len(start) and isinstance(start[0], State):
        if len(start) != chains:
            raise MethodError(f"expected states of {chains} chains, got {len(start)}")
        return [
            _resume_state(layout, method, c, given, tally, total) for c, given in enumerate(start)
        ]
    places = _herd_starts if layout.is_herd else _chain_starts
    return [
        method.init(layout, x, chain=c, tally=tally, total=total)
        for c, x in enumerate(places(layout, method, chains, start))
    ]


def _resume_state(
    layout: Layout, method: Sampler, chain: int, given: State, tally: bool, total: int
) -> State:
    """Return a state that continues from `given`, with separate sums."""
    x = np.zeros(layout.model.n_variables, np.int64)
    first = np.broadcast_to(x, (layout.members, len(x))) if layout.is_herd else x
    fresh = method.init(layout, first, chain=chain, tally=tally, total=total)
    fresh.restore({**given.arrays(), "tally": fresh.conditional_sums})
    fresh.total = given.sweep + total
    at_once = max(1, STATES_PER_PASS // max(layout.model.n_variables, 1))
    for some in member_ranges(layout.members, at_once):
        for state in layout.some_values(fresh, *some):
            check_start(layout.model, state)
    return fresh


def _start_key(method: Sampler, chain: int) -> np.uint64:
    """Return the stream of start states of a chain or a herd."""
    return stream_key(method.seed, chain, StreamPurpose.START_STATES)


def _chain_starts(layout: Layout, method: Sampler, chains: int, start: object) -> list[np.ndarray]:
    """Return a start (N,) for each chain."""
    model = layout.model
    if start is None:
        return dispersed_starts(model, [_start_key(method, c) for c in range(chains)])
    x = as_integer_array("the start", start)
    if x.shape[:1] == (chains,) and x.ndim in (2, 1 + len(model.shape)) and x.shape != model.shape:
        return [check_start(model, one) for one in x]
    return [check_start(model, x)] * chains


def _herd_starts(
    layout: Layout, method: Sampler, chains: int, start: object
) -> Iterator[np.ndarray]:
    """Return the starts (members, N) of each herd; given ones are for one herd or all."""
    model, n = layout.model, layout.members
    if start is None:
        for c in range(chains):
            yield member_starts(model, n, _start_key(method, c))
        return
    given = _chain_starts(layout, method, chains * n, start)
    for c in range(chains):
        mine = given[c * n : (c + 1) * n]
        alike = mine[0] is mine[-1]  # one start for all, which is not written out for each
        yield np.broadcast_to(mine[0], (n, len(mine[0]))) if alike else np.stack(mine)
