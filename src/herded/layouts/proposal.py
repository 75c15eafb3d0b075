"""The request for a layout (`LayoutRequest`), and the answer of a kind of layout.

The answer is a `Proposal`, which says what the layout would take, or a `Refusal` with the reason.
Nothing is built before a proposal is accepted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, cast

import numpy as np

from herded.draws.protocol import Draw
from herded.draws.systematic import SystematicDraw
from herded.errors import MethodError
from herded.layouts.base import SweepableLayout
from herded.layouts.factor_arrays import FactorArrays, compile_factors, count_table_rows
from herded.layouts.visit_order import Scan, ScanArrays, compile_scan
from herded.models.factor_graph import FactorGraph, to_factor_graph
from herded.models.protocol import Model, model_capabilities
from herded.system import memory_limits
from herded.system.memory_limits import Size


@dataclass(frozen=True)
class Refusal:
    """The reason why a kind of layout cannot take a model."""

    reason: str  # ends the sentence "expected a model for the .. layout, but .."
    # whether the reason that an earlier layout of the same kind gave is the better one
    is_secondary: bool = False


@dataclass(frozen=True)
class Proposal:
    """A layout that is not built yet, and its memory."""

    kind: str
    memory: float  # bytes of tables and of one chain's weights
    chain_memory: float  # bytes of the weights of every further chain
    check: Callable[[], None]  # raises where that is above the limit
    make: Callable[[], SweepableLayout]
    min_block_sweeps: int = 1  # sweeps in a block of samples
    has_growing_memory: bool = False  # whether weights are hashed, and grow from there
    contexts: float = np.inf  # the most that hashed weights may be for
    starts_rows: bool = False  # whether each row of its tables has a weight to start

    def build(self) -> SweepableLayout:
        """Return the layout, unless it takes more memory than it may."""
        self.check()
        return self.make()


class LayoutRequest:
    """A model and a draw to be laid out, with facts that several kinds need, computed once."""

    def __init__(
        self,
        model: Model,
        draw: Draw,
        scan: Scan,
        max_memory: Size | None,
        beta: Callable[[], float] | None = None,
    ) -> None:
        if isinstance(scan, str) and scan == "auto":
            scan = model_capabilities(model).preferred_scan
        self.model, self.draw, self.scan, self.max_memory = model, draw, scan, max_memory
        self._beta = beta

    @property
    def herd(self) -> SystematicDraw:
        """The draw, for layouts of herds."""
        return cast(SystematicDraw, self.draw)

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
        """Entries of all tables."""
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
        """Raise if `what` is above the limit; a little always fits."""
        if self.max_memory is None and need <= memory_limits.ALWAYS_ALLOWED_BYTES:
            return lambda: None
        return lambda: memory_limits.check_memory(need, self.max_memory, what)

    def offer(
        self,
        layout: type[SweepableLayout],
        *,
        tables: float,
        chain: float,
        what: str,
        make: Callable[..., SweepableLayout],
        check: Callable[[], None] | None = None,
        has_growing_memory: bool = False,
        contexts: float = np.inf,
        starts_rows: bool = False,
    ) -> Proposal:
        """Return a proposal of `layout`: `tables` bytes once, and `chain` bytes for every chain.

        `make(**facts)` builds it; the facts are the model, the memory and, for a herd, its members.
        Where `check` is not given, the memory is checked against the limit, and the error says that
        `what` needs it.
        """
        need = tables + chain
        facts: dict[str, Any] = {"model": self.model, "memory": need, "chain_memory": chain}
        if layout.is_herd and isinstance(self.draw, SystematicDraw):
            facts |= {"members": self.draw.members, "kept": self.draw.kept}
        return Proposal(
            kind=layout.kind,
            memory=need,
            chain_memory=chain,
            check=check or self.limit(need, what),
            make=lambda: make(**facts),
            min_block_sweeps=layout.min_block_sweeps,
            has_growing_memory=has_growing_memory,
            contexts=contexts,
            starts_rows=starts_rows,
        )


class ProposesLayout(Protocol):
    """A kind of layout, as `propose_layout` uses it."""

    kind: ClassVar[str]
    is_herd: ClassVar[bool]
    can_anneal: ClassVar[bool]

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        """Offer to lay the task out; `forced` if the user asked for this kind."""
