"""pi(x) = 1/Z exp sum_f log_table_f[x_f], by summing and maximising variables out.

Bucket elimination (Dechter 1999): all marginals, log Z and the best state, exact on every model
whose treewidth allows it. The reference that the samplers are measured against, as the exact
marginals of section 4 of Bornn et al. (2013).
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from herded.errors import MethodError, SupportError
from herded.layouts.choose import Plan
from herded.layouts.scan import SEQUENTIAL, ScanArrays
from herded.methods.elimination import (
    Step,
    cluster_marginals,
    eliminate,
    max_out,
    multiply_out,
    pair_marginals,
    sum_out,
    trace_back,
)
from herded.methods.elimination_order import MAX_AXES, elimination_order, fixed_states
from herded.methods.protocol import Answer
from herded.models.factor_graph import FactorGraph
from herded.system import memory
from herded.system.arrays import lock

MAX_JOINT = 2**20  # states of a model whose joint is written out


@dataclass
class ExactState:
    """Nothing, then everything."""

    sweep: int = 0
    converged: bool = False
    found: Answer | None = None


@dataclass(frozen=True)
class Exact:
    """All marginals, log Z, the best state, and the joint of models of at most 2^20 states.

    Refuses, before it starts, what does not fit in memory. Of several best states it finds one,
    the same on every run.
    """

    one_shot: ClassVar[bool] = True

    def compile(self, model: Any, *, kind: str | None = None, cap: float | None = None) -> Plan:
        """Find an order of elimination, which is the plan's scan, and refuse what is too large."""
        if kind not in (None, "factor"):
            raise MethodError(f'expected the plan "factor" for Exact, got {kind!r}')
        found = elimination_order(model, memory.limit(cap))
        segment = np.array([0, len(found.order)])
        scan = lock(ScanArrays(np.array([SEQUENTIAL]), found.order, segment))
        return Plan(
            model=model,
            kind="factor",
            scalar=False,
            memory=found.memory,
            scan=scan,
            made_for=self,
        )

    def init(self, plan: Plan) -> ExactState:
        """Nothing yet."""
        return ExactState()

    def advance(self, plan: Plan, state: ExactState, sweeps: int) -> None:
        """All of it, whatever `sweeps` says."""
        if not state.converged:
            assert plan.scan is not None
            state.found = _solve(plan.model.as_factor_graph(), plan.scan.order)
            state.sweep, state.converged = 1, True

    def answer(self, plan: Plan, state: ExactState) -> Answer:
        """Everything, once it is found."""
        return state.found or Answer(converged=False)


def _solve(graph: FactorGraph, order: np.ndarray) -> Answer:
    choices, log_best = eliminate(graph, order, max_out)
    if log_best == -math.inf:
        raise SupportError(
            "expected some state of positive probability, but the factors and the evidence "
            "together forbid all: correct the hard constraints, or drop evidence"
        )
    x = fixed_states(graph)
    x[order] = trace_back(choices)
    del choices
    conditionals, log_z = eliminate(graph, order, sum_out)
    joint = _joint(graph, order, conditionals)
    marginals, pairs = _marginals(graph, order, conditionals)
    return Answer(
        marginals=marginals,
        log_z=log_z,
        state=x,
        log_score=graph.log_score(x),
        pairs=pairs,
        joint=joint,
    )


def _joint(graph: FactorGraph, order: np.ndarray, steps: list[Step]) -> np.ndarray | None:
    """The joint over all variables, zero where it contradicts the evidence, if it is small."""
    states = graph.cardinalities.tolist()
    if math.prod(states) > MAX_JOINT or len(states) > MAX_AXES:
        return None
    fixed = fixed_states(graph)
    joint = np.zeros(states)
    possible = tuple(int(k) if k >= 0 else slice(None) for k in fixed)
    joint[possible] = multiply_out(steps).transpose(np.argsort(order))
    return joint


def _marginals(
    graph: FactorGraph, order: np.ndarray, steps: list[Step]
) -> tuple[np.ndarray, dict[tuple[int, int], np.ndarray]]:
    """Marginals (N, K) of all variables, and of all pairs that share a factor."""
    states, fixed = graph.cardinalities, fixed_states(graph)
    marginals = np.zeros((graph.n_variables, int(states.max())))
    clamped = np.flatnonzero(fixed >= 0)
    marginals[clamped, fixed[clamped]] = 1.0
    pairs: dict[tuple[int, int], np.ndarray] = {}
    for scope, joint in cluster_marginals(steps):
        i, *others = order[list(scope)].tolist()
        marginals[i, : states[i]] = joint.reshape(states[i], -1).sum(axis=1)
        near = set(graph.neighbours(i).tolist())
        axes = {axis for axis, j in enumerate(others, 1) if j in near}
        for axis, table in pair_marginals(joint, axes):
            j = others[axis - 1]
            pairs[min(i, j), max(i, j)] = table if i < j else table.T
    for i in clamped.tolist():  # a fixed variable is independent of every other
        for j in graph.neighbours(i).tolist():
            a, b = min(i, j), max(i, j)
            pairs[a, b] = np.outer(marginals[a, : states[a]], marginals[b, : states[b]])
    return marginals, dict(sorted(pairs.items()))
