"""python -m tests.run.checkpoints.kill_runs --count 50: kill `herded infer` at random moments.

Every process is started like the one before, gets SIGKILL, SIGTERM or SIGINT at some moment of
its life, and is started again on the same checkpoint until one of them comes to its end. Whatever
the moment, an output file is absent or whole; in the end its bits, and those of the checkpoint,
are those of a run that nobody disturbed.
"""

import argparse
import contextlib
import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

import herded as hd
from herded.cli.main import main as herded
from herded.run.checkpoints import checkpoint_file
from tests.support.commands import environment, small_grid, start

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
TASKS = {
    "herded": ("--method", "herded"),
    "pooled": ("--weights", "pooled"),
    "gibbs": ("--method", "gibbs"),
    "map": ("--task", "map", "--method", "herded"),
}
# Before the command has begun a signal does what it does to any Python program.
ENDINGS = {
    signal.SIGKILL: (-signal.SIGKILL,),
    signal.SIGTERM: (143, -signal.SIGTERM),
    signal.SIGINT: (130, -signal.SIGINT),
}


@dataclass
class Count:
    """What has happened so far."""

    kills: int = 0
    runs: int = 0
    endings: Counter = field(default_factory=Counter)
    found: Counter = field(default_factory=Counter)  # what a killed process had left


@dataclass(frozen=True)
class Whole:
    """What a run leaves that nobody disturbs, and how long it takes."""

    out: bytes
    arrays: dict
    seconds: float


def started(*words):
    """The command in a new process, which has everything to import."""
    return start(*words, stdout=subprocess.DEVNULL, env=environment())


def kill_runs(
    count, seed=0, sweeps=100_000, tasks=tuple(TASKS), say=lambda text: None, begin=started
):
    """Kill `count` processes; raises AssertionError at the first file that is not right.

    `begin` gives a process for the words of a command.
    """
    rng, done, wholes = random.Random(seed), Count(), {}
    with tempfile.TemporaryDirectory(prefix="herded-kills-") as name:
        folder = Path(name)
        hd.io.write_uai(small_grid(12), folder / "grid.uai")
        while done.kills < count:
            task = tasks[done.runs % len(tasks)]
            if task not in wholes:
                wholes[task] = _undisturbed(folder, task, sweeps, begin)
            place = folder / f"run{done.runs}"
            place.mkdir()
            again = partial(begin, *_command(folder, place, task, sweeps))
            _kill_until_it_ends(place, task, again, wholes[task], rng, done, count)
            done.runs += 1
            say(f"{done.kills} kills, {done.runs} runs to the end: {dict(done.found)}")
    return done


def _command(folder, place, task, sweeps):
    options = ("--sweeps", sweeps, "--checkpoint-every", "0.02", "--threads", 1)
    files = ("--checkpoint", place / "run.ckpt", "--out", place / "out")
    return ("infer", folder / "grid.uai", *TASKS[task], *options, *files)


def _undisturbed(folder, task, sweeps, begin):
    place = folder / f"whole-{task}"
    place.mkdir()
    with contextlib.redirect_stdout(io.StringIO()):  # here, so that no other has to compile
        assert herded([str(word) for word in _command(folder, place, task, 10)]) == 0
    (place / "run.ckpt").unlink()
    child = begin(*_command(folder, place, task, sweeps))
    began = time.perf_counter()
    _, err = child.communicate(timeout=600)
    assert child.returncode == 0 and err == "", err
    seconds = time.perf_counter() - began
    return Whole((place / "out").read_bytes(), _arrays(place), seconds)


def _kill_until_it_ends(place, task, begin, whole, rng, done, count):
    while True:
        child = begin()
        number = rng.choice(SIGNALS) if done.kills < count else None
        if number is not None:
            try:
                child.wait(rng.uniform(0.0, whole.seconds))
            except subprocess.TimeoutExpired:
                child.send_signal(number)
        _, err = child.communicate(timeout=600)
        if child.returncode == 0:
            _check_end(place, whole)
            return
        if number == signal.SIGINT and "import the site module" in err:
            continue  # Python itself had not begun
        assert number is not None and child.returncode in ENDINGS[number], (child.returncode, err)
        if child.returncode > 0:
            assert err.startswith("herded: ") and err.count("\n") == 1, err
        done.kills += 1
        done.endings[child.returncode] += 1
        done.found[_check_left(place, task)] += 1


def _check_left(place, task):
    """Everything that a killed process has left is whole; what that is."""
    left = []
    for path in place.iterdir():
        if path.name == "out":
            data = path.read_bytes()
            assert data.endswith(b"\n")
            if task == "map":
                assert hd.io.read_mpe(path).shape == (144,)
            else:
                np.testing.assert_allclose(hd.io.read_mar(path).sum(axis=1), 1.0, atol=1e-6)
            left.append("out")
        elif path.name == "run.ckpt":
            header, arrays = checkpoint_file.read_checkpoint(path)
            assert header["done"] >= 0 and arrays
            left.append("checkpoint")
        else:  # SIGKILL leaves no time to tidy up
            assert path.name.startswith(".herded-") and path.name.endswith(".part"), path
    return " and ".join(sorted(left)) or "nothing"


def _check_end(place, whole):
    assert (place / "out").read_bytes() == whole.out
    arrays = _arrays(place)
    assert arrays.keys() == whole.arrays.keys()
    for name, array in arrays.items():
        assert array.tobytes() == whole.arrays[name].tobytes(), name


def _arrays(place):
    return checkpoint_file.read_checkpoint(place / "run.ckpt")[1]


def main():
    options = argparse.ArgumentParser(
        prog="python -m tests.run.checkpoints.kill_runs", description=__doc__
    )
    options.add_argument("--count", type=int, default=50, help="processes to kill")
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    if "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="herded-kills-")
    done = kill_runs(chosen.count, chosen.seed, say=print)
    codes = ", ".join(f"{n} x {code}" for code, n in sorted(done.endings.items()))
    print(f"{done.kills} processes killed (exit codes {codes}), {done.runs} runs to the same bits")


if __name__ == "__main__":
    sys.exit(main())
