"""The command `herded` in this process or in another, and small model files for it."""

import contextlib
import functools
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
from dataclasses import replace

import numpy as np

import herded as hd
from herded.cli.main import main
from tests.support import preloaded_commands


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
    assert err.startswith(("herded: expected ", "herded: could not ")) and err.count("\n") == 1
    assert "Traceback" not in err
    return err


def warning(infer, *diagnostics):
    """`infer`, whose results have these diagnostics."""

    def warned(*args, **kwargs):
        result = infer(*args, **kwargs)
        return replace(result, diagnostics=diagnostics)

    return warned


def start(*arguments, **options):
    """The command in a process of its own."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen([sys.executable, "-m", "herded", *map(str, arguments)], **options)


def quick(*words):
    """What starts `herded` or `python` with these words, in a process that need not import much.

    It can be interrupted and terminated. Whoever is to be killed is `Forked`; who has no room is
    started by `start`.
    """
    if not hasattr(os, "fork"):
        return [sys.executable, *(["-m", "herded"] if words[0] == "herded" else []), *words[1:]]
    return [sys.executable, "-IS", preloaded_commands.__file__, _door(), *map(str, words)]


@functools.cache
def _door():
    """Where `preloaded_commands` waits for questions, until this process ends."""
    path = os.path.join(tempfile.mkdtemp(), "door")  # pytest's folders are too long for a socket
    server = subprocess.Popen(
        [sys.executable, preloaded_commands.__file__, "serve", path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    )
    _KEPT.append(server)  # and its stdin open
    assert server.stdout.readline() == b"ready\n"
    return path


_KEPT = []


def start_quickly(*arguments, **options):
    """The command in a process of its own, as `quick` starts it."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen(quick("herded", *arguments), **options)


class Forked:
    """The command in a process of its own, forked as `quick` does; this one may be killed.

    Of what `subprocess.Popen` has there is as much as is needed.
    """

    def __init__(self, *arguments):
        self.returncode, self._sent = None, 0
        self._line = socket.socket(socket.AF_UNIX)
        self._err = tempfile.TemporaryFile("w+")  # noqa: SIM115 (`communicate` closes it)
        with open(os.devnull, "r+") as nothing:
            files = [nothing.fileno(), nothing.fileno(), self._err.fileno()]
            words = ["herded", *map(str, arguments)]
            self._pid, self._said = preloaded_commands.begin(self._line, _door(), words, files)

    def send_signal(self, number):
        self._sent = number
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.kill(self._pid, number)

    def wait(self, timeout=None):
        if not select.select([self._line], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("herded", timeout)

    def communicate(self, timeout=None):
        """Nothing, and what it said on stderr, when it has ended."""
        self.wait(timeout)
        self.returncode = int(self._said.readline() or -self._sent)
        self._line.close()
        with self._err:
            self._err.seek(0)
            return None, self._err.read()


def environment(**more):
    """This one's, for a process that must find the same herded."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more}
