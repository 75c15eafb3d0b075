"""Functions that keep their last result, for several callers in a row."""

import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def cache_last(function: Callable[[T], R]) -> Callable[[T], R]:
    """Wrap `function` of one frozen argument, recomputing only for another object.

    The result is dropped together with its argument.
    """
    last: dict[str, tuple[Any, R]] = {}

    @wraps(function)
    def remembering(argument: T) -> R:
        found = last.get("")
        if found is not None and found[0]() is argument:
            return found[1]
        result = function(argument)
        if result is not argument:  # the cache would keep it alive
            last[""] = weakref.ref(argument, lambda _: last.clear()), result
        return result

    return remembering
