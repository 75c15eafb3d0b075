"""Check the arguments of `infer`."""

import operator
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, SupportsIndex
from weakref import WeakKeyDictionary

from herded.errors import MethodError
from herded.layouts.base import Layout
from herded.methods.protocol import Sampler, Solver
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
    options = (
        "weights",
        "slack",
        "scan",
        "herd",
        "moves",
        "method",
        "rungs",
        "hottest_beta",
        "swaps",
    )
    if (
        type(layout.method) is not type(method)
        or any(getattr(layout.method, n, None) != getattr(method, n, None) for n in options)
        or is_annealed(layout.method) != is_annealed(method)
    ):
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


def keep_by_type(
    keep: Sequence[KeepArgument | Observable] | None, rao_blackwell: bool = False
) -> dict[type, Any]:
    kinds = (Marginals, BestState, Samples, PairMarginals, Joint, ErrorCurve, Observable)
    choices: dict[type, Any] = {}
    if not (keep is None or isinstance(keep, Iterable)):
        raise MethodError(f"expected keep= as a list, got {short_repr(keep)}")
    for choice in [Marginals(rao_blackwell)] if keep is None else keep:
        if not isinstance(choice, kinds):
            raise MethodError(
                f"expected {', '.join(kind.__name__ + '()' for kind in kinds)} in keep=, got "
                f"{short_repr(choice)}"
            )
        if isinstance(choice, Observable):
            choices[Observables] = choices.get(Observables, Observables()).add(choice)
            continue
        if type(choice) in choices:
            raise MethodError(f"expected {type(choice).__name__} once in keep=, got it twice")
        choices[type(choice)] = choice
    return choices
