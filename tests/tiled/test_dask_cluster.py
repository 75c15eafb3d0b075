"""On a real Dask cluster of processes, some of which are killed: the bits of one process."""

import os
import signal

import numpy as np
import pytest

import herded as hd
from herded.cli.main import main
from herded.tiled import dask_cluster
from herded.tiled import infer_tiled as tiled
from tests.run.distributed.test_batch import models
from tests.support.commands import small_grid
from tests.support.timeouts import HANGS
from tests.support.workers import NEEDED, Deadly, same
from tests.tiled.lattice_tiles import SHARED, lattice, whole
from tests.tiled.test_tiles_on_hosts import FakeClient

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")


QUICK = {"distributed.worker.multiprocessing-method": "forkserver"}


def prepare_workers():
    """They are forked from a process that has imported what they need, of Dask and of ours."""
    context = distributed.utils.get_mp_context()  # which by itself imports Dask and its friends
    context.set_forkserver_preload(["distributed", *NEEDED, "herded.tiled.infer_tiled"])


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Two processes, with nannies; Dask gives up on what a dead one had, so that we must not.

    What they will need is compiled here, once. A nanny whose process does not come up gives up:
    by itself it would wait for ever, and so would who waits for the worker.
    """
    for method in (SHARED, hd.HerdedGibbs()):
        out = tmp_path_factory.mktemp("compiled") / "m.npy"
        hd.infer_tiled(lattice(8, 8), method, out=out, sweeps=1, client=FakeClient(1))
    with dask.config.set({"distributed.scheduler.allowed-failures": 0, **QUICK}):
        prepare_workers()
        with (
            distributed.LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                death_timeout=HANGS,
            ) as there,
            distributed.Client(there) as client,
        ):
            yield client


def test_many_models_and_a_dead_worker(client, tmp_path):
    asked = models(30)
    sent = [*asked[:11], Deadly(asked[11], tmp_path), *asked[12:]]
    found = hd.infer_many(sent, hd.HerdedGibbs(), sweeps=60, executor=client.get_executor())
    assert len(list(tmp_path.glob("died-*"))) == 1  # and Dask gave up on what it had
    for model, result in zip(asked, found, strict=True):
        assert same(result, hd.infer(model, hd.HerdedGibbs(), sweeps=60))


def test_chains(client):
    model = hd.ising_grid(np.random.default_rng(0).normal(size=(12, 13)), 0.3)
    options = {"sweeps": 300, "chains": 4, "keep": [hd.Marginals(), hd.Samples(every=5)]}
    spread = hd.infer(model, hd.HerdedGibbs(), executor=client.get_executor(), **options)
    serial = hd.infer(model, hd.HerdedGibbs(), **options)
    assert same(serial, spread) and np.array_equal(serial.samples, spread.samples)


@pytest.mark.parametrize("tile", [(30, 40), (90, 18)])
def test_tiles(client, tmp_path, tile):
    stored = lattice(90, 129)
    np.save(tmp_path / "field.npy", stored.field)
    result = hd.infer_tiled(
        hd.StoredLattice(tmp_path / "field.npy", 0.4),
        SHARED,
        out=tmp_path / "marginals.zarr",
        sweeps=20,
        burn_in=3,
        tile=tile,
        client=client,
    )
    assert np.array_equal(result.marginals[:], whole(stored, SHARED, 20, 3))


@pytest.mark.parametrize("tile", [(24, 130)])
def test_tiles_of_a_periodic_lattice_with_evidence(client, tmp_path, tile):
    stored = lattice(90, 130, uniform=False, clamped=True, periodic=True)
    method = hd.HerdedGibbs(phases="random", seed=3)
    out = tmp_path / "marginals.npy"
    result = hd.infer_tiled(stored, method, out=out, sweeps=20, tile=tile, client=client)
    assert np.array_equal(result.marginals, whole(stored, method, 20))


@pytest.mark.parametrize("saved", [False, True])
def test_tiles_and_a_dead_worker(client, tmp_path, saved, monkeypatch):
    """Killed when a third of the sweeps is done."""
    stored = lattice(90, 129)
    client.wait_for_workers(2, timeout=HANGS)
    pids, killed = list(client.run(os.getpid).values()), []

    class Bar(tiled.Progress):
        def update(self, done, note=""):
            if done == 20 and not killed:
                killed.append(pids[-1])
                os.kill(pids[-1], signal.SIGKILL)  # its nanny will start another

    class Crew(dask_cluster.ActorGroup):
        def __init__(self, *arguments):
            crews.append(self)
            super().__init__(*arguments)

    crews = []
    monkeypatch.setattr(tiled, "Progress", Bar)
    monkeypatch.setattr(dask_cluster, "ActorGroup", Crew)
    result = hd.infer_tiled(
        stored,
        SHARED,
        out=tmp_path / "marginals.npy",
        sweeps=60,
        tile=(30, 40),
        client=client,
        checkpoint=tmp_path / "run" if saved else None,
        checkpoint_every=0.5,
    )
    assert killed and len(crews) >= 2
    assert np.array_equal(result.marginals, whole(stored, SHARED, 60))


# -- the command line -----------------------------------------------------------------------------


def address(client):
    return client.scheduler.address.replace("tcp://", "dask://")


def test_infer_on_a_cluster(client, tmp_path, capsys):
    path = tmp_path / "grid.uai"
    hd.io.write_uai(small_grid(4), path)
    asked = ["infer", str(path), "--method", "herded", "--sweeps", "200"]
    out = {}
    for name, more in {
        "here": [],
        "there": ["--engine", address(client), "--workers", "2"],
    }.items():
        out[name] = tmp_path / f"{name}.MAR"
        assert main([*asked, "--out", str(out[name]), *more]) == 0
    assert out["here"].read_bytes() == out["there"].read_bytes()
    assert "4 chains" in capsys.readouterr().out
