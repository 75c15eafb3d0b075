"""A model that is to be laid out, and what each kind of layout offers to do."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from herded.draws.protocol import Draw
from herded.errors import MethodError
from herded.layouts.factor_arrays import FactorArrays, compile_factors, count_rows
from herded.layouts.protocol import SweptLayout
from herded.layouts.scan import ScanArrays, compile_scan
from herded.models.factor_graph import FactorGraph, as_graph
from herded.models.protocol import Model
from herded.system import memory
from herded.system.memory import Size


@dataclass(frozen=True)
class Proposal:
    """A layout that is not built yet, and what it would take."""

    kind: str
    memory: float  # bytes of tables and of one chain's weights
    chain_memory: float  # bytes of the weights of every further chain
    grows: bool  # whether weights are hashed, and grow from there
    least_block: int  # sweeps in a block of samples
    check: Callable[[], None]  # raises where that is above the limit
    make: Callable[[], SweptLayout]
    contexts: float = np.inf  # that hashed weights may be of, at most
    starts_rows: bool = False  # whether each row of its tables has a weight to start

    def build(self) -> SweptLayout:
        """The layout, unless it takes more memory than it may."""
        self.check()
        return self.make()


class Task:
    """What is to be laid out, and what several kinds of layout want to know of it, found once."""

    def __init__(self, model: Model, draw: Draw, scan: Any, max_memory: Size | None) -> None:
        if isinstance(scan, str) and scan == "auto":
            scan = getattr(model, "preferred_scan", "sequential")
        self.model, self.draw, self.scan, self.max_memory = model, draw, scan, max_memory

    @cached_property
    def graph(self) -> FactorGraph:
        return as_graph(self.model)

    @cached_property
    def free(self) -> np.ndarray:
        return self.graph.evidence < 0

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
        return count_rows(self.factors, self.free)

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
        """Raises where `what` is above the limit."""
        return lambda: memory.check(need, self.max_memory, what)
