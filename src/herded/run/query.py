"""What is asked of a run, and checks of it."""

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, SupportsIndex
from weakref import WeakKeyDictionary

from herded.errors import MethodError
from herded.layouts.base import Layout
from herded.methods.protocol import Sampler, Solver, has_same_layouts
from herded.methods.schedule import is_annealed
from herded.models.protocol import Model
from herded.run.observables.recorder import Observable, Observables
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
from herded.system.argument_checks import short_repr

if TYPE_CHECKING:
    from typing_extensions import TypeIs

DEFAULT_SWEEPS = 1000  # of a method that was given

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
    """What a run records; None for what it does not."""

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


_ROLES: WeakKeyDictionary[type, type | None] = WeakKeyDictionary()


def method_protocol(method: object) -> type | None:
    """`Sampler`, `Solver`, or None; asked once for each class, since Python takes its time."""
    kind = type(method)
    if kind not in _ROLES:
        found = [protocol for protocol in (Sampler, Solver) if isinstance(method, protocol)]
        _ROLES[kind] = found[0] if found else None
    return _ROLES[kind]


def is_solver(method: object) -> "TypeIs[Solver]":
    return method_protocol(method) is Solver


def check_layout(layout: Layout, model: Model, method: object) -> None:
    """A layout of another method has arrays of other sizes, which kernels would not notice."""
    if layout.model is model and layout.method == method:
        return
    if layout.model is not model:
        raise MethodError("expected a layout that was compiled for this model, got another's")
    if not has_same_layouts(layout.method, method):
        raise MethodError(
            f"expected a layout from compile(model) of {method!r:.200}, got one of "
            f"{layout.method!r:.200}"
        )


def total_sweeps(method: object, sweeps: int | None, seconds: float | None) -> int:
    """How many there are at most."""
    if seconds is None:
        return DEFAULT_SWEEPS if sweeps is None else check_count("sweeps", sweeps, 1)
    check_seconds(seconds)
    if sweeps is None and is_annealed(method):
        raise MethodError(
            f"expected sweeps for {type(method).__name__} with a schedule, whose temperature falls "
            "from the first to the last, got seconds alone: pass both"
        )
    return UNLIMITED_SWEEPS if sweeps is None else check_count("sweeps", sweeps, 1)


def check_seconds(seconds: float) -> float:
    if not is_time(seconds) or seconds == 0:
        raise MethodError(f"expected seconds above 0, got {short_repr(seconds)}")
    return seconds


def is_time(seconds: object) -> bool:
    """Whether this is a number of 0 or more."""
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


def parse_keep(
    keep: Sequence[KeepArgument | Observable] | None, rao_blackwell: bool = False
) -> KeepOptions:
    """Check the `keep=` of `infer`; None keeps the marginals, with or without `rao_blackwell`."""
    kinds = (Marginals, BestState, Samples, PairMarginals, Joint, ErrorCurve, Observable)
    chosen: dict[str, Any] = {}
    if not (keep is None or isinstance(keep, Iterable)):
        raise MethodError(f"expected keep= as a list, got {short_repr(keep)}")
    for choice in [Marginals(rao_blackwell)] if keep is None else keep:
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
