"""The setup of `herded infer`: the options as one checked plan, and its memory."""

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from herded.cli import executor_options
from herded.cli.terminal_output import count_text
from herded.errors import MemoryLimitError, MethodError
from herded.layouts.base import Layout
from herded.methods.exact.solver import Exact
from herded.methods.protocol import Sampler, proposes_layouts, sampler_capabilities
from herded.methods.schedule import is_annealed
from herded.methods.serialization import method_to_dict
from herded.models.protocol import Model
from herded.run.checkpoints.checkpoint_header import MAX_CLAIMED_SWEEPS, CheckpointHeader
from herded.run.memory.method_estimate import estimate_run_memory
from herded.run.query import Budget, CheckpointOptions, NamedMethodOptions, Query
from herded.run.result import Result
from herded.run.selection.plan import Plan, plan_run
from herded.system import memory_limits

SAMPLERS_ONLY = (
    "chains",
    "burn_in",
    "checkpoint",
    "weights",
    "slack",
    "herd",
    "engine",
    "workers",
)
SHOWN_OPTIONS = ("weights", "slack", "damping", "seed")  # of a method's settings, to people
REFUSED_OPTIONS = {
    "map": "expected --method exact, herded, gibbs, blocks, tempered or auto for --task map, got "
    "{!r}, which does not search for a state",
    "pr": "expected --method exact, tempered (with an interval), bp (Bethe's estimate), mean-field "
    "(a lower bound) or auto for --task pr, got {!r}, which does not estimate log Z",
}


@dataclass(frozen=True)
class RunSetup:
    """A method and the length of its run."""

    query: Query
    choice: Plan
    memory: float  # bytes, beyond the model, at most
    unused: tuple[str, ...]  # options that the chosen method has no use for
    lay_out: Callable[[], Layout | None] = lambda: None  # lays the model out for the method

    @property
    def method(self) -> Any:
        return self.choice.method

    @property
    def sweeps(self) -> int | None:
        """None where the clock decides."""
        return self.choice.sweeps

    @property
    def burn_in(self) -> int:
        return self.choice.burn_in

    @property
    def chains(self) -> int:
        return self.choice.chains

    @property
    def seconds(self) -> float | None:
        """None where the sweeps decide."""
        return self.query.budget.seconds

    @property
    def checkpoint(self) -> CheckpointHeader | None:
        """How far the run of --checkpoint is already."""
        return self.choice.checkpoint

    @property
    def herd(self) -> int:
        """Members that draw together."""
        return sampler_capabilities(self.method).members

    @property
    def samples(self) -> bool:
        """Whether the method is a sampler."""
        return self.choice.samples

    @property
    def in_time(self) -> bool:
        """Whether the method herds in time."""
        return sampler_capabilities(self.method).herds_in_time

    def described(self) -> str:
        """Return the method with its settings, and why."""
        shown = {name: value for name, value in self.settings().items() if name in SHOWN_OPTIONS}
        if self.herd > 1:
            shown.pop("weights", None)  # a herd has none
        parts = [f"{name} {value}" for name, value in shown.items() if name == "seed" or value]
        if self.samples and is_annealed(self.method):
            parts.append(f"annealed from temperature {self.method.schedule.temperature:g}")
        reason = f": {self.choice.reason}" if self.choice.reason else ""
        settings = f" ({', '.join(parts)})" if parts else ""
        return f"{self.choice.name}{settings}{reason}"

    def after(self, result: Result) -> "RunSetup":
        """Return the setup of the method that answered, where escalation changed it.

        Rounds of annealing are the planned method with other seeds: they keep its name.
        """
        if not result.escalation or result.method == self.method:
            return self
        facts = result.provenance
        names = (step.name for step in result.escalation if step.method == result.method)
        name = next(names, self.choice.name)
        choice = replace(
            self.choice,
            name=name,
            method=result.method,
            sweeps=result.sweeps,
            burn_in=facts["burn_in"],
            chains=facts["chains"],
        )
        return replace(self, choice=choice)

    def settings(self) -> dict[str, Any]:
        """Return the options of the method, as JSON can write them."""
        options = method_to_dict(self.method)
        hidden = ("type", "class", "max_weights")
        return {k: v for k, v in options.items() if k not in hidden and v is not None}

    def run_described(self) -> str:
        """Return how long, and how many."""
        length = f"{self.seconds:g} seconds" if self.sweeps is None else f"{self.sweeps:,} sweeps"
        if self.checkpoint is not None:
            length += " in all"
        if not self.samples:
            return f"at most {length}"
        after = f" after a burn-in of {count_text(self.burn_in, 'sweep')}" if self.burn_in else ""
        many = count_text(self.chains, "chain" if self.herd == 1 else "herd")
        members = f" of {self.herd} chains" if self.herd > 1 else ""
        return f"{length}{after}, {many}{members}"

    @property
    def out_of_time(self) -> bool:
        """Whether a resumed run has used up its seconds before."""
        if self.checkpoint is None or self.seconds is None:
            return False
        return self.checkpoint.seconds >= self.seconds


def build_run_setup(model: Model, options: argparse.Namespace) -> RunSetup:
    """Choose the method, its run and its memory; refuse invalid options before any work."""
    name = _name(options)
    _check_counts(options)
    query = Query(
        model,
        name,
        options.task,
        Budget(options.sweeps, options.seconds, options.burn_in, options.chains),
        checkpoint=CheckpointOptions(options.checkpoint, options.checkpoint_every),
        max_memory=options.max_memory,
        threads=options.threads,
        method_options=NamedMethodOptions(
            options.herd, options.weights, options.slack, options.seed
        ),
    )
    plan = plan_run(query)
    samples = plan.samples
    idle = [name for name in SAMPLERS_ONLY if not samples and getattr(options, name) is not None]
    if plan.name == "exact":  # which takes the time it takes, and saves what it has
        idle = [name for name in idle if name != "checkpoint"]
        idle += [name for name in ("sweeps", "seconds") if getattr(options, name) is not None]
    words = tuple(f"--{name.replace('_', '-')}" for name in idle)
    refused = [word for word in words if word not in ("--sweeps", "--seconds")]
    if refused and options.method != "auto":
        raise MethodError(f"expected no {refused[0]} with --method {options.method}: drop it")
    if options.engine or options.workers is not None:
        executor_options.check_executor_options(options.engine, options.workers)
    need, lay_out = _memory(model, plan, options)
    return RunSetup(query, plan, need, words, lay_out)


def _name(options: argparse.Namespace) -> str:
    """Choose the method's name; options that few methods have imply one of these."""
    name, has_weights = options.method, options.weights is not None or options.slack is not None
    has_herd = options.herd is not None
    if has_weights and name not in ("auto", "herded"):
        raise MethodError(f"expected --weights and --slack with --method herded, got {name!r}")
    if has_herd and name not in ("auto", "herd", "gibbs", "herded", "blocks", "tempered"):
        raise MethodError(
            f"expected --herd with --method herd, gibbs, herded, blocks or tempered, got {name!r}"
        )
    if name == "auto" and (has_weights or has_herd):
        name = "herd" if has_herd else "herded"
    if name == "herded" and has_herd and has_weights:
        raise MethodError("expected no --weights or --slack with --herd: drop one of them")
    if name == "herded" and options.task == "map" and options.slack is not None:
        raise MethodError("expected no --slack with --task map, which anneals: drop it")
    no_log_z = ("herded", "gibbs", "herd", "blocks")
    if name in {"map": ("mean-field", "bp"), "pr": no_log_z}.get(options.task, ()):
        raise MethodError(REFUSED_OPTIONS[options.task].format(name))
    return str(name)


def _check_counts(options: argparse.Namespace) -> None:
    for name, least in (("sweeps", 1), ("chains", 1), ("burn_in", 0), ("threads", 1)):
        value = getattr(options, name)
        if value is not None and not least <= value <= MAX_CLAIMED_SWEEPS:
            word = name.replace("_", "-")
            raise MethodError(
                f"expected --{word} from {least} to {MAX_CLAIMED_SWEEPS:.0e}, got {value}"
            )
    if options.seconds is not None and not 0 < options.seconds < math.inf:
        raise MethodError(f"expected --seconds above 0, got {options.seconds:g}")
    if options.task == "map" and options.seconds is not None and options.checkpoint is not None:
        raise MethodError(
            "expected --sweeps with --task map and --checkpoint, got --seconds: "
            "annealing that is limited by time cannot be resumed"
        )
    if not options.checkpoint_every >= 0:
        raise MethodError(
            f"expected --checkpoint-every of 0 or more, got {options.checkpoint_every:g}"
        )


def _memory(
    model: Model, plan: Plan, options: argparse.Namespace
) -> tuple[float, Callable[[], Layout | None]]:
    """Return the bytes of a run, refused if above the limit, and how to lay the model out."""
    max_memory, limit = options.max_memory, memory_limits.memory_limit(options.max_memory)
    method, layout, need, chains = plan.method, plan.layout, plan.memory, plan.chains
    if isinstance(method, Exact) and (layout is None or need is None):
        layout = method.compile(model, max_memory=limit)
        need = layout.memory
    elif isinstance(method, Sampler) and not proposes_layouts(method):
        need = 0.0  # of another package: it refuses for itself
    elif proposes_layouts(method):
        proposal = method.propose(model, max_memory=max_memory)
        need = estimate_run_memory(
            model,
            method,
            chains=chains,
            max_memory=max_memory,
            proposal=proposal,
            by_clock=options.seconds is not None,
        )
        proposal.check()  # says which variable is to blame
        _refuse(need, limit)
        return need, lambda: replace(proposal.build(), method=method)
    elif need is None:
        need = estimate_run_memory(model, method, max_memory=max_memory)
    _refuse(need, limit)
    return need, lambda: layout


def _refuse(need: float, limit: float) -> None:
    if need > limit:
        raise MemoryLimitError(
            f"expected a run of at most {memory_limits.size_text(limit)}, but this one may need "
            f"{memory_limits.size_text(need)}: raise --max-memory, or use fewer --chains or "
            "--weights pooled"
        )
