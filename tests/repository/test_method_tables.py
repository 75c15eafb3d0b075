"""The tables in the docstrings of methods name functions that are there."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import herded

METHODS = Path(herded.__file__).parent / "methods"
MODULES = [
    "gibbs", "herded_gibbs", "herding", "tempered", "exact.solver", "belief_propagation.solver",
    "mean_field.solver", "viterbi.solver",
]  # fmt: skip
NAME = re.compile(r"\b(?:draws|layouts|methods|models|moves|theory)\.[\w.]+\w$")


def named_functions(module: str) -> list[str]:
    """The last words of the lines of a table that begins with "step ... runs in"."""
    path = METHODS / f"{module.replace('.', '/')}.py"
    lines = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).splitlines()
    (first,) = (k for k, line in enumerate(lines) if re.fullmatch(r" *step +runs in", line))
    end = next((k for k in range(first, len(lines)) if not lines[k]), len(lines))
    return [NAME.search(line)[0] for line in lines[first + 1 : end]]


def exists(name: str) -> bool:
    """Whether `herded` has this function, or this method of a class."""
    parts = name.split(".")
    depth = len(parts) - 1
    while not (METHODS.parent.joinpath(*parts[:depth]).with_suffix(".py")).exists():
        depth -= 1
        if not depth:
            return False
    found = importlib.import_module(f"herded.{'.'.join(parts[:depth])}")
    for part in parts[depth:]:
        found = getattr(found, part, None)
    return callable(found)


def test_missing_functions_are_found():
    assert exists("draws.herded.herd_scalar")
    assert exists("methods.damped_solver.DampedSolver.advance")
    assert not exists("draws.herded.no_such_function")
    assert not exists("draws.no_such_module.herd_scalar")


@pytest.mark.parametrize("module", MODULES)
def test_functions_of_the_table_exist(module):
    names = named_functions(module)
    assert len(names) >= 3
    assert [name for name in names if not exists(name)] == []
