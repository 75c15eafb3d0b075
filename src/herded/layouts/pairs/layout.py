"""Layout "pairs": any variables with pair interactions, conditionals from products of rows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from herded.draws.protocol import SweepParameters
from herded.layouts.general.pairwise_base import propose_pairwise
from herded.layouts.general.site_base import SiteLayout
from herded.layouts.pairs.arrays import compile_pairs, find_pair_interactions
from herded.layouts.pairs.sweeps import pair_sweeps
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal


@dataclass(frozen=True, eq=False, kw_only=True)
class PairsLayout(SiteLayout):
    """Tabulated rows of exponentials, in `PairArrays`."""

    kind: ClassVar[str] = "pairs"

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        """Accept pooled weights or draws by the vector rule, for pairwise factors."""
        return propose_pairwise(cls, task, forced, find_pair_interactions, compile_pairs)

    @property
    def signature(self) -> tuple[Any, ...]:
        return self.kind, self.width, self.arrays.states

    def tables(self) -> tuple[np.ndarray, ...]:
        return tuple(self.arrays[1:])

    def kernel(
        self, step: SweepParameters, sweeps: int, betas: np.ndarray | None
    ) -> Callable[..., None]:
        return partial(pair_sweeps, self.arrays, self.contexts, self.scan, step)
