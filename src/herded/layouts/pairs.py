"""Layout "pairs": any variables with pair interactions, conditionals from products of rows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from herded.draws.protocol import Step
from herded.layouts.linked import propose_linked
from herded.layouts.pairs_arrays import compile_pairs, pair_rows
from herded.layouts.pairs_chain_sweeps import LANES, pairs_together
from herded.layouts.pairs_sweeps import pair_sweeps
from herded.layouts.protocol import Proposal, Task
from herded.layouts.sites import DRAWN_OR_POOLED, SiteLayout

# From so many states on all that is gained is to read rows once: nothing if they stay in the cache.
WIDE, NEAR = 6, 2**20  # states; bytes of all rows


@dataclass(frozen=True, eq=False, kw_only=True)
class PairsLayout(SiteLayout):
    """Tabulated rows of exponentials, in `PairArrays`."""

    kind: ClassVar[str] = "pairs"
    few_chains: ClassVar[int] = 12
    many_modes: ClassVar[tuple[int, ...]] = DRAWN_OR_POOLED

    @classmethod
    def propose(cls, task: Task, forced: bool) -> Proposal | str:
        """Pooled weights or draws by the vector rule, where factors have at most two variables."""
        return propose_linked(cls, task, forced, pair_rows, compile_pairs)

    @property
    def signature(self) -> tuple[Any, ...]:
        return self.kind, self.width, self.arrays.states

    def tables(self) -> tuple[np.ndarray, ...]:
        return tuple(self.arrays[1:])

    def kernel(self, step: Step, sweeps: int, betas: np.ndarray | None) -> Callable[..., None]:
        return partial(pair_sweeps, self.arrays, self.contexts, self.scan, step)

    def is_worth_it(self, chains: int) -> bool:
        """Enough chains in all lanes, of which the empty ones cost as much."""
        is_wide = int(self.model.cardinalities[self.model.evidence < 0].max()) >= WIDE
        enough = chains >= self.few_chains * -(-chains // LANES)
        return enough and (not is_wide or self.arrays.rows.nbytes > NEAR)

    def many_kernel(self, slack: int) -> Callable[..., None]:
        return partial(pairs_together, self.arrays, slack)
