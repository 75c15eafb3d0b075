"""The base of mean field and belief propagation: factors in an order, and damped steps.

A step takes the share D of the new value, as in Murphy (2012), section 21.3: D = 1 is undamped.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from herded.errors import MethodError
from herded.layouts.base import Layout
from herded.layouts.factor_arrays import FactorArrays, compile_factors
from herded.layouts.visit_order import compile_scan
from herded.methods.options import Options
from herded.methods.protocol import SolverCapabilities
from herded.models.factor_graph import FactorGraph, to_factor_graph
from herded.models.protocol import Model
from herded.system.argument_checks import is_number_between


class OrderedFactors(NamedTuple):
    """The factors as kernels read them."""

    factors: FactorArrays
    order: np.ndarray  # of the free variables, component by component


def order_factors(model: Model, scan: str) -> OrderedFactors:
    """Lay the factors of `model` out, and its variables in the order of `scan`."""
    graph = to_factor_graph(model)
    factors = compile_factors(graph)
    return OrderedFactors(factors, compile_scan(scan, factors, graph.evidence < 0, False).order)


def log_constant(graph: FactorGraph) -> float:
    """Return the factors over no variable, as a part of log Z."""
    constants = graph.table_start[:-1][np.diff(graph.factor_start) == 0]
    return float(graph.log_tables[constants].sum())


@dataclass(kw_only=True)
class DampedState:
    """The state of a damped solver."""

    sweep: int = 0
    change: float = np.inf  # the largest step of a number in the last sweep
    converged: bool = False


@dataclass(frozen=True)
class DampedSolver(Options):
    """A solver that takes damped steps until they are small."""

    damping: float = 1.0
    updates: str = "sequential"
    tolerance: float = 1e-9

    capabilities: ClassVar[SolverCapabilities] = SolverCapabilities()
    orders: ClassVar[tuple[str, ...]] = ("sequential", "parallel")  # what `updates` may be

    def __post_init__(self) -> None:
        if not is_number_between(self.damping, 0.0, 1.0) or self.damping == 0.0:
            raise MethodError(f"expected damping in (0, 1], got {self.damping!r}")
        if self.updates not in self.orders:
            *others, last = (f'"{order}"' for order in self.orders)
            raise MethodError(
                f"expected updates {', '.join(others)} or {last}, got {self.updates!r}"
            )
        if not is_number_between(self.tolerance, 0.0, np.inf):
            raise MethodError(f"expected a tolerance of 0 or more, got {self.tolerance!r}")

    def step(self, layout: Layout, state: Any) -> float:
        """Run one sweep; return how much it changed.

        Component by component: the same bits as in index order.
        """
        raise NotImplementedError

    def advance(self, layout: Layout, state: Any, sweeps: int) -> None:
        """Run sweeps, fewer if it converges."""
        for _ in range(sweeps):
            if state.converged:
                return
            state.change = float(self.step(layout, state))
            state.converged = state.change < self.tolerance
            state.sweep += 1
