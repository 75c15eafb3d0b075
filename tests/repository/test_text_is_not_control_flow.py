"""Code never branches on the text of a diagnostic, a warning or an attempt of `auto`."""

import ast
from pathlib import Path

import pytest

import herded

PACKAGE = Path(herded.__file__).parent
TEXTS = {"warnings", "message", "headline", "said", "remedy"}  # attributes that are text
SEARCHES = {
    "startswith", "endswith", "split", "rsplit", "partition", "rpartition", "find", "index",
    "count", "replace", "removeprefix", "removesuffix",
}  # fmt: skip
SEARCHING_COMPARISONS = (ast.In, ast.NotIn, ast.Eq, ast.NotEq, ast.Is, ast.IsNot)


def is_text(node, names):
    """Whether an expression is such a text, `str` of it, or a loop's name for one."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "str" and node.args:
        node = node.args[0]
    if isinstance(node, ast.Name):
        return node.id in names
    return isinstance(node, ast.Attribute) and node.attr in TEXTS


def names_of_texts(tree):
    """Names of loops over texts: `for text in result.warnings`."""
    loops = (node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.comprehension)))
    return {
        loop.target.id
        for loop in loops
        if isinstance(loop.target, ast.Name) and is_text(loop.iter, ())
    }


def searches(source):
    """Lines that compare or search a text."""
    tree = ast.parse(source)
    names, lines = names_of_texts(tree), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            is_search = any(isinstance(op, SEARCHING_COMPARISONS) for op in node.ops)
            is_empty = any(isinstance(s, ast.Constant) and not s.value for s in sides)
            if is_search and not is_empty and any(is_text(side, names) for side in sides):
                lines.append(node.lineno)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_method = node.func.attr in SEARCHES and is_text(node.func.value, names)
            is_pattern = getattr(node.func.value, "id", "") == "re" and any(
                is_text(argument, names) for argument in node.args
            )
            if is_method or is_pattern:
                lines.append(node.lineno)
    return lines


@pytest.mark.parametrize(
    "source",
    [
        'any("disagree" in text for text in result.warnings)',
        'found.message.split(":")[0]',
        'str(found.message).startswith("log Z")',
        're.sub("burn_in", "--burn-in", found.message)',
        "[text for text in result.warnings if text is not SINGLE_CHAIN]",
        'step.said == "found nothing"',
    ],
)
def test_a_search_is_found(source):
    assert searches(source) == [1]


def test_other_uses_of_text_are_none():
    assert not searches("print(found.message); said = '; '.join(one.headline for one in found)")
    assert not searches("[one for one in found if one.message]; step.said is None")


def test_no_module_searches_the_text_of_a_finding():
    found = {
        str(path.relative_to(PACKAGE)): lines
        for path in sorted(PACKAGE.rglob("*.py"))
        if (lines := searches(path.read_text(encoding="utf-8")))
    }
    assert not found
