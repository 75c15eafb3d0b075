"""Checkpoints that say what cannot be: kernels believe their arrays, so lies must not pass."""

import contextlib
import tracemalloc

import numpy as np
import pytest

import herded as hd
from herded.run.checkpoints import checkpoint_file


def tampered(path, change):
    """The checkpoint with `change(header, arrays)` made."""
    header, arrays = checkpoint_file.read_checkpoint(path)
    change(header, arrays)
    checkpoint_file.write_checkpoint(path, header, arrays)


def set_to(name, value):
    def change(header, arrays):
        for key in arrays:
            if key.endswith(name):
                arrays[key] = np.full_like(arrays[key], value)

    return change


def cut(name):
    def change(header, arrays):
        for key in arrays:
            if key.endswith(name):
                arrays[key] = arrays[key][:-1]

    return change


def head(**values):
    return lambda header, arrays: header.update(values)


LIES = {
    "states": set_to("state/x", 200),
    "short states": cut("state/x"),
    "sums": set_to("state/tally", np.iinfo(np.int64).max),
    "negative sums": set_to("state/tally", -1),
    "numbers": cut("state/numbers"),
    "negative numbers": set_to("state/numbers", -1),
    "counts": set_to("Marginals/counts", 10**6),
    "short counts": cut("Marginals/counts"),
    "sweeps": set_to("Marginals/sweeps", 2**40),
    "best": set_to("BestState/state", 77),
    "samples": set_to("Samples/samples", 99),
    "seen": set_to("Samples/seen", 10**9),
    "done": head(done="a"),
    "nothing done": head(done=None),
    "less than nothing done": head(done=-5),
    "seconds": head(seconds="x"),
    "endless seconds": head(seconds=1e999),
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("weights", ["blanket", "pooled", "lazy"])
def test_a_checkpoint_that_lies_is_refused(tmp_path, lie, weights):
    """Kernels believe their arrays, so nothing that a file says may reach them unseen."""
    rng = np.random.default_rng(0)
    model = hd.pairwise_model(rng.normal(size=(9, 3)), [(i, i + 1) for i in range(8)], np.eye(3))
    path = tmp_path / "run.ckpt"
    options = {
        "keep": [hd.Marginals(rao_blackwell=True), hd.BestState(), hd.Samples()],
        "checkpoint": path,
        "chains": 2,
    }
    method = hd.HerdedGibbs(weights=weights)
    hd.infer(model, method, sweeps=20, **options)
    tampered(path, LIES[lie])
    with pytest.raises(hd.HerdedError, match=r"expected .*(checkpoint|state)"):
        hd.infer(model, method, sweeps=40, **options)


def test_a_run_stopped_in_its_burn_in_goes_on(tmp_path):
    """Sums of the burn-in are there until it is over."""
    model = hd.ising_grid(np.zeros((3, 3)), 0.3)
    options = {"burn_in": 50, "keep": [hd.Marginals(rao_blackwell=True)]}
    path = tmp_path / "run.ckpt"

    with contextlib.suppress(hd.MethodError):
        hd.infer(model, hd.Gibbs(), sweeps=100, seconds=1e-9, checkpoint=path, **options)
    assert 0 < checkpoint_file.read_checkpoint(path)[0]["done"] < 50
    resumed = hd.infer(model, hd.Gibbs(), sweeps=100, checkpoint=path, **options)
    whole = hd.infer(model, hd.Gibbs(), sweeps=100, **options)
    assert (resumed.marginals == whole.marginals).all()


def test_hash_tables_that_are_full_are_refused(tmp_path):
    """One would be searched for ever."""
    model = hd.pairwise_model(np.zeros((9, 2)), [(i, i + 1) for i in range(8)], np.eye(2))
    path = tmp_path / "run.ckpt"
    method = hd.HerdedGibbs(weights="full")
    hd.infer(model, method, sweeps=20, checkpoint=path)
    tampered(path, set_to("state/keys", 5))
    with pytest.raises(hd.HerdedError, match="hashed weights"):
        hd.infer(model, method, sweeps=40, checkpoint=path)


def test_a_checkpoint_takes_no_more_memory_than_its_file(tmp_path):
    """A thousandth of what it unpacks to: such a file is not ours, and nothing is unpacked."""
    path = tmp_path / "run.ckpt"
    np.savez_compressed(path.with_suffix(".npz"), header=np.zeros(2**25, np.uint8))
    path.with_suffix(".npz").rename(path)
    tracemalloc.start()
    with pytest.raises(hd.CheckpointError, match="got an unreadable file"):
        checkpoint_file.read_checkpoint(path)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_a_checkpoint_larger_than_the_memory(tmp_path, monkeypatch):
    checkpoint_file.write_checkpoint(tmp_path / "run.ckpt", {}, {"x": np.zeros(2**20)})
    monkeypatch.setattr("herded.system.memory_limits.free_memory_bytes", lambda: 2**20)
    with pytest.raises(hd.MemoryLimitError, match="expected the arrays of the checkpoint at"):
        checkpoint_file.read_checkpoint(tmp_path / "run.ckpt")
