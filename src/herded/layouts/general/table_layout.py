"""Layout "table": one row of conditionals for every state of a variable's neighbours."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from herded.draws.protocol import SweepParameters
from herded.draws.weight_modes import BLANKET
from herded.layouts.general.context_weights import TABULATED_WEIGHTS, is_hashed
from herded.layouts.general.site_base import SiteLayout, estimate_weight_bytes
from herded.layouts.general.site_sweeps import scalar_sweeps, vector_sweeps
from herded.layouts.general.table_arrays import check_table_memory, compile_table, row_entries
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.models.naming import variable_text
from herded.system import memory_limits

# Where tables are a choice and not a must, they may take this many entries per variable.
MAX_ENTRIES_PER_VARIABLE = 256


@dataclass(frozen=True, eq=False, kw_only=True)
class TableLayout(SiteLayout):
    """Small blankets: every conditional tabulated, in `TableArrays`."""

    kind: ClassVar[str] = "table"

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        """Accept tables if the weights require them, or if they are small."""
        few = memory_limits.fits_in_memory(task.entries * 8, task.max_memory)
        few = few and task.entries <= MAX_ENTRIES_PER_VARIABLE * len(task.free)
        weights = task.draw.weights
        if not (forced or weights in TABULATED_WEIGHTS or few):
            return Refusal("its tables would be large")
        chain = estimate_weight_bytes(task, cls.kind)
        tables = task.entries * 4.0
        if weights == "shared":  # each row's weight, and a hash table of one variable's rows
            tables += 4.0 * task.rows.sum() + 32.0 * task.rows.max(initial=0)
        return task.offer(
            cls,
            tables=tables,
            chain=chain,
            what="tables",
            make=lambda **facts: cls._make(task, facts),
            check=lambda: check_table_memory(
                tables + chain,
                task.max_memory,
                task.rows,
                lambda i: variable_text(task.model, i),
                task.factors.neighbour_start,
                weights in TABULATED_WEIGHTS,
            ),
            has_growing_memory=is_hashed(weights, cls.kind),
            starts_rows=weights in TABULATED_WEIGHTS,
        )

    @classmethod
    def _make(cls, task: LayoutRequest, facts: dict[str, Any]) -> SiteLayout:
        clamped = np.maximum(task.graph.evidence, 0)
        tables = compile_table(
            task.factors, task.rows, clamped, task.scalar, task.draw.weights is not None
        )
        return cls.build(task, tables, tables, **facts)

    def tables(self) -> tuple[np.ndarray, ...]:
        return (self.arrays.p,)

    def table_vectors(self) -> tuple[np.ndarray, np.ndarray]:
        owner, entries = row_entries(self.arrays)
        widths = self.arrays.width[owner]
        if len(self.contexts.mode) == BLANKET:
            return entries, widths
        starts, first = np.unique(self.contexts.shared, return_index=True)
        return starts, widths[first]

    def kernel(
        self, step: SweepParameters, sweeps: int, betas: np.ndarray | None
    ) -> Callable[..., None]:
        common = self.contexts, self.scan, step, None
        if self.scalar:
            return partial(scalar_sweeps, self.arrays, None, None, *common)
        return partial(vector_sweeps, self.arrays, None, *common)
