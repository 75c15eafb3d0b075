"""Import the public names of a package when they are first used, so that programs start fast.

Which names there are, and where they are defined, is said once: in the stub beside the package's
`__init__.py`, which type checkers and editors read too.
"""

import importlib
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

LazyAttributes = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]
IMPORT_PATTERN = re.compile(r"^from ([\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
NAME_PATTERN = re.compile(r"(\w+) as \1")


def attach(package: str, extras: Sequence[str] = ()) -> LazyAttributes:
    """`__getattr__`, `__dir__` and `__all__` of `package`, as its `__init__.pyi` has them.

    Names in `extras` need an optional library: they are found, and are no part of `import *`.
    """
    with open(os.path.splitext(str(sys.modules[package].__file__))[0] + ".pyi") as stub:
        imports = IMPORT_PATTERN.findall(stub.read())
    home_of = {name: home for home, names in imports for name in NAME_PATTERN.findall(names)}

    def find(name: str) -> Any:
        if name not in home_of:
            # Python looks for a close spelling in what an error is about.
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=sys.modules[package])
        from herded.system.interrupts import held_interrupts  # wanted by no bare `import herded`

        with held_interrupts():
            value = importlib.import_module(home_of[name])
            if hasattr(value, "__path__"):  # a package, whose names are modules
                value = importlib.import_module(f"{value.__name__}.{name}")
            else:
                value = getattr(value, name)
        # Stored, so that it is found at once, also where a module of that name was imported since.
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted(home_of), sorted(home_of.keys() - set(extras))
