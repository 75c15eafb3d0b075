"""pi(x) = 1/Z exp sum_f log_table_f[x_f], by summing and maximising variables out.

Bucket elimination (Dechter 1999): all marginals, log Z and the best state, exact on every model
whose treewidth allows it. The reference that the samplers are measured against, as the exact
marginals of section 4 of Bornn et al. (2013).
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from herded.errors import InfeasibleError, MethodError
from herded.layouts.protocol import Layout
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
from herded.methods.elimination_order import (
    MAX_AXES,
    EliminationOrder,
    elimination_order,
    fixed_states,
)
from herded.methods.protocol import Answer, SolverLayout
from herded.models.factor_graph import FactorGraph, as_graph
from herded.models.protocol import Model
from herded.system import memory
from herded.system.memory import Size

MAX_JOINT = 2**20  # states of a model whose joint is written out


@dataclass
class ExactState:
    """Whether it is done, and the answer once it is."""

    sweep: int = 0
    converged: bool = False
    found: Answer | None = None


@dataclass(frozen=True)
class Exact:
    """All marginals, log Z and the most probable state by variable elimination.

    Raises
    ------
    MemoryLimitError
        By `infer`, before it starts, if the tables of the elimination do not fit in memory.
    InfeasibleError
        By `infer`, if no state has positive probability.

    Notes
    -----
    `result.marginals`, `result.pair_marginals` of variables that share a factor, `result.log_z`
    and `result.best` are exact. Models of at most 2^20 joint states have a `result.joint`. Of
    several best states it finds one, the same on every run.

    Examples
    --------
    >>> model = hd.ising_grid([[1.0, 0.0, 0.0]], coupling=0.5)
    >>> result = hd.infer(model, hd.Exact())
    >>> result.marginals[..., 1].round(3)
    array([[0.881, 0.676, 0.581]])
    >>> round(result.log_z, 4), result.best.state
    (2.7535, array([[1, 1, 1]]))
    """

    in_one_step: ClassVar[bool] = True

    def compile(
        self, model: Model, *, kind: str | None = None, max_memory: Size | None = None
    ) -> Layout:
        """Find an order of elimination, the layout's array, and refuse what is too large."""
        if kind not in (None, "factor"):
            raise MethodError(f'expected the layout "factor" for Exact, got {kind!r}')
        return self.in_order(model, elimination_order(model, memory.limit(max_memory)))

    def in_order(self, model: Model, found: EliminationOrder) -> Layout:
        """The layout of an order that was found already."""
        return SolverLayout(model=model, method=self, arrays=found.order, memory=found.memory)

    def init(self, layout: Layout) -> ExactState:
        """Nothing yet."""
        return ExactState()

    def advance(self, layout: Layout, state: ExactState, sweeps: int) -> None:
        """All of it, whatever `sweeps` says."""
        if not state.converged:
            state.found = _solve(as_graph(layout.model), layout.arrays)
            state.sweep, state.converged = 1, True

    def answer(self, layout: Layout, state: ExactState) -> Answer:
        """Everything, once it is found."""
        return state.found or Answer(converged=False)


def _solve(graph: FactorGraph, order: np.ndarray) -> Answer:
    choices, log_best = eliminate(graph, order, max_out)
    if log_best == -math.inf:
        raise InfeasibleError(
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
