"""Herds on any graph (layouts "table" and "factor"): lanes are members."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from herded.draws.systematic import member_orders, start_kept_phases
from herded.errors import MethodError
from herded.layouts.base import SweepCall
from herded.layouts.factor_arrays import FactorArrays
from herded.layouts.general.site_herd_sweeps import fill_shares, scalar_herd, vector_herd
from herded.layouts.general.table_arrays import TableArrays, compile_table
from herded.layouts.general.table_layout import MAX_ENTRIES_PER_VARIABLE
from herded.layouts.herd_base import NO_PHASES, MemberLanesLayout
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.layouts.visit_order import JACOBI, ScanArrays, connected_components
from herded.system import memory_limits
from herded.system.aligned_arrays import arrays_in
from herded.system.threads import run_ranges

# of more than two states, and then of all variables
MAX_ENTRIES_PER_WIDE_VARIABLE, MAX_TABLE_ENTRIES = 4096, 2**20


class SiteHerdArrays(NamedTuple):
    """The arrays that kernels change, and the model's sizes."""

    x: np.ndarray  # (N * members,)
    phases: np.ndarray  # kept ones, (N,) or (N * width); else empty
    tally: np.ndarray
    ones: np.ndarray
    cardinalities: np.ndarray
    width: int


class HerdTables(NamedTuple):
    """Tabulated conditionals, and what each split of a row's states gives its upper half."""

    rows: TableArrays
    shares: np.ndarray  # in addition to the conditionals; none by the scalar rule


@dataclass(frozen=True, eq=False, kw_only=True)
class SiteHerdLayout(MemberLanesLayout):
    """Members of a variable side by side, visited in any order of the variables."""

    factors: FactorArrays
    scan: ScanArrays

    @classmethod
    def offer_arrays(cls, task: LayoutRequest, memory: float, make: Callable[[], Any]) -> Proposal:
        """Propose to lay a task out with the arrays that `make` gives."""
        if task.order.policy[0] == JACOBI:
            raise MethodError(
                'expected a scan of one variable at a time for a herd, got "jacobi": use '
                'scan="sequential"'
            )
        width = int(task.graph.cardinalities.max())
        a_state = 3 * task.herd.members * (1 if width <= 256 else 2)  # an earlier one, and a start
        return task.offer(
            cls,
            tables=memory,
            chain=float(task.graph.n_variables) * (a_state + 8 * width),
            what="tables and the states of a herd",
            make=lambda **facts: cls(
                arrays=make(), scalar=task.scalar, factors=task.factors, scan=task.order, **facts
            ),
        )

    @property
    def n_parallel_parts(self) -> int:
        return self.scan.n_segments

    @property
    def bytes(self) -> int:
        parts = self.arrays, self.factors, self.scan
        return sum(array.nbytes for array in arrays_in(parts))

    def components(self) -> np.ndarray | None:
        found: np.ndarray | None = connected_components(self.factors, self.model.evidence < 0)
        return found

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        phases = np.empty(self.n_stored * (1 if self.scalar else self.width), np.uint32)
        start_kept_phases(phases, key)
        return {"phases": phases}

    def kernel(self) -> Callable[..., None]:
        """Return the compiled sweeps, with the places of conditionals."""
        raise NotImplementedError

    def sweep(self, call: SweepCall) -> None:
        state, segments = call.state, self.scan.segments
        changed = SiteHerdArrays(
            state.x,
            state.method_arrays.get("phases", NO_PHASES),
            state.conditional_sums,
            state.state_counts,
            self.factors.cardinalities,
            self.width,
        )
        orders, inverse = member_orders(self.members), call.inverse_temperatures
        sweep = partial(self.kernel(), self.scan, orders, call.step, inverse, changed, call.block)
        work = segments * (len(call.block) * self.members)
        run_ranges(sweep, self.scan.n_segments, lambda: work, call.pool)


class TableHerdLayout(SiteHerdLayout):
    """Small blankets: every conditional tabulated, in `TableArrays`."""

    kind: ClassVar[str] = "table"
    any_size: ClassVar[bool] = True

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        few = task.entries <= MAX_ENTRIES_PER_VARIABLE * len(task.free) or (
            not task.scalar
            and task.entries
            <= min(MAX_ENTRIES_PER_WIDE_VARIABLE * len(task.free), MAX_TABLE_ENTRIES)
        )
        if not forced and not (
            few and memory_limits.fits_in_memory(task.entries * 8, task.max_memory)
        ):
            return Refusal("its tables would be large")

        def make() -> Any:
            clamped = np.maximum(task.graph.evidence, 0)
            rows = compile_table(task.factors, task.rows, clamped, task.scalar, False)
            shares = np.empty(0 if task.scalar else len(rows.p), np.uint32)
            if not task.scalar:
                states = task.factors.cardinalities
                fill_shares(rows.p, rows.row_start, rows.entry_start, states, shares)
            shares.flags.writeable = False
            return HerdTables(rows, shares)

        return cls.offer_arrays(task, task.entries * (4.0 if task.scalar else 8.0), make)

    def tables(self) -> tuple[np.ndarray, ...]:
        return (self.arrays.rows.p,)

    def kernel(self) -> Callable[..., None]:
        if self.scalar:
            return partial(scalar_herd, self.arrays.rows, None)
        return partial(vector_herd, self.arrays.rows, self.arrays.shares, None)


class FactorHerdLayout(SiteHerdLayout):
    """Any model: conditionals summed from log-tables; also for falling temperatures."""

    kind: ClassVar[str] = "factor"
    any_size: ClassVar[bool] = True
    can_anneal: ClassVar[bool] = True

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        return cls.offer_arrays(task, 0.0, lambda: task.factors)

    def kernel(self) -> Callable[..., None]:
        if self.scalar:
            return partial(scalar_herd, None, self.arrays)
        return partial(vector_herd, None, None, self.arrays)
