"""The choice of a method for a model, with its reason: what `infer` does without one.

Exact where elimination fits in memory and is soon done; else what `recommend` says: a herd, or
chains that herd in time. For the most probable state it anneals, and for log Z it bridges a ladder
of temperatures, or propagates beliefs where no ladder fits. What fits and what is soon are fixed
numbers: neither the free memory of the moment nor its load decides how a model is answered.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from herded.errors import MemoryLimitError
from herded.layouts.base import Layout
from herded.layouts.factor_arrays import compile_factors, count_table_rows
from herded.methods.belief_propagation.solver import BeliefPropagation
from herded.methods.exact.elimination_plan import EliminationPlan
from herded.methods.exact.solver import Exact
from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import MAX_ANNEALED_STATES, HerdedGibbs
from herded.methods.protocol import Method
from herded.methods.schedule import LinearCooling
from herded.methods.tempered import Tempered
from herded.models.factor_graph import FactorGraph, has_factors, to_factor_graph
from herded.models.protocol import Model, model_capabilities
from herded.run.memory.method_estimate import estimate_run_memory
from herded.run.selection.recommendation import DEFAULT_UPDATES, recommend
from herded.system import memory_limits
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.memory_limits import Size

DEFAULT_EXACT_MEMORY_BYTES = 2.0**32  # bytes that exact inference may take where no limit was given
DEFAULT_EXACT_SECONDS = 10.0  # seconds that it may take where none were given
EXACT_WORK_BY_TASK = {"mar": 1.0, "map": 0.7, "pr": 0.35}  # of the work of marginals
LOG_Z_RUNGS = 16  # rungs of a ladder for log Z, where they are enough
DEFAULT_CHAINS = 4
LOG_Z_LADDERS = 2  # for log Z: few long ones, since each has a separate burn-in
LADDER_BURN_IN_DIVISOR = 5  # burn-in is 1/5 of the sweeps


@dataclass(frozen=True)
class MethodChoice:
    """A method, by the name it has on the command line, and why it was chosen."""

    name: str
    method: Method
    reason: str
    layout: Layout | None = None  # where the choice has found it already
    memory: float | None = None  # bytes of the run, if they are known
    burn_in: int | None = None  # sweeps, where they were found with the method,
    sweeps: int | None = None  # and those after it,
    chains: int | None = None  # of chains or herds
    caveat: Diagnostic | None = None  # why any run of this length may be wrong


def choose_method(
    model: Model,
    task: str = "mar",
    *,
    updates: int = DEFAULT_UPDATES,
    chains: int | None = None,
    seconds: float | None = None,
    max_memory: Size | None = None,
    seed: int = 0,
    reason_to_sample: str = "",
) -> MethodChoice:
    """Return the method for marginals ("mar"), the best state ("map") or log Z ("pr") of `model`.

    `updates` are those of each variable that a sampler may take, `chains` those of a ladder,
    `seconds` is the time there is, `max_memory` the memory in bytes; `reason_to_sample` says why
    elimination would not do, if so.
    """
    why_not = reason_to_sample
    if not reason_to_sample and not has_factors(model):
        why_not = "the model has no factors to eliminate"
    elif not reason_to_sample:
        limit = (
            DEFAULT_EXACT_MEMORY_BYTES
            if max_memory is None
            else memory_limits.memory_limit(max_memory)
        )
        try:
            layout = Exact().compile(model, max_memory=limit)
            time = EXACT_WORK_BY_TASK[task] * estimate_exact_seconds(layout.arrays)
            if time <= (DEFAULT_EXACT_SECONDS if seconds is None else seconds):
                # cut finer, for now
                if not memory_limits.fits_in_memory(layout.memory, max_memory):
                    layout = Exact().compile(model, max_memory=max_memory)
                reason = f"elimination fits ({describe_elimination(layout.arrays)})"
                return MethodChoice("exact", Exact(), reason, layout, layout.memory)
            why_not = f"elimination would take about {time:.2g} seconds"
        except MemoryLimitError:
            why_not = f"elimination needs more than {memory_limits.size_text(limit)}"
    if task == "pr":
        return _choose_log_z_method(
            model, why_not, seed, updates, chains or LOG_Z_LADDERS, seconds, max_memory
        )
    if task == "map":
        return MethodChoice("herded", make_annealed_method(model, seed), why_not)
    recommended = recommend(
        model, sweeps=updates, seconds=seconds, seed=seed, max_memory=max_memory
    )
    return MethodChoice(
        sampler_name(recommended.method),
        recommended.method,
        f"{why_not}; {recommended.reason}",
        burn_in=recommended.burn_in,
        sweeps=recommended.sweeps,
        # to compare them
        chains=recommended.chains if seconds is None else max(recommended.chains, DEFAULT_CHAINS),
        caveat=recommended.caveat,
    )


def _choose_log_z_method(
    model: Model,
    why_not: str,
    seed: int,
    updates: int,
    ladders: int,
    seconds: float | None,
    max_memory: Size | None,
) -> MethodChoice:
    """Return a ladder, or Bethe's estimate where that fits and the ladder does not."""
    ladder, solver = make_log_z_ladder(seed), BeliefPropagation()
    reason = f"{why_not}; a ladder of temperatures gives log Z with an interval"
    limit = (
        DEFAULT_EXACT_MEMORY_BYTES if max_memory is None else memory_limits.memory_limit(max_memory)
    )
    if has_factors(model):
        by_clock = seconds is not None
        need = estimate_run_memory(
            model, ladder, chains=ladders, max_memory=limit, by_clock=by_clock
        )
        if need > limit >= estimate_run_memory(model, solver, max_memory=limit):
            reason = (
                f"{why_not}, and a ladder of temperatures may need "
                f"{memory_limits.size_text(need)}; "
                "belief "
                "propagation gives an estimate of log Z without an interval"
            )
            return MethodChoice("bp", solver, reason)
    burn_in = None if seconds is not None else updates // ladders // LADDER_BURN_IN_DIVISOR
    return MethodChoice("tempered", ladder, reason, burn_in=burn_in, chains=ladders)


def sampler_name(method: Gibbs | HerdedGibbs) -> str:
    """Return the name of a sampler on the command line."""
    if method.moves is not None:
        return "blocks"
    if isinstance(method, HerdedGibbs):
        return "herded"
    return "herd" if method.herd > 1 else "gibbs"


def estimate_exact_seconds(plan: EliminationPlan) -> float:
    """Estimate the seconds of exact marginals: fitted on machines of 2020, rounded up."""
    return 2e-4 * len(plan.order) * plan.slices + 4e-9 * plan.work


def describe_elimination(plan: EliminationPlan) -> str:
    """Describe the memory and treewidth of an elimination."""
    cut = f", {plan.slices} slices" * (plan.slices > 1)
    return f"{memory_limits.size_text(plan.memory)}, treewidth {plan.treewidth}{cut}"


def make_log_z_ladder(seed: int = 0, herd: int = 1) -> Tempered:
    """Return the ladder that gives log Z."""
    return Tempered(Gibbs(seed=seed, herd=herd), rungs=LOG_Z_RUNGS, hottest_beta=0.0)


def max_contexts_of_a_variable(model: Model) -> float:
    """Return how many contexts a variable has at most: states of its free neighbours."""
    graph = to_factor_graph(model)
    return float(count_table_rows(compile_factors(graph), graph.evidence < 0).max(initial=1.0))


def make_annealed_method(
    model: Model, seed: int = 0, *, herded: bool = True
) -> HerdedGibbs | Gibbs:
    """Make an annealed method, hot enough at first to cross the model's barriers.

    Models of other kinds say how hot that is (`start_temperature`), or begin at 1.
    """
    if not has_factors(model):
        is_known = model_capabilities(model).has_start_temperature
        hot = float(cast(Any, model).start_temperature) if is_known else 1.0
        return Gibbs(seed=seed, schedule=LinearCooling(hot))
    schedule = LinearCooling(_barrier_temperature(to_factor_graph(model)))
    if herded and int(model.cardinalities.max()) <= MAX_ANNEALED_STATES:
        return HerdedGibbs("pooled", seed=seed, schedule=schedule)
    return Gibbs(seed=seed, schedule=schedule)


def _barrier_temperature(graph: FactorGraph) -> float:
    """Return the mean spread of a factor's possible log-potentials; 1 where that is less."""
    if not graph.n_factors:
        return 1.0
    tables, starts = graph.log_tables, graph.table_start[:-1]
    low = np.minimum.reduceat(np.where(np.isneginf(tables), np.inf, tables), starts)
    high = np.maximum.reduceat(tables, starts)
    possible = np.isfinite(low) & np.isfinite(high)
    return max(1.0, float(np.round((high - low)[possible].mean(), 3))) if possible.any() else 1.0
