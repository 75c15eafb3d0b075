"""Layout "factor": any model, conditionals summed from log-tables on each visit."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from herded.draws.protocol import SweepParameters
from herded.errors import MethodError
from herded.layouts.general.context_weights import TABULATED_WEIGHTS, is_hashed
from herded.layouts.general.site_base import SiteLayout, estimate_weight_bytes
from herded.layouts.general.site_sweeps import scalar_sweeps, vector_sweeps
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal


@dataclass(frozen=True, eq=False, kw_only=True)
class FactorLayout(SiteLayout):
    """The factors themselves, in `FactorArrays`; also for falling temperatures."""

    kind: ClassVar[str] = "factor"
    can_anneal: ClassVar[bool] = True

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        """Accept everything that needs no tables."""
        weights = task.draw.weights
        if weights in TABULATED_WEIGHTS:
            raise MethodError(
                f'expected weights="pooled", "lazy" or "full" on a factor layout, got {weights!r}, '
                "which needs its conditionals tabulated"
            )
        return task.offer(
            cls,
            tables=0.0,
            chain=estimate_weight_bytes(task, cls.kind),
            what="weights",
            make=lambda **facts: cls.build(task, task.factors, **facts),
            has_growing_memory=is_hashed(weights, cls.kind),
            contexts=float(task.rows.sum()) if weights == "lazy" else np.inf,
        )

    def kernel(
        self, step: SweepParameters, sweeps: int, betas: np.ndarray | None
    ) -> Callable[..., None]:
        inverse = np.ones(sweeps) if betas is None else betas
        common = self.contexts, self.scan, step, inverse
        if self.scalar:
            return partial(scalar_sweeps, None, self.arrays, None, *common)
        return partial(vector_sweeps, None, self.arrays, *common)
