"""Choose a method for a model, and say why: what `infer` does without one.

Exact where elimination fits in memory and time; else what `recommend` says: a herd, or chains that
herd in time. For the most probable state it anneals, and for log Z it takes Bethe's
estimate: samplers have none.
"""

from dataclasses import dataclass

import numpy as np

from herded.errors import MemoryLimitError
from herded.layouts.factor_arrays import compile_factors, count_rows
from herded.layouts.protocol import Layout
from herded.methods.elimination_order import EliminationOrder, elimination_order
from herded.methods.exact import Exact
from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import MOST_STATES, HerdedGibbs
from herded.methods.protocol import Method
from herded.methods.registry import method_named
from herded.methods.schedule import linear
from herded.models.factor_graph import FactorGraph, as_graph, has_factors
from herded.models.protocol import Model
from herded.run.memory import exact_memory
from herded.run.recommend import UPDATES, recommend
from herded.system import memory
from herded.system.memory import Size

PATIENCE = 600.0  # seconds that exact inference may take where none were given


@dataclass(frozen=True)
class Choice:
    """A method, by the name it has on the command line, and why it was chosen."""

    name: str
    method: Method
    reason: str
    layout: Layout | None = None  # where the choice has found it already
    memory: float | None = None  # bytes of the run, if they are known
    burn_in: int | None = None  # sweeps, where they were found with the method,
    sweeps: int | None = None  # and those after it,
    chains: int | None = None  # of so many chains or herds
    doubt: str = ""  # what speaks against any run of this length


def choose(
    model: Model,
    task: str = "mar",
    *,
    updates: int = UPDATES,
    seconds: float | None = None,
    max_memory: Size | None = None,
    seed: int = 0,
    why_sample: str = "",
) -> Choice:
    """The method for marginals ("mar"), the best state ("map") or log Z ("pr") of `model`.

    `updates` are those of each variable that a sampler may take, `seconds` is the time there is,
    `max_memory` the memory in bytes; `why_sample` says why elimination would not do, if so.
    """
    why_not = why_sample
    if not why_sample and not has_factors(model):
        why_not = "the model has no factors to eliminate"
    elif not why_sample:
        try:
            order = elimination_order(model, memory.limit(max_memory))
        except MemoryLimitError:
            why_not = f"elimination needs more than {memory.readable(memory.limit(max_memory))}"
        else:
            time, need = exact_seconds(model, order), exact_memory(model, order)
            if need > memory.limit(max_memory):
                why_not = f"exact inference needs {memory.readable(need)}"
            elif time <= (PATIENCE if seconds is None else seconds):
                size = f"{memory.readable(order.memory)}, treewidth {order.treewidth}"
                exact_layout = Exact().in_order(model, order)
                return Choice("exact", Exact(), f"elimination fits ({size})", exact_layout, need)
            else:
                why_not = f"elimination would take about {time:.2g} seconds"
    if task == "pr":
        return Choice(
            "bp", method_named("bp"), f"{why_not}; --method tempered gives log Z an interval"
        )
    if task == "map":
        return Choice("herded", annealed(model, seed), why_not)
    found = recommend(model, sweeps=updates, seed=seed, max_memory=max_memory)
    return Choice(
        sampler_name(found.method),
        found.method,
        f"{why_not}; {found.reason}",
        burn_in=found.burn_in,
        sweeps=found.sweeps,
        chains=found.chains,
        doubt=found.doubt,
    )


def sampler_name(method: Gibbs | HerdedGibbs) -> str:
    """What the command line calls it."""
    if method.moves is not None:
        return "blocks"
    if isinstance(method, HerdedGibbs):
        return "herded"
    return "herd" if method.herd > 1 else "gibbs"


def exact_seconds(model: Model, order: EliminationOrder) -> float:
    """About how long elimination takes: fitted to machines of 2020, and rounded up."""
    return 4e-4 * model.n_variables + 1e-8 * order.memory


def largest_blanket(model: Model) -> float:
    """How many contexts a variable has at most: states of its free neighbours."""
    graph = as_graph(model)
    return float(count_rows(compile_factors(graph), graph.evidence < 0).max(initial=1.0))


@dataclass(frozen=True)
class LinearFrom:
    """A temperature that falls linearly from `temperature` to 0, the argmax, in the last sweep."""

    temperature: float

    def __call__(self, sweep: int, total: int) -> float:
        return self.temperature * linear(sweep, total)


def annealed(model: Model, seed: int = 0, *, herded: bool = True) -> HerdedGibbs | Gibbs:
    """An annealed method that begins hot enough to cross the barriers of this model's factors.

    Models of other kinds say how hot that is (`hot`), or begin at 1.
    """
    if not has_factors(model):
        return Gibbs(seed=seed, schedule=LinearFrom(getattr(model, "hot", 1.0)))
    schedule = LinearFrom(_hot(as_graph(model)))
    if herded and int(model.cardinalities.max()) <= MOST_STATES:
        return HerdedGibbs("pooled", seed=seed, schedule=schedule)
    return Gibbs(seed=seed, schedule=schedule)


def _hot(graph: FactorGraph) -> float:
    """The mean spread of a factor's possible log-potentials; 1 where that is less."""
    if not graph.n_factors:
        return 1.0
    tables, starts = graph.log_tables, graph.table_start[:-1]
    low = np.minimum.reduceat(np.where(np.isneginf(tables), np.inf, tables), starts)
    high = np.maximum.reduceat(tables, starts)
    possible = np.isfinite(low) & np.isfinite(high)
    return max(1.0, float(np.round((high - low)[possible].mean(), 3))) if possible.any() else 1.0
