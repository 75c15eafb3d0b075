"""The only module that imports Numba, and only when a kernel is first called.

No `fastmath`: the same bits everywhere matter more than the last per cent of speed. `nogil` lets
threads run chains and components in parallel. The disk cache (`system.compilation.kernel_cache`)
makes a second process start quickly; HERDED_CACHE=0 turns it off.

Importing Numba takes 0.3 s and wrapping all functions of the package 0.1 s, so each is wrapped when
first needed. Functions that only kernels call are compiled without an entry point from Python,
which takes a third of the compile time of a short function.
"""

import gc
import os
import threading
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache, update_wrapper, wraps
from importlib.util import find_spec
from types import FunctionType
from typing import Any

import numpy as np

from herded.system.compilation.kernel_cache import folder_of
from herded.system.interrupts import HeldInterrupts, held_interrupts

IS_CACHE_ENABLED = os.environ.get("HERDED_CACHE", "1") != "0"
IS_JIT_DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


class Kernel:
    """A function that Numba compiles when it is first called, by Python or by another kernel."""

    # The dispatcher is stored where Python looks for it: no function of ours comes between.
    __slots__ = ("__call__", "__dict__", "_dispatcher", "_inner", "py_func")
    __call__: Callable[..., Any]
    __qualname__: str

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._dispatcher: Any = None
        self._inner: Any = None
        self.__call__ = self._first_call

    def __reduce__(self) -> str:
        return self.__qualname__  # pickled by name

    @property
    def dispatcher(self) -> Any:
        """Return Numba's object for calls from Python."""
        with _WRAPPING:
            if self._dispatcher is None:
                self.__call__ = self._dispatcher = _wrap(self.py_func, inner=False)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """Return what Numba asks for when it meets this kernel in another."""
        with _WRAPPING:
            if self._inner is None:
                self._inner = _wrap(self.py_func, inner=True)
        return self._inner._numba_type_

    def _first_call(self, *arguments: Any) -> Any:
        """Import, wrap, load or compile, and run; Ctrl-C is delivered afterwards."""
        with held_interrupts():
            return self.dispatcher(*arguments)


_WRAPPING = threading.RLock()


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` when it is first called.

    With NUMBA_DISABLE_JIT=1 it stays plain Python, whose integers then overflow silently as well.
    """
    return _with_silent_integers(function) if IS_JIT_DISABLED else Kernel(function)


_QUIET = ContextVar("_QUIET", default=False)  # whether a kernel is running as plain Python


def _with_silent_integers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `function` so that integers overflow silently, also in kernels that it calls.

    The outermost kernel sets NumPy's state once, since setting it takes longer than many kernels.
    """

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        if _QUIET.get():
            return function(*arguments, **options)
        before = _QUIET.set(True)
        try:
            with np.errstate(over="ignore"):
                return function(*arguments, **options)
        finally:
            _QUIET.reset(before)

    return call


_MAX_PLAIN_STEPS = 2**13  # steps of a few microseconds; importing Numba takes longer
_steps = 0  # steps that this process ran before importing Numba


def plain_python_if_short(kernel: Callable[..., Any], steps: int) -> Callable[..., Any]:
    """Return `kernel`, or plain Python for the first few steps of a process without Numba.

    Many processes answer one small question and end.
    """
    global _steps
    if IS_JIT_DISABLED or _numba.cache_info().currsize > 0:
        return kernel
    _steps += steps
    return kernel if _steps > _MAX_PLAIN_STEPS else as_plain_python(kernel)


@cache
def as_plain_python(kernel: Any) -> Callable[..., Any]:
    """Return `kernel` as plain Python, with the kernels that it calls: the same bits, slowly."""
    own = kernel.py_func.__globals__.copy()
    for name, value in own.items():
        if isinstance(value, Kernel):
            is_here = value.py_func.__globals__ is kernel.py_func.__globals__
            own[name] = _plain(value, own) if is_here else as_plain_python(value)
    return np.errstate(over="ignore")(
        _plain(kernel, own)
    )  # integers overflow silently, as when compiled


def _plain(kernel: Kernel, names: dict[str, Any]) -> FunctionType:
    """Return the function of `kernel` with other globals."""
    return FunctionType(kernel.py_func.__code__, names, kernel.py_func.__name__)


def _wrap(function: Callable[..., Any], inner: bool) -> Any:
    """Build Numba's object for a function that Python calls, or that only kernels call (`inner`).

    Each kind has its own folder, because Numba would mistake one for the other.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    kind = None
    if inner:
        from herded.system.compilation.inner_kernels import InnerCacheImpl, InnerCompiler

        options |= {"no_cpython_wrapper": True, "pipeline_class": InnerCompiler}
        kind = InnerCacheImpl
    dispatcher = _numba().njit(**options)(function)
    if IS_CACHE_ENABLED:
        keep_on_disk(dispatcher, "inner" if inner else "", kind)
    return dispatcher


def keep_on_disk(dispatcher: Any, place: str, kind: Any = None) -> None:
    """Let Numba cache compiled code in the folder of the function's module, or in a subfolder.

    The folder is created when something is compiled.
    """
    settings, function = _numba().config, dispatcher.py_func
    before = settings.CACHE_DIR
    try:  # Numba reads the setting only here
        settings.CACHE_DIR = os.path.join(folder_of(function.__module__, before), place)
        dispatcher._cache = _function_cache(kind)(function)
    finally:
        settings.CACHE_DIR = before


class _Compilers:
    """A count of the compilations in progress, not counting kernels from the disk cache.

    Garbage collection is off meanwhile, because it takes a tenth of the compile time.
    """

    def __init__(self) -> None:
        self.working = 0
        self.collecting = False
        self.held = HeldInterrupts()

    def on_start(self, event: object) -> None:
        if self.working == 0:  # Numba compiles one at a time, with nested ones
            self.collecting = gc.isenabled()
            gc.disable()
            self.held.begin()
        self.working += 1

    def on_end(self, event: object) -> None:
        self.working -= 1
        if self.working == 0:
            if self.collecting:
                gc.enable()
            self.held.end()


_COMPILERS = _Compilers()


def is_compiling() -> bool:
    """Return whether some kernel is being compiled."""
    return _COMPILERS.working > 0


@cache
def _numba() -> Any:
    """Import Numba, and count its compilations from then on."""
    collecting = gc.isenabled()
    gc.disable()  # an import creates little garbage: collecting it takes 0.04 s
    try:
        with held_interrupts():  # a partial import cannot be repeated
            import numba
            from numba.core import event
    finally:
        if collecting:
            gc.enable()

    class Listener(event.Listener):
        def on_start(self, event: object) -> None:
            _COMPILERS.on_start(event)
            _avoid_scipy_import()

        def on_end(self, event: object) -> None:
            _COMPILERS.on_end(event)

    event.register("numba:compile", Listener())
    return numba


@cache
def _function_cache(kind: Any) -> Any:
    """Build Numba's cache of compiled functions without preparing a compiler.

    Numba prepares all that it can compile before it looks for a cached kernel, which takes
    longer than loading a dozen of them. If none is found, it prepares again before compiling.
    """
    from numba.core.caching import FunctionCache
    from numba.core.runtime import rtsys

    class Cache(FunctionCache):
        def load_overload(self, sig: Any, target_context: Any) -> Any:
            rtsys.initialize(target_context)  # loaded kernels count references too
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)

    if kind is not None:
        Cache._impl_class = kind
    return Cache


@cache
def _avoid_scipy_import() -> None:
    """Let Numba check for SciPy without importing it, which takes 0.15 s.

    Kernels of this package multiply no matrices. Other kernels that do import SciPy as usual,
    since the function replaced here for a moment is called again for each of them.
    """
    from numba.np import linalg

    def look() -> None:
        if find_spec("scipy") is None:
            raise ImportError

    before, linalg.ensure_blas = linalg.ensure_blas, look
    try:
        from numba.np import arraymath

        arraymath.ensure_blas = before
    finally:
        linalg.ensure_blas = before
