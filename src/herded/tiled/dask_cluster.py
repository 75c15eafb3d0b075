"""Runs of one lattice on a Dask cluster, whose workers hold its tiles and exchange edges.

Every worker holds its tiles in an actor. A half-sweep is one call to each actor, which receives the
neighbours' edges of the other colour and returns its own. If a worker dies, all tiles are set up
again from the last snapshot on the remaining workers; the run is deterministic, so the bits stay
the same. These are actors and not futures because a future's result may not be changed in place,
so that every half-sweep would copy the weights (`python -m benchmarks --only scale` measures both).
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from herded.errors import HerdedError, MemoryLimitError, WorkerError
from herded.run.interrupts import raise_if_interrupted
from herded.run.progress import Progress
from herded.system.memory_limits import size_text
from herded.tiled.marginals_output import OutputArray
from herded.tiled.snapshots import Snapshots
from herded.tiled.tile import OPPOSITE, Tile, TileJob
from herded.tiled.tiling import Tiling
from herded.version import __version__

POLL_SECONDS = 0.5  # between two checks that workers are alive
WORKER_TIMEOUT_SECONDS = 60.0  # how long to wait for a first worker
DEATH_NOTICE_SECONDS = 5.0  # until the scheduler notices a death
MAX_DEATHS = 10  # worker deaths before a run gives up

TileEdges = dict[tuple[int, str], np.ndarray]  # by the tile and the side that sees them


class WorkerDied(Exception):  # noqa: N818 - an event, not an error for users
    """The loss of a worker that held tiles."""


class TileHost:
    """The tiles of one worker, where it lives as an actor."""

    def __init__(
        self,
        version: str,
        work: TileJob,
        tiling: Tiling,
        mine: list[int],
        folder: Path | None,
        threads: int,
    ) -> None:
        if version != __version__:
            raise WorkerError(
                f"expected herded {version} on every worker, got {__version__}: install the same "
                "version there"
            )
        if folder is not None and not folder.is_dir():
            raise WorkerError(
                f"expected every worker to see the folder {folder}: put checkpoint= on a disk that "
                "all of them share"
            )
        self.pool = ThreadPoolExecutor(threads)
        places = tiling.places
        made = self.pool.map(lambda t: Tile(work, places[t], folder), mine)
        self.tiles = dict(zip(mine, made, strict=True))
        self.around = {t: tiling.neighbours(t) for t in mine}

    def edges(self, colour: int) -> TileEdges:
        """Return the edges of these tiles that tiles on other hosts see."""
        found: TileEdges = {}
        for t, tile in self.tiles.items():
            for side, line in tile.edges(colour).items():
                other = self.around[t].get(side)
                if other is not None and other not in self.tiles:
                    found[other, OPPOSITE[side]] = line
        return found

    def half_sweep(self, half: int, seen: TileEdges) -> TileEdges:
        """Run half-sweep number `half` on all tiles, with the edges `seen` from other hosts."""
        colour, other = half & 1, 1 - (half & 1)
        own = {t: tile.edges(other) for t, tile in self.tiles.items()}
        for t, tile in self.tiles.items():
            around = {
                side: own[n][OPPOSITE[side]] if n in own else seen[t, side]
                for side, n in self.around[t].items()
            }
            tile.see(other, around)
        list(self.pool.map(lambda tile: tile.half_sweep(half), self.tiles.values()))
        return self.edges(colour)

    def save(self, folder: Path) -> None:
        """Write all tiles into a snapshot."""
        list(self.pool.map(lambda tile: tile.save(folder), self.tiles.values()))

    def write(self, output: OutputArray, sweeps: int) -> None:
        """Write the marginals of all tiles."""
        for tile in self.tiles.values():
            output.write(tile.place, tile.marginals(sweeps))


class ActorGroup:
    """The actors on all hosts of tiles."""

    def __init__(self, client: Any, work: TileJob, tiling: Tiling, folder: Path | None) -> None:
        self.client = client
        workers = _workers(client)
        _check_memory(client, work, tiling, workers)
        count = len(tiling.places)
        names = sorted(workers)[:count]
        shares = np.array_split(np.arange(count), len(names))
        self.host_of = {
            int(t): name for name, mine in zip(names, shares, strict=True) for t in mine
        }
        made = {
            name: client.submit(
                TileHost,
                __version__,
                work,
                tiling,
                [int(t) for t in mine],
                folder,
                workers[name],
                actor=True,
                workers=[name],
                pure=False,
            )
            for name, mine in zip(names, shares, strict=True)
        }
        self.hosts = {name: self._wait(name, future) for name, future in made.items()}
        self.seen: dict[str, TileEdges] = self._share_out(self._all("edges", lambda name: (1,)))

    def half_sweep(self, half: int) -> None:
        """Run half-sweep number `half` on all hosts, and exchange the edges."""
        self.seen = self._share_out(self._all("half_sweep", lambda name: (half, self.seen[name])))

    def save(self, folder: Path) -> None:
        """Write all tiles into a snapshot."""
        self._all("save", lambda name: (folder,))

    def write(self, output: OutputArray, sweeps: int) -> None:
        """Write the marginals of all tiles."""
        self._all("write", lambda name: (output, sweeps))

    def _share_out(self, sent: list[TileEdges]) -> dict[str, TileEdges]:
        """Group edges by the host that sees them."""
        seen: dict[str, TileEdges] = {name: {} for name in self.hosts}
        for edges in sent:
            for (tile, side), line in edges.items():
                seen[self.host_of[tile]][tile, side] = line
        return seen

    def _all(self, method: str, arguments: Callable[[str], tuple[Any, ...]]) -> list[Any]:
        """Call a method of all hosts at once, and wait for the results."""
        calls = {name: self._begin(name, method, arguments(name)) for name in self.hosts}
        return [self._wait(name, call) for name, call in calls.items()]

    def _begin(self, name: str, method: str, arguments: tuple[Any, ...]) -> Any:
        try:
            return getattr(self.hosts[name], method)(*arguments)
        except Exception as error:
            if self._has_died(name, error):
                raise WorkerDied(name) from error
            raise

    def _wait(self, name: str, call: Any) -> Any:
        """Wait for the result of a call."""
        while True:
            try:
                return call.result(timeout=POLL_SECONDS)
            except TimeoutError:
                raise_if_interrupted()
            except Exception as error:
                if self._has_died(name, error):
                    raise WorkerDied(name) from error
                raise
            if self._is_gone(name, 0.0):
                raise WorkerDied(name)

    def _has_died(self, name: str, error: Exception) -> bool:
        """Return whether an error means that the worker is gone, not that its work failed."""
        return not isinstance(error, HerdedError) and self._is_gone(name, DEATH_NOTICE_SECONDS)

    def _is_gone(self, name: str, patience: float) -> bool:
        """Return whether the scheduler has lost a worker, which it may notice with a delay."""
        until = time.perf_counter() + patience
        while name in self.client.nthreads():
            if time.perf_counter() >= until:
                return False
            time.sleep(0.05)
        return True


def _workers(client: Any) -> dict[str, int]:
    """Return the workers' addresses and numbers of threads, once there is a worker."""
    try:
        client.wait_for_workers(1, timeout=WORKER_TIMEOUT_SECONDS)
    except TimeoutError as error:
        raise WorkerError(
            f"expected a worker at {client.scheduler.address} within {WORKER_TIMEOUT_SECONDS:g} "
            "seconds, got none: start some with `dask worker`"
        ) from error
    return dict(client.nthreads())


def _check_memory(client: Any, work: TileJob, tiling: Tiling, workers: dict[str, int]) -> None:
    """Raise if the tiles do not fit into the memory that the workers report."""
    info = client.scheduler_info(n_workers=-1)["workers"]
    limits = [int(info[name].get("memory_limit") or 0) for name in workers if name in info]
    least = min(limits, default=0)  # 0 if a worker does not report it
    height, width = tiling.shape
    share = height * width * work.site_bytes / max(1, len(workers))
    if least and share > least:
        raise MemoryLimitError(
            f"expected about {size_text(share)} of memory on each of {len(workers)} workers, got "
            f"one with {size_text(least)}: use more workers, or no client= to run from disk"
        )


def run_on_cluster(
    client: Any,
    work: TileJob,
    tiling: Tiling,
    snapshots: Snapshots | None,
    total: int,
    checkpoint_every: float,
    output: OutputArray,
    bar: Progress,
) -> None:
    """Sweep up to `total` and write the marginals, even if workers die meanwhile."""
    deaths = 0
    while True:
        try:
            _sweep(client, work, tiling, snapshots, total, checkpoint_every, output, bar)
            return
        except WorkerDied as death:
            deaths += 1
            if deaths >= MAX_DEATHS:
                raise WorkerError(
                    f"expected workers to stay alive, but {deaths} died in this run, the last at "
                    f"{death}: give them more memory, or use more workers"
                ) from death


def _sweep(
    client: Any,
    work: TileJob,
    tiling: Tiling,
    snapshots: Snapshots | None,
    total: int,
    checkpoint_every: float,
    output: OutputArray,
    bar: Progress,
) -> None:
    """Sweep from the last snapshot to the end, with snapshots on the way and at the end.

    The hosts are deleted at the end, so that they take no memory during another attempt.
    """
    crew = ActorGroup(client, work, tiling, snapshots.current if snapshots else None)
    done, before = (snapshots.sweep, snapshots.seconds) if snapshots else (0, 0.0)
    began = saved = time.perf_counter()
    for sweep in range(done, total):
        crew.half_sweep(2 * sweep)
        crew.half_sweep(2 * sweep + 1)
        bar.update(sweep + 1)
        raise_if_interrupted()
        now = time.perf_counter()
        if snapshots and (now - saved > checkpoint_every or sweep + 1 == total):
            crew.save(snapshots.begin(sweep + 1))
            snapshots.commit(sweep + 1, before + now - began)
            saved = now
    crew.write(output, total - work.burn_in)
