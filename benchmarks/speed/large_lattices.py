"""python -m benchmarks.speed.large_lattices: a lattice from disk, its seconds and memory.

As a part of `python -m benchmarks`: many small models, a lattice from disk, and the two ways to
keep one on Dask workers. `--side 20000` takes some minutes and 25 GB of disk.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import herded as hd
from herded.system.memory_limits import size_text
from herded.tiled.tile import OPPOSITE, Tile, TileJob
from herded.tiled.tiling import Tiling

TITLE = "# Many models, and one large lattice"
SHARED = hd.HerdedGibbs(weights="shared")
COUPLING = 0.4


def lines(quick: bool) -> Iterator[str]:
    yield from many_models(200 if quick else 1000, 1 if quick else 5)
    yield ""
    yield from one_lattice(1000 if quick else 4000)
    yield ""
    yield from actors_and_futures(256 if quick else 2048, 4 if quick else 20)


# -- many models ----------------------------------------------------------------------------------


def many_models(count: int, repeats: int) -> Iterator[str]:
    """`infer_many` beside a loop over the same models."""
    rng = np.random.default_rng(0)
    edges = [[0, 1], [1, 2], [2, 3], [3, 0]]
    models = [
        hd.pairwise_model(rng.normal(size=(4, 2)), edges, rng.normal(size=(4, 2, 2)))
        for _ in range(count)
    ]
    with ProcessPoolExecutor(2) as pool:
        ways: dict[str, Callable[[], Any]] = {
            "a loop of `infer`": lambda: [
                hd.infer(model, hd.HerdedGibbs(), sweeps=1000) for model in models
            ],
            "`infer_many`, threads": lambda: hd.infer_many(models, hd.HerdedGibbs(), sweeps=1000),
            "`infer_many`, 2 processes": lambda: hd.infer_many(
                models, hd.HerdedGibbs(), sweeps=1000, executor=pool
            ),
        }
        found: dict[str, list[float]] = {name: [] for name in ways}
        for repeat in range(repeats + 1):
            for name, run in ways.items():
                began = time.perf_counter()
                run()
                if repeat:  # the first one compiles
                    found[name].append(time.perf_counter() - began)
    loop = median(next(iter(found.values())))
    yield f"{count:,} models of 4 variables, 1,000 sweeps each: wall time, medians of {repeats}"
    yield ""
    yield "| way | ms per model | over a loop |"
    yield "|---|---|---|"
    for name, times in found.items():
        yield f"| {name} | {1e3 * median(times) / count:.2f} | {median(times) / loop:.2f} |"


# -- from disk ------------------------------------------------------------------------------------


def one_lattice(side: int) -> Iterator[str]:
    """In a process of its own, whose memory is its own."""
    typed = "python -m benchmarks.speed.large_lattices --side N"
    yield f"One lattice from disk, weights shared: `{typed}`"
    yield ""
    command = [
        sys.executable,
        "-m",
        "benchmarks.speed.large_lattices",
        "--side",
        str(side),
        "--sweeps",
        "32",
    ]
    yield subprocess.run(command, capture_output=True, text=True, check=True).stdout.rstrip()


def from_disk(side: int, sweeps: int, max_memory: float | None, folder: Path) -> Iterator[str]:
    """Make the field, sweep, and tell what it took."""
    field = folder / "field.npy"
    make_field(field, side)
    lattice = hd.StoredLattice(field, COUPLING)
    small = hd.StoredLattice(np.zeros((4, 4)), COUPLING)
    hd.infer_tiled(small, SHARED, out=folder / "small.npy", sweeps=1)  # compiles
    began, cpu = time.perf_counter(), time.process_time()
    hd.infer_tiled(
        lattice, SHARED, out=folder / "marginals.npy", sweeps=sweeps, max_memory=max_memory
    )
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    updates = sweeps * side**2
    yield "| sites | sweeps | seconds per sweep | CPU ns per update | peak memory |"
    yield "|---|---|---|---|---|"
    yield (
        f"| {side:,} x {side:,} | {sweeps} | {took / sweeps:.3g} | {1e9 * cpu / updates:.2f} | "
        f"{size_text(peak)} |"
    )


def make_field(path: Path, side: int) -> None:
    """A field of noise, written some rows at a time."""
    rng = np.random.default_rng(0)
    rows = max(1, 2**22 // side)
    for top in range(0, side, rows):
        mode: Any = "r+" if top else "w+"
        array = np.lib.format.open_memmap(path, mode, np.float32, None if top else (side, side))
        part = array[top : top + rows]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32)


# -- actors and futures ---------------------------------------------------------------------------


def actors_and_futures(side: int, sweeps: int) -> Iterator[str]:
    """Two ways to keep tiles on four workers."""
    try:
        import distributed
    except ImportError:
        yield "Actors and futures: skipped, Dask is not installed (pip install 'herded[scale]')"
        return
    rng = np.random.default_rng(0)
    lattice = hd.StoredLattice(rng.normal(size=(side, side)), COUPLING)
    found: dict[str, list[float]] = {"actors": [], "futures": []}
    with (
        tempfile.TemporaryDirectory() as folder,
        distributed.LocalCluster(4, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        ways = {
            "actors": lambda n: hd.infer_tiled(
                lattice, SHARED, out=f"{folder}/m.npy", sweeps=n, client=client
            ),
            "futures": lambda n: with_futures(client, lattice, n),
        }
        for repeat in range(4):
            for name, run in ways.items():
                run(1)
                began = time.perf_counter()
                run(1)
                once = time.perf_counter() - began
                began = time.perf_counter()
                run(1 + sweeps)
                if repeat:
                    found[name].append((time.perf_counter() - began - once) / sweeps)
    yield f"{side:,} x {side:,} sites on 4 Dask workers of {os.cpu_count()} cores, medians of 3"
    yield ""
    yield "| tiles are | ms per sweep |"
    yield "|---|---|"
    for name, times in found.items():
        yield f"| {name} | {1e3 * median(times):.1f} |"


def with_futures(client: Any, lattice: hd.StoredLattice, sweeps: int) -> None:
    """The same half-sweeps, each a new future made of the last one and its neighbours' edges."""
    tiling = Tiling(lattice.shape, (lattice.shape[0] // 4, lattice.shape[1]))
    work = TileJob(lattice, SHARED, 0, False)
    tiles = [client.submit(Tile, work, place) for place in tiling.places]
    for half in range(2 * sweeps):
        edges = [client.submit(Tile.edges, tile, 1 - (half & 1)) for tile in tiles]
        tiles = [
            client.submit(
                next_tile,
                tile,
                half,
                {side: edges[n] for side, n in tiling.neighbours(t).items()},
            )
            for t, tile in enumerate(tiles)
        ]
    for tile in tiles:
        client.submit(Tile.edges, tile, 0).result()


def next_tile(tile: Tile, half: int, around: dict[str, dict[str, np.ndarray]]) -> Tile:
    """A tile half a sweep later; what a future holds may be needed again, so it is copied."""
    new = Tile.__new__(Tile)
    new.__dict__ = dict(tile.__dict__)
    new.x, new.state = tile.x.copy(), {name: a.copy() for name, a in tile.state.items()}
    new.see(1 - (half & 1), {side: lines[OPPOSITE[side]] for side, lines in around.items()})
    new.half_sweep(half)
    return new


def main() -> None:
    from herded.cli.commands.infer_arguments import parse_size

    options = argparse.ArgumentParser(
        prog="python -m benchmarks.speed.large_lattices", description=__doc__.split("\n")[0]
    )
    options.add_argument("--side", type=int, default=4000, help="default: %(default)s")
    options.add_argument("--sweeps", type=int, default=32, help="default: %(default)s")
    options.add_argument(
        "--max-memory", type=parse_size, metavar="BYTES", help="of memory, such as 6G"
    )
    options.add_argument("--folder", metavar="DIR", help="for the files; default: a temporary one")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        for line in from_disk(chosen.side, chosen.sweeps, chosen.max_memory, Path(folder)):
            print(line)


if __name__ == "__main__":
    main()
