"""What `herded infer` is about to do: the options as one method and its run, checked."""

import argparse
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from herded.cli import engines
from herded.cli.printing import count
from herded.errors import MemoryLimitError, MethodError
from herded.layouts.protocol import Layout
from herded.methods.elimination_order import elimination_order
from herded.methods.exact import Exact
from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.protocol import Method, Sampler
from herded.methods.registry import method_named
from herded.methods.schedule import is_annealed
from herded.methods.weights_rule import SLACK, suited_weights
from herded.models.protocol import Model
from herded.run import checkpoint_file as checkpoint
from herded.run.auto import Choice, annealed, choose
from herded.run.memory import exact_memory, run_memory
from herded.run.sampling import SPARE
from herded.system import memory

SWEEPS, MOST_BURN_IN, CHAINS = 10_000, 1000, 4
BURN_IN_OF_SECONDS = 100
MOST = 10**15  # sweeps of a run, and of anything else
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
SHOWN = ("weights", "slack", "damping", "seed")  # of a method's settings, to people
REFUSED = {
    "map": "expected --method exact, herded, gibbs or auto for --task map, got {!r}, which looks "
    "for no state: choose another",
    "pr": "expected --method exact, bp (Bethe's estimate), mean-field (a lower bound) or auto for "
    "--task pr, got {!r}, which gives no estimate of log Z: choose another",
}


@dataclass(frozen=True)
class Setup:
    """A method and how long it runs."""

    choice: Choice
    sweeps: int | None  # None where the clock decides
    seconds: float | None
    burn_in: int
    chains: int
    memory: float  # bytes, beyond the model, at most
    unused: tuple[str, ...]  # options that the chosen method has no use for
    begun: "Begun | None" = None  # how far the run of --checkpoint is already
    lay_out: Callable[[], Layout | None] = lambda: None  # lays the model out for the method

    @property
    def method(self) -> Any:
        return self.choice.method

    @property
    def herd(self) -> int:
        """Members that draw together."""
        return getattr(self.method, "herd", 1)

    @property
    def samples(self) -> bool:
        """Whether the method is a sampler."""
        return isinstance(self.method, Sampler)

    def described(self) -> str:
        """The method with its settings, and why."""
        shown = {name: value for name, value in self.settings().items() if name in SHOWN}
        if self.herd > 1:
            shown.pop("weights", None)  # a herd has none
        parts = [f"{name} {value}" for name, value in shown.items() if name == "seed" or value]
        if is_annealed(self.method):
            parts.append(f"annealed from temperature {self.method.schedule.temperature:g}")
        reason = f": {self.choice.reason}" if self.choice.reason else ""
        settings = f" ({', '.join(parts)})" if parts else ""
        return f"{self.choice.name}{settings}{reason}"

    def settings(self) -> dict[str, Any]:
        """Its options, as plain values."""
        values = {field.name: getattr(self.method, field.name) for field in fields(self.method)}
        given = {k: v for k, v in values.items() if k != "max_weights" and v is not None}
        return {k: v if isinstance(v, (int, float, str)) else repr(v) for k, v in given.items()}

    def run_described(self) -> str:
        """How long, and how many."""
        length = f"{self.seconds:g} seconds" if self.sweeps is None else f"{self.sweeps:,} sweeps"
        if self.begun is not None:
            length += " in all"
        if not self.samples:
            return f"at most {length}"
        after = f" after {self.burn_in:,} of burn-in" if self.burn_in else ""
        many = count(self.chains, "chain" if self.herd == 1 else "herd")
        members = f" of {self.herd} chains" if self.herd > 1 else ""
        return f"{length}{after}, {many}{members}"

    @property
    def out_of_time(self) -> bool:
        """Whether a run that goes on has had its seconds before."""
        if self.begun is None or self.seconds is None:
            return False
        return self.begun.seconds >= self.seconds


def set_up(model: Model, options: argparse.Namespace) -> Setup:
    """The method, its run and its memory; raises what makes no sense before any work is done."""
    begun = _begun(options)
    choice = _choice(model, options, begun)
    samples = isinstance(choice.method, Sampler)
    idle = [name for name in SAMPLERS_ONLY if not samples and getattr(options, name) is not None]
    if choice.name == "exact":  # which takes the time it takes
        idle += [name for name in ("sweeps", "seconds") if getattr(options, name) is not None]
    words = tuple(f"--{name.replace('_', '-')}" for name in idle)
    refused = [word for word in words if word not in ("--sweeps", "--seconds")]
    if refused and options.method != "auto":
        raise MethodError(f"expected no {refused[0]} with --method {options.method}: drop it")
    chains = (CHAINS if options.chains is None else options.chains) if samples else 1
    _check_counts(options)
    begun = begun if samples else None
    if options.engine or options.workers is not None:
        engines.check(options.engine, options.workers)
    need, lay_out = _memory(model, choice, chains, options)
    return Setup(
        choice,
        _sweeps(choice, options, begun),
        options.seconds,
        _burn_in(choice, options, begun),
        chains,
        need,
        words,
        begun,
        lay_out,
    )


def _choice(model: Model, options: argparse.Namespace, begun: "Begun | None") -> Choice:
    name, has_weights = options.method, options.weights is not None or options.slack is not None
    herd = {} if options.herd is None else {"herd": options.herd}
    if has_weights and name not in ("auto", "herded"):
        raise MethodError(f"expected --weights and --slack with --method herded, got {name!r}")
    if herd and name not in ("auto", "herd", "gibbs", "herded"):
        raise MethodError(f"expected --herd with --method herd, gibbs or herded, got {name!r}")
    if name == "auto" and (has_weights or herd):
        name = "herd" if herd else "herded"
    if name == "auto" and begun is not None and options.task == "mar":
        return _resumed(model, options, begun)
    if name == "auto":
        return choose(
            model,
            options.task,
            updates=_updates(options),
            seconds=options.seconds,
            max_memory=options.max_memory,
            seed=options.seed,
            exact=not (options.checkpoint and os.path.exists(options.checkpoint)),
        )
    if name in {"map": ("mean-field", "bp"), "pr": ("herded", "gibbs")}.get(options.task, ()):
        raise MethodError(REFUSED[options.task].format(name))
    if name == "herded":
        return Choice(name, _herded(model, options), "")
    if name in ("gibbs", "herd") and options.task == "map":
        found: Any = annealed(model, options.seed, herded=False)
        plain: Any = method_named(name, **herd)
        return Choice(name, replace(found, herd=plain.herd), "")
    return Choice(name, method_named(name, seed=options.seed, **herd), "")


def _resumed(model: Model, options: argparse.Namespace, begun: "Begun") -> Choice:
    """What a run that has begun was begun with."""
    reason = "a run that has begun goes on"
    if begun.herd > 1:
        return Choice(
            "herd", Gibbs(herd=begun.herd, seed=options.seed), reason, burn_in=begun.burn_in
        )
    suited = suited_weights(model, seed=options.seed, max_memory=options.max_memory)
    return Choice("herded", suited, reason)


def _updates(options: argparse.Namespace) -> int:
    """Of each variable, in all chains."""
    chains = CHAINS if options.chains is None else max(1, options.chains)
    return chains * (SWEEPS if options.sweeps is None else max(1, options.sweeps))


def _herded(model: Model, options: argparse.Namespace) -> Method:
    """Herded Gibbs with the given options; the others suit the model."""
    weights, slack, seed = options.weights, options.slack, options.seed
    if options.herd is not None:
        if weights is not None or slack is not None:
            raise MethodError("expected no --weights or --slack with --herd: drop one of them")
        return HerdedGibbs(herd=options.herd, seed=seed)
    if options.task == "map":
        if slack is not None:
            raise MethodError("expected no --slack with --task map, which anneals: drop it")
        suited = annealed(model, seed)
        if weights is None:
            return suited
        return HerdedGibbs(weights, seed=seed, schedule=suited.schedule)
    if weights is None and slack is None:
        return suited_weights(model, seed=seed, max_memory=options.max_memory)
    if weights is None:
        weights = suited_weights(model, max_memory=options.max_memory).weights
    if slack is None:
        slack = SLACK if weights == "pooled" else 0.0
    return HerdedGibbs(weights=weights, slack=slack, seed=seed)


def _check_counts(options: argparse.Namespace) -> None:
    for name, least in (("sweeps", 1), ("chains", 1), ("burn_in", 0), ("threads", 1)):
        value = getattr(options, name)
        if value is not None and not least <= value <= MOST:
            word = name.replace("_", "-")
            raise MethodError(f"expected --{word} from {least} to {MOST:.0e}, got {value}")
    if options.seconds is not None and not 0 < options.seconds < math.inf:
        raise MethodError(f"expected --seconds above 0, got {options.seconds:g}")
    if options.task == "map" and options.seconds is not None and options.checkpoint is not None:
        raise MethodError(
            "expected --sweeps with --task map and --checkpoint, got --seconds: rounds of "
            "annealing that the clock ends cannot be resumed"
        )
    if not options.checkpoint_every >= 0:
        raise MethodError(
            f"expected --checkpoint-every of 0 or more, got {options.checkpoint_every:g}"
        )


def _sweeps(choice: Choice, options: argparse.Namespace, begun: "Begun | None") -> int | None:
    if options.seconds is not None and options.sweeps is None:
        return None
    if choice.burn_in is not None:  # planned for so many updates in all
        chains = CHAINS if options.chains is None else options.chains
        each = _updates(options) // (chains * getattr(choice.method, "herd", 1))
        found = max(1, each - choice.burn_in)
        return found if begun is None or options.sweeps else max(found, begun.recorded)
    if options.sweeps is not None:
        return int(options.sweeps)
    if not isinstance(choice.method, Sampler):
        return 1000
    return SWEEPS if begun is None else max(SWEEPS, begun.recorded)


def _burn_in(choice: Choice, options: argparse.Namespace, begun: "Begun | None") -> int:
    """None for annealing, which is all burn-in, and for solvers."""
    if not isinstance(choice.method, Sampler) or is_annealed(choice.method):
        if options.burn_in and isinstance(choice.method, Sampler):
            raise MethodError("expected no --burn-in with --task map, which anneals: drop it")
        return 0
    if options.burn_in is not None:
        found: int = options.burn_in
        return found
    if begun is not None:
        return begun.burn_in
    if choice.burn_in is not None:
        return choice.burn_in
    if options.seconds is not None:
        return BURN_IN_OF_SECONDS
    return min(MOST_BURN_IN, (options.sweeps or SWEEPS) // 10)


class Begun(NamedTuple):
    """How far a run is that has a checkpoint."""

    burn_in: int
    done: int
    seconds: float  # since its first start, without pauses
    herd: int  # members that draw together

    @property
    def recorded(self) -> int:
        """Sweeps after the burn-in."""
        return max(0, self.done - self.burn_in)

    def described(self) -> str:
        return f"{count(self.recorded, 'sweep')} in {self.seconds:.2f} s"


def _begun(options: argparse.Namespace) -> Begun | None:
    """The run that --checkpoint holds: one that goes on keeps its burn-in, and what it has done."""
    if options.checkpoint is None or not os.path.exists(options.checkpoint):
        return None
    found = checkpoint.read(options.checkpoint)
    header: dict[str, Any] = found[0] if found else {}
    members = re.search(r"herd=(\d{1,5})\b", str(header.get("method")))
    begun = Begun(
        header.get("burn_in", -1),
        header.get("done", -1),
        header.get("seconds", -1),
        int(members[1]) if members else 1,
    )
    counts = all(isinstance(value, int) and 0 <= value <= MOST for value in begun[:2])
    timed = isinstance(begun.seconds, (int, float)) and 0 <= begun.seconds < math.inf
    return begun if counts and timed else None  # whoever resumes it says what is wrong


def _memory(
    model: Model, choice: Choice, chains: int, options: argparse.Namespace
) -> tuple[float, Callable[[], Layout | None]]:
    """The bytes of a run, refused above the limit before they are taken, and how to lay it out."""
    max_memory, limit = options.max_memory, memory.limit(options.max_memory)
    method, layout, need = choice.method, choice.layout, choice.memory
    if isinstance(method, Exact) and (layout is None or need is None):
        order = elimination_order(model, limit)
        layout, need = method.in_order(model, order), exact_memory(model, order)
    elif isinstance(method, Sampler) and not hasattr(method, "propose"):
        need = 0.0  # of another package: it refuses for itself
    elif isinstance(method, Sampler):
        proposal = method.propose(model, max_memory=max_memory)
        need = run_memory(model, method, chains=chains, max_memory=max_memory, proposal=proposal)
        proposal.check()  # says which variable is to blame
        if options.seconds is not None:
            need += min(chains * proposal.chain_memory, SPARE)
        _refuse(need, limit)
        return need, lambda: replace(proposal.build(), method=method)
    elif need is None:
        need = run_memory(model, method, max_memory=max_memory)
    _refuse(need, limit)
    return need, lambda: layout


def _refuse(need: float, limit: float) -> None:
    if need > limit:
        raise MemoryLimitError(
            f"expected a run of at most {memory.readable(limit)}, but this one may need "
            f"{memory.readable(need)}: raise --max-memory, or use fewer --chains or --weights "
            "pooled"
        )
