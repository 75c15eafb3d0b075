"""Kernels that only kernels call: optimised and kept, but made machine code only in their callers.

What such a kernel does is copied into every kernel that calls it, and compiled there. Numba makes
machine code of it alone as well, which nobody calls: a tenth of the time of compilers. Here its
library of code ends where it is ready to be copied. The pipeline and the cache are handed to
Numba with our kernels alone; those of others are compiled as ever.
"""

from typing import Any

import llvmlite.binding as llvm
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder


class _NoEnvironment:
    """Constants that are Python's objects are set where machine code is; kernels have none."""

    def set_env(self, name: str, environment: Any) -> None:
        assert not environment.consts, name


class InnerLibrary(JITCodeLibrary):
    """The code of one kernel and of all that it calls, to be copied into others."""

    codegen = _NoEnvironment()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0  # as Numba says of what cannot be called from Python

    def serialize_using_object_code(self) -> bytes:
        bitcode: bytes = self._get_module_for_linking().as_bitcode()
        return bitcode


class InnerCompiler(CompilerBase):
    """Numba's own pipeline, which fills a library of ours."""

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


class _Unserialised:
    """What Numba asks for when it rebuilds a result: here the library is rebuilt already."""

    def __init__(self, context: Any, library: InnerLibrary) -> None:
        self.typing_context, self.get_executable = context.typing_context, context.get_executable
        self.codegen = lambda: self
        self.unserialize_library = lambda bitcode: library


class InnerCacheImpl(CompileResultCacheImpl):
    """Compiled kernels on disk, whose library is its bitcode."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        bitcode, fndesc, *rest = payload
        library = InnerLibrary(target_context.codegen(), fndesc.qualname)
        library._final_module = library._shared_module = llvm.parse_bitcode(bitcode)
        library._finalize_final_module()
        context = _Unserialised(target_context, library)
        found = CompileResult._rebuild(context, bitcode, fndesc, *rest)
        return found._replace(target_context=target_context)
