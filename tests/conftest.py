"""Kernels are compiled afresh for every session: a stale cache would test yesterday's code."""

import os
import tempfile

# Workers of one session share what one of them has compiled; the next session starts empty.
if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="herded-tests-")
