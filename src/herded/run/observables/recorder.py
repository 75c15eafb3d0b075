"""Observables: functions of the states, averaged during a run.

A recorder unpacks the states of a sweep once for all of them, of a large herd block by block of its
members (`MAX_STATES_PER_CALL`, `MAX_NUMBERS_PER_CALL`). Values are summed draw by draw, and in each
draw over all members in one go: sums depend neither on how sweeps nor on how members were cut into
blocks.
"""

import inspect
import math
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from herded.errors import MethodError
from herded.layouts.base import Layout
from herded.layouts.packing.member_bits import WORD_BITS, member_ranges
from herded.layouts.state import State
from herded.models.protocol import Model
from herded.run.observables.batched import find_batched_observable
from herded.run.observables.large_lattices import LARGE_LATTICE_SITES
from herded.run.observables.packed import (
    PackedObservable,
    PackedPairObservable,
    find_packed_observable,
)
from herded.run.recording.recorder_base import Recorder
from herded.system.argument_checks import is_whole_number, short_repr

STATE_DTYPE = np.int32  # what functions get: products and sums of states do not overflow in it
MAX_STATES_PER_PASS = 2**23  # states: as words of bits they are in the cache
MAX_STATES_PER_CALL = 2**20  # that a function gets at once, if it is not one member's: 4 MiB
MAX_NUMBERS_PER_CALL = 2**21  # that it gives at once, if so: 16 MiB
FIRST_MEMBERS = 2  # that it gets first, before it is known how much it gives


@dataclass(frozen=True)
class Observable:
    """The average of a function of the states.

    Parameters
    ----------
    f
        A function of states (members, N), of a lattice (members, H, W) or whatever its shape is;
        it gives a number, or an array of numbers, for each of them: (members,) or (members, ...).
        Members are those of a herd; of other chains there is one. A function with a parameter
        called `model` gets the model too. Ready are `energy`, `magnetisation` and
        `Correlations(...)`. It is called once with one or two starts, to learn the shape of what it
        gives, and where chains run on threads, on these. Of a large herd it gets some members at a
        time (at most 2^20 states of variables, or one member): its value of a member may not depend
        on the others.
    every
        Sweeps from one call to the next.
    name
        What it is called in `result.observables`; by default as the function is.
    series
        Whether to keep every value, for `series` and `autocorrelation_time`, or sums alone.

    Examples
    --------
    >>> def spin(states):
    ...     return 2 * states[:, 1, 1] - 1
    >>> model = hd.ising_grid(np.full((3, 3), 0.2), 0.3)
    >>> keep = [hd.Observable(spin), hd.Observable(hd.energy, every=2)]
    >>> result = hd.infer(model, hd.Gibbs(herd=64), sweeps=200, burn_in=20, chains=4, keep=keep)
    >>> round(result.observables["spin"].mean, 1)
    0.5
    >>> result.observables["energy"].series.shape
    (256, 100)
    """

    f: Callable[..., Any]
    every: int = 1
    name: str = ""
    series: bool = True

    def __post_init__(self) -> None:
        if not callable(self.f) or isinstance(self.f, type):
            raise MethodError(
                "expected a function of states as an observable, such as energy, got "
                f"{short_repr(self.f)}"
            )
        if not is_whole_number(self.every, 1):
            raise MethodError(f"expected every to be 1 or more, got {short_repr(self.every)}")
        if not isinstance(self.name, str | None):
            raise MethodError(
                f"expected a text as name of an observable, got {short_repr(self.name)}"
            )
        if not self.name:
            object.__setattr__(self, "name", _name_of(self.f))

    def for_model(self, model: Model) -> Callable[[np.ndarray], Any]:
        """Return the function of states alone."""
        return partial(self.f, model=model) if _asks_for_model(self.f) else self.f


def _name_of(f: Callable[..., Any]) -> str:
    inner = f.func if isinstance(f, partial) else f
    return str(getattr(inner, "__name__", type(inner).__name__.lower())).strip("<>")


def _asks_for_model(f: Callable[..., Any]) -> bool:
    try:
        return "model" in inspect.signature(f).parameters
    except (TypeError, ValueError):  # of some functions in C
        return False


@dataclass(frozen=True)
class Observables:
    """All observables of a run, which look at the same states."""

    choices: tuple[Observable, ...] = ()

    def add(self, choice: Observable) -> "Observables":
        """Return these observables and one more, which must have another name."""
        if choice.name in (known.name for known in self.choices):
            raise MethodError(
                f"expected observables of different names, got {choice.name!r} twice: pass name="
            )
        return Observables((*self.choices, choice))

    def recorder(self, layout: Layout) -> "ObservableRecorder":
        return ObservableRecorder(layout, self.choices)

    def described(self) -> str:
        """Return what must be equal to resume a run; functions are compared by name."""
        return str([(choice.name, choice.every, choice.series) for choice in self.choices])


class ObservableRecorder(Recorder):
    """Sums of the values of one chain or herd, and the values."""

    piles: ClassVar[str] = "series"

    def __init__(self, layout: Layout, choices: tuple[Observable, ...]) -> None:
        super().__init__(layout)
        self.choices = choices
        self.functions = [choice.for_model(layout.model) for choice in choices]
        self.shapes: list[tuple[int, ...]] = []  # of a value
        self.item_sizes: list[int] = []  # bytes of each number that the function itself gives
        self.on_bits: list[PackedObservable | None] = []
        self.arrays = {"seen": np.zeros(1, np.int64)}
        self.at_once = rows_at_once(layout, 1)

    def reservable(self) -> Iterator[tuple[str, int]]:
        for k, choice in enumerate(self.choices):
            if choice.series:
                yield f"series {k}", choice.every

    def begin(self, state: State) -> None:
        """Learn from the start of one or two members what shape values have.

        Of no more: what a function gives for each member may be large, and is not yet checked.
        """
        layout = self.layout
        first = min(FIRST_MEMBERS, self._members_at_once(1))
        some = next(member_ranges(layout.members, first))
        states = self._shaped(layout.some_values(state, *some))
        for k, choice in enumerate(self.choices):
            ready = (
                find_batched_observable(choice.f) if states[0].size > LARGE_LATTICE_SITES else None
            )
            given = np.zeros(len(states)) if ready else self._given(k, states)
            value = self._numbers_of(k, given)
            self.item_sizes.append(given.dtype.itemsize)
            if value.shape[:1] != (len(states),):
                raise MethodError(
                    f"expected numbers of shape ({len(states)},) or ({len(states)}, ...) from the "
                    f"observable {choice.name!r}, one for each of the states {states.shape}, got "
                    f"shape {value.shape}"
                )
            self.shapes.append(value.shape[1:])
            self.on_bits.append(find_packed_observable(choice.f, layout))
            self.arrays[f"sums {k}"] = np.zeros(value.shape[1:])
            if choice.series:
                self.arrays[f"series {k}"] = np.empty((0, layout.members, *value.shape[1:]))
        of_a_member = max((self._numbers(k) for k in range(len(self.choices))), default=1)
        self.at_once = rows_at_once(layout, of_a_member)

    def add(self, block: np.ndarray, state: State, pool: Executor | None = None) -> None:
        seen = int(self.arrays["seen"][0])
        self.arrays["seen"] += len(block)
        wanted = [self._rows(seen, len(block), choice.every) for choice in self.choices]
        is_wanted = np.zeros(len(block), bool)
        for rows in wanted:
            is_wanted[rows] = True
        every = np.flatnonzero(is_wanted)
        for early in range(0, len(every), self.at_once):
            some = every[early : early + self.at_once]
            first, last = some[0], some[-1]
            # Slices of the block, not a copy of some of its rows, where that is the same.
            picked = block[first : last + 1] if last - first + 1 == len(some) else block[some]
            among = [rows[(rows >= first) & (rows <= last)] for rows in wanted]
            self._add_rows(picked, [np.searchsorted(some, rows) for rows in among])

    def _add_rows(self, block: np.ndarray, wanted: list[np.ndarray]) -> None:
        """Take in rows of a block; each observable uses some of them."""
        counted = [k for k, at in enumerate(wanted) if len(at) and self.on_bits[k] is not None]
        others = [k for k, at in enumerate(wanted) if len(at) and self.on_bits[k] is None]
        if counted:
            self._count_bits(block, counted, wanted)
        if others:
            self._call(block, others, wanted)

    def _count_bits(self, block: np.ndarray, ks: list[int], wanted: list[np.ndarray]) -> None:
        """Take in what ready-made functions count on words of members, some words at a time."""
        members, n = self.layout.members, self.layout.model.n_variables
        sums: dict[int, list[np.ndarray]] = {k: [] for k in ks}
        values: dict[int, list[np.ndarray]] = {k: [] for k in ks}
        for first, last in member_ranges(
            members, max(WORD_BITS, MAX_STATES_PER_PASS // max(n * len(block), 1))
        ):
            words = self.layout.words_of(block, first // WORD_BITS, -(-last // WORD_BITS))
            for k in ks:
                measure: Any = self.on_bits[k]
                mine = words if len(wanted[k]) == len(words) else words[wanted[k]]
                if self.choices[k].series or not isinstance(measure, PackedPairObservable):
                    values[k].append(measure.values(mine, last - first))
                else:
                    sums[k].append(measure.member_counts(mine, last - first))
        for k in ks:
            if values[k]:
                self._take(k, _join_members(values[k]))
            else:
                measure = self.on_bits[k]
                self._add_sums(k, measure.sums_of(sum(sums[k]), members))

    def _call(self, block: np.ndarray, ks: list[int], wanted: list[np.ndarray]) -> None:
        """Take in what functions of states give, some members at a time."""
        of_a_member = max(self._numbers(k) for k in ks)
        at_once = self._members_at_once(of_a_member)
        members = self.layout.members
        values = {
            k: np.empty((len(wanted[k]), 1 if self._is_summed(k) else members, *self.shapes[k]))
            for k in ks
        }
        for first, last in member_ranges(members, at_once):
            states = self.layout.some_members_of(block, first, last)
            for k in ks:
                found = self._values(k, states, wanted[k])
                if self._is_summed(k):
                    for total, value in zip(values[k], found, strict=True):
                        parts = np.ascontiguousarray(value)  # else NumPy adds in another order
                        if first:
                            parts[0] += total[0]
                        parts.sum(axis=0, keepdims=True, out=total)
                else:
                    for draw, value in zip(values[k], found, strict=True):
                        draw[first:last] = value
        for k in ks:
            self._take(k, values[k])

    def _is_summed(self, k: int) -> bool:
        """Return whether values of all members are too many to hold, and are summed block by block.

        Such values have several numbers each. Their sum adds one member after another, so that it
        is the same in blocks; that of single numbers adds them in pairs.
        """
        return sums_blocks(self.layout, self.choices[k], self._numbers(k))

    def _members_at_once(self, numbers: int) -> int:
        return members_at_once(self.layout, numbers)

    def _numbers(self, k: int) -> int:
        """Return how many numbers an observable has for each member."""
        return max(1, math.prod(self.shapes[k]))

    @staticmethod
    def _rows(seen: int, length: int, every: int) -> np.ndarray:
        """Return which sweeps of a block are looked at: number every, 2 every, ..."""
        return np.arange(-(seen + 1) % every, length, every)

    def _values(self, k: int, states: np.ndarray, at: np.ndarray) -> Iterator[np.ndarray]:
        """Return the values of each draw, (members, ...)."""
        at_once = find_batched_observable(self.choices[k].f)
        if at_once is not None:
            mine = states if len(at) == len(states) else states[at]
            samples = np.ascontiguousarray(mine.reshape(-1, mine.shape[-1]))
            yield from at_once(samples, self.layout.model).reshape(len(at), -1)
        else:
            for row in at:
                yield self._checked(k, self._shaped(states[row]))

    def _take(self, k: int, values: np.ndarray) -> None:
        """Take in the values (draws, members, ...)."""
        self._add_sums(k, values.sum(axis=1))
        if self.choices[k].series:
            self.pile(f"series {k}", values)

    def _add_sums(self, k: int, sums: np.ndarray) -> None:
        """Add the sums (draws, ...) over members one after another."""
        before = self.arrays[f"sums {k}"]
        if len(sums) == 1:  # of large arrays there is one draw at a time
            self.arrays[f"sums {k}"] = before + sums[0]
            return
        totals = np.concatenate([before[None], sums])
        # A copy, so that the sums of all draws are not kept for that of the last one.
        self.arrays[f"sums {k}"] = np.add.accumulate(totals, axis=0)[-1].copy()

    # -- what functions get, and what they give ------------------------------------------------

    def _shaped(self, states: np.ndarray) -> np.ndarray:
        return states.astype(STATE_DTYPE).reshape(-1, *self.layout.model.shape)

    def _checked(self, k: int, states: np.ndarray) -> np.ndarray:
        """Check that values have the shape of the first ones."""
        value = self._numbers_of(k, self._given(k, states))
        shape = (len(states), *self.shapes[k])
        if value.shape != shape:
            raise MethodError(
                f"expected numbers of shape {shape} from the observable {self.choices[k].name!r}, "
                f"as at the start, got shape {value.shape}"
            )
        return value

    def _given(self, k: int, states: np.ndarray) -> np.ndarray:
        """Call the function; return its values as real numbers of their own type."""
        name = self.choices[k].name
        try:
            value = np.asarray(self.functions[k](states))
        except Exception as error:
            raise MethodError(
                f"expected the observable {name!r} to give numbers for states of shape "
                f"{states.shape}, but it raised {type(error).__name__}: {short_error_text(error)}"
            ) from error
        if value.dtype.kind not in "biuf":
            raise MethodError(
                f"expected real numbers from the observable {name!r}, got {value.dtype}"
            )
        return value

    def _numbers_of(self, k: int, given: np.ndarray) -> np.ndarray:
        """Return a copy of what a function gave, as finite numbers of 64 bits."""
        value = given.astype(np.float64)
        if not np.isfinite(value).all():
            bad = value[~np.isfinite(value)].flat[0]
            raise MethodError(
                f"expected finite numbers from the observable {self.choices[k].name!r}, got {bad} "
                "in sweep "
                f"{int(self.arrays['seen'][0])} or before"
            )
        return value


def rows_at_once(layout: Layout, numbers: int) -> int:
    """Return how many sweeps are evaluated together, by the numbers of a value of each member."""
    states = max(1, layout.members * layout.model.n_variables)
    return max(
        1, min(MAX_STATES_PER_PASS // states, MAX_NUMBERS_PER_CALL // (layout.members * numbers))
    )


def members_at_once(layout: Layout, numbers: int) -> int:
    """Return how many members a function gets, by the numbers that it gives for each."""
    n = max(layout.model.n_variables, 1)
    return max(1, min(MAX_STATES_PER_CALL // n, MAX_NUMBERS_PER_CALL // numbers))


def sums_blocks(layout: Layout, choice: Observable, numbers: int) -> bool:
    """Return whether values of all members are so large that blocks are summed instead."""
    return not choice.series and numbers > 1 and layout.members * numbers > MAX_NUMBERS_PER_CALL


def _join_members(parts: list[np.ndarray]) -> np.ndarray:
    """Join values (draws, members, ...) of groups of members."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def short_error_text(error: Exception) -> str:
    """Return the message of an error on one line, shortened."""
    return " ".join(str(error).split())[:200]
