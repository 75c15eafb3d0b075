"""`herded info`: what a model file holds, the cost of inference in it, and methods that can run."""

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from herded.cli import model_input
from herded.cli.commands.infer_arguments import WEIGHTS
from herded.cli.terminal_output import (
    PROCESS_SUBSTITUTION_PREFIX,
    after_info,
    align_columns,
    finite_or_none,
    format_facts,
    print_lines,
)
from herded.errors import HerdedError, InfeasibleError, MemoryLimitError
from herded.layouts.factor_arrays import compile_factors
from herded.layouts.visit_order import connected_components
from herded.methods.exact.elimination_order import EliminationOrder, elimination_order
from herded.methods.exact.elimination_plan import EliminationPlan
from herded.methods.exact.solver import Exact
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.protocol import Method
from herded.methods.registry import make_method
from herded.models import summary
from herded.models.constraints.start_states import check_support, start_state
from herded.models.factor_graph import to_factor_graph
from herded.models.protocol import Model
from herded.run.interrupts import defer_interrupt
from herded.run.memory.method_estimate import estimate_run_memory
from herded.run.selection.method_choice import (
    choose_method,
    estimate_exact_seconds,
    max_contexts_of_a_variable,
)
from herded.system import memory_limits
from herded.system.memory_limits import Size
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

SAMPLERS, SOLVERS = ("gibbs", "herd", "blocks", "tempered"), ("bp", "mean-field")


@dataclass(frozen=True)
class MethodFeasibility:
    """The verdict on whether a method can run on a model, with its cost or the reason."""

    method: str
    can_run: bool
    memory: float | None
    reason: str


def info(options: argparse.Namespace) -> int:
    """Read, look, print."""
    model = model_input.read_model_and_evidence(options)
    with defer_interrupt():
        order = _order(model)
        plan = _plan(model, order, math.inf)
        facts_of_it = _features(model)
        limit = memory_limits.memory_limit(options.max_memory)
        verdicts = list(_verdicts(model, _plan(model, order, limit), limit))
        name, reason = _auto(model, options.max_memory)
    if options.json:
        print_lines(
            json.dumps(
                {
                    "model": options.model,
                    **facts_of_it,
                    "treewidth": None if plan is None else plan.treewidth,
                    "elimination_memory": None if plan is None else plan.memory,
                    "weights_memory": {
                        name: finite_or_none(_weights_memory(model, name, options.max_memory))
                        for name in WEIGHTS
                    },
                    "methods": [{**vars(v), "memory": finite_or_none(v.memory)} for v in verdicts],
                    "auto": name,
                    "reason": reason,
                },
                allow_nan=False,
            )
        )
        return 0
    print_lines(*format_facts(_lines(options, model, facts_of_it, plan)), "")
    print_lines(
        *align_columns([("method", "can run", "memory", ""), *map(_row, verdicts)], left=4), ""
    )
    print_lines(*format_facts([("auto", f"{name}: {reason}" if name else reason)]))
    if name and not options.model.startswith(PROCESS_SUBSTITUTION_PREFIX):
        print_lines(*format_facts([("next", after_info(options))]))
    return 0


def _auto(model: Model, max_memory: Size | None) -> tuple[str | None, str]:
    """Describe what `herded infer` would do, and why; empty if no state is possible."""
    try:
        check_support(model)
    except InfeasibleError as error:
        return None, str(error)
    chosen = choose_method(model, max_memory=max_memory)
    return chosen.name, chosen.reason


def _features(model: Model) -> dict[str, Any]:
    """Return plain numbers that describe a model."""
    graph = to_factor_graph(model)
    parts = connected_components(compile_factors(graph), graph.evidence < 0)
    return {
        **summary.model_features(graph),
        "largest_blanket": max_contexts_of_a_variable(model),
        "components": int(parts.max(initial=-1)) + 1,
    }


def _order(model: Model) -> EliminationOrder | None:
    """Find an order of elimination of any memory; None if clusters outgrow every array."""
    try:
        return elimination_order(model)
    except MemoryLimitError:
        return None


def _plan(
    model: Model, order: EliminationOrder | None, max_memory: float
) -> EliminationPlan | None:
    """Return the elimination in that order; none where it takes more memory, or all time."""
    if order is None:
        return None
    try:
        return cast(EliminationPlan, Exact().in_order(model, order, max_memory).arrays)
    except MemoryLimitError:
        return None


def _lines(
    options: argparse.Namespace, model: Model, found: dict[str, Any], plan: EliminationPlan | None
) -> Iterator[tuple[str, str]]:
    yield "model", model_input.model_line(options, model)
    for name, text in summary.summary_rows(found):
        contexts = f"; a variable has at most {found['largest_blanket']:.4g} contexts"
        yield name, text + contexts * (name == "degree")
    yield "parts", f"{found['components']:,} that share no factor"
    if plan is None:
        yield "treewidth", "too large for exact elimination in the best order found"
    else:
        yield (
            "treewidth",
            f"{plan.treewidth} in the best order found; elimination takes "
            f"{memory_limits.size_text(plan.memory)} and about {estimate_exact_seconds(plan):.2g} "
            "s",
        )


def _verdicts(
    model: Model, plan: EliminationPlan | None, limit: float
) -> Iterator[MethodFeasibility]:
    try:
        check_support(model)
    except InfeasibleError as error:  # nobody can do anything
        for name in ("exact", *SAMPLERS, *(f"herded, {w}" for w in WEIGHTS), *SOLVERS):
            yield MethodFeasibility(name, False, None, str(error))
        return
    yield _exact(plan, limit)
    samplers = {name: make_method(name) for name in SAMPLERS}
    samplers |= {f"herded, {weights}": HerdedGibbs(weights=weights) for weights in WEIGHTS}
    start = _why_no_start(model)
    for name, method in samplers.items():
        yield (
            MethodFeasibility(name, False, None, start)
            if start
            else _method_feasibility(name, model, method, limit)
        )
    hard = "a heuristic where there are zeros" if model.has_hard_zeros else ""
    for name in SOLVERS:
        remark = hard if name == "mean-field" else ""
        yield _method_feasibility(name, model, make_method(name), limit, remark)


def _exact(plan: EliminationPlan | None, limit: float) -> MethodFeasibility:
    if plan is None:
        return MethodFeasibility(
            "exact",
            False,
            None,
            f"more than {memory_limits.size_text(limit)}, however it is sliced",
        )
    cut = f"in {plan.slices:,} slices, " * (plan.slices > 1)
    return MethodFeasibility(
        "exact", True, plan.memory, f"{cut}about {estimate_exact_seconds(plan):.2g} s"
    )


def _why_no_start(model: Model) -> str:
    """Say why samplers cannot start; empty if they can."""
    try:
        start_state(model, stream_key(0, 0, StreamPurpose.START_STATES))
    except HerdedError as error:
        return str(error)
    return ""


def _weights_memory(model: Model, weights: str, max_memory: Size | None) -> float:
    """Return the bytes of tables and of one chain's weights."""
    return HerdedGibbs(weights).propose(model, max_memory=max_memory).memory


def _method_feasibility(
    name: str, model: Model, method: Method, limit: float, remark: str = ""
) -> MethodFeasibility:
    try:
        need = estimate_run_memory(model, method, max_memory=limit)
    except HerdedError as error:
        return MethodFeasibility(name, False, None, str(error))
    if need > limit:
        return MethodFeasibility(name, False, need, f"more than {memory_limits.size_text(limit)}")
    return MethodFeasibility(name, True, need, remark)


def _row(verdict: MethodFeasibility) -> tuple[str, str, str, str]:
    size = memory_limits.size_text(verdict.memory) if verdict.memory is not None else ""
    return verdict.method, "yes" if verdict.can_run else "no", size, verdict.reason
