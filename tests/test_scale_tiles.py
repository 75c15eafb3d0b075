"""One lattice in tiles: from disk, and on hosts, to the bits of the whole."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import herded as hd
from herded.plan.support import start_state
from herded.scale import cluster, out_of_core, tiled
from herded.scale.cluster import TileHost
from herded.scale.tile import OPPOSITE, Place, Tile, Work
from herded.scale.tiling import Tiling, check_tile
from herded.stream import stream_key
from herded.version import __version__
from tests.command import environment
from tests.naive import naive_lattice

SHARED = hd.HerdedGibbs(weights="shared", phases="random", seed=7)


def lattice(h, w, seed=0, uniform=True):
    rng = np.random.default_rng(seed)
    field = rng.normal(size=(h, w))
    pair = rng.normal(size=(h, w - 1)), rng.normal(size=(h - 1, w))
    return hd.StoredLattice(field, 0.4 if uniform else pair)


def whole(stored, method, sweeps, burn_in=0, **keep):
    model = hd.ising_grid(stored.field, stored.coupling)
    keep = [hd.Marginals(**keep)]
    result = hd.infer(model, method, sweeps=sweeps, burn_in=burn_in, plan="lattice", keep=keep)
    assert result.provenance["plan"] == "lattice"
    return result.marginals[..., 1]


class FakeClient:
    """A Dask client whose workers are objects here, and die in or after a half-sweep when told."""

    def __init__(self, workers, dies_in=None, dies_after=None, memory=0):
        self.alive = {f"worker-{n}": 1 for n in range(workers)}
        self.dies_in, self.dies_after, self.memory = dies_in, dies_after, memory

    def nthreads(self):
        return dict(self.alive)

    def wait_for_workers(self, count, timeout):
        if len(self.alive) < count:
            raise TimeoutError

    def scheduler_info(self, n_workers):
        return {"workers": {name: {"memory_limit": self.memory} for name in self.alive}}

    @property
    def scheduler(self):
        return type("Scheduler", (), {"address": "tcp://nowhere:1"})

    def submit(self, kind, *arguments, actor, workers, pure):
        assert actor and not pure and workers[0] in self.alive
        return done(FakeActor(self, workers[0], kind(*arguments)))


class FakeActor:
    def __init__(self, client, name, host):
        self.client, self.name, self.host = client, name, host

    def __getattr__(self, method):
        if self.name not in self.client.alive:
            raise RuntimeError("Worker holding Actor was lost.")

        def call(*arguments):
            now = (self.name, arguments[0]) if method == "half_sweep" else None
            if now is not None and now == self.client.dies_in:
                del self.client.alive[self.name]
                return failed(OSError("Unable to contact Actor's worker"))
            value = getattr(self.host, method)(*arguments)
            if now is not None and now == self.client.dies_after:
                del self.client.alive[self.name]
            return done(value)

        return call


def done(value):
    future = Future()
    future.set_result(value)
    return future


def failed(error):
    future = Future()
    future.set_exception(error)
    return future


# -- the kernel -----------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    tile=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    weights=st.sampled_from(["shared", "blanket"]),
    phases=st.sampled_from(["half", "random"]),
    bits=st.sampled_from([16, 32]),
    seed=st.integers(0, 2**32),
    hosts=st.integers(1, 3),
)
def test_tiles_follow_the_slow_twin(shape, tile, weights, phases, bits, seed, hosts):
    """Every state after every sweep, and the conditionals that were seen."""
    stored = lattice(*shape, seed=seed % 1000, uniform=weights == "shared" or min(shape) < 2)
    method = hd.HerdedGibbs(weights=weights, phases=phases, bits=bits, seed=seed)
    work = Work(stored, method, 0, True)
    tiling = Tiling(shape, (2 * tile[0], 2 * tile[1]))
    count = len(tiling.places)
    shares = [list(range(count))[k::hosts] for k in range(min(hosts, count))]
    crew = [TileHost(__version__, work, tiling, share, None, 1) for share in shares]
    model = hd.ising_grid(stored.field, stored.coupling)
    start = start_state(model, stream_key(seed, 0, 3))
    samples, tally = naive_lattice(
        model, weights=weights, phases=phases, bits=bits, seed=seed, x0=start, sweeps=4
    )
    ones = np.zeros(shape)
    seen = {}
    for host in crew:
        seen.update(host.edges(1))
    for half in range(8):
        sent = [host.half_sweep(half, seen) for host in crew]
        seen = {place: line for edges in sent for place, line in edges.items()}
    for host in crew:
        for t in host.tiles.values():
            p = t.place
            ones[p.top : p.bottom, p.left : p.right] = t.marginals(1)
            counts = Tile.marginals(_frequencies(t), 1)
            expected = samples.sum(axis=0).reshape(shape)[p.top : p.bottom, p.left : p.right]
            assert np.array_equal(counts, expected)
    assert np.array_equal(ones, tally.reshape(shape) / 2.0**31)


def _frequencies(tile):
    """The same tile, seen by one who asks for counts."""
    other = Tile.__new__(Tile)
    other.__dict__ = {**tile.__dict__, "work": Work(tile.work.lattice, tile.work.method, 0, False)}
    return other


def test_a_tile_sees_only_what_it_is_shown():
    """The border is the neighbours' edges: without them another state comes out."""
    work = Work(lattice(8, 8), SHARED, 0, False)
    tiles = [Tile(work, Place(0, 0, 4, 8)) for _ in range(2)]
    tiles[1].see(1, {"down": 1 - tiles[1].x[1, -1, 1:-1]})
    for tile in tiles:
        tile.half_sweep(0)
    assert not np.array_equal(tiles[0].x[0, 1:-1, 1:-1], tiles[1].x[0, 1:-1, 1:-1])
    assert np.array_equal(tiles[0].x[0, 1:-2, 1:-1], tiles[1].x[0, 1:-2, 1:-1])


@settings(max_examples=25, deadline=None)
@given(
    shape=st.tuples(st.integers(2, 9), st.integers(2, 9)),
    corners=st.tuples(*[st.integers(0, 9)] * 4),
    uniform=st.booleans(),
    kind=st.sampled_from(["float32", "float64", "int8"]),
)
def test_a_patch_is_a_part_of_the_whole(shape, corners, uniform, kind):
    stored = lattice(*shape, uniform=uniform)
    field = (9 * stored.field).astype(kind)
    (top, bottom), (left, right) = (
        sorted(min(c, side - 1) for c in pair)
        for pair, side in zip((corners[:2], corners[2:]), shape, strict=True)
    )
    whole = hd.ising_grid(field, stored.coupling)
    part = hd.StoredLattice(field, stored.coupling).patch(top, left, bottom + 1, right + 1)
    assert np.array_equal(part.log_unary, whole.log_unary[top : bottom + 1, left : right + 1])
    assert np.array_equal(part.right, whole.right[top : bottom + 1, left:right])
    assert np.array_equal(part.down, whole.down[top:bottom, left : right + 1])


# -- from disk ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [2, 6, 14, 40])
@pytest.mark.parametrize("kind", ["npy", "zarr"])
def test_bands_from_disk_give_the_bits_of_the_whole(tmp_path, rows, kind, monkeypatch):
    monkeypatch.setattr(tiled, "DEEPEST", 5)
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


def test_a_run_goes_on_from_its_snapshot(tmp_path, monkeypatch):
    monkeypatch.setattr(tiled, "DEEPEST", 3)
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
    stored = lattice(200, 300)
    np.save(tmp_path / "f.npy", stored.field)
    code = (
        "import herded as hd; from herded.scale import tiled; tiled.DEEPEST = 2\n"
        "hd.infer_tiled(hd.StoredLattice('f.npy', 0.4), hd.HerdedGibbs(weights='shared', "
        "phases='random', seed=7), out='m.npy', sweeps=40, tile=40, checkpoint='run')\n"
    )
    kills = 0
    while True:
        process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=environment())
        before = time.perf_counter()
        while process.poll() is None and time.perf_counter() - before < 60:
            snapshots = list((tmp_path / "run").glob("sweep-*"))
            if kills < 2 and any(int(p.name[6:]) >= 10 * (kills + 1) for p in snapshots):
                process.kill()
                kills += 1
                break
            time.sleep(0.01)
        if process.wait(60) == 0:
            break
        assert not (tmp_path / "m.npy").exists()
    assert kills == 2
    assert np.array_equal(np.load(tmp_path / "m.npy"), whole(stored, SHARED, 40))


def test_interrupted_from_disk(tmp_path):
    threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
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
    stored = lattice(40, 100)
    band = 4 * 100 * Work(stored, SHARED, 0, False).site_bytes
    for deep in (1, 3):
        depths.clear()
        cap = band * out_of_core.bands_in_memory(deep)
        result = hd.infer_tiled(stored, SHARED, out=tmp_path / "m.npy", sweeps=6, tile=4, cap=cap)
        assert max(depths) == deep and sum(depths) == 6
        assert np.array_equal(result.marginals, whole(stored, SHARED, 6))
    with pytest.raises(hd.CapError, match="expected the bands of one sweep of at most"):
        hd.infer_tiled(stored, SHARED, out=tmp_path / "n.npy", sweeps=6, tile=4, cap=cap / 4)
    assert not (tmp_path / "n.npy").exists()


# -- on hosts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("tile", [(10, 12), (2, 50), (30, 4), (30, 50), None])
def test_tiles_on_hosts_give_the_bits_of_the_whole(tmp_path, tile):
    stored = lattice(29, 41)
    result = hd.infer_tiled(
        stored,
        SHARED,
        out=tmp_path / "m.npy",
        sweeps=15,
        burn_in=2,
        tile=tile,
        client=FakeClient(3),
    )
    assert np.array_equal(result.marginals, whole(stored, SHARED, 15, 2))


@pytest.mark.parametrize("half", [0, 7, 29])
@pytest.mark.parametrize("when", ["dies_in", "dies_after"])
@pytest.mark.parametrize("saved", [False, True])
def test_a_host_that_dies(tmp_path, half, when, saved):
    stored = lattice(29, 41)
    folder = tmp_path / "run" if saved else None
    client = FakeClient(3, **{when: ("worker-1", half)})
    result = hd.infer_tiled(
        stored, SHARED, out=tmp_path / "m.npy", sweeps=15, tile=(10, 12), client=client,
        checkpoint=folder, checkpoint_every=0,
    )  # fmt: skip
    assert len(client.alive) == 2
    assert np.array_equal(result.marginals, whole(stored, SHARED, 15))


def test_from_hosts_to_disk_and_back(tmp_path):
    stored, folder = lattice(29, 41), tmp_path / "run"
    options = {"out": tmp_path / "m.npy", "checkpoint": folder}
    hd.infer_tiled(stored, SHARED, sweeps=5, tile=10, client=FakeClient(2), **options)
    hd.infer_tiled(stored, SHARED, sweeps=9, **options)
    result = hd.infer_tiled(stored, SHARED, sweeps=15, client=FakeClient(3), **options)
    assert np.array_equal(result.marginals, whole(stored, SHARED, 15))


def test_hosts_that_keep_dying(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "DEATHS", 1)
    client = FakeClient(2, dies_in=("worker-0", 3))
    with pytest.raises(hd.WorkerError, match="1 died in this run"):
        hd.infer_tiled(lattice(8, 8), SHARED, out=tmp_path / "m.npy", sweeps=5, client=client)
    assert list(tmp_path.iterdir()) == []


def test_no_worker_at_all(tmp_path):
    with pytest.raises(hd.WorkerError, match="expected a worker at tcp://nowhere:1"):
        hd.infer_tiled(lattice(8, 8), out=tmp_path / "m.npy", sweeps=5, client=FakeClient(0))


def test_workers_with_too_little_memory(tmp_path):
    with pytest.raises(hd.CapError, match=r"on each of 2 workers, got one with 1\.0 KiB"):
        hd.infer_tiled(
            lattice(20, 20), out=tmp_path / "m.npy", sweeps=5, client=FakeClient(2, memory=1024)
        )


def test_what_a_host_refuses(tmp_path):
    work, tiling = Work(lattice(4, 4), SHARED, 0, False), Tiling((4, 4), (4, 4))
    with pytest.raises(hd.WorkerError, match=r"expected herded 0\.0\.0 on every worker"):
        TileHost("0.0.0", work, tiling, [0], None, 1)
    with pytest.raises(hd.WorkerError, match="expected every worker to see the folder"):
        TileHost(__version__, work, tiling, [0], tmp_path / "none", 1)


# -- tilings --------------------------------------------------------------------------------------


@settings(deadline=None)
@given(
    shape=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    tile=st.tuples(st.integers(1, 25), st.integers(1, 25)),
)
def test_every_site_is_in_one_tile(shape, tile):
    tiling = Tiling(shape, check_tile((2 * tile[0], 2 * tile[1]), shape))
    count, places = np.zeros(shape, int), tiling.places
    for p in places:
        count[p.top : p.bottom, p.left : p.right] += 1
        assert p.top % 2 == 0 and p.left % 2 == 0
    assert (count == 1).all()
    for t, place in enumerate(places):
        for side, n in tiling.neighbours(t).items():
            other = places[n]
            assert tiling.neighbours(n)[OPPOSITE[side]] == t
            a, b = (place, other) if side in ("down", "right") else (other, place)
            if side in ("up", "down"):
                assert a.bottom == b.top and (a.left, a.right) == (b.left, b.right)
            else:
                assert a.right == b.left and (a.top, a.bottom) == (b.top, b.bottom)


@pytest.mark.parametrize("tile", [3, 0, (4, 5), (4,), "ab", 2.5, (2, 2, 2), True])
def test_tiles_that_make_no_sense(tile):
    with pytest.raises(hd.MethodError, match=r"expected (tile=|even sides)"):
        check_tile(tile, (10, 10))
