"""pi(x) = 1/Z exp sum_f log_table_f[x_f], by summing and maximising variables out.

Bucket elimination (Dechter, "Bucket elimination: a unifying framework for reasoning", 1999): all
marginals, log Z and the best state, exact on every model whose treewidth allows it. The reference
that the samplers are measured against, as the exact marginals of section 4 of Bornn et al. (2013).

    message_k(x_S) = (+)_{x_k} sum of the log-tables in bucket k,   S = the later variables in it

The operation (+) is a choice: log-sum-exp leaves pi(x_k | x_S) behind, max leaves the best x_k for
each x_S. Going back through the buckets turns the first into marginals and the second into the best
state. Time and memory are exponential in the treewidth of the order.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from herded.errors import InfeasibleError, MethodError
from herded.layouts.protocol import Layout
from herded.methods.elimination_order import (
    ENTRY,
    MAX_AXES,
    EliminationOrder,
    elimination_order,
    fixed_states,
)
from herded.methods.options import Options
from herded.methods.protocol import Answer, SolverLayout
from herded.models.factor_graph import FactorGraph, as_graph
from herded.models.protocol import Model
from herded.system import memory
from herded.system.exp import exp_array, log_array
from herded.system.jit import jit
from herded.system.memory import Size

MAX_JOINT = 2**20  # states of a model whose joint is written out

PART = 256  # numbers summed one after another

# -- forwards: sum or maximise variables out, first to last ------------------------------------

Scope = tuple[int, ...]  # places in the order, ascending
Bucket = dict[Scope, np.ndarray]  # log-tables over their scopes
Collapse = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class Step(NamedTuple):
    """A place, its later neighbours, and what the elimination left behind for them."""

    scope: Scope
    kept: np.ndarray


def eliminate(
    graph: FactorGraph, order: np.ndarray, collapse: Collapse
) -> tuple[list[Step], float]:
    """Collapse every bucket in turn; the steps and the total, -inf where nothing is possible.

    `collapse` takes a bucket's table as (K, M), the variable by its later neighbours, and gives
    the message (M,) and what to keep: (K, M) or (M,).
    """
    buckets, total = _fill_buckets(graph, order)
    states = graph.cardinalities[order].tolist()
    steps = []
    for k in range(len(order)):
        bucket = buckets[k]
        scope = tuple(sorted({k}.union(*bucket)))
        shape = tuple(states[p] for p in scope)
        table = _combine(bucket, scope, shape).reshape(states[k], -1)
        bucket.clear()  # tables are let go once they are used
        message, kept = collapse(table)
        steps.append(Step(scope, kept.reshape(kept.shape[:-1] + shape[1:])))
        if len(scope) > 1:
            _put(buckets[scope[1]], scope[1:], message.reshape(shape[1:]))
        else:
            total += float(message[0])
        del table, message  # or they would be there through the next step
    return steps, total


def _fill_buckets(graph: FactorGraph, order: np.ndarray) -> tuple[list[Bucket], float]:
    """Every factor, sliced by the fixed states, in the bucket of its first free variable."""
    fixed = np.maximum(fixed_states(graph), 0)[graph.factor_variables]
    offset = np.concatenate([[0], np.cumsum(fixed * graph.factor_strides)])
    base = graph.table_start[:-1] + np.diff(offset[graph.factor_start])
    place = np.full(graph.n_variables, -1)
    place[order] = np.arange(len(order))
    places = place[graph.factor_variables].tolist()
    strides, starts = graph.factor_strides.tolist(), graph.factor_start.tolist()
    states = graph.cardinalities[order].tolist()
    buckets: list[Bucket] = [{} for _ in order]
    total = 0.0
    for f, first in enumerate(base.tolist()):
        slots = range(starts[f], starts[f + 1])
        axes = sorted((places[s], strides[s]) for s in slots if places[s] >= 0)
        if not axes:
            total += float(graph.log_tables[first])
            continue
        scope = tuple(p for p, _ in axes)
        view: np.ndarray = np.ndarray(
            [states[p] for p in scope],
            buffer=graph.log_tables,
            offset=ENTRY * first,
            strides=[ENTRY * stride for _, stride in axes],
        )
        _put(buckets[scope[0]], scope, view)
    return buckets, total


def _put(bucket: Bucket, scope: Scope, table: np.ndarray) -> None:
    """Tables of one scope are added at once: many messages need the memory of one."""
    bucket[scope] = bucket[scope] + table if scope in bucket else table


def _combine(bucket: Bucket, scope: Scope, shape: tuple[int, ...]) -> np.ndarray:
    """The sum of a bucket's log-tables over all of its variables.

    Small tables come first, so that few additions run at full size; among them those that reach
    furthest back, so that the rows of what is summed are long.
    """
    table = np.zeros((shape[0], *[1] * (len(shape) - 1)))
    for places, part in sorted(bucket.items(), key=lambda item: (item[1].size, -item[0][-1])):
        spread = part.reshape([n if p in places else 1 for p, n in zip(scope, shape, strict=True)])
        out = table if table.shape == shape else None
        table = np.add(table, spread, out=out, order="C")
    return table


def sum_out(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log sum_k exp table[k], and the conditionals; zeros where nothing is possible."""
    top = table.max(axis=0)
    top[np.isneginf(top)] = 0.0
    table -= top
    exp_array(table, out=table)
    total = table.sum(axis=0)
    table /= np.where(total > 0.0, total, 1.0)
    log_array(total, out=total)
    total += top
    return total, table


def max_out(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """max_k table[k], and the lowest k that attains it."""
    best = table[0].copy()
    choice = np.zeros(len(best), np.min_scalar_type(len(table) - 1))
    for k in range(1, len(table)):
        better = table[k] > best
        np.copyto(best, table[k], where=better)
        choice[better] = k
    return best, choice


# -- backwards: last to first ------------------------------------------------------------------


def trace_back(steps: list[Step]) -> np.ndarray:
    """The best state, by place, from the steps of `max_out`."""
    x = np.zeros(len(steps), np.int64)
    for step in reversed(steps):
        x[step.scope[0]] = step.kept[tuple(x[list(step.scope[1:])])]
    return x


def multiply_out(steps: list[Step]) -> np.ndarray:
    """The joint of all places, in order, from the steps of `sum_out`: for small models."""
    joint = np.ones(())
    for k, step in reversed(list(enumerate(steps))):
        shape = np.ones(len(steps) - k, np.int64)
        shape[np.array(step.scope) - k] = step.kept.shape
        joint = step.kept.reshape(shape) * joint
    return joint


def cluster_marginals(steps: list[Step]) -> Iterator[tuple[Scope, np.ndarray]]:
    """pi(x_k, x_S) = pi(x_k | x_S) pi(x_S) for every step, last to first, in place of what
    `sum_out` kept. Only products and sums of probabilities: nothing can cancel.
    """
    for scope, table in reversed(steps):
        if len(scope) > 1:  # S lies within the cluster of its first place, which comes earlier here
            parent = steps[scope[1]]
            gone = tuple(a for a, p in enumerate(parent.scope) if p not in scope)
            table *= parent.kept.sum(axis=gone)
        yield scope, table


def pair_marginals(joint: np.ndarray, axes: set[int]) -> Iterator[tuple[int, np.ndarray]]:
    """The marginals of the first axis with each of `axes`.

    Axes are summed out from the back, and each sum leaves a smaller table: all pairs together
    cost about as much as one.
    """
    first = joint.shape[0]
    for axis in range(joint.ndim - 1, min(axes, default=joint.ndim) - 1, -1):
        last = joint.shape[axis]
        if axis in axes:
            yield axis, _sum_middle(joint.reshape(first, -1, last))
        joint = _sum_last(joint.reshape(-1, last)).reshape(joint.shape[:-1])


@jit
def _sum_middle(table):
    """The sum over the middle axis of three, in parts, so that few roundings follow one another.

    Not by a product with ones: BLAS adds in an order that depends on the CPU.
    """
    a, b, c = table.shape
    sums, part = np.zeros((a, c)), np.empty(c)
    for i in range(a):
        for start in range(0, b, PART):
            part[:] = 0.0
            for j in range(start, min(start + PART, b)):
                for k in range(c):
                    part[k] += table[i, j, k]
            for k in range(c):
                sums[i, k] += part[k]
    return sums


@jit
def _sum_last(table):
    sums = np.empty(len(table))
    for i in range(len(table)):
        total = 0.0
        for k in range(table.shape[1]):
            total += table[i, k]
        sums[i] = total
    return sums


# -- the method ----------------------------------------------------------------------------------


@dataclass
class ExactState:
    """Whether it is done, and the answer once it is."""

    sweep: int = 0
    converged: bool = False
    found: Answer | None = None


@dataclass(frozen=True)
class Exact(Options):
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
