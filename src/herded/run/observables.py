"""Observables: functions of the states, averaged as a run goes on.

A recorder unpacks the states of a sweep once for all of them. Values are summed draw by draw, so
that sums do not depend on how sweeps were cut into blocks.
"""

import inspect
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from herded.errors import MethodError
from herded.layouts.protocol import Layout
from herded.layouts.state import State
from herded.methods.options import is_whole
from herded.models.checks import shown
from herded.models.protocol import Model
from herded.run.bit_measures import Measure, of_bits
from herded.run.block_measures import of_blocks
from herded.run.keep import Recorder
from herded.system import memory
from herded.system.memory import Size

STATES = np.int32  # what functions get: products and sums of states do not overflow in it
NUMBER = 8  # bytes
AT_HAND = 2**23  # states: as words of bits they are in the cache
NO_ROWS = np.zeros(0)


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
        `Correlations(...)`. It is called once with the start, to learn the shape of what it gives,
        and where chains run on threads, on these.
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
                f"{shown(self.f)}"
            )
        if not is_whole(self.every, 1):
            raise MethodError(f"expected every to be 1 or more, got {shown(self.every)}")
        if not isinstance(self.name, str | None):
            raise MethodError(f"expected a text as name of an observable, got {shown(self.name)}")
        if not self.name:
            object.__setattr__(self, "name", _name_of(self.f))

    def for_model(self, model: Model) -> Callable[[np.ndarray], Any]:
        """The function of states alone."""
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
        """These and one more, of another name."""
        if choice.name in (known.name for known in self.choices):
            raise MethodError(
                f"expected observables of different names, got {choice.name!r} twice: pass name="
            )
        return Observables((*self.choices, choice))

    def recorder(self, layout: Layout) -> "ObservableRecorder":
        return ObservableRecorder(layout, self.choices)

    def check_memory(self, run: Any, max_memory: Size | None) -> None:
        """Raise where all series of a `SamplerRun` would take more than they may."""
        need, recorder = 0.0, run.chains[0].recorders[Observables]
        for choice, shape in zip(self.choices, recorder.shapes, strict=True):
            if choice.series:
                draws = len(run.chains) * run.layout.members * (run.sweeps // choice.every)
                need += 2.0 * NUMBER * draws * float(np.prod(shape))  # twice when put together
        way_out = "measure less often with every=, or keep no series with series=False"
        memory.check(need, max_memory, "the series of observables", way_out)

    def described(self) -> str:
        """What must be equal for a run to be resumed; of functions their names must do."""
        return str([(choice.name, choice.every, choice.series) for choice in self.choices])


class ObservableRecorder(Recorder):
    """Sums of the values of one chain or herd, and the values."""

    piles: ClassVar[str] = "series"

    def __init__(self, layout: Layout, choices: tuple[Observable, ...]) -> None:
        super().__init__(layout)
        self.choices = choices
        self.functions = [choice.for_model(layout.model) for choice in choices]
        self.shapes: list[tuple[int, ...]] = []  # of a value
        self.on_bits: list[Measure | None] = []
        self.arrays = {"seen": np.zeros(1, np.int64)}
        row = layout.members * layout.model.n_variables
        self.at_once = max(1, AT_HAND // max(row, 1))  # rows whose states are looked at together

    def begin(self, state: State) -> None:
        """Learn from the start what shape values have."""
        members = self.layout.members
        states = self._shaped(self.layout.values(state))
        for k, choice in enumerate(self.choices):
            value = self._measured(k, states)
            if value.shape[:1] != (members,):
                raise MethodError(
                    f"expected numbers of shape ({members},) or ({members}, ...) from the "
                    f"observable {choice.name!r}, one for each of the states {states.shape}, got "
                    f"shape {value.shape}"
                )
            self.shapes.append(value.shape[1:])
            self.on_bits.append(of_bits(choice.f, self.layout))
            self.arrays[f"sums {k}"] = np.zeros(value.shape[1:])
            if choice.series:
                self.arrays[f"series {k}"] = np.empty((0, *value.shape))

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
        """Take in rows of a block, of which each observable wants some."""
        counted = [k for k, at in enumerate(wanted) if len(at) and self.on_bits[k] is not None]
        others = [k for k, at in enumerate(wanted) if len(at) and self.on_bits[k] is None]
        words = self.layout.words_of(block) if counted else NO_ROWS
        for k in counted:
            measure: Any = self.on_bits[k]
            mine = words if len(wanted[k]) == len(words) else words[wanted[k]]
            if self.choices[k].series:
                self._take(k, measure.values(mine, self.layout.members))
            else:
                self._add_sums(k, measure.sums(mine, self.layout.members))
        states = self.layout.members_of(block) if others else NO_ROWS
        for k in others:
            self._take(k, np.stack(list(self._values(k, states, wanted[k]))))

    @staticmethod
    def _rows(seen: int, length: int, every: int) -> np.ndarray:
        """Which sweeps of a block are looked at: number every, 2 every, ... counted from 1."""
        return np.arange(-(seen + 1) % every, length, every)

    def _values(self, k: int, states: np.ndarray, at: np.ndarray) -> Iterator[np.ndarray]:
        """Of each draw, (members, ...)."""
        at_once = of_blocks(self.choices[k].f)
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
        totals = np.concatenate([self.arrays[f"sums {k}"][None], sums])
        self.arrays[f"sums {k}"] = np.add.accumulate(totals, axis=0)[-1]

    # -- what functions get, and what they give ------------------------------------------------

    def _shaped(self, states: np.ndarray) -> np.ndarray:
        return states.astype(STATES).reshape(-1, *self.layout.model.shape)

    def _checked(self, k: int, states: np.ndarray) -> np.ndarray:
        """Values of the shape that the first had."""
        value, shape = self._measured(k, states), (len(states), *self.shapes[k])
        if value.shape != shape:
            raise MethodError(
                f"expected numbers of shape {shape} from the observable {self.choices[k].name!r}, "
                f"as at the start, got shape {value.shape}"
            )
        return value

    def _measured(self, k: int, states: np.ndarray) -> np.ndarray:
        """What a function gives, as finite numbers."""
        name = self.choices[k].name
        try:
            value = np.asarray(self.functions[k](states))
        except Exception as error:
            raise MethodError(
                f"expected the observable {name!r} to give numbers for states of shape "
                f"{states.shape}, but it raised {type(error).__name__}: {shown_error(error)}"
            ) from error
        if value.dtype.kind not in "biuf":
            raise MethodError(
                f"expected real numbers from the observable {name!r}, got {value.dtype}"
            )
        value = value.astype(np.float64)
        if not np.isfinite(value).all():
            bad = value[~np.isfinite(value)].flat[0]
            raise MethodError(
                f"expected finite numbers from the observable {name!r}, got {bad} in sweep "
                f"{int(self.arrays['seen'][0])} or before"
            )
        return value


def shown_error(error: Exception) -> str:
    """What an error says, on one line, and not too long."""
    return " ".join(str(error).split())[:200]
