"""Small models are asked about again and again: their plans are kept with them.

Neither a model nor a frozen dataclass of options ever changes, so the plan is the same again. Only
small plans are kept: a large one is worth its compilation, and not the memory after it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from herded.layouts.choose import Plan

SMALL = 2**18  # bytes of a plan's arrays
MOST = 16  # plans of one model


class Shelf(dict[Any, Plan]):
    """The plans of a model, left behind when that is pickled: its copy has arrays of its own."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Shelf, ()


def remembered(model: Any, method: Any, kind: str | None, cap: float | None) -> Plan:
    """The plan of `method.compile`, made only once where it is small."""
    shelf = getattr(model, "_shelf", None)
    if shelf is None:
        shelf = Shelf()
        object.__setattr__(model, "_shelf", shelf)
    key = _key(method, kind, cap)
    plan = shelf.get(key) if key else None
    if plan is None or plan.model is not model:  # another's, where a model was copied with it
        plan = method.compile(model, kind=kind, cap=cap)
        if key and sum(array.nbytes for array in _arrays(plan)) <= SMALL:
            if len(shelf) >= MOST:
                shelf.clear()
            shelf[key] = plan
    return plan


def _key(method: Any, kind: Any, cap: Any) -> tuple[Any, ...] | None:
    """What a plan depends on, or None where that may change or is no proper choice."""
    if not getattr(getattr(method, "__dataclass_params__", None), "frozen", False):
        return None
    key = (method, kind, cap, type(cap))  # True is 1, and no number of bytes
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _arrays(plan: Plan) -> Iterator[np.ndarray]:
    laid_out = (plan.factors, plan.tables, plan.field, plan.pairs, plan.lattice)
    for part in (*laid_out, plan.scan, plan.contexts):
        for array in part or ():
            if isinstance(array, np.ndarray):
                yield array
