"""Checkpoints of other runs, spoilt files and full disks: said, and nothing is lost or executed."""

import os
import pickle
import zipfile

import numpy as np
import pytest

import herded as hd
import herded.run.execute
from herded.errors import CheckpointError, MethodError
from tests.support.fixtures import CHAIN, GRID, REFERENCE


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
        ("layout", {"layout": "factor"}),
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
    monkeypatch.setattr("herded.run.checkpoints.checkpoint_file.CHECKPOINT_FORMAT", 99)
    with pytest.raises(CheckpointError, match="format 99"):
        kept_run(tmp_path / "run.ckpt")


@pytest.mark.parametrize("path", [5, 2.5, ["run.ckpt"], True])
def test_what_is_no_file(path):
    with pytest.raises(CheckpointError, match="name of a file"):
        kept_run(path)


def test_unwritable_places_are_found_before_the_work(tmp_path):
    with pytest.raises(CheckpointError, match="could not write"):
        kept_run(tmp_path / "nowhere" / "run.ckpt", sweeps=10**12)
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="could not write"):
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
        raise hd.CheckpointError("could not write run.ckpt: No space left on device")

    monkeypatch.setattr(herded.run.execute, "save_sampler_run", full)
    with pytest.warns(UserWarning, match="No space left .* the run continues"):
        result = hd.infer(CHAIN, hd.Gibbs(), sweeps=50, checkpoint=tmp_path / "run.ckpt")
    assert (result.marginals == hd.infer(CHAIN, hd.Gibbs(), sweeps=50).marginals).all()
