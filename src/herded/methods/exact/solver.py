"""pi(x) = 1/Z exp sum_f log_table_f[x_f], by summing and maximising variables out.

Bucket elimination (Dechter, "Bucket elimination: a unifying framework for reasoning", 1999): all
marginals, log Z and the best state, exact on every model whose treewidth allows it. The reference
that the samplers are measured against, as the exact marginals of section 4 of Bornn et al. (2013).

    step                                 runs in
    order; time is exponential in width  methods.exact.elimination_order.elimination_order
    plan, which decides the memory       methods.exact.elimination_plan.plan_elimination
    one table for each bucket            methods.exact.elimination_tables.fill_buckets
    sum out a variable: log Z            methods.exact.elimination.SumElimination.forward
    marginals, back along the order      methods.exact.elimination.SumElimination.backward
    maximise a variable out              methods.exact.elimination.MaxElimination.forward
    the best state, back                 methods.exact.elimination.MaxElimination.backward
"""

import hashlib
import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import Any, ClassVar

import numpy as np

from herded.errors import InfeasibleError, MethodError
from herded.layouts.base import Layout
from herded.methods.exact.elimination import MaxElimination, SumElimination, joint_distribution
from herded.methods.exact.elimination_order import (
    BYTES_PER_ENTRY,
    MAX_AXES,
    MAX_JOINT,
    EliminationOrder,
    elimination_order,
)
from herded.methods.exact.elimination_plan import EliminationPlan, child_buckets, plan_elimination
from herded.methods.exact.elimination_tables import fill_buckets
from herded.methods.options import Options
from herded.methods.protocol import Answer, SolverCapabilities, SolverLayout
from herded.models.factor_graph import FactorGraph, to_factor_graph
from herded.models.protocol import Model
from herded.system import memory_limits
from herded.system.memory_limits import Size
from herded.system.numerics.exp_log import exp_array, log_array

ALL_ANSWERS = frozenset({"marginals", "pairs", "log_z", "best", "joint"})
# entries of buckets: a hundredth of a second, which progress is counted in
PROGRESS_UNIT_ENTRIES = 2**22
BYTES_PER_OBJECT = 600.0  # bytes of one of Python's, such as a small array in a dict


class ExactLayout(SolverLayout):
    """The plan of an elimination, and the model it is for."""

    arrays: EliminationPlan

    @cached_property
    def hash(self) -> str:
        """Names the plan: sums in another order have other last bits."""
        digest = hashlib.sha256()
        for part in (self.arrays.order, self.arrays.held, self.arrays.segments):
            digest.update(part.tobytes())
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Exact(Options):
    """Exact inference by variable elimination: all marginals, log Z and the most probable state.

    Raises
    ------
    MemoryLimitError
        By `infer`, before it starts, if the tables of the elimination do not fit in memory, also
        if it is cut into segments and slices.
    InfeasibleError
        By `infer`, if no state has positive probability.

    Notes
    -----
    Only what `keep=` asks for is computed: marginals, by default, and log Z, which they come with.
    `BestState()`, `PairMarginals()` of variables that share a factor, and `Joint()` of models of at
    most 2^20 joint states are exact as well. Where one elimination is enough, without segments and
    slices, what was not asked for is computed when it is: `result.best`, `result.pair_marginals`,
    `result.joint`. Of several best states it finds one, the same on every run.

    Examples
    --------
    >>> model = hd.ising_grid([[1.0, 0.0, 0.0]], coupling=0.5)
    >>> result = hd.infer(model, hd.Exact())
    >>> result.marginals[..., 1].round(3)
    array([[0.881, 0.676, 0.581]])
    >>> round(result.log_z, 4), result.best.state
    (2.7535, array([[1, 1, 1]]))
    """

    capabilities: ClassVar[SolverCapabilities] = SolverCapabilities(
        in_one_step=True, computes_on_request=True, can_save=True, counts_parts=True
    )

    def compile(
        self, model: Model, *, kind: str | None = None, max_memory: Size | None = None
    ) -> Layout:
        """Find an order of elimination that fits in memory; refuse models that are too large."""
        if kind not in (None, "factor"):
            raise MethodError(f'expected the layout "factor" for Exact, got {kind!r}')
        limit = memory_limits.memory_limit(max_memory)
        return self.in_order(model, elimination_order(model, limit), limit)

    def in_order(self, model: Model, found: EliminationOrder, limit: float = math.inf) -> Layout:
        """Return the layout of an order that was found already, within so many bytes."""
        plan = plan_elimination(found, limit, bytes_beside_messages(to_factor_graph(model)))
        return ExactLayout(model=model, method=self, arrays=plan, memory=plan.memory)

    def init(self, layout: Layout, asked: Collection[str] = ALL_ANSWERS) -> "ExactState":
        """Start with no answers; `asked` names the fields to compute."""
        return ExactState(
            to_factor_graph(layout.model), layout.arrays, frozenset(asked) or {"log_z"}
        )

    def advance(self, layout: Layout, state: "ExactState", sweeps: int) -> None:
        """Do at least this many parts of the work."""
        state.advance(sweeps)

    def answer(self, layout: Layout, state: "ExactState") -> Answer:
        """Return everything that was asked for, once it is found."""
        return state.found or Answer(converged=False)

    def find(self, layout: Layout, asked: str) -> Answer | None:
        """Compute further fields later, unless that takes long."""
        plan: EliminationPlan = layout.arrays
        if asked not in ALL_ANSWERS or plan.slices > 1 or plan.segments.any():
            return None
        state = self.init(layout, {asked})
        state.advance(state.total)
        return state.found


def bytes_beside_messages(graph: FactorGraph) -> float:
    """Return the bytes of exact inference apart from messages: factors and the answer."""
    states = graph.cardinalities
    start, members = graph.adjacency
    owner_states = np.repeat(states.astype(float), np.diff(start))
    pair_entries = float(owner_states @ states[members]) / 2
    size = math.prod(states.tolist())
    return (
        2.0**20
        + BYTES_PER_OBJECT * (2 * graph.n_variables + 2 * graph.n_factors + len(members) // 2)
        + 3.0 * BYTES_PER_ENTRY * (len(graph.log_tables) + float(states.max()) * graph.n_variables)
        + 3.0 * BYTES_PER_ENTRY * pair_entries
        + (3.0 * BYTES_PER_ENTRY * size if size <= MAX_JOINT and len(states) <= MAX_AXES else 0.0)
    )


class ExactState:
    """The progress of an elimination: its task, slice and operation, and the results so far."""

    def __init__(self, graph: FactorGraph, plan: EliminationPlan, asked: Collection[str]) -> None:
        self.graph, self.plan, self.asked = graph, plan, asked
        self.tasks: list[type[SumElimination] | type[MaxElimination]] = [MaxElimination] * (
            "best" in asked
        )
        self.tasks += [SumElimination] * bool(set(asked) - {"best"})
        self.children = child_buckets(plan.scopes)
        self.weighs = bool({"marginals", "pairs"} & set(asked))  # else sums need no way back
        self.operations = {
            task: plan.operations(back=task is MaxElimination or self.weighs) for task in self.tasks
        }
        entries = plan.entries()
        self.costs = {"forward": entries, "again": entries, "backward": 2 * entries}
        each = (
            sum(float(self.costs[kind][k]) for kind, k in self.operations[task])
            for task in self.tasks
        )
        self.total = 1 + int(plan.slices * sum(each) // PROGRESS_UNIT_ENTRIES)
        self.task = self.slice = self.at = 0
        self.work, self.sweep, self.converged = 0.0, 0, False
        self.running: SumElimination | MaxElimination | None = None
        self.sums = SliceMixture(graph, plan, "pairs" in asked)
        self.best: tuple[float, np.ndarray] = -math.inf, plan.possible.argmax(axis=1)
        self.found: Answer | None = None

    def advance(self, parts: int) -> None:
        """Continue for at least this many parts of the work, or to the end."""
        goal = self.work + max(1, parts) * PROGRESS_UNIT_ENTRIES
        while not self.converged and (self.work < goal or self.total == 1):
            self._step()
        self.sweep = (
            self.total
            if self.converged
            else min(self.total - 1, int(self.work // PROGRESS_UNIT_ENTRIES))
        )

    def _step(self) -> None:
        """Do one operation, or the change between two slices."""
        if self.task == len(self.tasks):
            self.found, self.converged = self._answer(), True
            return
        task = self.tasks[self.task]
        operations = self.operations[task]
        if self.running is None:
            self.running = self._begin(task)
        running = self.running
        if self.at < len(operations):
            kind, k = operations[self.at]
            self.at += 1
            if kind == "backward" and k == len(self.plan.order) - 1 and running.is_impossible():
                self.at = len(operations)
            else:
                self._operate(running, kind, k)
                self.work += float(self.costs[kind][k])
        if self.at >= len(operations):
            self._end(running)

    def _operate(self, running: SumElimination | MaxElimination, kind: str, k: int) -> None:
        """Do it, and let go of messages that will not be needed, or not before they come again."""
        segments = self.plan.segments
        if kind == "backward":
            running.backward(k)
        elif kind == "forward":
            running.forward(k)
            comes_again = isinstance(running, MaxElimination) or self.weighs
            used = [c for c in self.children[k] if not comes_again or segments[c] == segments[k]]
            running.forget(used)
            if isinstance(running, MaxElimination):
                del running.choices[k]
        elif isinstance(running, MaxElimination):
            running.forward(k)
            running.forget(self.children[k])
        elif k not in running.messages:
            running.forward(k)

    def _begin(
        self, task: type[SumElimination] | type[MaxElimination]
    ) -> SumElimination | MaxElimination:
        """Return a slice: some variables are held, the others are summed out."""
        plan, x = self.plan, self.held_state()
        buckets = fill_buckets(self.graph, plan.order, plan.scopes, plan.possible, x)
        if task is MaxElimination:
            return MaxElimination(buckets, self.children)
        return SumElimination(buckets, self.children, self.sums.wanted)

    def held_state(self) -> np.ndarray:
        """Return (N,) the states of all variables not summed out in this slice."""
        x: np.ndarray = self.plan.possible.argmax(axis=1)
        domains = [np.flatnonzero(self.plan.possible[i]).tolist() for i in self.plan.held]
        x[self.plan.held] = next(islice(product(*domains), self.slice, None))
        return x

    def _end(self, running: SumElimination | MaxElimination) -> None:
        """Add what a slice has found to what others have."""
        x = self.held_state()
        if isinstance(running, SumElimination):
            self.sums.add(running, x)
        elif running.log_score() > self.best[0]:
            for i, state in zip(self.plan.order.tolist(), running.x.tolist(), strict=True):
                x[i] = np.flatnonzero(self.plan.possible[i])[state]
            self.best = running.log_score(), x
        self.running, self.at, self.slice = None, 0, self.slice + 1
        if self.slice == self.plan.slices:
            self.slice, self.task = 0, self.task + 1

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays that change, by name, for a checkpoint."""
        where = [self.task, self.slice, self.at, self.running is not None]
        found = {
            "where": np.array(where, np.int64),
            "work": np.array([self.work, self.best[0], self.sums.top, self.sums.weight]),
            "best": self.best[1],
            "marginals": self.sums.marginals,
        }
        found |= {f"pair/{i}": table for i, table in enumerate(self.sums.pairs.values())}
        running = {} if self.running is None else self.running.arrays()
        return found | {f"running/{name}": array for name, array in running.items()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on where another was when it gave these arrays; raises ValueError if none could."""
        fresh = self.arrays()
        for name, own in fresh.items():
            if arrays[name].shape != own.shape or arrays[name].dtype != own.dtype:
                raise ValueError(name)
        self.task, self.slice, self.at, is_running = arrays["where"].tolist()
        self.work, score, self.sums.top, self.sums.weight = arrays["work"].tolist()
        self.best = score, arrays["best"]
        self.sums.marginals = arrays["marginals"]
        for i, pair in enumerate(self.sums.pairs):
            self.sums.pairs[pair] = arrays[f"pair/{i}"]
        if not (0 <= self.task < len(self.tasks) and 0 <= self.slice < self.plan.slices):
            raise ValueError("where")
        if not 0 <= self.at < len(self.operations[self.tasks[self.task]]) or self.work < 0:
            raise ValueError("where")
        if not (self.best[1] < self.graph.cardinalities).all() or (self.best[1] < 0).any():
            raise ValueError("best")
        if is_running:
            self.running = self._begin(self.tasks[self.task])
            begun = "running/"
            self.running.restore(
                {name[len(begun) :]: a for name, a in arrays.items() if name.startswith(begun)}
            )
        self.sweep = min(self.total - 1, int(self.work // PROGRESS_UNIT_ENTRIES))

    def _answer(self) -> Answer:
        graph, asked = self.graph, self.asked
        found: dict[str, Any] = {}
        if (self.sums.top if SumElimination in self.tasks else self.best[0]) == -math.inf:
            raise InfeasibleError(
                "expected some state of positive probability, but the factors and the evidence "
                "together forbid all: correct the hard constraints, or drop evidence"
            )
        if SumElimination in self.tasks:
            found["log_z"] = self.sums.log_z()
        if "marginals" in asked:
            found["marginals"] = self.sums.marginals / self.sums.weight
        if "pairs" in asked:
            found["pairs"] = {p: t / self.sums.weight for p, t in self.sums.pairs.items()}
        if "best" in asked:
            x = self.best[1]
            found |= {"state": x, "log_score": graph.log_score(x)}
        if "joint" in asked:
            found["joint"] = _joint(graph, self.plan)
        return Answer(**found)


class SliceMixture:
    """Sums of slices, each weighted by its share of Z: e^top weight is Z."""

    def __init__(self, graph: FactorGraph, plan: EliminationPlan, pairs: bool) -> None:
        self.plan, self.states = plan, graph.cardinalities
        self.top, self.weight = -math.inf, 0.0
        self.marginals = np.zeros((graph.n_variables, int(graph.cardinalities.max())))
        self.pairs: dict[tuple[int, int], np.ndarray] = {}
        self.wanted: list[tuple[int, int]] = []  # pairs of places
        if pairs:
            start, near = (part.tolist() for part in graph.adjacency)
            ends = [(i, j) for i in range(len(start) - 1) for j in near[start[i] : start[i + 1]]]
            sizes = graph.cardinalities.tolist()
            self.pairs = {(i, j): np.zeros((sizes[i], sizes[j])) for i, j in ends if i < j}
            self.place = {i: k for k, i in enumerate(plan.order.tolist())}
            both = ((self.place.get(i, -1), self.place.get(j, -1)) for i, j in self.pairs)
            self.wanted = [(min(ends), max(ends)) for ends in both if min(ends) >= 0]

    def log_z(self) -> float:
        return self.top + float(log_array(self.weight))

    def add(self, one: SumElimination, x: np.ndarray) -> None:
        """Add a slice in which variables that were not summed out are as in `x`."""
        log_z = one.log_z()
        if log_z == -math.inf:
            return
        top = max(self.top, log_z)
        kept, new = exp_array([self.top - top, log_z - top]).tolist()
        self.top, self.weight = top, kept * self.weight + new
        found = np.zeros_like(self.marginals)
        found[np.arange(len(x)), x] = 1.0
        for i, row in zip(self.plan.order.tolist(), one.marginals, strict=True):
            found[i] = 0.0
            found[i, np.flatnonzero(self.plan.possible[i])] = row
        self.marginals *= kept
        self.marginals += new * found
        for (i, j), table in self.pairs.items():
            table *= kept
            table += new * self._pair(one, found, i, j)

    def _pair(self, one: SumElimination, found: np.ndarray, i: int, j: int) -> np.ndarray:
        """Return the marginal of a pair in a slice; what is held is independent of everything."""
        k, p = self.place.get(i), self.place.get(j)
        if k is None or p is None:
            return np.outer(found[i, : self.states[i]], found[j, : self.states[j]])
        table = np.zeros((int(self.states[i]), int(self.states[j])))
        both = np.ix_(np.flatnonzero(self.plan.possible[i]), np.flatnonzero(self.plan.possible[j]))
        table[both] = one.joints[k, p] if k < p else one.joints[p, k].T
        return table


def _joint(graph: FactorGraph, plan: EliminationPlan) -> np.ndarray | None:
    """Return the joint over all variables, zero where it contradicts the evidence, if small."""
    states = graph.cardinalities.tolist()
    if math.prod(states) > MAX_JOINT or len(states) > MAX_AXES:
        return None
    free = np.flatnonzero(plan.possible.sum(axis=1) > 1)
    x = plan.possible.argmax(axis=1)
    joint = np.zeros(states)
    joint[np.ix_(*[np.flatnonzero(row) for row in plan.possible])] = joint_distribution(
        fill_buckets(graph, free, (), plan.possible, x)
    ).reshape(plan.possible.sum(axis=1))
    return joint
