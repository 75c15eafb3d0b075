"""A name for functions and data: equal names mean equal behaviour, on this version of Python.

A function consists of its bytecode, its constants and defaults, and all that it reaches: its
closure and the globals that it names, including other functions with all of theirs. An opaque
object, such as a function written in C, counts by its name. An object without a name makes the
fingerprint a partial one (`is_whole`): good enough to tell models apart, but not to trust compiled
code cached under it.
"""

import functools
import hashlib
import pickle
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

# behave as their version says
KNOWN_PACKAGES = ("builtins", "cmath", "math", "numba", "numpy", "operator")
PLAIN_TYPES = (
    int,
    float,
    complex,
    str,
    bytes,
    bool,
    type(None),
    type(Ellipsis),
    np.generic,
    np.dtype,
)


class Fingerprint:
    """A hash of parts, added one after another; `hex` is the result."""

    def __init__(self, *parts: object) -> None:
        self._digest = hashlib.sha256()
        self._met: dict[int, int] = {}
        self._alive: list[object] = []  # a freed object's id could be reused
        self.is_whole = True
        for part in parts:
            self.add(part)

    @property
    def hex(self) -> str:
        return self._digest.hexdigest()[:32]

    def add(self, part: object) -> None:
        """Add an object of any kind."""
        if isinstance(part, PLAIN_TYPES):
            self._word(type(part).__name__, repr(part))
            return
        if id(part) in self._met:  # for example a recursive function
            self._word("again", str(self._met[id(part)]))
            return
        self._met[id(part)] = len(self._met)
        self._alive.append(part)
        self._add_new(part)

    def _word(self, *words: str) -> None:
        for word in words:
            text = word.encode("utf-8", "surrogatepass")
            self._digest.update(len(text).to_bytes(8, "little") + text)

    def _add_new(self, part: Any) -> None:
        if isinstance(part, np.ndarray) and part.dtype.kind != "O":
            self._word("array", str(part.dtype), str(part.shape))
            self._digest.update(np.ascontiguousarray(part).tobytes())
        elif isinstance(part, (tuple, list)):
            self._several(type(part).__name__, part)
        elif isinstance(part, dict):
            self._several("dict", (item for pair in part.items() for item in pair))
        elif isinstance(part, (set, frozenset)):
            self._several("set", sorted(part, key=repr))
        elif isinstance(part, CodeType):
            self._several("code", _parts_of_code(part))
        elif isinstance(part, FunctionType):
            self._several("function", _parts_of_function(part))
        elif isinstance(part, MethodType):
            self._several("method", (part.__func__, part.__self__))
        elif isinstance(part, functools.partial):
            self._several("partial", (part.func, part.args, part.keywords))
        elif isinstance(getattr(part, "py_func", None), FunctionType):  # compiled by Numba
            self.add(part.py_func)
        elif isinstance(part, ModuleType):
            self._word("module", part.__name__, str(getattr(part, "__version__", "")))
            self.is_whole &= part.__name__.partition(".")[0] in KNOWN_PACKAGES
        elif isinstance(part, (BuiltinFunctionType, np.ufunc, type)):
            self._word("named", f"{_home(part)}.{part.__name__}")
            self.is_whole &= _home(part) in KNOWN_PACKAGES
        else:
            self._other(part)

    def _several(self, kind: str, parts: Iterable[object]) -> None:
        listed = list(parts)
        self._word(kind, str(len(listed)))
        for part in listed:
            self.add(part)

    def _other(self, part: object) -> None:
        """Add any other object by its pickle, or else by its type alone."""
        self.is_whole = False
        kind = type(part)
        self._word("object", f"{kind.__module__}.{kind.__qualname__}")
        try:
            self._digest.update(pickle.dumps(part, protocol=4))
        except Exception:  # a user's class may raise anything
            self._word("cannot be pickled")


def _home(part: object) -> str:
    """Return an object's package; ufuncs name none, and are NumPy's or of unknown origin."""
    known = "numpy" if getattr(np, getattr(part, "__name__", ""), None) is part else ""
    return known or str(getattr(part, "__module__", None)).partition(".")[0]


def _parts_of_code(code: CodeType) -> Iterator[object]:
    """Yield all parts of a code object except its position in a file."""
    yield code.co_code
    yield code.co_consts
    yield from (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    yield (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)


def _parts_of_function(function: FunctionType) -> Iterator[object]:
    yield function.__code__
    yield function.__defaults__
    yield function.__kwdefaults__
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a cell that is still empty
            yield "empty"
    for name in sorted(set(names_in(function.__code__))):
        if name in function.__globals__:
            yield name
            yield function.__globals__[name]


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the global names that a code object, or a function within it, may look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)
