"""Kernels that only kernels call: optimised and cached, but compiled only within their callers.

Such a kernel is copied into every kernel that calls it and compiled there. Numba also compiles it
by itself, which nothing uses: a tenth of the compile time. Here its code library ends when it is
ready to be copied. The pipeline and the cache are passed to Numba with our kernels alone; other
kernels are compiled as usual.
"""

from typing import Any

import llvmlite.binding as llvm
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder


class _NoEnvironment:
    """An environment that ignores Python constants, because inner kernels have none."""

    def set_env(self, name: str, environment: Any) -> None:
        assert not environment.consts, name


class InnerLibrary(JITCodeLibrary):
    """The code of one kernel and of all that it calls, to be copied into others."""

    codegen = _NoEnvironment()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return a null pointer, after finalising the library."""
        self._ensure_finalized()
        return 0  # Numba's value for a function that Python cannot call

    def serialize_using_object_code(self) -> bytes:
        """Return the bitcode of the library, which takes the place of object code."""
        bitcode: bytes = self._get_module_for_linking().as_bitcode()
        return bitcode


class InnerCompiler(CompilerBase):
    """Numba's own pipeline, with our library class."""

    def define_pipelines(self) -> list[Any]:
        """Return Numba's nopython pipeline for a library of our class."""
        state = self.state
        state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


class _Unserialised:
    """A stand-in for what Numba needs to rebuild a result, whose library already exists."""

    def __init__(self, context: Any, library: InnerLibrary) -> None:
        self.typing_context, self.get_executable = context.typing_context, context.get_executable
        self.codegen = lambda: self
        self.unserialize_library = lambda bitcode: library


class InnerCacheImpl(CompileResultCacheImpl):
    """A disk cache of kernels whose library is stored as bitcode."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Rebuild a compiled kernel from its bitcode."""
        bitcode, fndesc, *rest = payload
        library = InnerLibrary(target_context.codegen(), fndesc.qualname)
        library._final_module = library._shared_module = llvm.parse_bitcode(bitcode)
        library._finalize_final_module()
        context = _Unserialised(target_context, library)
        found = CompileResult._rebuild(context, bitcode, fndesc, *rest)
        return found._replace(target_context=target_context)
