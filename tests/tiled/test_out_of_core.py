"""One lattice in bands from disk, to the bits of the whole: also when killed or short of memory."""

import os
import signal
from dataclasses import replace

import numpy as np
import pytest

import herded as hd
from herded.tiled import infer_tiled as tiled
from herded.tiled import out_of_core
from herded.tiled.tile import TileJob
from herded.tiled.tiling import Tiling
from tests.support.example_budget import ALL
from tests.support.timeouts import HANGS
from tests.support.workers import quick_context
from tests.tiled.lattice_tiles import SHARED, killed_after, lattice, whole


@pytest.mark.parametrize(
    ("kind", "rows"), [("npy", 2), ("npy", 6), ("npy", 14), ("npy", 40), ("zarr", 14)]
)
def test_bands_from_disk_give_the_bits_of_the_whole(tmp_path, rows, kind, monkeypatch):
    monkeypatch.setattr(tiled, "MAX_PASS_SWEEPS", 5)
    stored = lattice(37, 53)
    if kind == "zarr":
        zarr = pytest.importorskip("zarr")
        path = tmp_path / "field.zarr"
        array = zarr.open_array(str(path), mode="w", shape=(37, 53), chunks=(8, 10), dtype="f8")
        array[:] = stored.field
    else:
        path = tmp_path / "field.npy"
        np.save(path, stored.field)
    result = hd.infer_tiled(
        hd.StoredLattice(path, 0.4),
        SHARED,
        out=tmp_path / f"m.{kind}",
        sweeps=17,
        burn_in=4,
        tile=rows,
    )
    assert np.array_equal(result.marginals[:], whole(stored, SHARED, 17, 4))
    assert result.sweeps == 17 and result.provenance["tiles"] == -(-37 // rows)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([path.name, f"m.{kind}"])


def test_couplings_of_every_edge_and_averaged_conditionals(tmp_path):
    stored = lattice(20, 31, uniform=False)
    paths = [tmp_path / "right.npy", tmp_path / "down.npy"]
    for path, array in zip(paths, stored.coupling, strict=True):
        np.save(path, array)
    result = hd.infer_tiled(
        hd.StoredLattice(stored.field, paths), out=tmp_path / "m.npy", sweeps=9, tile=6,
        rao_blackwell=True,
    )  # fmt: skip
    expected = whole(stored, hd.HerdedGibbs(), 9, rao_blackwell=True)
    assert np.array_equal(result.marginals, expected)
    assert "weights='blanket'" in result.provenance["method"]


FOLDED = [("shared", 2), ("blanket", 6), ("shared", 14), ("blanket", 40)]
OTHERS = [("blanket", 2), ("shared", 6), ("blanket", 14), ("shared", 40)]


@pytest.mark.parametrize(("weights", "rows"), FOLDED + OTHERS if ALL else FOLDED)
def test_a_folded_ring_and_evidence_from_disk(tmp_path, rows, weights, monkeypatch):
    """Periodic lattices run in pairs of bands; what is known stays."""
    monkeypatch.setattr(tiled, "MAX_PASS_SWEEPS", 3)
    stored = lattice(38, 20, uniform=weights == "shared", clamped=True, periodic=True)
    np.save(tmp_path / "known.npy", stored.clamped)
    method = hd.HerdedGibbs(weights=weights, phases="random", seed=5)
    result = hd.infer_tiled(
        replace(stored, clamped=tmp_path / "known.npy"),
        method,
        out=tmp_path / "m.npy",
        sweeps=17,
        burn_in=4,
        tile=rows,
        checkpoint=tmp_path / "run",
    )
    assert np.array_equal(result.marginals, whole(stored, method, 17, 4))
    known = stored.clamped >= 0
    assert np.array_equal(result.marginals[known], stored.clamped[known])
    with pytest.raises(hd.CheckpointError, match="expected a checkpoint with lattice"):
        hd.infer_tiled(
            lattice(38, 20, uniform=weights == "shared", periodic=True), method,
            out=tmp_path / "m.npy", sweeps=20, burn_in=4, checkpoint=tmp_path / "run",
        )  # fmt: skip


def test_a_run_goes_on_from_its_snapshot(tmp_path, monkeypatch):
    monkeypatch.setattr(tiled, "MAX_PASS_SWEEPS", 3)
    stored, out, folder = lattice(30, 24), tmp_path / "m.npy", tmp_path / "run"
    hd.infer_tiled(stored, SHARED, out=out, sweeps=7, tile=4, checkpoint=folder)
    assert [p.name for p in folder.glob("sweep-*")] == ["sweep-7"]
    (folder / "sweep-9").mkdir()  # what a killed run leaves
    result = hd.infer_tiled(stored, SHARED, out=out, sweeps=20, checkpoint=folder)
    assert np.array_equal(result.marginals, whole(stored, SHARED, 20))
    assert result.provenance["tile"] == [4, 24]
    assert [p.name for p in folder.glob("sweep-*")] == ["sweep-20"]
    again = hd.infer_tiled(stored, SHARED, out=out, sweeps=20, checkpoint=folder)
    assert np.array_equal(again.marginals, result.marginals)
    with pytest.raises(hd.MethodError, match="expected sweeps of at least 20"):
        hd.infer_tiled(stored, SHARED, out=out, sweeps=19, checkpoint=folder)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_killed_from_disk_it_goes_on_to_the_same_bits(tmp_path):
    stored = lattice(120, 50)
    np.save(tmp_path / "f.npy", stored.field)
    for sweep in (11, 25, 99):  # of which the last does not come
        child = quick_context().Process(target=killed_after, args=(sweep, tmp_path))
        child.start()
        child.join(HANGS)
        assert child.exitcode == (0 if sweep == 99 else -signal.SIGKILL)
        assert (tmp_path / "m.npy").exists() == (sweep == 99)
    assert np.array_equal(np.load(tmp_path / "m.npy"), whole(stored, SHARED, 40))


def test_interrupted_from_disk(tmp_path, monkeypatch):
    class Bar(tiled.Progress):
        def update(self, done, note=""):
            if done == 3:
                os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(tiled, "Progress", Bar)
    with pytest.raises(KeyboardInterrupt):
        hd.infer_tiled(lattice(100, 100), SHARED, out=tmp_path / "m.npy", sweeps=10**6)
    assert list(tmp_path.iterdir()) == []


def test_memory_decides_how_deep_a_pass_is(tmp_path, monkeypatch):
    depths = []
    real = tiled.run_pass

    def spy(*arguments, **named):
        depths.append(arguments[3])
        real(*arguments, **named)

    monkeypatch.setattr(tiled, "run_pass", spy)
    stored = lattice(120, 100)
    band = 4 * 100 * TileJob(stored, SHARED, 0, False).site_bytes
    for deep in (1, 3):
        depths.clear()
        max_memory = band * out_of_core.bands_in_memory(deep, 30)
        result = hd.infer_tiled(
            stored, SHARED, out=tmp_path / "m.npy", sweeps=6, tile=4, max_memory=max_memory
        )
        assert max(depths) == deep and sum(depths) == 6
        assert np.array_equal(result.marginals, whole(stored, SHARED, 6))
    with pytest.raises(
        hd.MemoryLimitError, match=r"the bands of one sweep of at most.*smaller tile="
    ):
        hd.infer_tiled(
            stored, SHARED, out=tmp_path / "n.npy", sweeps=6, tile=4, max_memory=max_memory / 4
        )
    assert not (tmp_path / "n.npy").exists()


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_a_wave_holds_no_more_bands_than_were_counted(periodic, depth):
    bands = 40
    stored = lattice(2 * bands, 4, periodic=periodic)
    tiling = Tiling(stored.shape, (2, 4), periodic)
    wave = out_of_core._Wave(TileJob(stored, SHARED, 0, False), tiling, 0, 2 * depth, None)
    held, ended = [], 0
    for step in range(-out_of_core.RANKS_READ_AHEAD, wave.last + 2):
        for function, *arguments in wave.jobs(step):
            function(*arguments)
        held.append(len(wave.bands))
        ended += len(wave.take_ended(step))
    ranks = out_of_core.MAX_UNSAVED_RANKS * (2 if periodic else 1)
    assert max(held) + ranks <= out_of_core.bands_in_memory(depth, 1000, periodic)
    assert ended == bands and not wave.bands


@pytest.mark.parametrize("rows", [1000, 30, 12, 2])
def test_bands_are_as_small_as_memory_asks(tmp_path, rows):
    """Room for the whole lattice, for bands of a deep pass, or for two rows each in the least."""
    stored = lattice(130, 60)
    row = 60 * TileJob(stored, SHARED, 0, False).site_bytes
    max_memory = row * min(130, rows * out_of_core.bands_in_memory(1, 130))
    result = hd.infer_tiled(stored, SHARED, out=tmp_path / "m.npy", sweeps=3, max_memory=max_memory)
    assert np.array_equal(result.marginals, whole(stored, SHARED, 3))
    assert result.provenance["tile"][0] == {1000: 130, 30: 130, 12: 12, 2: 2}[rows]
    with pytest.raises(hd.MemoryLimitError, match="raise max_memory="):
        hd.infer_tiled(stored, SHARED, out=tmp_path / "n.npy", sweeps=5, max_memory=19 * row)
