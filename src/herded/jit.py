"""The one place that imports Numba.

No `fastmath`: the same bits everywhere matter more than the last per cent. `nogil` lets threads
run chains and components side by side. The disk cache makes a second process start quickly; it
does not see edits in imported modules, so tests turn it off with HERDED_CACHE=0.
"""

import os
from collections.abc import Callable
from typing import Any

import numba

CACHE = os.environ.get("HERDED_CACHE", "1") != "0"


def jit(function: Callable[..., Any]) -> Any:
    """Compile `function` when it is first called."""
    return numba.njit(nogil=True, cache=CACHE, error_model="numpy")(function)
