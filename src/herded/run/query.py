"""The query: the request for a run, as one dataclass, and its checks.

`infer` builds a query from its arguments (`build_query`), and `herded infer` from its options. A
query has a method or names one: `run/selection/plan.py` plans the run that a name stands for, and
`run/execute.py` runs a method. Stages of a plan and cross-checks are queries too, with a method and
a budget of their own.
"""

import operator
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, SupportsIndex, TypedDict, Unpack, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import MethodError
from herded.layouts.base import Layout
from herded.layouts.state import State
from herded.methods.protocol import Method, Sampler, Solver, has_same_layouts
from herded.methods.schedule import is_annealed
from herded.models.factor_graph import FactorGraph
from herded.models.lattice import Lattice
from herded.models.protocol import Model
from herded.models.validation import check_model
from herded.run.observables.recorder import Observable, Observables
from herded.run.progress import SnapshotCallback
from herded.run.recording.best_state_recorder import BestState
from herded.run.recording.recorders import (
    ErrorCurve,
    Joint,
    KeepArgument,
    Marginals,
    PairMarginals,
    Samples,
)
from herded.run.run_loop import UNLIMITED_SWEEPS
from herded.run.selection.recommendation import Recommendation
from herded.system.argument_checks import short_repr
from herded.system.atomic_files import FilePath
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.memory_limits import Size

if TYPE_CHECKING:
    from typing_extensions import TypeIs

DEFAULT_SWEEPS = 1000  # of a method that was given

Start = ArrayLike | State | Sequence[State]

RecordedChoice = Marginals | BestState | Samples | PairMarginals | Joint | Observables

FIELDS: dict[type, str] = {  # of `KeepOptions`, by the class of the choice
    Marginals: "marginals",
    BestState: "best_state",
    Samples: "samples",
    PairMarginals: "pair_marginals",
    Joint: "joint",
    ErrorCurve: "error_curve",
}


@dataclass(frozen=True)
class KeepOptions:
    """The records that a run keeps; None for those it does not."""

    marginals: Marginals | None = None
    best_state: BestState | None = None
    samples: Samples | None = None
    pair_marginals: PairMarginals | None = None
    joint: Joint | None = None
    error_curve: ErrorCurve | None = None
    observables: Observables | None = None

    @cached_property
    def recorded(self) -> tuple[RecordedChoice, ...]:
        """The choices that have a recorder: all but the error curve, which reads marginals."""
        choices = (
            self.marginals,
            self.best_state,
            self.samples,
            self.pair_marginals,
            self.joint,
            self.observables,
        )
        return tuple(choice for choice in choices if choice is not None)

    @cached_property
    def choices(self) -> tuple[RecordedChoice | ErrorCurve, ...]:
        """All that was chosen."""
        return self.recorded if self.error_curve is None else (*self.recorded, self.error_curve)

    @cached_property
    def kinds(self) -> frozenset[type]:
        """The classes of the choices."""
        return frozenset(type(choice) for choice in self.choices)

    @cached_property
    def each_observable(self) -> tuple[Observable, ...]:
        """The observables one by one."""
        return () if self.observables is None else self.observables.choices

    @cached_property
    def averages_conditionals(self) -> bool:
        """Whether chains must sum the conditionals that they draw from."""
        return any(
            choice is not None and choice.rao_blackwell
            for choice in (self.marginals, self.error_curve)
        )


DEFAULT_KEEP = KeepOptions(marginals=Marginals())


@dataclass(frozen=True)
class Budget:
    """The length of a run and its number of chains; None where nothing was given."""

    sweeps: int | None = None  # of each chain, after the burn-in
    seconds: float | None = None
    burn_in: int | None = None
    chains: int | None = None

    @property
    def max_sweeps(self) -> int:
        """The sweeps at most; without sweeps, seconds alone end a run."""
        if self.sweeps is not None:
            return self.sweeps
        return DEFAULT_SWEEPS if self.seconds is None else UNLIMITED_SWEEPS


@dataclass(frozen=True)
class CheckpointOptions:
    """The file that a run is saved in and resumed from, if any, and how often."""

    path: FilePath | None = None
    every_seconds: float = 30.0


@dataclass(frozen=True)
class NamedMethodOptions:
    """Options of a method that is chosen by name; None where the name decides."""

    herd: int | None = None
    weights: str | None = None
    slack: float | None = None
    seed: int = 0


@dataclass(frozen=True)
class Query:
    """A request for a run.

    `method` is a sampler, a solver, or a name such as "auto". `task` is "mar" for marginals, "map"
    for the best state or "pr" for log Z. Without `keep`, marginals are kept.
    """

    model: Model
    method: str | Method = "auto"
    task: str = "mar"
    budget: Budget = Budget()
    keep: KeepOptions | None = None
    start: Start | None = None
    checkpoint: CheckpointOptions = CheckpointOptions()
    progress: bool | None = None
    callback: SnapshotCallback | None = None
    layout: str | Layout | None = None
    max_memory: Size | None = None
    threads: int | None = None
    executor: Executor | None = None
    method_options: NamedMethodOptions = NamedMethodOptions()
    reason: str = ""  # why the method was chosen
    caveat: Diagnostic | None = None  # why any run of this length may be wrong
    reason_to_sample: str = ""  # why no solver would do
    is_cross_check: bool = False  # a short run that another result is compared with

    @property
    def keep_or_default(self) -> KeepOptions:
        """What is recorded: marginals, where nothing was asked for."""
        return DEFAULT_KEEP if self.keep is None else self.keep


class QueryOptions(TypedDict, total=False):
    """The options of `infer` that become part of a query."""

    sweeps: int | None
    seconds: float | None
    burn_in: int | None
    chains: int | None
    keep: Sequence[KeepArgument | Observable] | None
    start: Start | None
    checkpoint: FilePath | None
    checkpoint_every: float
    progress: bool | None
    callback: SnapshotCallback | None
    layout: str | Layout | None
    max_memory: Size | None
    threads: int | None
    executor: Executor | None


def build_query(
    model: Model,
    method: str | Method | Recommendation | None = None,
    **options: Unpack[QueryOptions],
) -> Query:
    """Check the arguments of `infer`, and put them together."""
    if not isinstance(model, (FactorGraph, Lattice)):
        check_model(model)
    kept, start = options.get("keep"), options.get("start")
    keep = None if kept is None else parse_keep(kept)
    every = options.get("checkpoint_every", 30.0)
    budget = Budget(
        options.get("sweeps"),
        options.get("seconds"),
        options.get("burn_in"),
        options.get("chains"),
    )
    reason, caveat = "", None
    if isinstance(method, Recommendation):
        keep = keep or KeepOptions(marginals=Marginals(rao_blackwell=True))
        budget = _recommended_budget(budget, method)
        reason, caveat, method = method.reason, method.caveat, method.method
    budget = _check_budget(budget)
    if method is None or isinstance(method, str):
        method = method or "auto"
        _check_named(model, method, options.get("layout"), start)
    else:
        _check_method(method, budget)
    if (threads := options.get("threads")) is not None:
        check_count("threads", threads, 1)
    if not is_time(every):
        raise MethodError(
            f"expected checkpoint_every as seconds of 0 or more, got {short_repr(every)}"
        )
    return Query(
        model,
        method,
        "map" if keep is not None and keep.kinds == {BestState} else "mar",
        budget,
        keep,
        start,
        CheckpointOptions(options.get("checkpoint"), every),
        options.get("progress"),
        options.get("callback"),
        options.get("layout"),
        options.get("max_memory"),
        threads,
        options.get("executor"),
        reason=reason,
        caveat=caveat,
    )


def _recommended_budget(budget: Budget, recommended: Recommendation) -> Budget:
    """Return the budget, with what was recommended where nothing was given."""
    is_timed = budget.seconds is not None
    return Budget(
        recommended.sweeps if budget.sweeps is None and not is_timed else budget.sweeps,
        budget.seconds,
        recommended.burn_in if budget.burn_in is None else budget.burn_in,
        recommended.chains if budget.chains is None else budget.chains,
    )


def _check_budget(budget: Budget) -> Budget:
    """Return the budget in whole numbers, where these are given."""
    sweeps, seconds, burn_in, chains = (
        budget.sweeps,
        budget.seconds,
        budget.burn_in,
        budget.chains,
    )
    return Budget(
        None if sweeps is None else check_count("sweeps", sweeps, 1),
        None if seconds is None else check_seconds(seconds),
        None if burn_in is None else check_count("burn_in", burn_in, 0),
        None if chains is None else check_count("chains", chains, 1),
    )


def _check_named(model: Model, name: str, layout: object, start: Start | None) -> None:
    """Raise where an option needs to know the method, and "auto" has yet to choose it."""
    if name != "auto":
        return
    if layout is not None:
        raise MethodError("expected a method with layout=, got none: name the method, too")
    if start is not None and (
        isinstance(start, State) or np.size(cast(ArrayLike, start)) != model.n_variables
    ):
        raise MethodError(
            "expected one state as start= without a method, got several, or those of an earlier "
            "run: name the method too, such as result.method"
        )


def _check_method(method: object, budget: Budget) -> None:
    """Raise unless it is a sampler or a solver, and can run for this budget."""
    if isinstance(method, type) or method_protocol(method) is None:
        raise MethodError(f"expected a method such as HerdedGibbs(), got {short_repr(method)}")
    if budget.seconds is not None and budget.sweeps is None and is_annealed(method):
        raise MethodError(
            f"expected sweeps for {type(method).__name__} with a schedule, whose temperature falls "
            "from the first to the last, got seconds alone: pass both"
        )


_ROLES: WeakKeyDictionary[type, type | None] = WeakKeyDictionary()


def method_protocol(method: object) -> type | None:
    """Return `Sampler`, `Solver` or None; cached by class, since the check is slow."""
    kind = type(method)
    if kind not in _ROLES:
        found = [protocol for protocol in (Sampler, Solver) if isinstance(method, protocol)]
        _ROLES[kind] = found[0] if found else None
    return _ROLES[kind]


def is_solver(method: object) -> "TypeIs[Solver]":
    return method_protocol(method) is Solver


def check_layout(layout: Layout, model: Model, method: object) -> None:
    """Refuse a layout of another method, whose arrays have other sizes."""
    if layout.model is model and layout.method == method:
        return
    if layout.model is not model:
        raise MethodError("expected a layout that was compiled for this model, got another's")
    if not has_same_layouts(layout.method, method):
        raise MethodError(
            f"expected a layout from compile(model) of {method!r:.200}, got one of "
            f"{layout.method!r:.200}"
        )


def check_seconds(seconds: float) -> float:
    if not is_time(seconds) or seconds == 0:
        raise MethodError(f"expected seconds above 0, got {short_repr(seconds)}")
    return seconds


def is_time(seconds: object) -> bool:
    """Return whether this is a number of 0 or more."""
    return isinstance(seconds, Real) and not isinstance(seconds, bool) and float(seconds) >= 0


def check_count(name: str, value: SupportsIndex, least: int) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 1e4
    try:
        count = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = -1
    if count < least:
        raise MethodError(
            f"expected {name} to be a whole number of {least} or more, got {short_repr(value)}"
        )
    return count


def parse_keep(keep: Sequence[KeepArgument | Observable]) -> KeepOptions:
    """Check the `keep=` of `infer`, and sort it by what it keeps."""
    kinds = (Marginals, BestState, Samples, PairMarginals, Joint, ErrorCurve, Observable)
    chosen: dict[str, Any] = {}
    if not isinstance(keep, Iterable):
        raise MethodError(f"expected keep= as a list, got {short_repr(keep)}")
    for choice in keep:
        if not isinstance(choice, kinds):
            raise MethodError(
                f"expected {', '.join(kind.__name__ + '()' for kind in kinds)} in keep=, got "
                f"{short_repr(choice)}"
            )
        if isinstance(choice, Observable):
            chosen["observables"] = chosen.get("observables", Observables()).add(choice)
            continue
        name = next(name for kind, name in FIELDS.items() if isinstance(choice, kind))
        if name in chosen:
            raise MethodError(f"expected {type(choice).__name__} once in keep=, got it twice")
        chosen[name] = choice
    return KeepOptions(**chosen)
