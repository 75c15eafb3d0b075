"""Every public function and class has an example in its docstring, and it runs.

Examples know `np` and `hd`, and run in an empty folder. Numbers in them are rounded, so that the
last digit does not depend on the processor.
"""

import ast
import doctest
import importlib.util
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import herded as hd
from tests.support.ast_utils import statements

PACKAGES = {
    "hd": hd,
    "hd.io": hd.io,
    "hd.learn": hd.learn,
    "hd.ner": hd.ner,
    "hd.plot": hd.plot,
    "hd.qubo": hd.qubo,
    "hd.theory": hd.theory,
    "hd.vision": hd.vision,
}
OPTIONAL = {  # the library that an example needs beyond those that are required
    "hd.from_bqm": "dimod",
    "hd.from_networkx": "networkx",
    "hd.from_pgmpy": "pgmpy",
    "hd.learn.BoltzmannMachine": "sklearn",
    "hd.learn.DirichletMixture": "sklearn",
    "hd.learn.RBM": "sklearn",
    "hd.learn.VariableSelector": "sklearn",
    "hd.plot.curve": "matplotlib",
    "hd.plot.graph": "matplotlib",
    "hd.plot.marginals": "matplotlib",
    "hd.plot.samples": "matplotlib",
    "hd.plot.series": "matplotlib",
    "hd.qubo.HerdedSampler": "dimod",
    "hd.qubo.from_bqm": "dimod",
    "hd.qubo.to_bqm": "dimod",
    "hd.vision.IsingDenoiser": "sklearn",
}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def is_missing(name):
    return name in OPTIONAL and importlib.util.find_spec(OPTIONAL[name]) is None


def public():
    """The full name of every public function and class, whichever package shows it."""
    names = []
    for package, module in PACKAGES.items():
        for name in sorted({*module.__all__, *dir(module)}):
            full = f"{package}.{name}"
            if name.startswith("_") or is_missing(full):
                continue
            value = getattr(module, name)
            if inspect.isfunction(value) or inspect.isclass(value):
                names.append(full)
    return names


def found(name):
    package, _, last = name.rpartition(".")
    return getattr(PACKAGES[package], last)


def examples(name):
    """The doctests of an object, and of the methods that its own class defines."""
    value = found(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    globs = {"np": np, "hd": hd}
    return [test for test in finder.find(value, name, module=False, globs=globs) if test.examples]


@pytest.mark.parametrize("name", public())
def test_has_an_example(name):
    text = inspect.getdoc(found(name)) or ""
    assert "\nExamples\n--------\n" in text and ">>> " in text.split("\nExamples\n")[1]


@pytest.mark.parametrize("name", public())
def test_examples_run(name, own_folder):
    for test in examples(name):
        said = []
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
        assert not said, "".join(said)


def test_exceptions_are_public_names():
    assert set(public()) >= {name for name in OPTIONAL if not is_missing(name)}


def docstrings():
    """The file and text of every docstring of the package that has sections."""
    for path in sorted(Path(hd.__file__).parent.rglob("*.py")):
        for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                text = ast.get_docstring(node) or ""
                if re.search(r"^-{4,}$", text, re.MULTILINE):
                    yield path.name, text


def test_descriptions_keep_their_indentation():
    """In the site a deeper line within a paragraph of a section would be an error."""
    found = list(docstrings())
    assert len(found) > 100
    wrong = [
        (name, deeper[0])
        for name, text in found
        if (deeper := re.search(r"^ {4}\w.*\n {8}\S.*", text, re.M))
    ]
    assert not wrong
