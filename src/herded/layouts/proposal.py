"""What is to be laid out (`LayoutRequest`), and a layout that could be built for it (`Proposal`).

Each kind of layout answers a task with a proposal, which says what the layout would take, or with
the reason why it cannot lay the task out. Nothing is built before a proposal is accepted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from herded.draws.protocol import Draw
from herded.errors import MethodError
from herded.layouts.base import SweepableLayout
from herded.layouts.factor_arrays import FactorArrays, compile_factors, count_table_rows
from herded.layouts.visit_order import Scan, ScanArrays, compile_scan
from herded.models.factor_graph import FactorGraph, to_factor_graph
from herded.models.protocol import Model
from herded.system import memory_limits
from herded.system.memory_limits import Size


@dataclass(frozen=True)
class Proposal:
    """A layout that is not built yet, and what it would take."""

    kind: str
    memory: float  # bytes of tables and of one chain's weights
    chain_memory: float  # bytes of the weights of every further chain
    has_growing_memory: bool  # whether weights are hashed, and grow from there
    min_block_sweeps: int  # sweeps in a block of samples
    check: Callable[[], None]  # raises where that is above the limit
    make: Callable[[], SweepableLayout]
    contexts: float = np.inf  # that hashed weights may be of, at most
    starts_rows: bool = False  # whether each row of its tables has a weight to start

    def build(self) -> SweepableLayout:
        """The layout, unless it takes more memory than it may."""
        self.check()
        return self.make()


class LayoutRequest:
    """What is to be laid out, and what several kinds of layout want to know of it, found once."""

    def __init__(
        self,
        model: Model,
        draw: Draw,
        scan: Scan,
        max_memory: Size | None,
        beta: Callable[[], float] | None = None,
    ) -> None:
        if isinstance(scan, str) and scan == "auto":
            scan = getattr(model, "preferred_scan", "sequential")
        self.model, self.draw, self.scan, self.max_memory = model, draw, scan, max_memory
        self._beta = beta

    @cached_property
    def graph(self) -> FactorGraph:
        return to_factor_graph(self.model)

    @cached_property
    def free(self) -> np.ndarray:
        return self.graph.evidence < 0

    @cached_property
    def beta(self) -> float:
        """The constant inverse temperature at which conditionals must be right, if there is one."""
        return 1.0 if self._beta is None else self._beta()

    @cached_property
    def factors(self) -> FactorArrays:
        return compile_factors(self.graph)

    @cached_property
    def scalar(self) -> bool:
        """Whether the scalar rule does: all free variables are binary, and the draw agrees."""
        return bool((self.graph.cardinalities[self.free] == 2).all()) and not self.draw.vector

    @cached_property
    def width(self) -> np.ndarray:
        """(N,) entries of one weight."""
        cards = self.graph.cardinalities
        return np.ones_like(cards) if self.scalar else cards

    @cached_property
    def rows(self) -> np.ndarray:
        """(N,) rows of each variable's table."""
        return count_table_rows(self.factors, self.free)

    @cached_property
    def entries(self) -> float:
        """Of all tables."""
        return float((self.rows * self.width).sum())

    @cached_property
    def order(self) -> ScanArrays:
        """The order of visits; all variables at once only where that cannot leave the support."""
        if isinstance(self.scan, str) and self.scan == "jacobi" and self.graph.has_hard_zeros:
            raise MethodError(
                "expected a strictly positive model for the jacobi scan, got hard zeros: updating "
                'all variables at once could leave the support; use scan="sequential"'
            )
        whole = self.draw.weights == "full"
        return compile_scan(self.scan, self.factors, self.free, whole=whole)

    def limit(self, need: float, what: str) -> Callable[[], None]:
        """Raises where `what` is above the limit; a little always fits."""
        if self.max_memory is None and need <= memory_limits.ALWAYS_ALLOWED_BYTES:
            return lambda: None
        return lambda: memory_limits.check_memory(need, self.max_memory, what)
