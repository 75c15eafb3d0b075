"""m_(f->i) <- (1 - D) m_(f->i) + D m_(f->i)^new: loopy belief propagation.

    m_(f->i)^new[k] = sum over x_f with x_i = k of f(x_f) prod_(j in f, j != i) m_(j->f)[x_j]
    m_(j->f)        = prod_(g at j, g != f) m_(g->j)

The sum-product algorithm of Kschischang, Frey and Loeliger (2001), damped as mean field is in
Murphy (2012): D = 1 is undamped, D = 0.5 takes half steps. On trees it ends with the exact
marginals and log Z; on graphs with loops it may not converge, and what it converges to is a
stationary point of the Bethe free energy (Yedidia, Freeman and Weiss 2005), not a bound.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from herded.errors import MethodError, SupportError
from herded.layouts.choose import Plan, compile_plan
from herded.methods import belief_propagation_kernel as kernel
from herded.methods.options import is_between
from herded.methods.protocol import Answer
from herded.models.factor_graph import FactorGraph
from herded.system import memory


@dataclass
class BeliefPropagationState:
    """All that changes."""

    messages: np.ndarray  # (entries, K) log-messages, entries as in `FactorArrays`
    sweep: int = 0
    change: float = np.inf  # the largest step of a log-message in the last sweep
    converged: bool = False


@dataclass(frozen=True)
class BeliefPropagation:
    """Sum-product; a sweep updates every message from a factor to a free variable once.

    `updates="sequential"` uses the newest messages and goes through the variables in index order,
    then backwards, in turns: two sweeps do a chain. `"parallel"` uses those of the last sweep. It
    has converged when no log-message changed by `tolerance` in a sweep (0 never stops early).
    It starts at uniform messages, those of unary factors at their tables. Hard zeros are exact:
    a state that a message forbids is impossible, at once, however damped.
    """

    damping: float = 1.0
    updates: Literal["sequential", "parallel"] = "sequential"
    tolerance: float = 1e-9

    one_shot: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not is_between(self.damping, 0.0, 1.0) or self.damping == 0.0:
            raise MethodError(f"expected damping in (0, 1], got {self.damping!r}")
        if self.updates not in ("sequential", "parallel"):
            raise MethodError(f'expected updates "sequential" or "parallel", got {self.updates!r}')
        if not is_between(self.tolerance, 0.0, np.inf):
            raise MethodError(f"expected a tolerance of 0 or more, got {self.tolerance!r}")

    def compile(self, model: Any, *, kind: str | None = None, cap: float | None = None) -> Plan:
        """Lay the model out for this method."""
        if kind not in (None, "factor"):
            raise MethodError(f'expected the plan "factor" for belief propagation, got {kind!r}')
        plan = compile_plan(model, kind="factor", scan="sequential", cap=cap)
        need = 8.0 * _n_entries(plan) * plan.width
        memory.check(need, cap, "messages")
        return replace(plan, memory=need, made_for=self)

    def init(self, plan: Plan) -> BeliefPropagationState:
        """No message says anything yet but those of unary factors."""
        messages = np.empty((_n_entries(plan), plan.width))
        kernel.start(plan.factors, messages)
        return BeliefPropagationState(messages)

    def advance(self, plan: Plan, state: BeliefPropagationState, sweeps: int) -> None:
        """Run sweeps, fewer if it converges."""
        assert plan.scan is not None
        parallel = self.updates == "parallel"
        for _ in range(sweeps):
            if state.converged:
                return
            # Component by component: the same bits as in index order.
            change = kernel.sweep(
                plan.factors,
                plan.scan.order,
                state.sweep % 2 == 1,
                state.messages,
                _gather(plan, state),
                float(self.damping),
                parallel,
            )
            state.change = float(change)
            state.converged = state.change < self.tolerance
            state.sweep += 1

    def answer(self, plan: Plan, state: BeliefPropagationState) -> Answer:
        """The beliefs of this sweep and the Bethe estimate of log Z."""
        graph = plan.model.as_factor_graph()
        q = np.empty((graph.n_variables, plan.width))
        joint = np.empty_like(graph.log_tables)
        log_z = kernel.beliefs(plan.factors, state.messages, _gather(plan, state), q, joint)
        constants = graph.table_start[:-1][np.diff(graph.factor_start) == 0]
        return Answer(
            marginals=q,
            log_z=float(log_z + graph.log_tables[constants].sum()),
            pairs=_pairs(graph, joint),
            converged=state.converged,
        )


def _n_entries(plan: Plan) -> int:
    assert plan.factors is not None
    return len(plan.factors.table_base)


def _gather(plan: Plan, state: BeliefPropagationState) -> np.ndarray:
    """The summed log-messages of every variable, from scratch, so that nothing drifts."""
    totals = np.empty((plan.model.n_variables, plan.width))
    stuck = kernel.gather(plan.factors, plan.model.evidence, state.messages, totals)
    if stuck >= 0:
        name = repr(plan.model.names[stuck]) if plan.model.names else stuck
        raise SupportError(
            f"expected a state of positive probability, but hard zeros forbid every state of "
            f"variable {name}: correct the evidence or the -inf log-potentials"
        )
    return totals


def _pairs(graph: FactorGraph, joint: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
    """Beliefs of the pairwise factors; of two factors over one pair, the first."""
    pairs: dict[tuple[int, int], np.ndarray] = {}
    for f in np.flatnonzero(np.diff(graph.factor_start) == 2):
        i, j = graph.factor_variables[graph.factor_start[f] : graph.factor_start[f + 1]].tolist()
        belief = joint[graph.table_start[f] : graph.table_start[f + 1]]
        table = belief.reshape(graph.cardinalities[i], graph.cardinalities[j])
        pairs.setdefault((min(i, j), max(i, j)), table if i < j else table.T)
    return pairs
