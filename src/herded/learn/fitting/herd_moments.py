"""Statistics of a model whose parameters change from step to step, from a persistent herd.

The herd is that of `hd.Gibbs(herd=n)`, with a new layout for each step's parameters, started where
the last step left it (persistent chains: Younes 1989; Tieleman 2008). Rows with unknown variables
are members of a herd too, each of which keeps its known states.
"""

import numpy as np

from herded.draws.systematic import member_orders
from herded.errors import CheckpointError
from herded.layouts.base import SweepableLayout
from herded.learn.fitting.conditional_kernels import (
    FactorLinks,
    count_entries,
    score_rows,
    sweep_members,
)
from herded.learn.fitting.log_linear import LogLinear
from herded.methods.gibbs import Gibbs
from herded.models.constraints.start_states import member_starts
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.stream_purposes import StreamPurpose


class MomentHerd:
    """Members that follow a model as it is learned."""

    def __init__(
        self,
        family: LogLinear,
        links: FactorLinks,
        members: int,
        sweeps: int,
        seed: int,
        chain: int = 0,
    ) -> None:
        self.family, self.links, self.chain = family, links, chain
        self.method, self.sweeps, self.done = Gibbs(seed=seed, herd=members), sweeps, 0
        self._layout: tuple[np.ndarray, SweepableLayout] | None = None  # of the last parameters
        key = stream_key(seed, chain, StreamPurpose.HERD_MOMENT_STARTS)
        self.x = member_starts(family.graph, members, key).astype(np.int64)

    def of(self, parameters: np.ndarray) -> np.ndarray:
        """Count how often each table entry (E,) occurs after some sweeps of all members."""
        layout = self._layout_at(parameters)
        # One member is a single chain, which some layouts start from one state.
        start = self.x if len(self.x) > 1 else self.x[0]
        state = self.method.init(layout, start, chain=self.chain)
        state.sweep = self.done
        self.method.advance(layout, state, np.empty((self.sweeps, 0), layout.sample_type))
        self.x, self.done = np.ascontiguousarray(layout.values(state)), state.sweep
        return self.met()

    def _layout_at(self, parameters: np.ndarray) -> SweepableLayout:
        if self._layout is None or not np.array_equal(self._layout[0], parameters):
            layout = self.method.compile(self.family.rebuilt(parameters))
            self._layout = parameters.copy(), layout
        return self._layout[1]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that change, by name."""
        return {"x": self.x, "done": np.array([self.done])}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Restore the state from `arrays`."""
        self.x, self.done = arrays["x"], int(arrays["done"][0])
        check_member_states(self.x, self.family.graph.cardinalities)

    def met(self) -> np.ndarray:
        """Count how often each table entry (E,) occurs in the members' present states."""
        counts = np.zeros(len(self.family.group))
        weight = np.full(len(self.x), 1.0 / len(self.x))
        count_entries(self.links, self._columns(), weight, counts)
        return counts

    def scores(self, directions: np.ndarray) -> np.ndarray:
        """Compute (K, members) how `directions` (K, P) change the score of each member."""
        family = self.family
        tables = np.array([np.where(family.group >= 0, family.tables(d), 0.0) for d in directions])
        found = np.zeros((len(directions), len(self.x)))
        score_rows(self.links, tables, self._columns(), found)
        return found

    def _columns(self) -> np.ndarray:
        """(N, members) the states as kernels read them."""
        return np.ascontiguousarray(self.x.T).astype(np.uint16)


class UnknownParts:
    """Rows of data as members of a herd: known states stay, the others are drawn jointly."""

    def __init__(self, links: FactorLinks, rows: np.ndarray, size: int, seed: int) -> None:
        self.links, self.size, self.done = links, size, 0
        self.key = stream_key(seed, 0, StreamPurpose.UNKNOWN_ENTRIES)
        self.order_key = stream_key(seed, 1, StreamPurpose.UNKNOWN_ENTRIES)
        self.known = np.ascontiguousarray(rows.T).astype(np.int32)
        self.x = np.maximum(self.known, 0).astype(np.uint16)

    def of(
        self, tables: np.ndarray, weight: np.ndarray, sweeps: int, at: np.ndarray | None = None
    ) -> np.ndarray:
        """Sum the expected table entries (E,) over rows (all, or `at`) with weights."""
        every = slice(None) if at is None else at
        known = np.ascontiguousarray(self.known[:, every])
        x = np.ascontiguousarray(self.x[:, every])
        expected = np.zeros(self.size)
        sweep_members(
            self.links, tables, known, x, self.key, self.order_key,
            self.done, sweeps, member_orders(x.shape[1]), weight / sweeps, expected,
        )  # fmt: skip
        self.x[:, every] = x
        self.done += sweeps
        return expected

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that change, by name."""
        return {"x": self.x, "done": np.array([self.done])}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Restore the state from `arrays`."""
        self.x, self.done = arrays["x"], int(arrays["done"][0])
        check_member_states(self.x.T, self.links.states)


def check_member_states(x: np.ndarray, cardinalities: np.ndarray) -> None:
    """Check states from a file, since kernels do not."""
    if ((x < 0) | (x >= cardinalities)).any():
        raise CheckpointError(
            "expected a checkpoint with states of this model, got one that is broken in the "
            "states of its herd: move it away to start again"
        )
