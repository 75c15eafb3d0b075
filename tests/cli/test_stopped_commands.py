"""What a command leaves behind when it is stopped, when the disk is full, when nobody listens."""

import json
import os
import re
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest

import herded as hd
import herded.run.sampler_run
from herded.cli.main import UNFINISHED_TEXT
from herded.layouts.proposal import Proposal
from tests.support.commands import environment, found, quick, run, small_grid, start, start_quickly
from tests.support.terminal import terminal
from tests.support.timeouts import HANGS

GRID = small_grid()
SAMPLE = ("infer", "grid.uai", "--method", "gibbs", "--sweeps", 600, "--burn-in", 50)
KEPT = ("--checkpoint", "run.ckpt", "--out", "out.MAR")


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hd.io.write_uai(GRID, "grid.uai")


def signalled(monkeypatch, number, after):
    """Let this process get a signal in block `after` of a run, of a hundred sweeps per block."""
    monkeypatch.setattr(herded.run.sampler_run, "BLOCK_ENTRIES", 1600)
    advance, count = hd.Gibbs.advance, []

    def advancing(*args, **kwargs):
        count.append(1)
        if len(count) == after:
            os.kill(os.getpid(), number)
        advance(*args, **kwargs)

    monkeypatch.setattr(hd.Gibbs, "advance", advancing)


# -- signals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_stopped_run_says_what_it_leaves_and_goes_on(number, code, word, capsys, monkeypatch):
    whole = found(capsys, *SAMPLE, "--out", "whole.MAR")
    with monkeypatch.context() as patch:
        signalled(patch, number, 10)
        left, out, err = run(capsys, *SAMPLE, *KEPT)
    assert left == code
    assert err == (
        f"herded: {word} after 200 of 600 sweeps; out.MAR holds the results of these; run the same "
        "command again to resume from run.ckpt\n"
    )
    assert "time       200 sweeps in " in out
    part = hd.infer(
        hd.read_model("grid.uai"),
        hd.Gibbs(),
        sweeps=200,
        burn_in=50,
        chains=4,
        keep=[hd.Marginals(rao_blackwell=True)],
    )
    assert (hd.io.read_mar("out.MAR") == part.marginals).all()
    rest = found(capsys, *SAMPLE, *KEPT)
    assert rest["marginals"] == whole["marginals"] and rest["sweeps"] == 600
    with open("out.MAR", "rb") as one, open("whole.MAR", "rb") as other:
        assert one.read() == other.read()


def test_stopped_in_the_burn_in_nothing_is_written(capsys, monkeypatch):
    signalled(monkeypatch, signal.SIGTERM, 1)
    left, out, err = run(capsys, *SAMPLE[:-1], 10**6, *KEPT)
    assert left == 143 and "variable" not in out.split("memory")[1]
    assert err == (
        "herded: terminated before there was a result; run the same command again to resume from "
        "run.ckpt\n"
    )
    assert sorted(os.listdir()) == ["grid.uai", "run.ckpt"]


def test_a_stopped_run_in_json(capsys, monkeypatch):
    signalled(monkeypatch, signal.SIGINT, 10)
    left, out, err = run(capsys, *SAMPLE, "--json")
    answer = json.loads(out)
    assert left == 130 and answer["interrupted"] and answer["sweeps"] == 200
    assert err == "herded: interrupted after 200 of 600 sweeps\n"


def test_stopped_while_it_is_compiled(capsys, monkeypatch):
    """A compiler may lose an exception: the signal waits, and no sweep is done."""
    build = Proposal.build

    def building(proposal):
        os.kill(os.getpid(), signal.SIGTERM)
        return build(proposal)

    monkeypatch.setattr(Proposal, "build", building)
    left, _, err = run(capsys, *SAMPLE)
    assert left == 143 and err == "herded: terminated before there was a result\n"


def test_the_exit_code_of_a_signal_that_comes_while_it_compiles():
    """Through `exec`, as compilers use it, a KeyboardInterrupt would end Python with SIGINT."""
    program = (
        "import os, sys\n"
        "from herded.cli import run_setup as setup\n"
        "from herded.cli.main import main\n"
        "compiled = 'import os, time; os.kill(os.getpid(), 15); time.sleep(0.01)'\n"
        "setup.estimate_run_memory = lambda *args, **options: exec(compiled) or 0.0\n"
        f"sys.exit(main({[str(word) for word in SAMPLE]!r}))"
    )
    with open("program.py", "w") as file:
        file.write(program)
    command = [sys.executable, "-m", "program"]  # `python file` would not mind
    left = subprocess.run(command, env=environment(), capture_output=True, check=False)
    assert left.returncode == 143, left.stderr


def test_stopped_while_it_reads(capsys, monkeypatch):
    monkeypatch.setattr(
        "herded.cli.model_input.read_model", lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)
    )
    assert run(capsys, *SAMPLE) == (130, "", f"herded: interrupted{UNFINISHED_TEXT}\n")


def test_a_stopped_search_for_the_best_state(capsys, monkeypatch):
    advance, count = hd.HerdedGibbs.advance, []

    def advancing(*args, **kwargs):
        count.append(1)
        if len(count) == 40:
            os.kill(os.getpid(), signal.SIGINT)
        advance(*args, **kwargs)

    monkeypatch.setattr(hd.HerdedGibbs, "advance", advancing)
    options = ("--task", "map", "--method", "herded", "--seconds", HANGS, "--out", "out.MPE")
    left, _, err = run(capsys, "infer", "grid.uai", *options)
    assert left == 130 and "; out.MPE holds the results of these\n" in err
    assert GRID.log_score(hd.io.read_mpe("out.MPE")) > GRID.log_score(np.zeros(16, int))


def test_one_signal_stops_exact_inference_at_once(capsys, monkeypatch):
    def solving(*args):
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("went on")

    monkeypatch.setattr("herded.methods.exact.elimination.SumElimination.forward", solving)
    left, _, err = run(capsys, "infer", "grid.uai", "--out", "out.MAR")
    assert (
        left == 143
        and err == f"herded: terminated{UNFINISHED_TEXT}\n"
        and os.listdir() == ["grid.uai"]
    )


# -- full disks and closed pipes ---------------------------------------------------------------


needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")


@needs_full
def test_a_full_disk_costs_the_file_but_not_the_answer(capsys):
    left, out, err = run(capsys, "infer", "grid.uai", "--out", "/dev/full")
    assert left == 3 and "variable" in out
    assert err == "herded: could not write /dev/full: No space left on device\n"


@needs_full
def test_standard_output_on_a_full_disk():
    with open("/dev/full", "w") as full:
        child = start_quickly("infer", "grid.uai", "--json", "--out", "out.MAR", stdout=full)
        _, err = child.communicate(timeout=HANGS)
    assert child.returncode == 3
    assert err == "herded: could not write the results: No space left on device\n"
    assert hd.io.read_mar("out.MAR").shape == (16, 2)  # the file is there all the same


def test_nobody_reads_the_output():
    child = start_quickly("info", "grid.uai")
    assert child.stdout is not None and child.stderr is not None
    child.stdout.close()
    err = child.stderr.read()
    assert child.wait(timeout=HANGS) == 141 and err == ""


def limited(n_bytes):
    """As if the disk were full after so many bytes of a file.

    Python would not notice that it keeps half of a module's bytecode: it must be told to keep none.
    """
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


def test_no_room_for_a_checkpoint_costs_no_run(capsys):
    run(capsys, *SAMPLE)  # compiles, as there is no room for kernels either
    child = start(
        *(*SAMPLE, "--json", "--checkpoint", "run.ckpt", "--checkpoint-every", "0"),
        preexec_fn=limited(1000),
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
    )
    out, err = child.communicate(timeout=HANGS)
    assert child.returncode == 3, err
    answer = json.loads(out)
    assert answer["sweeps"] == 600 and "continues without this checkpoint" in answer["warnings"][0]
    assert "herded: warning: could not write run.ckpt: File too large" in err
    assert "herded: could not write the checkpoint run.ckpt: the results are complete" in err
    assert "Traceback" not in err and os.listdir() == ["grid.uai"]


def test_no_room_for_the_answer(capsys):
    run(capsys, "infer", "grid.uai")
    child = start(
        *("infer", "grid.uai", "--out", "out.MAR"),
        preexec_fn=limited(100),
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
    )
    out, err = child.communicate(timeout=HANGS)
    assert child.returncode == 3 and "variable" in out
    assert err == "herded: could not write out.MAR: File too large\n"
    assert os.listdir() == ["grid.uai"]


def test_an_unwritable_folder(capsys):
    os.mkdir("shut", 0o500)
    if os.access("shut", os.W_OK):
        pytest.skip("this user may write everywhere")
    left, out, err = run(capsys, "infer", "grid.uai", "--out", "shut/out.MAR")
    assert left == 3 and out == "" and "Permission denied" in err


# -- others in the same folder, and somebody at a terminal -------------------------------------


def test_two_processes_in_one_folder(capsys):
    whole = found(capsys, *SAMPLE)
    options = ("--json", "--out", "both.MAR", "--checkpoint-every", "0")
    children = [start_quickly(*SAMPLE, *options, "--checkpoint", f"{name}.ckpt") for name in "ab"]
    for child in children:
        out, err = child.communicate(timeout=HANGS)
        assert child.returncode == 0 and err == ""
        assert json.loads(out)["marginals"] == whole["marginals"]
    assert hd.io.read_mar("both.MAR").tolist() == whole["marginals"]
    assert sorted(os.listdir()) == ["a.ckpt", "b.ckpt", "both.MAR", "grid.uai"]


IMPATIENT = """
import sys, herded.run.progress, herded.run.sampler_run
from herded.cli import main
from herded.cli.commands import infer
herded.run.progress.BAR_DELAY_SECONDS, infer.WATCH_SECONDS = -1, 0  # every block is shown
herded.run.sampler_run.BLOCK_ENTRIES = 16 * 100  # a hundred sweeps
update = herded.run.progress.Progress.update
def shown(bar, *args):
    update(bar, *args)
    if bar.bar is not None:
        bar.bar.refresh()
herded.run.progress.Progress.update = shown
sys.exit(main.main(sys.argv[1:]))
"""


def impatient(stderr, *arguments):
    """A command that shows its bar at once, where anybody looks."""
    left = subprocess.run(
        quick("python", "-c", IMPATIENT, *arguments),
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=environment(TERM="xterm", COLUMNS="140"),
        timeout=HANGS,
        check=False,
    )
    assert left.returncode == 0, left.stderr
    return left


def seen_at_a_terminal(*arguments):
    """What is shown on stderr where that is a terminal."""
    with terminal() as (stderr, seen):
        impatient(stderr, *arguments)
    return b"".join(seen).decode()


def test_progress_at_a_terminal():
    hd.io.write_mar(hd.infer(GRID, hd.Exact()).marginals, "grid.MAR")
    method = ("infer", "grid.uai", "--method", "herded")
    shown = seen_at_a_terminal(*method, "--sweeps", 1000, "--reference", "grid.MAR")
    assert "HerdedGibbs" in shown and "sweeps" in shown
    assert re.search(r"standard error [\d.e-]+, error [\d.e-]+, Hellinger [\d.e-]+", shown)
    shown = seen_at_a_terminal(*method, "--seconds", 0.1, "--task", "map")
    assert "best log-score" in shown and "seconds" in shown


@pytest.mark.parametrize(
    ("command", "place", "more"), [("info", "/dev/stdin", ""), ("infer", "-", " --out model.csv")]
)
def test_a_model_from_standard_input(command, place, more):
    words = quick("herded", command, place, "--given", "0=1")
    with open("grid.uai") as file:
        done = subprocess.run(words, stdin=file, capture_output=True, text=True, check=True)
    assert f"model      {place}: 16 variables" in done.stdout
    assert done.stdout.endswith(f"next       herded infer {place} --given 0=1{more}\n")


def test_nothing_but_the_answer_in_a_pipe():
    left = impatient(subprocess.PIPE, *SAMPLE, "--json")
    assert left.stderr == b"" and json.loads(left.stdout)["sweeps"] == 600
