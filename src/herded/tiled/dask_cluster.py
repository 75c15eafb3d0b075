"""Run one lattice on the workers of a Dask cluster, which hold its tiles and exchange edges.

Every worker holds its tiles in an actor. A half-sweep is one call to each of them, which sends the
neighbours' edges of the other colour and returns the actor's own. If a worker dies, all tiles are
set up anew from the last snapshot on those that are left: the run is deterministic, so the bits are
the same. Actors, not futures: a future's result may not be changed in place, so every half-sweep
would copy the weights (`python -m benchmarks --only scale` measures both).
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

POLL_SECONDS = 0.5  # seconds between two checks that workers are alive
WORKER_TIMEOUT_SECONDS = 60.0  # seconds to wait for a worker where there is none
DEATH_NOTICE_SECONDS = 5.0  # seconds until the scheduler knows of a death
MAX_DEATHS = 10  # before a run gives up

TileEdges = dict[tuple[int, str], np.ndarray]  # by the tile and the side where they are seen


class WorkerDied(Exception):  # noqa: N818 - what happened, not an error that a user meets
    """A worker that held tiles is gone."""


class TileHost:
    """The tiles of one worker: lives there as an actor."""

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
        """What the tiles of other hosts see of these."""
        found: TileEdges = {}
        for t, tile in self.tiles.items():
            for side, line in tile.edges(colour).items():
                other = self.around[t].get(side)
                if other is not None and other not in self.tiles:
                    found[other, OPPOSITE[side]] = line
        return found

    def half_sweep(self, half: int, seen: TileEdges) -> TileEdges:
        """Run half-sweep number `half` on all tiles, which see `seen` of those elsewhere."""
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
    """The hosts of all tiles."""

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
        self._all("save", lambda name: (folder,))

    def write(self, output: OutputArray, sweeps: int) -> None:
        self._all("write", lambda name: (output, sweeps))

    def _share_out(self, sent: list[TileEdges]) -> dict[str, TileEdges]:
        """Edges by the host that is to see them."""
        seen: dict[str, TileEdges] = {name: {} for name in self.hosts}
        for edges in sent:
            for (tile, side), line in edges.items():
                seen[self.host_of[tile]][tile, side] = line
        return seen

    def _all(self, method: str, arguments: Callable[[str], tuple[Any, ...]]) -> list[Any]:
        """Call a method of all hosts at once, and wait."""
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
        """What a call gives."""
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
        """Whether an error means that the worker is gone, rather than being raised by its work."""
        return not isinstance(error, HerdedError) and self._is_gone(name, DEATH_NOTICE_SECONDS)

    def _is_gone(self, name: str, patience: float) -> bool:
        """Whether the scheduler has lost a worker; it may need a while to notice."""
        until = time.perf_counter() + patience
        while name in self.client.nthreads():
            if time.perf_counter() >= until:
                return False
            time.sleep(0.05)
        return True


def _workers(client: Any) -> dict[str, int]:
    """The addresses of the workers and their threads, once there is one."""
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
    least = min(limits, default=0)  # 0 where a worker does not report it
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
    """Sweep up to `total` and write the marginals, also if workers die meanwhile."""
    deaths = 0
    while True:
        try:
            _sweep(client, work, tiling, snapshots, total, checkpoint_every, output, bar)
            return
        except WorkerDied as death:
            deaths += 1
            if deaths >= MAX_DEATHS:
                raise WorkerError(
                    f"expected workers that live, but {deaths} died in this run, the last one at "
                    f"{death}: give them more memory, or use more of them"
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
    """From the last snapshot to the end, with snapshots on the way and a last one there.

    Its hosts are deleted at the end, so that they do not take memory during the next attempt.
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
