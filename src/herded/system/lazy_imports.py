"""Lazy imports of a package's public names, so that programs start fast.

The stub next to the package's `__init__.py` is the only list of the names and where they are
defined. Type checkers and editors read it too.
"""

import importlib
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

LazyAttributes = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]
STUB_IMPORT_PATTERN = re.compile(r"^from ([\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
NAME_PATTERN = re.compile(r"(\w+) as \1")


def attach(package: str, extras: Sequence[str] = ()) -> LazyAttributes:
    """Build `__getattr__`, `__dir__` and `__all__` of `package` from its `__init__.pyi`.

    Names in `extras` need an optional library: they can be used, but `import *` omits them.
    """
    with open(os.path.splitext(str(sys.modules[package].__file__))[0] + ".pyi") as stub:
        imports = STUB_IMPORT_PATTERN.findall(stub.read())
    home_of = {name: home for home, names in imports for name in NAME_PATTERN.findall(names)}

    def find(name: str) -> Any:
        if name not in home_of:
            # Python suggests a close spelling from these attributes of the error.
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=sys.modules[package])
        from herded.system.interrupts import held_interrupts  # not needed by a bare `import herded`

        with held_interrupts():
            value = importlib.import_module(home_of[name])
            if hasattr(value, "__path__"):  # a package, whose names are modules
                value = importlib.import_module(f"{value.__name__}.{name}")
            else:
                value = getattr(value, name)
        # Stored for fast access, even if a module of that name has been imported since.
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted(home_of), sorted(home_of.keys() - set(extras))
