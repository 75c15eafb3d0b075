"""The command `herded` in this process or in another, and small model files for it."""

import json
import os
import subprocess
import sys

import numpy as np

import herded as hd
from herded.cli.main import main
from tests.patience import HANGS


def small_grid(side=4, coupling=0.6, seed=0):
    """An Ising grid as a file has it: factors, and no picture."""
    rng = np.random.default_rng(seed)
    grid = hd.ising_grid(rng.normal(size=(side, side)), coupling).as_factor_graph()
    return hd.FactorGraph.from_arrays(
        grid.cardinalities, grid.factor_start, grid.factor_variables, grid.log_tables
    )


def weather():
    """A Bayes net with names, and a state that is impossible without another."""
    rain = np.log([0.8, 0.2])
    with np.errstate(divide="ignore"):
        wet = np.log([[1.0, 0.0, 0.0], [0.1, 0.3, 0.6]])
    slip = np.log([[0.99, 0.01], [0.9, 0.1], [0.5, 0.5]])
    return hd.FactorGraph(
        [2, 3, 2],
        [((0,), rain), ((0, 1), wet), ((1, 2), slip)],
        names=["rain", "ground", "slip"],
        state_names=[["no", "yes"], ["dry", "damp", "wet"], ["no", "yes"]],
    )


def write_small_files():
    """The grid, its exact marginals and the weather, in this folder."""
    grid = small_grid()
    hd.io.write_uai(grid, "grid.uai")
    hd.io.write_mar(hd.infer(grid, hd.Exact()).marginals, "grid.MAR")
    hd.io.write_bif(weather(), "weather.bif")


def run(capsys, *arguments):
    """The exit code of a command, and what it said on stdout and stderr."""
    code = main([str(word) for word in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def found(capsys, *arguments):
    """The object that a command prints with --json."""
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def fails(capsys, code, *arguments):
    """The one sentence on stderr of a command that does nothing."""
    left, out, err = run(capsys, *arguments)
    assert left == code and out == ""
    assert err.startswith("herded: expected ") and err.count("\n") == 1
    assert "Traceback" not in err
    return err


def warning(infer, *sentences):
    """`infer`, whose results have these warnings."""

    def warned(*args, **kwargs):
        result = infer(*args, **kwargs)
        object.__setattr__(result, "warnings", sentences)
        return result

    return warned


def start(*arguments, **options):
    """The command in a process of its own."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen([sys.executable, "-m", "herded", *map(str, arguments)], **options)


def run_apart(*arguments):
    """The command in a process of its own, after its end."""
    command = [sys.executable, "-m", "herded", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=False)


def environment(**more):
    """This one's, for a process that must find the same herded."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more}
