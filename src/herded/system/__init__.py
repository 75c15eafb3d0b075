"""Foundations: compilation, numerics, memory, threads, files and figures.

Nothing here depends on models or methods. `compilation` wraps Numba; `numerics` has random numbers,
exp and log with the same bits everywhere. `argument_checks.py` checks what users pass,
`memory_limits.py` measures free memory, `threads.py` and `cpu_count.py` run parts of work in
parallel, `atomic_files.py` writes files completely or not at all, `npz_reader.py` reads arrays from
untrusted files, `figures.py` is the only importer of matplotlib, `lazy_imports.py` loads public
names on first use. `aligned_arrays.py`, `last_value_cache.py`, `html.py` and `suggestions.py` are
small helpers.

Start reading at `compilation/jit.py`.
"""
