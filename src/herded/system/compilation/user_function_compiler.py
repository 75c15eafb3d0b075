"""Compiled user functions: values that kernels take and call by their addresses."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

from herded.system.compilation.fingerprint import KNOWN_PACKAGES, names_in
from herded.system.compilation.jit import IS_CACHE_ENABLED, _numba, keep_on_disk
from herded.system.compilation.kernel_cache import remove_oldest

MAX_REMEMBERED_FUNCTIONS = 256  # functions that a process caches
MAX_FUNCTIONS_ON_DISK = 512  # models whose functions are cached; each edit adds one

_KEPT: dict[Any, Any] = {}


def compile_inlined(
    function: Callable[..., Any], key: str = "", made: dict[Any, Any] | None = None
) -> Any:
    """Wrap a user function as Numba's object, to be compiled into other functions.

    Plain functions that it calls are compiled with it; Numba would require a decorator on each.
    `key` is that of `compile_first_class`.
    """
    plain = getattr(function, "py_func", function)
    made = {} if made is None else made
    if plain in made:
        return made[plain]
    if not isinstance(plain, FunctionType):
        return _numba().njit(plain)  # raises an error that says what it expects
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
    """Build a name of compiled code that is unique within a process.

    Numba numbers functions of one name in order of appearance. Those loaded from disk carry the
    numbers of the processes that compiled them, so that two could be confused.
    """
    return f"{name}_{key}" if key else name


def _replace_by_compiled(value: object, key: str, made: dict[Any, Any]) -> Any:
    """Compile plain functions; return everything else as it is."""
    if isinstance(value, FunctionType) and value.__module__.partition(".")[0] not in KNOWN_PACKAGES:
        return compile_inlined(value, key, made)
    return value


def compile_first_class(function: Callable[..., Any], arguments: Sequence[Any], key: str) -> Any:
    """Compile `function` for arguments of these types, as a value that kernels take.

    Kernels call it by its address, so they are compiled once for all functions with the same
    types. `key` names all that the function does and is the name of the disk cache; without a key
    nothing is cached. Raises Numba's error if it cannot compile the function.
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
    """Compile a kernel for arguments of these types, taking functions by their addresses.

    Otherwise Numba would compile the kernel again for each function that is passed to it.
    """
    numba = _numba()

    def type_of(one: Any) -> Any:
        signatures = getattr(one, "nopython_signatures", None)
        return numba.types.FunctionType(signatures[0]) if signatures else numba.typeof(one)

    found: Callable[..., Any] = kernel.dispatcher.compile(tuple(map(type_of, arguments)))
    return found
