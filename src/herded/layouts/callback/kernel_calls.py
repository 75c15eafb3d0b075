"""The common parts of chains and herds of callback models: orders of visits, kept statistics."""

from collections.abc import Callable
from typing import Any

import numpy as np

from herded.draws.protocol import Draw
from herded.errors import HerdedError, MethodError, ModelError
from herded.layouts.callback.sweeps import CallbackArrays
from herded.layouts.factor_arrays import FactorArrays, count_table_rows
from herded.layouts.state import State
from herded.layouts.visit_order import JACOBI, Scan, ScanArrays, compile_scan
from herded.models.callbacks.conditional_model import ConditionalModel
from herded.models.callbacks.function_calls import MemberViews, callback_error
from herded.models.naming import variable_text
from herded.system.aligned_arrays import make_read_only
from herded.system.compilation.user_function_compiler import compile_for_arguments

MAX_CONTEXTS_IN_ALL = 2**20  # of all variables, where each has a weight of its own
STATISTICS_PREFIX = "statistics"  # what a chain keeps, by the names of a checkpoint


def neighbour_arrays(model: ConditionalModel) -> FactorArrays:
    """Return the neighbours of every variable that are free, as kernels know them from factors."""
    n, none = model.n_variables, np.zeros(0, np.int64)
    start, members = np.zeros(n + 1, np.int64), none
    if model.neighbour_lists is not None:
        first, everyone = model.neighbour_lists
        free = model.evidence[everyone] < 0
        members, start = everyone[free], np.concatenate([[0], np.cumsum(free)])[first]
    return make_read_only(
        FactorArrays(
            cardinalities=model.cardinalities,
            entry_start=np.zeros(n + 1, np.int64),
            table_base=none,
            own_stride=none,
            other_start=np.zeros(1, np.int64),
            other=none.astype(np.uint32),
            other_ratio=none,
            last_stride=none,
            log_tables=np.zeros(0),
            neighbour_start=start,
            neighbour=members.astype(np.uint32),
        )
    )


def callback_visit_order(model: ConditionalModel, scan: Scan, near: FactorArrays) -> ScanArrays:
    """Return the order of visits, in one segment: what is kept may be of all variables."""
    by_colour = isinstance(scan, str) and scan in ("checkerboard", "colour")
    if by_colour and model.neighbour_lists is None:
        raise MethodError(
            f"expected neighbours= of a ConditionalModel for scan={scan!r}, got none, so every "
            'variable is a neighbour of every other: use scan="sequential"'
        )
    order = compile_scan(scan, near, model.evidence < 0, whole=True)
    if order.policy[0] == JACOBI:
        raise MethodError(
            "expected a scan of one variable at a time for a ConditionalModel, whose statistics "
            'follow every change, got "jacobi": use scan="sequential"'
        )
    return order


def supported_weights(model: ConditionalModel, draw: Draw, near: FactorArrays) -> str | None:
    """Return the weights a draw asks for as this layout has them: hashed if many."""
    weights = draw.weights
    if weights == "shared":
        raise MethodError(
            'expected weights="pooled", "lazy", "full" or "blanket" for a ConditionalModel, got '
            '"shared", which needs conditionals tabulated'
        )
    if weights == "blanket":
        rows = count_table_rows(near, model.evidence < 0)
        if model.neighbour_lists is None or rows.sum() > MAX_CONTEXTS_IN_ALL:
            which = "none" if model.neighbour_lists is None else f"{rows.sum():.2g} contexts"
            raise MethodError(
                'expected neighbours= of few variables for weights="blanket", one for each state '
                f'of the neighbours, got {which}: use HerdedGibbs(weights="pooled", slack=4), or '
                "Gibbs(herd=64)"
            )
        return "lazy"
    if weights == "lazy" and model.neighbour_lists is None:
        return "full"  # the neighbours are all others
    return weights


def statistics_of(state: State) -> tuple[np.ndarray, ...]:
    """Return the statistics of the members of a chain, as their functions use them."""
    count = sum(name.startswith(STATISTICS_PREFIX) for name in state.method_arrays)
    return tuple(state.method_arrays[f"{STATISTICS_PREFIX}{a}"] for a in range(count))


def build_statistics(model: ConditionalModel, x: np.ndarray) -> dict[str, np.ndarray]:
    """Build the statistics of members at `x` (members, N), by name."""
    with translate_callback_errors("statistics"):
        return {f"{STATISTICS_PREFIX}{a}": part for a, part in enumerate(model.callbacks.build(x))}


class KernelCaller:
    """A caller of kernels with a model's functions: compiled, or as plain Python.

    All calls have arguments of the same types, which are inspected once.
    """

    def __init__(self, model: ConditionalModel, kernel: Callable[..., None]) -> None:
        self.model, self.kernel = model, kernel
        self.found: Callable[..., None] | None = None
        if model.callbacks.fast is None:
            self.found = getattr(kernel, "py_func", kernel)

    def __call__(self, x: np.ndarray, state: State, *others: Any) -> None:
        """Run it on a chain whose own `x` (members, N) and statistics are written in place."""
        model, calls = self.model, self.model.callbacks.best
        members, alarm = MemberViews(model, x, statistics_of(state)), np.zeros(3, np.int64)
        follow = calls.follow
        own = CallbackArrays(
            members.place(calls), follow is not None, x, members.out, members.old, alarm
        )
        # Without statistics `follow` is never called, and any function will do.
        arguments = calls.visit, follow or calls.visit, own, *others
        with translate_callback_errors("the model's functions"):
            if self.found is None:
                self.found = compile_for_arguments(self.kernel, arguments)
            self.found(*arguments)
        if alarm[0]:
            _, i, k = alarm.tolist()
            raise invalid_conditional_error(model, i, members.out[k, : model.cardinalities[i]])


class translate_callback_errors:  # noqa: N801  used like a function
    """A context that turns errors of a user's functions into clear ones."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, HerdedError):
            raise callback_error(error, self.what) from error


def invalid_conditional_error(model: ConditionalModel, i: int, logits: np.ndarray) -> ModelError:
    """Return the error to raise where the conditional of variable i is none."""
    name = variable_text(model, i)
    if np.isneginf(logits).all():
        return ModelError(
            f"expected a possible state of variable {name} given the others, but conditional gives "
            "-inf for all of them: pass start= (a possible state), or correct the function"
        )
    return ModelError(
        "expected finite or -inf log-probabilities from conditional, got "
        f"{logits[~(logits < np.inf)][0]} for variable {name}: correct the function"
    )
