"""The table of purposes of random streams: complete, explained, and used by all."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import herded
from herded.system.numerics import stream_purposes
from herded.system.numerics.stream_purposes import SHARED_VALUES, StreamPurpose

PACKAGE = Path(herded.__file__).parent
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PURPOSES = {name: value for name, value in vars(StreamPurpose).items() if name.isupper()}
# names of functions that make a stream, and from how many arguments on one is its purpose
MAKERS = {"stream_key": 2, "random_permutation": 3}


def test_every_purpose_has_a_docstring():
    source = Path(stream_purposes.__file__).read_text(encoding="utf-8")
    (table,) = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    explained = set()
    for node, after in zip(table.body, table.body[1:], strict=False):
        if isinstance(node, ast.AnnAssign) and isinstance(after, ast.Expr):
            explained.add(node.target.id)
    assert explained == set(PURPOSES)


def test_shared_values_are_those_with_a_reason():
    counts = Counter(PURPOSES.values())
    assert {value for value, count in counts.items() if count > 1} == set(SHARED_VALUES)


def bare_purposes(source: str) -> list[str]:
    """Calls that make a stream without a purpose of the table."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if len(node.args) < MAKERS.get(node.func.id, len(node.args) + 1):
            continue
        names = {
            inner.attr
            for argument in node.args
            for inner in ast.walk(argument)
            if isinstance(inner, ast.Attribute)
            and isinstance(inner.value, ast.Name)
            and inner.value.id == "StreamPurpose"
        }
        if not names or not names <= set(PURPOSES):
            found.append(ast.unparse(node))
    return found


@pytest.mark.parametrize(
    "call", ["stream_key(seed, 0, 3)", "random_permutation(n, seed, 0, ORDER)", "stream_key(s, 6)"]
)
def test_bare_purposes_are_found(call):
    assert bare_purposes(call) == [call]
    assert not bare_purposes("stream_key(seed, 0, StreamPurpose.DRAWS)")
    assert not bare_purposes("stream_key(attempt)")  # a seed alone


def test_every_stream_names_its_purpose():
    found = {
        path.name: calls
        for folder in (PACKAGE, BENCHMARKS)
        for path in folder.rglob("*.py")
        if (calls := bare_purposes(path.read_text(encoding="utf-8")))
    }
    assert not found
