"""Compilation with Numba, behind one decorator, and the cache of compiled kernels.

`jit.py` wraps a function so that Numba is imported and the kernel compiled on the first call.
`kernel_cache.py` keeps compiled kernels on disk, named by hashes of the sources they depend on.
`user_function_compiler.py` compiles functions that users pass, and `fingerprint.py` names these by
their content. `inner_kernels.py` and `address_views.py` save compile time with parts of Numba that
are not public.

Start reading at `jit.py`.
"""
