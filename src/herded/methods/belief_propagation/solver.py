"""m_(f->i) <- (1 - D) m_(f->i) + D m_(f->i)^new: loopy belief propagation.

    m_(f->i)^new[k] = sum over x_f with x_i = k of f(x_f) prod_(j in f, j != i) m_(j->f)[x_j]
    m_(j->f)        = prod_(g at j, g != f) m_(g->j)

The sum-product algorithm of Kschischang, Frey and Loeliger (2001), damped as mean field is in
Murphy (2012): D = 1 is undamped, D = 0.5 takes half steps. On trees it ends with the exact
marginals and log Z; on graphs with loops it may not converge, and what it converges to is a
stationary point of the Bethe free energy (Yedidia, Freeman and Weiss 2005), not a bound.

    step                                 runs in
    first messages                       methods.belief_propagation.message_kernels.first_messages
    a sweep over all factors             methods.belief_propagation.message_kernels.sweep_messages
    m_(f->i)^new                         methods.belief_propagation.message_kernels.factor_message
    m_(j->f)                             methods.belief_propagation.message_kernels.variable_message
    the step with D                      methods.belief_propagation.message_kernels.damp_message
    marginals and log Z                  methods.belief_propagation.message_kernels.compute_beliefs
    sweeps until they change little      methods.damped_solver.DampedSolver.advance
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from herded.errors import InfeasibleError, MethodError
from herded.layouts.base import Layout
from herded.methods.belief_propagation import message_kernels
from herded.methods.damped_solver import DampedSolver, DampedState, log_constant, order_factors
from herded.methods.protocol import Answer, SolverLayout
from herded.models.factor_graph import FactorGraph, to_factor_graph
from herded.models.naming import variable_text
from herded.models.protocol import Model
from herded.system import memory_limits
from herded.system.memory_limits import Size


@dataclass
class BeliefPropagationState(DampedState):
    """The state of belief propagation."""

    messages: np.ndarray  # (entries, K) log-messages, entries as in `FactorArrays`


@dataclass(frozen=True)
class BeliefPropagation(DampedSolver):
    """Sum-product belief propagation: exact on trees, an approximation where there are loops.

    A sweep updates every message from a factor to a free variable once. It starts at uniform
    messages, those of unary factors at their tables. Hard zeros are exact: a state that a message
    forbids is impossible at once, whatever the damping.

    Parameters
    ----------
    damping : float
        In (0, 1]: the share of the new value in every step; 1 is undamped.
    updates : "sequential" or "parallel"
        With the newest messages in index order, then backwards, in turns, so that two sweeps do a
        chain; or with those of the last sweep.
    tolerance : float
        It has converged when no log-message changed by this much in a sweep; 0 never stops early.

    Notes
    -----
    `result.marginals` and `result.pair_marginals` are the beliefs, `result.log_z` is Bethe's
    estimate, and `result.converged` says whether the messages settled.

    Examples
    --------
    >>> model = hd.chain_model([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]], np.eye(2))
    >>> result = hd.infer(model, hd.BeliefPropagation())
    >>> result.marginals[:, 1].round(3)
    array([0.338, 0.575, 0.858])
    >>> truth = hd.infer(model, hd.Exact())
    >>> bool(abs(result.marginals - truth.marginals).max() < 1e-9)
    True
    """

    updates: Literal["sequential", "parallel"] = "sequential"

    def compile(
        self, model: Model, *, kind: str | None = None, max_memory: Size | None = None
    ) -> Layout:
        """Lay the model out for this method."""
        if kind not in (None, "factor"):
            raise MethodError(f'expected the layout "factor" for belief propagation, got {kind!r}')
        arrays = order_factors(model, "sequential")
        need = 8.0 * len(arrays.factors.table_base) * int(model.cardinalities.max())
        memory_limits.check_memory(need, max_memory, "messages")
        return SolverLayout(model=model, method=self, arrays=arrays, memory=need)

    def init(self, layout: Layout) -> BeliefPropagationState:
        """Start with uniform messages, except those of unary factors."""
        messages = np.empty((_n_entries(layout), layout.width))
        message_kernels.first_messages(layout.arrays.factors, messages)
        return BeliefPropagationState(messages)

    def step(self, layout: Layout, state: BeliefPropagationState) -> float:
        change: float = message_kernels.sweep_messages(
            layout.arrays.factors,
            layout.arrays.order,
            state.sweep % 2 == 1,
            state.messages,
            _gather(layout, state),
            float(self.damping),
            self.updates == "parallel",
        )
        return change

    def answer(self, layout: Layout, state: BeliefPropagationState) -> Answer:
        """Return the current beliefs and the Bethe estimate of log Z."""
        graph = to_factor_graph(layout.model)
        q = np.empty((graph.n_variables, layout.width))
        joint = np.empty_like(graph.log_tables)
        log_z = message_kernels.compute_beliefs(
            layout.arrays.factors, state.messages, _gather(layout, state), q, joint
        )
        return Answer(
            marginals=q,
            log_z=float(log_z + log_constant(graph)),
            pairs=_pairs(graph, joint),
            converged=state.converged,
        )


def _n_entries(layout: Layout) -> int:
    return len(layout.arrays.factors.table_base)


def _gather(layout: Layout, state: BeliefPropagationState) -> np.ndarray:
    """Return the summed log-messages of every variable, from scratch, so that nothing drifts."""
    totals = np.empty((layout.model.n_variables, layout.width))
    stuck = message_kernels.sum_messages(
        layout.arrays.factors, layout.model.evidence, state.messages, totals
    )
    if stuck >= 0:
        name = variable_text(layout.model, stuck)
        raise InfeasibleError(
            f"expected a state of positive probability, but hard zeros forbid every state of "
            f"variable {name}: correct the evidence or the -inf log-potentials"
        )
    return totals


def _pairs(graph: FactorGraph, joint: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
    """Return beliefs of the pairwise factors; of two factors over one pair, the first."""
    pairs: dict[tuple[int, int], np.ndarray] = {}
    for f in np.flatnonzero(np.diff(graph.factor_start) == 2):
        i, j = graph.factor_variables[graph.factor_start[f] : graph.factor_start[f + 1]].tolist()
        belief = joint[graph.table_start[f] : graph.table_start[f + 1]]
        table = belief.reshape(graph.cardinalities[i], graph.cardinalities[j])
        pairs.setdefault((min(i, j), max(i, j)), table if i < j else table.T)
    return pairs
