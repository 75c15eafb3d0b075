"""Import the public names of a package when they are first used, so that programs start fast."""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Lazy = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]


def attach(package: str, homes: Mapping[str, Sequence[str]], extras: Sequence[str] = ()) -> Lazy:
    """`__getattr__`, `__dir__` and `__all__` of `package`.

    `homes` has the names that each module defines; a module with no names is itself public. Names
    in `extras` need an optional library: they are found, and are no part of `import *`.
    """
    home_of = {name: home for home, names in homes.items() for name in names}
    modules = {home.rsplit(".", 1)[1]: home for home, names in homes.items() if not names}
    known = sorted(home_of.keys() | modules.keys())

    def find(name: str) -> Any:
        if name in modules:
            value = importlib.import_module(modules[name])
        elif name in home_of:
            value = getattr(importlib.import_module(home_of[name]), name)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        # Stored, so that it is found at once, also where a module of that name was imported since.
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: list(known), [name for name in known if name not in extras]
