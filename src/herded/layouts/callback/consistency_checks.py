"""Checks that a user's functions keep their contract, at the start of a chain and at intervals.

The checks do not change a chain, with one exception: its statistics are rebuilt at the same sweeps,
so that rounding errors do not accumulate, whatever the blocks that a run is cut into.
"""

import time
from collections.abc import Iterator

import numpy as np

from herded.errors import ModelError
from herded.layouts.callback.kernel_calls import (
    invalid_conditional_error,
    statistics_of,
    translate_callback_errors,
)
from herded.layouts.state import State
from herded.models.callbacks.conditional_model import ConditionalModel
from herded.models.callbacks.function_calls import CallbackFunctions, MemberViews
from herded.models.naming import variable_text
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.diagnostics.phrases import Remedy
from herded.system.numerics.counter_rng import random_bits_array, stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

# between two looks
EARLY_CHECK_SWEEPS, SWEEPS_BETWEEN_CHECKS, UPDATES_BETWEEN_CHECKS = (0, 16, 128), 1024, 2**17
VARIABLES_PER_CHECK = 8  # variables in each check
VARIABLES_COMPARED_AT_START = 64  # whose compiled conditionals are compared with plain ones
# of probabilities, and of statistics relative to the largest of an array
CONSISTENCY_TOLERANCE = 1e-6
LOGIT_TOLERANCE = 1e-9  # of logits, compiled and plain
# seconds for an update by compiled functions: benchmarks --only callback-models
COMPILED_UPDATE_SECONDS = 1e-7


def sweeps_between_checks(updates: int) -> int:
    """Return the sweeps between two checks: a power of two, more for short sweeps.

    Statistics are rebuilt then, so that the bits of a run depend on this number.
    """
    found = SWEEPS_BETWEEN_CHECKS
    while found * updates < UPDATES_BETWEEN_CHECKS:
        found *= 2
    return found


def ranges_between_checks(
    model: ConditionalModel, x: np.ndarray, state: State, sweeps: int
) -> Iterator[tuple[int, int]]:
    """Yield ranges of `sweeps` from the state's own on, each after a check if due."""
    often, begun, first = sweeps_between_checks(x.size), state.sweep, 0
    while first < sweeps:
        now = begun + first
        if now in EARLY_CHECK_SWEEPS or now % often == 0:
            check_callbacks(model, x, state)
        later = [mark for mark in EARLY_CHECK_SWEEPS if mark > now]
        mark = min([*later, (now // often + 1) * often])
        yield first, min(sweeps, mark - begun)
        first = mark - begun


def check_callbacks(model: ConditionalModel, x: np.ndarray, state: State) -> None:
    """Raise where functions break a promise; what is kept is then as good as new."""
    with translate_callback_errors("the model's functions"):
        if state.sweep == 0:
            compare_compiled_with_plain(model, x[:1])
        else:
            rebuild_statistics(model, x, state)
        if state.sweep & (state.sweep - 1):
            return
        key = stream_key(state.chain, state.sweep, StreamPurpose.CALLBACK_CHECKS)
        k = int(random_bits_array(key, 1)[0] % np.uint64(len(x)))
        for i in _pick_variables(model, key, VARIABLES_PER_CHECK):
            check_locality(model, x[k : k + 1], i, int(key >> np.uint64(8)))


def rebuild_statistics(model: ConditionalModel, x: np.ndarray, state: State) -> None:
    """Rebuild the statistics of members, and raise if they differ from those kept."""
    for kept, fresh in zip(statistics_of(state), model.callbacks.build(x), strict=True):
        gap = np.abs(np.subtract(kept, fresh, dtype=np.float64))
        most = CONSISTENCY_TOLERANCE * max(1.0, float(np.abs(fresh).max(initial=0.0)))
        if not (gap <= most).all():
            raise ModelError(
                "expected statistics as a fresh build gives them, but after "
                f"{state.sweep} sweeps they differ by {np.nanmax(gap):.3g}, more than "
                f"{most:.3g}: correct changed (or leave it out), or statistics"
            )
        kept[...] = fresh


def check_locality(model: ConditionalModel, x: np.ndarray, i: int, bits: int) -> None:
    """Raise if the conditional of variable i depends on its own state, or on no neighbour's."""
    mine = ProbeMember(model, x, model.callbacks.best)
    first = mine.probabilities(i)
    if first is None:
        return  # a visit reports it
    for value in _other_states(model, x, i, bits):
        mine.move(i, value)
        gap = _gap(first, mine.probabilities(i))
        if gap > CONSISTENCY_TOLERANCE:
            raise ModelError(
                f"expected a conditional of variable {variable_text(model, i)} that does not "
                f"depend on its own state x[i], but it changes by {gap:.3g} when x[i] does: take "
                "x[i] out of the function, or out of statistics and changed"
            )
    stranger = _pick_non_neighbour(model, i, bits)
    if stranger is not None:
        for value in _other_states(model, x, stranger, bits):
            mine.move(stranger, value)
        now = mine.probabilities(i)
        gap = 0.0 if now is None else _gap(first, now)  # None: the stranger cannot be that
        if gap > CONSISTENCY_TOLERANCE:
            raise ModelError(
                f"expected a conditional of variable {variable_text(model, i)} that depends on its "
                f"neighbours= alone, but it changes by {gap:.3g} with variable "
                f"{variable_text(model, stranger)}: add it to the neighbours"
            )


def compare_compiled_with_plain(model: ConditionalModel, x: np.ndarray) -> None:
    """Raise if plain functions fail, or say something else than compiled ones.

    Compiled code does not see an index that is out of range: plain Python does.
    """
    plain = ProbeMember(model, x, model.callbacks.plain)
    fast = ProbeMember(model, x, model.callbacks.best)
    for i in _variables_compared_at_start(model):
        expected, found = plain.logits(i), fast.logits(i)
        if not np.allclose(found, expected, LOGIT_TOLERANCE, LOGIT_TOLERANCE, equal_nan=True):
            raise ModelError(
                f"expected the same from conditional compiled as in plain Python, got {found} "
                f"instead of {expected} for variable {variable_text(model, i)}: correct the "
                "function, or pass compiled=False"
            )


def diagnose_functions(model: ConditionalModel, x: np.ndarray) -> list[Diagnostic]:
    """Find faults of functions at states `x` (members, N)."""
    found = (_find_plain_functions(model, x[:1]), _find_inconsistency(model, x[:1]))
    return [one for one in found if one is not None]


def _find_plain_functions(model: ConditionalModel, x: np.ndarray) -> Diagnostic | None:
    """Find functions that could not be compiled, and what that costs."""
    is_asked_for = model.compiled is False or model.vectorised  # NumPy for all members at once
    if model.callbacks.fast is not None or is_asked_for or not model.callbacks.why_plain:
        return None
    mine, some = (
        ProbeMember(model, x, model.callbacks.plain),
        _variables_compared_at_start(model),
    )
    began = time.perf_counter()
    for i in some:
        mine.logits(i)
    took = (time.perf_counter() - began) / max(1, len(some))
    figures = {"seconds": took, "slower": max(1.0, took / COMPILED_UPDATE_SECONDS)}
    remedy = Remedy(
        "rewrite it for Numba", "pass vectorised=True for a herd", "compiled=False if you know"
    )
    names = {"reason": model.callbacks.why_plain}
    return Diagnostic(DiagnosticKind.PLAIN_FUNCTIONS, "warning", (), figures, remedy, names)


def _find_inconsistency(model: ConditionalModel, x: np.ndarray) -> Diagnostic | None:
    """Find conditionals that belong to no distribution.

    Two variables that change one after the other and then back again come back to the same
    probability, if there is one.
    """
    key, bits = stream_key(StreamPurpose.CALLBACK_CHECKS, 1), 1
    some = _pick_variables(model, key, 2 * VARIABLES_PER_CHECK)
    for i, j in zip(some, some[1:] + some[:1], strict=True):
        mine, total, size = ProbeMember(model, x, model.callbacks.best), 0.0, 1.0
        old = {v: int(x[0, v]) for v in (i, j)}
        new = {v: next(iter(_other_states(model, x, v, bits)), old[v]) for v in (i, j)}
        for v, value in ((i, new[i]), (j, new[j]), (i, old[i]), (j, old[j])):
            logits = mine.logits(v)
            gain = float(logits[value]) - float(logits[mine.x[0, v]])
            total, size = total + gain, size + abs(gain)
            mine.move(v, value)
        if np.isfinite(total) and abs(total) > CONSISTENCY_TOLERANCE * size:
            return Diagnostic(
                DiagnosticKind.NO_JOINT,
                "warning",
                (i, j),
                {"change": total},
                Remedy("correct the functions"),
                {"variable": variable_text(model, i), "other": variable_text(model, j)},
            )
    return None


class ProbeMember:
    """One member of a chain, copied, whose variables can be set."""

    def __init__(self, model: ConditionalModel, x: np.ndarray, calls: CallbackFunctions) -> None:
        self.model, self.calls, self.x = model, calls, np.array(x, order="C")
        self.members = MemberViews(model, self.x, model.callbacks.build(self.x, calls))
        self.place = self.members.place(calls)

    def logits(self, i: int) -> np.ndarray:
        """Return what conditional writes for variable i; NaN where it writes nothing."""
        states, out = int(self.model.cardinalities[i]), self.members.out
        out[:] = np.nan
        self.calls.visit(i, self.place)
        found = out[0, :states].copy()
        if np.isposinf(found).any():
            raise invalid_conditional_error(self.model, i, found)
        if np.isnan(found).any():
            raise ModelError(
                f"expected {states} log-probabilities from conditional for variable "
                f"{variable_text(self.model, i)}, got NaN or nothing for state "
                f"{int(np.isnan(found).argmax())}: write all of out[0] to out[{states - 1}]"
            )
        return found

    def probabilities(self, i: int) -> np.ndarray | None:
        """Return the conditional of variable i, or None where no state of it is possible."""
        logits = self.logits(i)
        if np.isneginf(logits).all():
            return None
        shares = np.exp(logits - logits.max())
        found: np.ndarray = shares / shares.sum()
        return found

    def move(self, i: int, value: int) -> None:
        """Set variable i."""
        old = self.members.old
        old[:] = self.x[:, i]
        self.x[:, i] = value
        if self.calls.follow is not None and old[0] != value:
            self.calls.follow(i, self.place)


def _gap(first: np.ndarray, now: np.ndarray | None) -> float:
    """Return how far two conditionals are apart; 1 where one is none."""
    return 1.0 if now is None else float(np.abs(now - first).max())


def _variables_compared_at_start(model: ConditionalModel) -> list[int]:
    key = stream_key(StreamPurpose.CALLBACK_CHECKS)
    return _pick_variables(model, key, VARIABLES_COMPARED_AT_START)


def _pick_variables(model: ConditionalModel, key: np.uint64, most: int) -> list[int]:
    """Return some free variables, all if they are few."""
    free = np.flatnonzero(model.evidence < 0)
    order = np.argsort(random_bits_array(np.uint64(key), len(free)), kind="stable")
    found: list[int] = free[order[:most]].tolist()
    return found


def _other_states(model: ConditionalModel, x: np.ndarray, i: int, bits: int) -> list[int]:
    """Return another state of variable i, or none if it has only one."""
    states, now = int(model.cardinalities[i]), int(x[0, i])
    return [(now + 1 + bits % (states - 1)) % states] if states > 1 else []


def _pick_non_neighbour(model: ConditionalModel, i: int, bits: int) -> int | None:
    """Return a free variable that is said to be no neighbour of i."""
    if model.neighbour_lists is None:
        return None
    far = np.flatnonzero(model.evidence < 0)
    far = far[~np.isin(far, np.append(model.neighbours(i), i))]
    return int(far[bits % len(far)]) if len(far) else None
