"""Layout "field": binary variables with pair interactions, conditionals from sums of couplings."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from herded.draws.protocol import SweepParameters
from herded.layouts.binary_pairs.arrays import Couplings, compile_binary_pairs, find_couplings
from herded.layouts.general.pairwise_base import propose_pairwise
from herded.layouts.general.site_base import SiteLayout
from herded.layouts.general.site_sweeps import scalar_sweeps
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal


@dataclass(frozen=True, eq=False, kw_only=True)
class BinaryPairsLayout(SiteLayout):
    """Whole-number couplings and a tabulated sigmoid, in `BinaryPairsArrays`."""

    kind: ClassVar[str] = "field"

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        """Accept pooled weights or draws by the scalar rule, for models of couplings."""
        if task.draw.vector:
            return Refusal("slack needs weight vectors")

        def arrays(couplings: Couplings) -> tuple[Any, ...]:
            return compile_binary_pairs(couplings, task.order)

        return propose_pairwise(cls, task, forced, find_couplings, arrays)

    def tables(self) -> tuple[np.ndarray, ...]:
        return tuple(self.arrays)

    def kernel(
        self, step: SweepParameters, sweeps: int, betas: np.ndarray | None
    ) -> Callable[..., None]:
        common = self.contexts, self.scan, step, None
        return partial(scalar_sweeps, None, None, self.arrays, *common)
