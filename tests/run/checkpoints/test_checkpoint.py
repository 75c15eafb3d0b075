"""Checkpoints: a resumed run has the bits of an uninterrupted one, also of one that was killed."""

import os
import pickle
import signal
import subprocess
import textwrap

import numpy as np
import pytest

import herded as hd
import herded.run.execute
import herded.run.sampler_run
from herded.errors import CheckpointError
from tests.support.commands import quick
from tests.support.fixtures import CHAIN, GRID, REFERENCE
from tests.support.timeouts import HANGS, wait_until


def by_sweep(sweep, total):
    return 1.0 / (1 + sweep)


SAMPLERS = [
    hd.HerdedGibbs(),
    hd.HerdedGibbs(weights="shared"),
    hd.HerdedGibbs(weights="pooled"),
    hd.HerdedGibbs(weights="lazy", phases="random"),
    hd.HerdedGibbs(weights="full"),
    hd.HerdedGibbs(slack=1.0, seed=5),
    hd.HerdedGibbs(scan="random"),
    hd.HerdedGibbs(scan=np.random.default_rng(0).permutation(7)),
    hd.Gibbs(),
    hd.Gibbs(scan="jacobi"),
    hd.HerdedGibbs(moves=hd.Blocks(entries=6, count=3)),
    hd.HerdedGibbs(herd=5, moves=hd.Blocks(blocks=[[0, 2], [2, 3], [4, 5, 6]])),
]
KEEPS = [
    hd.Marginals(),
    hd.Marginals(rao_blackwell=True),
    hd.Samples(every=7),
    hd.PairMarginals(),
    hd.Joint(),
    hd.BestState(),
    hd.ErrorCurve(REFERENCE),
    hd.ErrorCurve(REFERENCE, at=[3, 90, 200], rao_blackwell=True),
]


def bits(result):
    """Everything a result has, as bytes."""
    seen = {"state": [s.arrays() for s in result.state], "sweeps": result.sweeps}
    for name, value in result.kept.items():
        seen[name] = vars(value) if hasattr(value, "__dict__") else value
    return pickle.dumps(plain(seen))


def plain(value):
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items() if k != "numbers"}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value.tolist() if hasattr(value, "tolist") else value


def same(a, b):
    return bits(a) == bits(b)


# -- resuming ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", SAMPLERS, ids=lambda m: repr(m)[:70])
def test_resuming_every_sampler(method, tmp_path):
    keep = [hd.Marginals(rao_blackwell=True), hd.Samples(every=7), hd.BestState()]
    options = {"keep": keep, "burn_in": 20, "chains": 2}
    whole = hd.infer(CHAIN, method, sweeps=200, **options)
    path = tmp_path / "run.ckpt"
    for sweeps in (3, 100, 200):
        part = hd.infer(CHAIN, method, sweeps=sweeps, checkpoint=path, **options)
        assert part.sweeps == sweeps
    assert same(part, whole)
    assert same(hd.infer(CHAIN, method, sweeps=200, checkpoint=path, **options), whole)
    assert os.listdir(tmp_path) == ["run.ckpt"]


@pytest.mark.parametrize("keep", KEEPS, ids=lambda k: repr(k)[:50])
def test_resuming_every_record(keep, tmp_path):
    path = str(tmp_path / "run.ckpt")
    options = {"keep": [keep], "burn_in": 5, "chains": 2}
    whole = hd.infer(CHAIN, hd.Gibbs(), sweeps=200, **options)
    for sweeps in (2, 100, 200):
        part = hd.infer(CHAIN, hd.Gibbs(), sweeps=sweeps, checkpoint=path, **options)
    assert same(part, whole)


@pytest.mark.parametrize("method", [hd.HerdedGibbs(), hd.HerdedGibbs(weights="shared"), hd.Gibbs()])
def test_resuming_on_a_lattice(method, tmp_path):
    path = tmp_path / "run.ckpt"
    keep = [hd.Marginals(rao_blackwell=True), hd.Samples(), hd.BestState(), hd.PairMarginals()]
    whole = hd.infer(GRID, method, sweeps=60, keep=keep, chains=2)
    for sweeps in (25, 60):
        part = hd.infer(GRID, method, sweeps=sweeps, keep=keep, chains=2, checkpoint=path)
    assert same(part, whole)


class StopError(Exception):
    """What a machine does to a run."""


def stopped_after(monkeypatch, blocks, rows):
    """Let runs save after every block of `rows` sweeps and die after some blocks."""
    save, count = herded.run.execute.save_sampler_run, []

    def dying_save(*args):
        save(*args)
        count.append(1)
        if len(count) == blocks:
            raise StopError

    monkeypatch.setattr(herded.run.sampler_run, "BLOCK_ENTRIES", 7 * rows)
    monkeypatch.setattr(herded.run.execute, "save_sampler_run", dying_save)


@pytest.mark.parametrize("sampler", [hd.Gibbs, hd.HerdedGibbs])
@pytest.mark.parametrize("schedule", ["linear", by_sweep])
@pytest.mark.parametrize("blocks", [1, 4])
def test_annealed_runs_keep_their_schedule(sampler, schedule, blocks, tmp_path, monkeypatch):
    method, path = sampler(schedule=schedule), tmp_path / "run.ckpt"
    options = {"sweeps": 100, "burn_in": 3, "keep": [hd.Samples(), hd.BestState()], "chains": 2}
    whole = hd.infer(CHAIN, method, **options)
    with monkeypatch.context() as patch:
        stopped_after(patch, blocks, rows=10)
        with pytest.raises(StopError):
            hd.infer(CHAIN, method, checkpoint=path, checkpoint_every=0, **options)
    assert same(hd.infer(CHAIN, method, checkpoint=path, **options), whole)
    with pytest.raises(CheckpointError, match="schedule of 203"):
        hd.infer(CHAIN, method, checkpoint=path, **{**options, "sweeps": 200})


class Constant:
    """A schedule that its owner may change."""

    def __init__(self, temperature):
        self.temperature = temperature

    def __call__(self, sweep, total):
        return self.temperature

    def __repr__(self):
        return f"Constant({self.temperature})"


def test_a_schedule_that_has_changed_is_another(tmp_path):
    """Though the method, whose text is remembered else, is the same object."""
    schedule, file = Constant(2.0), tmp_path / "run.npz"
    method = hd.Gibbs(schedule=schedule)
    hd.infer(CHAIN, method, sweeps=5, checkpoint=file)
    schedule.temperature = 3.0
    with pytest.raises(CheckpointError, match=r"schedule=Constant\(3.0\)"):
        hd.infer(CHAIN, method, sweeps=5, checkpoint=file)


def test_dying_often(tmp_path, monkeypatch):
    method, path = hd.HerdedGibbs(weights="pooled", slack=0.5), tmp_path / "run.ckpt"
    options = {"sweeps": 300, "keep": [hd.Marginals(), hd.ErrorCurve(REFERENCE)]}
    whole = hd.infer(CHAIN, method, **options)
    for rows in (3, 50, 7):
        with monkeypatch.context() as patch:
            stopped_after(patch, 2, rows)
            with pytest.raises(StopError):
                hd.infer(CHAIN, method, checkpoint=path, checkpoint_every=0, **options)
    assert same(hd.infer(CHAIN, method, checkpoint=path, **options), whole)


# -- processes --------------------------------------------------------------------------------

PROGRAM = """
    import os, sys, numpy as np, herded as hd, herded.run.sampler_run
    herded.run.sampler_run.BLOCK_ENTRIES = 400 * 100  # a hundred sweeps
    field = np.random.default_rng(0).normal(size=(20, 20))
    model = hd.ising_grid(field, 0.4)
    method = hd.HerdedGibbs(slack=1.0)
    path, sweeps = sys.argv[1], int(sys.argv[2])
    keep = [hd.Marginals(rao_blackwell=True), hd.Samples(every=100), hd.BestState()]
    hd.infer(model, method, sweeps=1)
    print("ready", os.getpid(), flush=True)
    try:
        result = hd.infer(model, method, sweeps=sweeps, keep=keep, checkpoint=path,
                          checkpoint_every=0.02)
    except KeyboardInterrupt as error:
        result = error.result
    print(result.sweeps, result.provenance["interrupted"], result.samples.shape[1])
    print(float(result.marginals.sum()))
"""


def start(path, sweeps):
    """The program, running, and the process that it is; the first ends when that does."""
    program = subprocess.Popen(
        quick("python", "-c", textwrap.dedent(PROGRAM), path, sweeps),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    word, _, number = program.stdout.readline().partition(" ")
    assert word == "ready", program.stderr.read()
    wait_until(lambda: os.path.exists(path), program)
    return program, int(number)


def continued(path, sweeps):
    """What the program would have kept, in this process, from its checkpoint or without one."""
    model = hd.ising_grid(np.random.default_rng(0).normal(size=(20, 20)), 0.4)
    keep = [hd.Marginals(rao_blackwell=True), hd.Samples(every=100), hd.BestState()]
    return hd.infer(model, hd.HerdedGibbs(slack=1.0), sweeps=sweeps, keep=keep, checkpoint=path)


def done_in(path):
    with np.load(path) as file:
        return int(file["0/state/numbers"][0])


def test_ctrl_c_raises_with_what_there_is(tmp_path):
    path = str(tmp_path / "run.ckpt")
    program, number = start(path, 10**9)
    os.kill(number, signal.SIGINT)
    out, err = program.communicate(timeout=HANGS)
    assert program.returncode == 0 and err == ""
    sweeps, interrupted, draws = out.split("\n")[0].split()
    assert interrupted == "True" and 0 < int(sweeps) < 10**9 and int(draws) == int(sweeps) // 100
    np.testing.assert_allclose(float(out.split("\n")[1]), 400.0)
    assert done_in(path) == int(sweeps)  # the last word is in the checkpoint too
    more = int(sweeps) + 250
    assert same(continued(path, more), continued(None, more))


def test_sigkill_and_resume(tmp_path):
    path = str(tmp_path / "run.ckpt")
    program, number = start(path, 10**9)
    os.kill(number, signal.SIGKILL)
    out, _ = program.communicate(timeout=HANGS)
    assert program.returncode != 0 and out == ""  # it did not come to its end
    done = done_in(path)
    assert done > 0 and done % 100 == 0
    assert same(continued(path, done + 250), continued(None, done + 250))
