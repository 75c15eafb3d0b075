"""User functions as kernels call them: for all members of a herd at once.

A chain is a herd of one. The functions that kernels call are generated as text, because they
depend on what `statistics` returns: a tuple is split and reassembled for each member. Once
compiled, a generated function contains the user's functions and is a value that kernels take as an
argument (`system.compilation.user_function_compiler`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from herded.errors import HerdedError, ModelError
from herded.models.callbacks.frozen_data import is_compilable, statistics_parts
from herded.system.compilation.address_views import AddressedValues, make_reader, plain_values
from herded.system.compilation.fingerprint import Fingerprint
from herded.system.compilation.jit import IS_JIT_DISABLED
from herded.system.compilation.user_function_compiler import compile_first_class, compile_inlined

if TYPE_CHECKING:
    from herded.models.callbacks.conditional_model import ConditionalModel

StatisticsValue = tuple[np.ndarray, ...]  # all members, one after another along the first axis

VISIT_TEMPLATE = """
def visit(i, place):
    x, statistics, kept, data, old, out, states = read(place)
    for k in range(len(x)):
        conditional(i, x[k], {of_member}, data, out[k][: states[i]])
"""
VISIT_ALL = """
def visit(i, place):
    x, statistics, kept, data, old, out, states = read(place)
    conditional(i, x, {of_all}, data, out[:, : states[i]])
"""
FOLLOW_TEMPLATE = """
def follow(i, place):
    x, seen, statistics, data, old, out, states = read(place)
    for k in range(len(x)):
        if x[k, i] != old[k]:
            changed(i, old[k], x[k, i], x[k], {of_member}, data)
"""
FOLLOW_ALL = """
def follow(i, place):
    x, seen, statistics, data, old, out, states = read(place)
    changed(i, old, x[:, i].copy(), x, {of_all}, data)
"""
REBUILD_TEMPLATE = """
def follow(i, place):
    x, seen, statistics, data, old, out, states = read(place)
    for k in range(len(x)):
        if x[k, i] != old[k]:
            fresh = build(x[k], data)
            {copies}
"""
REBUILD_ALL = """
def follow(i, place):
    x, seen, statistics, data, old, out, states = read(place)
    fresh = build(x, data)
    {copies}
"""


@dataclass(frozen=True)
class CallbackFunctions:
    """The functions that kernels call with a variable and a place; see `MemberViews.place`.

    `follow` is None if there are no statistics.
    """

    visit: Callable[[int, Any], None]
    follow: Callable[[int, Any], None] | None
    build: Callable[..., Any] | None  # (x, data)
    is_compiled: bool = False


class MemberViews:
    """Members of a herd as functions see them: states, statistics and output arrays."""

    def __init__(self, model: "ConditionalModel", x: np.ndarray, kept: StatisticsValue) -> None:
        assert x.dtype == np.int64 and all(part.flags.c_contiguous for part in (x, *kept))
        self.x, self.kept = x, kept
        self.out, self.old = np.zeros((len(x), model.callbacks.width)), np.zeros(len(x), np.int64)
        self._placed = AddressedValues(*placed_values(model, x, kept, self.old, self.out))

    def place(self, calls: CallbackFunctions) -> Any:
        """Return the argument of the calls; it is valid as long as this object lives."""
        return self._placed.address if calls.is_compiled else self._placed


def placed_values(
    model: "ConditionalModel",
    x: np.ndarray,
    kept: StatisticsValue,
    old: np.ndarray,
    out: np.ndarray,
) -> tuple[Any, ...]:
    """Return what the calls read, in their order."""
    states, statistics = read_only(x), tuple(map(read_only, kept))
    return states, statistics, kept, model.data, old, out, model.cardinalities


class CompiledCallbacks:
    """The functions of a model, plain and, if possible, compiled.

    Parameters
    ----------
    model
        The model that the functions belong to.
    example
        The result of `statistics` for one state, as a tuple of arrays.
    form
        How the functions expect it: "none", "array", "tuple", or the class of a named tuple.
    """

    def __init__(self, model: "ConditionalModel", example: StatisticsValue, form: Any) -> None:
        self.model, self.example, self.form = model, example, form
        self.plain = self._calls(lambda function: function, plain_values)
        self.why_plain = "" if IS_JIT_DISABLED else "compiled=False was asked for"
        self.fast: CallbackFunctions | None = None
        if model.compiled is not False and not IS_JIT_DISABLED:
            self.fast, self.why_plain = self._compile()

    @property
    def best(self) -> CallbackFunctions:
        """Return the compiled functions if there are any, else the plain ones."""
        return self.fast or self.plain

    # -- the statistics of a herd -------------------------------------------------------------

    def build(self, x: np.ndarray, calls: CallbackFunctions | None = None) -> StatisticsValue:
        """Compute the statistics of members at states `x` (members, N), in new arrays."""
        build = (calls or self.best).build
        if build is None:
            return ()
        data, seen = self.model.data, read_only(np.ascontiguousarray(x))
        if self.model.vectorised:
            parts = [np.array(part, order="C") for part in statistics_parts(build(seen, data))]
            shapes = [(len(x), *one.shape) for one in self.example]
            self._check(parts, shapes)
            return tuple(parts)
        room = tuple(np.empty((len(x), *one.shape), one.dtype) for one in self.example)
        for k in range(len(x)):
            parts = list(statistics_parts(build(seen[k], data)))
            self._check(parts, [one.shape for one in self.example])
            for whole, part in zip(room, parts, strict=True):
                whole[k] = part
        return room

    def _check(self, parts: list[np.ndarray], shapes: list[tuple[int, ...]]) -> None:
        found = [(part.shape, part.dtype) for part in parts]
        expected = [(s, one.dtype) for s, one in zip(shapes, self.example, strict=True)]
        if found != expected:
            raise ModelError(
                "expected arrays of the same shapes and types from statistics for every state, "
                f"{_shapes_and_types(expected)} as at first, got {_shapes_and_types(found)}"
            )

    @cached_property
    def bytes_of_member(self) -> float:
        """Return the bytes that a member keeps in addition to its state."""
        return float(sum(part.nbytes for part in self.example))

    # -- the functions that kernels call ------------------------------------------------------

    def _calls(self, made: Callable[[Any], Any], read: Callable[[Any], Any]) -> CallbackFunctions:
        """Build the calls from functions wrapped by `made`; `read` unpacks a place."""
        model, statistics = self.model, self.model.statistics
        build = None if statistics is None else made(statistics)
        names = {"conditional": made(model.conditional), "Kept": self.form, "read": read}
        visit = self._written(VISIT_ALL if model.vectorised else VISIT_TEMPLATE, names)
        if build is None:
            return CallbackFunctions(visit, None, None)
        if model.changed is None:
            text = REBUILD_ALL if model.vectorised else REBUILD_TEMPLATE
            names = {"build": build, "read": read}
        else:
            text = FOLLOW_ALL if model.vectorised else FOLLOW_TEMPLATE
            names = {"changed": made(model.changed), "Kept": self.form, "read": read}
        return CallbackFunctions(visit, self._written(text, names), build)

    def _written(self, template: str, names: dict[str, Any]) -> Callable[..., Any]:
        """Compile a function from text, in which `names` are defined."""
        text = template.format(
            of_member=self._put_together("statistics[{}][k]"),
            of_all=self._put_together("statistics[{}]"),
            copies=self._copies("" if self.model.vectorised else "[k]"),
        )
        place = {**names, "__name__": __name__}
        exec(compile(text, __file__, "exec"), place)  # our own text, without user input
        found: Callable[..., Any] = place["visit" if "def visit" in text else "follow"]
        return found

    def _put_together(self, part: str) -> str:
        """Return an expression for the statistics of a member in the form its functions expect."""
        parts = [part.format(a) for a in range(len(self.example))]
        if self.form == "array":
            return parts[0]
        listed = "".join(f"{one}, " for one in parts)
        return f"({listed})" if self.form in ("none", "tuple") else f"Kept({listed})"

    def _copies(self, member: str) -> str:
        """Return statements that overwrite the old statistics with fresh ones."""
        whole = "fresh" if self.form == "array" else "fresh[{}]"
        lines = [
            f"statistics[{a}]{member}[:] = {whole.format(a)}" for a in range(len(self.example))
        ]
        return "; ".join(lines) or "pass"

    # -- compilation --------------------------------------------------------------------------

    def _compile(self) -> tuple[CallbackFunctions | None, str]:
        """Return the compiled calls, or None and the reason why compilation failed."""
        if not is_compilable(self.model.data):
            return self._refused("data holds something other than numbers, arrays and tuples")
        model, x = self.model, np.zeros((1, self.model.n_variables), np.int64)
        kept, old = self.build(x, self.plain), np.zeros(1, np.int64)
        try:
            read, kinds = make_reader(
                *placed_values(model, x, kept, old, np.empty((1, self.width)))
            )
            key = self._key(kinds)
            calls = self._calls(lambda function: compile_inlined(function, key), read)
            visit = compile_first_class(calls.visit, (0, 0), key)
            follow = build = None
            if calls.follow is not None:
                follow = compile_first_class(calls.follow, (0, 0), key)
                build = self._compiled_build(read_only(x), key)
        except Exception as error:  # Numba raises many kinds, and passes on others
            return self._refused(_first_line(error))
        return CallbackFunctions(visit, follow, build, is_compiled=True), ""

    def _refused(self, reason: str) -> tuple[None, str]:
        if self.model.compiled:
            raise ModelError(
                f"expected functions that Numba can compile, but {reason}: correct them, or drop "
                "compiled=True"
            )
        return None, reason

    def _compiled_build(self, seen: np.ndarray, key: str) -> Callable[..., Any]:
        """Return `statistics` compiled if the result is the same; it is called rarely."""
        assert self.model.statistics is not None
        function = compile_inlined(self.model.statistics, key).py_func
        x, plain = seen if self.model.vectorised else seen[0], self.model.statistics
        try:
            built = compile_first_class(function, (x, self.model.data), key)
            parts = statistics_parts(built(x, self.model.data))
        except Exception:  # as above
            return plain
        expected = statistics_parts(plain(x, self.model.data))
        alike = [(p.shape, p.dtype) for p in parts] == [(p.shape, p.dtype) for p in expected]
        return built if alike else plain

    def _key(self, kinds: str) -> str:
        """Return a name for all that is compiled, or nothing if some part cannot be inspected.

        `kinds` are the types of the data.
        """
        model = self.model
        functions = model.conditional, model.statistics, model.changed, model.vectorised
        found = Fingerprint(*functions, kinds)
        return found.hex if found.is_whole else ""

    @property
    def width(self) -> int:
        """Return the number of states of the largest variable."""
        return int(self.model.cardinalities.max())


def compile_callbacks(model: "ConditionalModel") -> CompiledCallbacks:
    """Prepare the functions of a model for kernels, after one call of `statistics`."""
    if model.statistics is None:
        return CompiledCallbacks(model, (), "none")
    x = read_only(np.maximum(model.evidence, 0))
    try:
        if model.vectorised:
            x = read_only(np.stack([x, x]))
        found = model.statistics(x, model.data)
    except HerdedError:
        raise
    except Exception as error:
        raise callback_error(error, "statistics") from error
    parts = statistics_parts(found)
    if model.vectorised:
        if any(len(part) != 2 or part.ndim < 2 for part in parts):
            raise ModelError(
                "expected arrays with a first axis of 2 members, and further axes, from vectorised "
                f"statistics, got shapes {', '.join(str(part.shape) for part in parts)}"
            )
        parts = tuple(part[0] for part in parts)
    form: Any = "array"
    if isinstance(found, tuple):
        form = type(found) if hasattr(found, "_fields") else "tuple"
    return CompiledCallbacks(model, tuple(np.array(part, order="C") for part in parts), form)


def callback_error(error: Exception, what: str) -> ModelError:
    """Build the error to raise when a function of the user has raised `error`."""
    return ModelError(
        f"expected {what} to run, got {type(error).__name__}: "
        f"{_first_line(error)}: correct the "
        "function"
    )


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a read-only view of an array."""
    view = array.view()
    view.flags.writeable = False
    return view


def _first_line(error: Exception) -> str:
    """Return the message of an error without the pages that Numba adds."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line for line in lines if not line.startswith("Failed in nopython mode")]
    return (said or [type(error).__name__])[0][:200]


def _shapes_and_types(parts: list[tuple[tuple[int, ...], Any]]) -> str:
    return ", ".join(f"{shape} {kind}" for shape, kind in parts) or "nothing"
