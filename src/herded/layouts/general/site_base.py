"""The base of layouts of general graphs: a scan, contexts of weights, and segments to sweep."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from herded.draws.herded_weights import HALF_PHASE, start_all_scalar, start_all_vector
from herded.draws.protocol import Draw, SweepParameters
from herded.draws.weight_modes import BLANKET, MAX_BINS, SHARED
from herded.layouts.base import SweepableLayout, SweepCall
from herded.layouts.chain_arrays import ChainArrays
from herded.layouts.factor_arrays import FactorArrays
from herded.layouts.general.context_weights import (
    ContextArrays,
    compile_contexts,
    is_hashed,
    weight_bytes,
)
from herded.layouts.general.table_arrays import TableArrays
from herded.layouts.hashed_weights import empty_tables, grow_tables
from herded.layouts.proposal import LayoutRequest
from herded.layouts.state import EMPTY_INTEGERS, State
from herded.layouts.visit_order import JACOBI, ScanArrays, connected_components
from herded.system.aligned_arrays import arrays_in
from herded.system.threads import run_ranges

NO_KEYS = np.zeros(0, np.uint64)
NO_WEIGHTS = np.zeros(0, np.uint32)  # of draws at random


@dataclass(frozen=True, eq=False, kw_only=True)
class SiteLayout(SweepableLayout):
    """Variables in any order of visit; each kind adds how a conditional is found."""

    factors: FactorArrays
    scan: ScanArrays
    contexts: ContextArrays
    hashed: bool  # whether weights are looked up by hash

    @classmethod
    def build(
        cls,
        task: LayoutRequest,
        arrays: tuple[Any, ...],
        tables: TableArrays | None = None,
        **facts: Any,
    ) -> "SiteLayout":
        """Return the layout of a task with these arrays; contexts are those of `tables`."""
        weights = task.draw.weights
        return cls(
            arrays=arrays,
            scalar=task.scalar,
            factors=task.factors,
            scan=task.order,
            contexts=compile_contexts(weights, tables, task.width),
            hashed=is_hashed(weights, cls.kind),
            **facts,
        )

    @property
    def n_parallel_parts(self) -> int:
        return self.scan.n_segments

    @property
    def has_growing_memory(self) -> bool:
        return self.hashed

    @property
    def signature(self) -> tuple[Any, ...]:
        return self.kind, self.scalar, self.width

    @property
    def bytes(self) -> int:
        parts = self.arrays, self.factors, self.scan, self.contexts
        return sum(array.nbytes for array in arrays_in(parts))

    def components(self) -> np.ndarray | None:
        found: np.ndarray | None = connected_components(self.factors, self.model.evidence < 0)
        return found

    # -- one chain ---------------------------------------------------------------------------

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        size, kind = self.contexts.size, np.uint32 if self.scalar else np.int32
        if self.hashed:  # these start when they are first met
            width = 1 if self.scalar else self.width
            return empty_tables(self.scan.segments, width, np.dtype(kind))
        if self.scalar:
            phases = np.full(size, HALF_PHASE)
            if random:
                start_all_scalar(phases, key)
            return {"w": phases}
        vectors = np.zeros(size, np.int32)
        if random and size:
            start_all_vector(vectors, *self._vectors(), random, key)
        return {"w": vectors}

    def _vectors(self) -> tuple[np.ndarray, np.ndarray]:
        """Return where each weight vector starts, and how long it is."""
        if len(self.contexts.mode) in (BLANKET, SHARED):
            return self.table_vectors()
        width = self.factors.cardinalities
        pools = self.contexts.pool_start + np.arange(MAX_BINS)[:, None] * int(width.sum())
        return pools.reshape(-1), np.tile(width, MAX_BINS)

    def table_vectors(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the same for weights of tabulated contexts."""
        raise NotImplementedError

    def start(self, draw: Draw, x: np.ndarray, *, chain: int, tally: bool, total: int) -> State:
        stored, own = self.store(x), draw.start(self, chain)
        if self.scan.policy[0] == JACOBI:
            own["y"] = stored.copy()
        size = self.n_stored * (1 if self.scalar else self.width)
        sums = np.zeros(size, np.int64) if tally else EMPTY_INTEGERS
        return State(stored, own, sums, 0, chain, total)

    def chain_arrays(self, state: State) -> ChainArrays:
        """Return the arrays that kernels change."""
        own = state.method_arrays
        return ChainArrays(
            x=state.x,
            y=own.get("y", state.x),
            w=own.get("w", NO_WEIGHTS),
            tally=state.conditional_sums,
            keys=own.get("keys", NO_KEYS),
            slot_start=own.get("slot_start", EMPTY_INTEGERS),
            slots=own.get("slots", EMPTY_INTEGERS),
            filled=own.get("filled", EMPTY_INTEGERS),
        )

    def kernel(
        self, step: SweepParameters, sweeps: int, betas: np.ndarray | None
    ) -> Callable[..., None]:
        """Return the compiled sweeps, without (chain arrays, block, done, first, last)."""
        raise NotImplementedError

    def sweep(self, call: SweepCall) -> None:
        state, block, pool = call.state, call.block, call.pool
        done = np.zeros(self.scan.n_segments, np.int64)
        kernel = self.kernel(call.step, len(block), call.betas)

        def left() -> np.ndarray:
            return self.scan.segments * (len(block) - done)

        while True:
            sweep = partial(kernel, self.chain_arrays(state), block, done)
            run_ranges(sweep, len(done), left, pool)
            if not self.hashed or not len(halted := np.flatnonzero(done < len(block))):
                break
            state.method_arrays.update(grow_tables(state.method_arrays, halted))


def estimate_weight_bytes(task: LayoutRequest, kind: str) -> float:
    """Estimate the bytes of one chain's weights on a layout of this kind."""
    draw = task.draw
    return weight_bytes(draw.weights, kind, task.entries, task.width, task.order.segments)
