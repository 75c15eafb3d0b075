"""One lattice in tiles on hosts, some of which die, to the bits of the whole."""

from concurrent.futures import Future

import numpy as np
import pytest

import herded as hd
from herded.tiled import dask_cluster
from herded.tiled.dask_cluster import TileHost
from herded.tiled.tile import TileJob
from herded.tiled.tiling import Tiling
from herded.version import __version__
from tests.tiled.lattice_tiles import SHARED, lattice, whole


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
        stored, SHARED, out=tmp_path / "m.npy", sweeps=15, tile=(16, 14), client=client,
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
    monkeypatch.setattr(dask_cluster, "MAX_DEATHS", 1)
    client = FakeClient(2, dies_in=("worker-0", 3))
    with pytest.raises(hd.WorkerError, match="1 died in this run"):
        hd.infer_tiled(lattice(8, 8), SHARED, out=tmp_path / "m.npy", sweeps=5, client=client)
    assert list(tmp_path.iterdir()) == []


def test_no_worker_at_all(tmp_path):
    with pytest.raises(hd.WorkerError, match="expected a worker at tcp://nowhere:1"):
        hd.infer_tiled(lattice(8, 8), out=tmp_path / "m.npy", sweeps=5, client=FakeClient(0))


def test_workers_with_too_little_memory(tmp_path):
    with pytest.raises(hd.MemoryLimitError, match=r"on each of 2 workers, got one with 1\.0 KiB"):
        hd.infer_tiled(
            lattice(20, 20), out=tmp_path / "m.npy", sweeps=5, client=FakeClient(2, memory=1024)
        )


def test_what_a_host_refuses(tmp_path):
    work, tiling = TileJob(lattice(4, 4), SHARED, 0, False), Tiling((4, 4), (4, 4))
    with pytest.raises(hd.WorkerError, match=r"expected herded 0\.0\.0 on every worker"):
        TileHost("0.0.0", work, tiling, [0], None, 1)
    with pytest.raises(hd.WorkerError, match="expected every worker to see the folder"):
        TileHost(__version__, work, tiling, [0], tmp_path / "none", 1)
