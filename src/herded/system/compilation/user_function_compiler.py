"""Functions of others, compiled: values that kernels take, and call by their addresses."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

from herded.system.compilation.fingerprint import KNOWN_PACKAGES, names_in
from herded.system.compilation.jit import IS_CACHE_ENABLED, _numba, keep_on_disk
from herded.system.compilation.kernel_cache import remove_oldest

MAX_REMEMBERED_FUNCTIONS = 256  # functions that a process remembers
MAX_FUNCTIONS_ON_DISK = 512  # models whose functions are kept: an edit makes another

_KEPT: dict[Any, Any] = {}


def compile_inlined(
    function: Callable[..., Any], key: str = "", made: dict[Any, Any] | None = None
) -> Any:
    """A function of somebody's own as Numba's object, for others that are compiled with it.

    Plain functions that it calls are compiled with it: Numba would ask for a decorator on each.
    `key` is that of `compile_first_class`.
    """
    plain = getattr(function, "py_func", function)
    made = {} if made is None else made
    if plain in made:
        return made[plain]
    if not isinstance(plain, FunctionType):
        return _numba().njit(plain)  # which says what it expects
    around = dict(plain.__globals__)
    cells = tuple(CellType() for _ in plain.__closure__ or ())
    copy = FunctionType(plain.__code__, around, plain.__name__, plain.__defaults__, cells)
    copy.__kwdefaults__ = plain.__kwdefaults__
    copy.__qualname__ = _unique_name(plain.__qualname__, key)
    made[plain] = _numba().njit(nogil=True, error_model="numpy")(copy)
    for cell, old in zip(cells, plain.__closure__ or (), strict=True):
        cell.cell_contents = _replace_by_compiled(old.cell_contents, key, made)
    for name in set(names_in(plain.__code__)) & around.keys():
        around[name] = _replace_by_compiled(around[name], key, made)
    return made[plain]


def _unique_name(name: str, key: str) -> str:
    """The name of compiled code, which all of a process has to tell from all other.

    Numba numbers functions of one name as they come: those from disk have the numbers of the
    processes that compiled them, so that of two alike one would be taken for the other.
    """
    return f"{name}_{key}" if key else name


def _replace_by_compiled(value: Any, key: str, made: dict[Any, Any]) -> Any:
    """A plain function compiled; all else, and what Numba knows by itself, as it is."""
    if isinstance(value, FunctionType) and value.__module__.partition(".")[0] not in KNOWN_PACKAGES:
        return compile_inlined(value, key, made)
    return value


def compile_first_class(function: Callable[..., Any], arguments: Sequence[Any], key: str) -> Any:
    """`function` compiled for arguments such as these, as a value that kernels take.

    Kernels call it by its address: they are compiled once for all functions that take the same
    types. `key` names all that the function does, to keep what was compiled on disk under it;
    without one it is not kept. Raises what Numba raises where it cannot compile.
    """
    numba = _numba()
    types = tuple(numba.typeof(one) for one in arguments)
    known = key, function.__name__, types
    if known in _KEPT:
        return _KEPT[known]
    function.__qualname__ = _unique_name(function.__name__, key)
    dispatcher = numba.njit(nogil=True, error_model="numpy")(function)
    if IS_CACHE_ENABLED and key:
        keep_on_disk(dispatcher, os.path.join("own", key))
        remove_oldest(Path(dispatcher._cache.cache_path).parents[1], MAX_FUNCTIONS_ON_DISK)
    dispatcher.compile(types)
    dispatcher.disable_compile()
    if key:
        if len(_KEPT) >= MAX_REMEMBERED_FUNCTIONS:
            _KEPT.clear()
        _KEPT[known] = dispatcher
    return dispatcher


def compile_for_arguments(kernel: Any, arguments: Sequence[Any]) -> Callable[..., Any]:
    """A kernel compiled for arguments such as these, functions by their addresses.

    Numba would otherwise compile it anew for each function that is passed to it.
    """
    numba = _numba()

    def type_of(one: Any) -> Any:
        signatures = getattr(one, "nopython_signatures", None)
        return numba.types.FunctionType(signatures[0]) if signatures else numba.typeof(one)

    found: Callable[..., Any] = kernel.dispatcher.compile(tuple(map(type_of, arguments)))
    return found
