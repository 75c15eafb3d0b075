"""Checkpoints: a resumed run has the bits of an uninterrupted one, and nothing else is read."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
import zipfile

import numpy as np
import pytest

import herded as hd
import herded.sampling
from herded.errors import CheckpointError, MethodError

RNG = np.random.default_rng(11)
CHAIN = hd.chain(RNG.normal(size=(7, 3)), RNG.normal(size=(3, 3)), lengths=[3, 4]).given({1: 2})
GRID = hd.ising_grid(RNG.normal(size=(4, 5)), 0.4).given({(1, 1): 1})
REFERENCE = np.full((7, 3), 1 / 3)


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
    save, count = herded.sampling.save, []

    def dying_save(*args):
        save(*args)
        count.append(1)
        if len(count) == blocks:
            raise StopError

    monkeypatch.setattr(herded.sampling, "BLOCK", 7 * rows)
    monkeypatch.setattr(herded.sampling, "save", dying_save)


@pytest.mark.parametrize("annealed", [hd.AnnealedGibbs, hd.AnnealedHerdedGibbs])
@pytest.mark.parametrize("schedule", ["linear", by_sweep])
@pytest.mark.parametrize("blocks", [1, 4])
def test_annealed_runs_keep_their_schedule(annealed, schedule, blocks, tmp_path, monkeypatch):
    method, path = annealed(schedule), tmp_path / "run.ckpt"
    options = {"sweeps": 100, "burn_in": 3, "keep": [hd.Samples(), hd.BestState()], "chains": 2}
    whole = hd.infer(CHAIN, method, **options)
    with monkeypatch.context() as patch:
        stopped_after(patch, blocks, rows=10)
        with pytest.raises(StopError):
            hd.infer(CHAIN, method, checkpoint=path, checkpoint_every=0, **options)
    assert same(hd.infer(CHAIN, method, checkpoint=path, **options), whole)
    with pytest.raises(CheckpointError, match="schedule of 203"):
        hd.infer(CHAIN, method, checkpoint=path, **{**options, "sweeps": 200})


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
    import sys, numpy as np, herded as hd, herded.sampling
    herded.sampling.BLOCK = 400 * 100  # a hundred sweeps
    field = np.random.default_rng(0).normal(size=(20, 20))
    model = hd.ising_grid(field, 0.4)
    method = hd.HerdedGibbs(slack=1.0)
    path, sweeps = sys.argv[1], int(sys.argv[2])
    keep = [hd.Marginals(rao_blackwell=True), hd.Samples(every=100), hd.BestState()]
    hd.infer(model, method, sweeps=1)
    print("ready", flush=True)
    result = hd.infer(model, method, sweeps=sweeps, keep=keep, checkpoint=path,
                      checkpoint_every=0.02)
    print(result.sweeps, result.provenance["interrupted"], result.samples.shape[1])
    print(float(result.marginals.sum()))
"""


def start(path, sweeps):
    """The program in a process of its own, running."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), path, str(sweeps)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    deadline = time.monotonic() + 60
    while not os.path.exists(path) and time.monotonic() < deadline:
        time.sleep(0.01)
    return process


def continued(path, sweeps):
    """What the program would have kept, in this process, from its checkpoint or without one."""
    model = hd.ising_grid(np.random.default_rng(0).normal(size=(20, 20)), 0.4)
    keep = [hd.Marginals(rao_blackwell=True), hd.Samples(every=100), hd.BestState()]
    return hd.infer(model, hd.HerdedGibbs(slack=1.0), sweeps=sweeps, keep=keep, checkpoint=path)


def done_in(path):
    with np.load(path) as file:
        return int(file["0/state/numbers"][0])


def test_ctrl_c_returns_what_there_is(tmp_path):
    path = str(tmp_path / "run.ckpt")
    process = start(path, 10**9)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and err == ""
    sweeps, interrupted, draws = out.split("\n")[0].split()
    assert interrupted == "True" and 0 < int(sweeps) < 10**9 and int(draws) == int(sweeps) // 100
    np.testing.assert_allclose(float(out.split("\n")[1]), 400.0)
    assert done_in(path) == int(sweeps)  # the last word is in the checkpoint too
    more = int(sweeps) + 250
    assert same(continued(path, more), continued(None, more))


def test_sigkill_and_resume(tmp_path):
    path = str(tmp_path / "run.ckpt")
    process = start(path, 10**9)
    time.sleep(0.2)
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    done = done_in(path)
    assert done > 0 and done % 100 == 0
    assert same(continued(path, done + 250), continued(None, done + 250))


# -- what is refused --------------------------------------------------------------------------


def kept_run(path, model=CHAIN, method=None, **options):
    options = {"sweeps": 20, "keep": [hd.Samples(every=2)], **options}
    return hd.infer(model, method or hd.Gibbs(), checkpoint=path, **options)


@pytest.mark.parametrize(
    ("match", "options"),
    [
        ("model", {"model": CHAIN.given({0: 0})}),
        ("model", {"model": GRID}),
        (r"method .Gibbs\(seed=1", {"method": hd.Gibbs(seed=1)}),
        ("method", {"method": hd.HerdedGibbs()}),
        ("plan", {"plan": "factor"}),
        ("burn_in", {"burn_in": 1}),
        ("chains", {"chains": 2}),
        ("keep", {"keep": [hd.Samples(every=3)]}),
        ("keep", {"keep": [hd.Samples(every=2), hd.Marginals()]}),
        ("keep", {"keep": [hd.PairMarginals()]}),
    ],
)
def test_a_checkpoint_of_another_run(match, options, tmp_path):
    path = tmp_path / "run.ckpt"
    kept_run(path)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=f"expected a checkpoint with {match}"):
        kept_run(path, **options)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["run.ckpt"]


def test_other_pairs_other_run(tmp_path):
    """Counts of other sizes must never reach the kernels."""
    path = tmp_path / "run.ckpt"
    kept_run(path, keep=[hd.PairMarginals(edges=[(0, 1)])])
    with pytest.raises(CheckpointError, match="keep"):
        kept_run(path, keep=[hd.PairMarginals(edges=[(0, 1), (2, 3), (4, 5)])])
    with pytest.raises(CheckpointError, match="keep"):
        kept_run(path, keep=[hd.PairMarginals()])


def test_long_permutations_are_told_apart(tmp_path):
    model = hd.FactorGraph([2] * 1500, [])
    order = np.arange(1500)
    kept_run(tmp_path / "run.ckpt", model, hd.Gibbs(scan=order))
    swapped = order.copy()
    swapped[[700, 701]] = swapped[[701, 700]]
    with pytest.raises(CheckpointError, match="method"):
        kept_run(tmp_path / "run.ckpt", model, hd.Gibbs(scan=swapped))


def test_error_points_that_were_passed_unseen(tmp_path):
    path = tmp_path / "run.ckpt"
    kept_run(path, keep=[hd.ErrorCurve(REFERENCE, at=[5, 20])])
    with pytest.raises(CheckpointError, match="after sweep 7"):
        kept_run(path, keep=[hd.ErrorCurve(REFERENCE, at=[5, 7, 20])])
    with pytest.raises(CheckpointError, match="keep"):
        kept_run(path, keep=[hd.ErrorCurve(REFERENCE + 1, at=[5, 20])])


def test_fewer_sweeps_than_done(tmp_path):
    kept_run(tmp_path / "run.ckpt")
    with pytest.raises(MethodError, match=r"at least 20.*already done, got 10"):
        kept_run(tmp_path / "run.ckpt", sweeps=10)


class Bomb:
    """A pickle that leaves a trace where it is opened."""

    def __init__(self, trace):
        self.trace = str(trace)

    def __reduce__(self):
        return (open, (self.trace, "w"))


def spoil(path, tmp_path, how):
    """Put something else where the checkpoint is."""
    whole = path.read_bytes()
    bomb = Bomb(tmp_path / "trace")
    if how == "truncated":
        path.write_bytes(whole[: len(whole) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "garbage":
        path.write_bytes(np.random.default_rng(0).bytes(1000))
    elif how == "a flipped byte":
        at = whole.index(b"numbers.npy") + 165
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
    elif how == "pickle":
        path.write_bytes(pickle.dumps(bomb))
    elif how == "pickle inside":
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        arrays["0/state/x"] = np.array([bomb], dtype=object)
        with open(path, "wb") as file:
            np.savez(file, **arrays)
    elif how == "an array":
        with open(path, "wb") as file:
            np.save(file, np.zeros(3))
    elif how == "another archive":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("readme.txt", "hello")
    elif how == "no header":
        with open(path, "wb") as file:
            np.savez(file, x=np.zeros(3))
    elif how == "missing arrays":
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files if "samples" not in name}
        with open(path, "wb") as file:
            np.savez(file, **arrays)
    elif how == "a directory":
        path.unlink()
        path.mkdir()


@pytest.mark.parametrize(
    "how",
    [
        "truncated",
        "empty",
        "garbage",
        "a flipped byte",
        "pickle",
        "pickle inside",
        "an array",
        "another archive",
        "no header",
        "missing arrays",
        "a directory",
    ],
)
def test_spoilt_checkpoints(how, tmp_path):
    path = tmp_path / "run.ckpt"
    kept_run(path)
    spoil(path, tmp_path, how)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(CheckpointError, match="move it away"):
        kept_run(path)
    assert os.listdir(tmp_path) == ["run.ckpt"]  # nothing was executed, nothing is left over
    assert (path.read_bytes() if path.is_file() else None) == before


def test_another_format(tmp_path, monkeypatch):
    kept_run(tmp_path / "run.ckpt")
    monkeypatch.setattr("herded.checkpoint.FORMAT", 99)
    with pytest.raises(CheckpointError, match="format 99"):
        kept_run(tmp_path / "run.ckpt")


@pytest.mark.parametrize("path", [5, 2.5, ["run.ckpt"], True])
def test_what_is_no_file(path):
    with pytest.raises(CheckpointError, match="name of a file"):
        kept_run(path)


def test_unwritable_places_are_found_before_the_work(tmp_path):
    with pytest.raises(CheckpointError, match="expected to write"):
        kept_run(tmp_path / "nowhere" / "run.ckpt", sweeps=10**12)
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="expected to write"):
        kept_run(tmp_path / "file" / "run.ckpt", sweeps=10**12)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_directory(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(CheckpointError, match="Permission denied"):
        kept_run(tmp_path / "run.ckpt", sweeps=10**12)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "run.ckpt"
    kept_run(path)
    before = path.read_bytes()

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(UserWarning, match="No space left"):
        kept_run(path, sweeps=40)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["run.ckpt"]


def test_a_full_disk_costs_the_checkpoint_but_not_the_run(tmp_path, monkeypatch):
    def full(*args):
        raise hd.CheckpointError("expected to write run.ckpt, but: No space left on device")

    monkeypatch.setattr(herded.sampling, "save", full)
    with pytest.warns(UserWarning, match="No space left .* the run goes on"):
        result = hd.infer(CHAIN, hd.Gibbs(), sweeps=50, checkpoint=tmp_path / "run.ckpt")
    assert (result.marginals == hd.infer(CHAIN, hd.Gibbs(), sweeps=50).marginals).all()
