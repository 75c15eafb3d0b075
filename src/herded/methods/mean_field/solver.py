"""q_i <- (1 - D) q_i + D q_i^new, log q_i^new[k] = sum_f E_(q_-i)[log f(.., k, ..)]: mean field.

The baseline of section 4.2 of Bornn et al. (2013), with the damping of Murphy (2012), section
21.3: D = 1 is undamped, D = 0.5 takes half steps. Of all products q = prod_i q_i it looks for the
one closest to pi in KL(q || pi), that is, with the highest lower bound of log Z:

    log Z >= sum_f E_q[log f] + sum_i H(q_i)

Sequential sweeps never lower the bound and end at a stationary point; parallel ones may oscillate.
With hard zeros it is a heuristic: q gives positive probability to states that pi forbids unless
it happens to leave them, and then the bound is -inf.

    step                                 runs in
    first q                              methods.mean_field.update_kernels.start_beliefs
    a sweep over all variables, with D   methods.mean_field.update_kernels.sweep_beliefs
    sum_f E_(q_-i)[log f(.., k, ..)]     methods.mean_field.update_kernels.expected_logits
    the bound of log Z                   methods.mean_field.update_kernels.log_z_lower_bound
    sweeps until they change little      methods.damped_solver.DampedSolver.advance
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from herded.errors import MethodError
from herded.layouts.base import Layout
from herded.methods.damped_solver import DampedSolver, DampedState, log_constant, order_factors
from herded.methods.mean_field import update_kernels
from herded.methods.protocol import Answer, SolverLayout
from herded.models.factor_graph import to_factor_graph
from herded.models.protocol import Model
from herded.system import memory_limits
from herded.system.memory_limits import Size


@dataclass
class MeanFieldState(DampedState):
    """The state of mean field."""

    q: np.ndarray  # (N, K), zero beyond a variable's cardinality


@dataclass(frozen=True)
class MeanField(DampedSolver):
    """Naive mean field: the product of independent distributions that is closest to the model.

    A sweep updates every free variable once. It starts at the product of each variable's unary
    factors. A state whose factors have a -inf where q is positive gets probability 0; a variable
    that would lose all of its states in this way keeps its old distribution.

    Parameters
    ----------
    damping : float
        D in (0, 1]: the share of the new value in every step; 1 is undamped.
    updates : "sequential", "checkerboard" or "parallel"
        In index order with the newest values; one colour after the other, no two neighbours at a
        time; or all with the values of the last sweep, which may oscillate.
    tolerance : float
        It has converged when no probability changed by this much in a sweep; 0 never stops early.

    Notes
    -----
    `result.marginals` are the distributions q, `result.log_z` the lower bound of log Z, and
    `result.converged` says whether the last sweep changed less than the tolerance.

    Examples
    --------
    >>> model = hd.ising_grid([[1.0, 0.0, 0.0]], coupling=0.5)
    >>> result = hd.infer(model, hd.MeanField())
    >>> result.converged, result.marginals[..., 1].round(3)
    (True, array([[0.924, 0.749, 0.622]]))
    >>> result.log_z < hd.infer(model, hd.Exact()).log_z
    True
    """

    updates: Literal["sequential", "checkerboard", "parallel"] = "sequential"

    orders: ClassVar[tuple[str, ...]] = ("sequential", "checkerboard", "parallel")

    def compile(
        self, model: Model, *, kind: str | None = None, max_memory: Size | None = None
    ) -> Layout:
        """Lay the model out for this method."""
        if kind not in (None, "factor"):
            raise MethodError(f'expected the layout "factor" for mean field, got {kind!r}')
        scan = "checkerboard" if self.updates == "checkerboard" else "sequential"
        need = 8.0 * model.n_variables * int(model.cardinalities.max())
        memory_limits.check_memory(need, max_memory, "marginals")
        arrays = order_factors(model, scan)
        return SolverLayout(model=model, method=self, arrays=arrays, memory=need)

    def init(self, layout: Layout) -> MeanFieldState:
        """Start every variable at the distribution of its unary factors."""
        q = np.empty((layout.model.n_variables, layout.width))
        update_kernels.start_beliefs(layout.arrays.factors, layout.model.evidence, q)
        return MeanFieldState(q)

    def step(self, layout: Layout, state: MeanFieldState) -> float:
        factors, order = layout.arrays
        parallel = self.updates == "parallel"
        change: float = update_kernels.sweep_beliefs(
            factors, order, state.q, float(self.damping), parallel
        )
        return change

    def answer(self, layout: Layout, state: MeanFieldState) -> Answer:
        """Return the current q and its lower bound of log Z."""
        graph = to_factor_graph(layout.model)
        bound = update_kernels.log_z_lower_bound(layout.arrays.factors, state.q)
        return Answer(
            marginals=state.q.copy(),
            log_z=float(bound + log_constant(graph)),
            converged=state.converged,
        )
