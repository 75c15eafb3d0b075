"""What tiled runs refuse, each in one sentence and with nothing left on disk."""

import json

import numpy as np
import pytest

import herded as hd
from herded.tiled import snapshots
from tests.tiled.lattice_tiles import SHARED, lattice


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (hd.Gibbs(), "expected HerdedGibbs"),
        (hd.HerdedGibbs(weights="pooled"), "expected weights"),
        (hd.HerdedGibbs(slack=1.0), "no slack"),
        (hd.HerdedGibbs(schedule="linear"), "expected no schedule on tiles, got 'linear'"),
        (hd.HerdedGibbs(scan="sequential"), "checkerboard"),
    ],
)
def test_methods_that_tiles_cannot_run(tmp_path, method, words):
    with pytest.raises(hd.MethodError, match=words):
        hd.infer_tiled(lattice(4, 4), method, out=tmp_path / "m.npy")


def test_shared_weights_need_one_coupling(tmp_path):
    for stored in (lattice(4, 4, uniform=False), hd.StoredLattice(np.zeros((4, 4)), 0.0)):
        with pytest.raises(hd.MethodError, match="expected one coupling other than 0"):
            hd.infer_tiled(stored, SHARED, out=tmp_path / "m.npy")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"out": "m.txt"}, r"\.npy file or a \.zarr folder, got m\.txt"),
        ({"out": "no/m.npy"}, "in a folder that exists"),
        ({"out": 3}, "expected out= as the name of a file"),
        ({"sweeps": 0}, "expected sweeps"),
        ({"burn_in": -1}, "expected burn_in"),
        ({"checkpoint_every": -1}, "expected checkpoint_every"),
        ({"tile": (2, 2)}, "without client="),
        ({"max_memory": 0}, "expected max_memory="),
    ],
)
def test_options_that_make_no_sense(tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(hd.HerdedError, match=words):
        hd.infer_tiled(lattice(4, 4), **{"out": "m.npy", **options})
    assert list(tmp_path.iterdir()) == []


def test_lattices_that_make_no_sense(tmp_path):
    with pytest.raises(hd.ModelError, match=r"expected a field of shape \(H, W\)"):
        hd.StoredLattice(np.zeros(3))
    with pytest.raises(hd.ModelError, match=r"expected couplings down of shape \(3, 4\)"):
        hd.StoredLattice(np.zeros((4, 4)), (np.zeros((4, 3)), np.zeros((4, 3))))
    with pytest.raises(hd.ModelError, match="finite coupling"):
        hd.StoredLattice(np.zeros((4, 4)), np.inf)
    for shape in ((4, 5), (7, 4), (2, 8)):
        with pytest.raises(
            hd.ModelError, match=rf"even number of rows.*got {shape[0]} x {shape[1]}"
        ):
            hd.StoredLattice(np.zeros(shape), periodic=True)
    with pytest.raises(hd.ModelError, match=r"expected couplings right of shape \(4, 6\)"):
        hd.StoredLattice(np.zeros((4, 6)), (np.zeros((4, 5)), np.zeros((3, 6))), periodic=True)
    with pytest.raises(hd.ModelError, match=r"expected clamped of shape \(4, 4\).*got \(4, 3\)"):
        hd.StoredLattice(np.zeros((4, 4)), clamped=np.zeros((4, 3)))
    for wrong in (2, -2, 0.5, np.nan):
        known = np.full((4, 4), -1.0)
        known[3, 1] = wrong
        with pytest.raises(hd.ModelError, match=rf"in clamped, got {wrong:g}.* at \(3, 1\)"):
            hd.infer_tiled(
                hd.StoredLattice(np.zeros((4, 4)), clamped=known), out=tmp_path / "m.npy"
            )
    mask = hd.StoredLattice(np.zeros((4, 4)), clamped=np.zeros((4, 4), bool))
    with pytest.raises(hd.ModelError, match=r"in clamped, got True and False: write the"):
        hd.infer_tiled(mask, out=tmp_path / "m.npy")
    with pytest.raises(hd.ModelError, match=r"got Lattice of shape \(4, 4\): use infer$"):
        hd.infer_tiled(hd.ising_grid(np.zeros((4, 4))), out=tmp_path / "m.npy")
    field = np.zeros((4, 4))
    field[2, 2] = np.nan
    place = r"in field, got nan at \(0, 2\), counting from row 2 and column 0"
    with pytest.raises(hd.ModelError, match=place):
        hd.StoredLattice(field).patch(2, 0, 4, 4)
    with pytest.raises(hd.ModelError, match="got nan at"):
        hd.infer_tiled(hd.StoredLattice(field), out=tmp_path / "m.npy", sweeps=1)


@pytest.mark.parametrize(
    ("data", "got"),
    [
        (None, "but: No such file"),
        (b"", "got an empty file"),
        (b"import numpy as np\n", "got a file that begins with b'import numpy as np.n'"),
        (b"PK\x03\x04", "got a file that begins with b'PK"),
        (b"\x93NUMPY\x01\x00", "but: "),
    ],
)
def test_files_that_are_no_arrays(tmp_path, data, got):
    if data is not None:
        (tmp_path / "bad.npy").write_bytes(data)
    expected = rf"^expected a \.npy file or a \.zarr folder with one array at .*bad\.npy, {got}"
    with pytest.raises(hd.FileError, match=expected) as caught:
        hd.StoredLattice(tmp_path / "bad.npy")
    assert "pickle" not in str(caught.value)


def test_snapshots_of_other_runs(tmp_path):
    stored, out, folder = lattice(8, 8), tmp_path / "m.npy", tmp_path / "run"
    hd.infer_tiled(stored, SHARED, out=out, sweeps=2, tile=4, checkpoint=folder)
    with pytest.raises(hd.CheckpointError, match="expected a checkpoint with lattice"):
        hd.infer_tiled(lattice(8, 8, seed=1), SHARED, out=out, sweeps=4, checkpoint=folder)
    with pytest.raises(hd.CheckpointError, match=r"with tile \[2, 8\]"):
        hd.infer_tiled(stored, SHARED, out=out, sweeps=4, tile=2, checkpoint=folder)
    broken = next((folder / "sweep-2").glob("*.w.npy"))
    broken.write_bytes(broken.read_bytes()[:-4])
    with pytest.raises(hd.CheckpointError, match="expected a whole tile at"):
        hd.infer_tiled(stored, SHARED, out=out, sweeps=4, checkpoint=folder)
    (folder / "run.json").write_text(json.dumps({"sweep": 2}))
    with pytest.raises(hd.CheckpointError, match="something unreadable"):
        hd.infer_tiled(stored, SHARED, out=out, sweeps=4, checkpoint=folder)
    (tmp_path / "file").touch()
    with pytest.raises(hd.CheckpointError, match="expected checkpoint= as a folder"):
        hd.infer_tiled(stored, SHARED, out=out, sweeps=4, checkpoint=tmp_path / "file")


def test_a_disk_that_is_too_small(tmp_path, monkeypatch):
    monkeypatch.setattr(
        snapshots.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1000})
    )
    with pytest.raises(hd.MemoryLimitError, match="of free disk for two snapshots"):
        hd.infer_tiled(lattice(20, 20), SHARED, out=tmp_path / "m.npy", sweeps=2)
    assert list(tmp_path.iterdir()) == []
