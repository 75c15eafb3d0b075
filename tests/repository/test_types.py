"""Types: what a type checker tells a user, and how much of the package they cover."""

import ast
import functools
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import herded
from tests.support.ast_utils import statements

PACKAGE = Path(herded.__file__).parent
KNOWN = Path(__file__).parents[2] / ".pytest_cache" / "types"  # what mypy knows of the package
SCRIPT = """\
import herded as hd

model = hd.read_model("model.uai")
reveal_type(model)  # FactorGraph | Lattice
method = hd.HerdedGibbs(weights="pooled", seed=1)
result = hd.infer(model, method, sweeps=100, keep=[hd.Marginals(), hd.BestState()])
reveal_type(result.marginals)  # ndarray
reveal_type(result.best.log_score)  # float
reveal_type(hd.io.read_uai("model.uai"))  # FactorGraph
hd.infer(model, hd.Exact(), layout=None, max_memory="2G")
hd.infer("model.uai")  # arg-type
hd.infer(model, hd.HerdedGibbs)  # arg-type
hd.infer(model, sweeps="many")  # arg-type
hd.HerdedGibbs(wheights="pooled")  # call-arg
hd.infr(model)  # attr-defined
hd.io.read_pdf("model.pdf")  # attr-defined
"""


@functools.cache
def functions():
    """Every function of the package that is not compiled, with its module and arguments."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in statements(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            if any("jit" in ast.unparse(decorator) for decorator in node.decorator_list):
                continue
            every = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            arguments = [a for a in every if a.arg not in ("self", "cls")]
            place = f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}"
            found.append((place, node, arguments))
    return found


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_a_users_mistakes_are_seen(tmp_path):
    """In strict mode nothing of the package is Any, and nothing that is right is refused."""
    (tmp_path / "user.py").write_text(SCRIPT)
    options = "--strict", "--follow-imports=silent", "--no-pretty", f"--cache-dir={KNOWN}"
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    if PACKAGE.parent.name == "site-packages":  # where mypy looks anyway, and refuses to be sent
        environment.pop("MYPYPATH")
    found = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--config-file=", "user.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    told = {}
    for line in found.stdout.splitlines():
        if "error:" in line or "Revealed" in line:
            told.setdefault(int(line.split(":")[1]), []).append(line)
    wanted = {}
    for number, line in enumerate(SCRIPT.splitlines(), start=1):
        if "  # " in line:
            wanted[number] = line.partition("  # ")[2].split(" | ")
    assert told.keys() == wanted.keys(), found.stdout + found.stderr
    for number, lines in told.items():
        (line,) = lines
        assert all(word in line for word in wanted[number]), line
        assert "Revealed" not in line or 'is "Any"' not in line


def test_few_arguments_may_be_anything():
    """Any is left for objects of packages that need not be installed, and for methods' layouts."""
    kinds = [a.annotation for _, _, arguments in functions() for a in arguments]
    loose = sum(kind is None or ast.unparse(kind) == "Any" for kind in kinds)
    assert loose <= 0.03 * len(kinds), f"{loose} of {len(kinds)}"


def test_only_compiled_functions_have_no_types():
    bare = [
        name
        for name, node, arguments in functions()
        if node.returns is None or any(a.annotation is None for a in arguments)
    ]
    assert bare == []


def test_it_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()
