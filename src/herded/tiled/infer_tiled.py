"""The function infer_tiled, for a lattice that does not fit in memory.

The lattice is swept from disk in this process (`out_of_core.py`) or held in the memory of many
workers (`dask_cluster.py`). For any tiles, the results equal those of `infer` on the whole lattice
bit for bit.
"""

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from herded.errors import CheckpointError, MethodError, ModelError
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.serialization import method_to_dict
from herded.models.factor_graph import has_factors
from herded.models.protocol import is_model
from herded.run.build_result import full_repr
from herded.run.interrupts import stop_all_runs_on_interrupt
from herded.run.progress import Progress
from herded.system import memory_limits
from herded.system.argument_checks import describe_value, is_number_between, is_whole_number
from herded.system.memory_limits import Size
from herded.tiled.dask_cluster import run_on_cluster
from herded.tiled.marginals_output import OutputArray, check_out
from herded.tiled.out_of_core import bands_in_memory, run_pass
from herded.tiled.snapshots import Snapshots, check_disk, read_snapshot_header
from herded.tiled.stored_lattice import StoredLattice, open_array
from herded.tiled.tile import TileJob, saved_marginals
from herded.tiled.tiling import Tiling, check_tile
from herded.version import __version__

SMALL_BAND_SITES, BAND_SITES = 2**16, 2**19  # approximate sites; fewer would leave threads idle
PASS_SWEEPS, MAX_PASS_SWEEPS = 8, 32  # sweeps per pass; with fewer, threads wait for the disk


@dataclass(frozen=True)
class TiledResult:
    """The marginals of a tiled run on disk, and how they were computed.

    Attributes
    ----------
    out : Path
    sweeps : int
        The number of sweeps recorded after the burn-in.
    provenance : dict
        The lattice, method, tiles, seconds and versions.
    """

    out: Path
    sweeps: int  # recorded
    provenance: dict[str, Any] = field(repr=False)

    @property
    def marginals(self) -> Any:
        """P(x = 1), shape (H, W), read from disk when indexed."""
        return open_array(self.out)


def infer_tiled(
    lattice: StoredLattice,
    method: HerdedGibbs | None = None,
    *,
    out: str | os.PathLike[str],
    sweeps: int = 1000,
    burn_in: int = 0,
    rao_blackwell: bool = False,
    tile: int | Sequence[int] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 30.0,
    client: Any = None,
    max_memory: Size | None = None,
    progress: bool | None = None,
) -> TiledResult:
    """Run herded Gibbs on a lattice that does not fit in memory.

    P(x = 1) of every site is written to `out`. For any tiles, the results equal those of `infer` on
    the whole lattice with the same method, bit for bit. The need for memory and disk is estimated
    before either is used.

    The main arguments are `lattice`, `method`, `out`, `sweeps` and `burn_in`. The other arguments
    set tiles, checkpoints and resources.

    Parameters
    ----------
    lattice : StoredLattice
    method : HerdedGibbs, optional
        With weights "shared" or "blanket"; by default "shared" if all couplings are equal.
    out : path-like
        A .npy file or a .zarr folder, which appears only when it is complete.
    sweeps : int
        Sweeps of the lattice after `burn_in`.
    burn_in : int
        Sweeps before anything is recorded.
    rao_blackwell : bool
        Whether to average conditionals instead of counting states.
    tile : int or (int, int), optional
        The rows of a band, or (rows, columns) of a tile on a cluster; even numbers. The default is
        chosen automatically. The result does not depend on it.
    checkpoint : path-like, optional
        A folder for snapshots; a run resumes from the snapshots in it. Without `client` the run
        works there, by default in a folder next to `out` that is removed at the end.
    checkpoint_every : float
        Seconds between snapshots on a cluster.
    client : dask.distributed.Client, optional
        Its workers hold the tiles; they must see the files under the same names. Without a client,
        the lattice is read from disk band by band.
    max_memory : int, float or str, optional
        The most memory used without `client`, in bytes or as "2G"; by default half of what is free.
    progress : bool, optional
        Whether to show a progress bar on a terminal: only in long runs (None), or never (False).

    Returns
    -------
    TiledResult
        `result.marginals` reads from `out`.

    Raises
    ------
    MemoryLimitError
        If not even one sweep at a time fits.
    MethodError
        If an option is wrong, or the method cannot run on tiles.
    CheckpointError
        If the snapshots belong to another run.
    Interrupted
        After Ctrl-C: a KeyboardInterrupt without a result. With `checkpoint`, the same call resumes
        from the last snapshot.

    Examples
    --------
    >>> field = np.random.default_rng(0).normal(size=(64, 64))
    >>> np.save("field.npy", field)
    >>> lattice = hd.StoredLattice("field.npy", coupling=0.3)
    >>> method = hd.HerdedGibbs("shared")
    >>> result = hd.infer_tiled(lattice, method, out="marginals.npy", sweeps=50)
    >>> result.marginals.shape
    (64, 64)

    The same bits as in memory:

    >>> whole = hd.infer(hd.ising_grid(field, 0.3), method, sweeps=50)
    >>> np.array_equal(result.marginals, whole.marginals[..., 1])
    True
    """
    if not isinstance(lattice, StoredLattice):
        raise ModelError(
            "expected a lattice such as StoredLattice('field.npy', 0.5), got "
            f"{describe_value(lattice)}"
            f"{': use infer' if is_model(lattice) and has_factors(lattice) else ''}"
        )
    work = TileJob(
        lattice, method or _default(lattice), _check_integer("burn_in", burn_in, 0), rao_blackwell
    )
    work.check()
    total = work.burn_in + _check_integer("sweeps", sweeps, 1)
    if not is_number_between(checkpoint_every, 0, np.inf):
        raise MethodError(f"expected checkpoint_every of 0 or more, got {checkpoint_every!r}")
    path = check_out(out)
    folder = None if checkpoint is None else Path(checkpoint)
    limit = memory_limits.memory_limit(max_memory)
    tiling = _tiling(work, tile, folder, client, limit)
    began = time.perf_counter()
    with _working(folder, path, client) as place, stop_all_runs_on_interrupt():
        snapshots = None if place is None else Snapshots(place, _identity(work, tiling))
        if snapshots and snapshots.sweep > total:
            raise MethodError(
                f"expected sweeps of at least {snapshots.sweep - work.burn_in}, which {place} has "
                f"already done, got {sweeps}"
            )
        sites = float(np.prod(lattice.shape))
        if place is not None:
            check_disk(place, sites * (2 * work.state_bytes + 8))
        output = OutputArray(path, lattice.shape, tiling.tile)
        bar = Progress(progress, total, "infer_tiled")
        bar.expect_compilers()
        try:
            with closing(bar):
                if client is None:
                    assert snapshots is not None
                    _run_here(work, tiling, snapshots, total, limit, bar)
                    _write_saved(work, tiling, snapshots, output)
                else:
                    run_on_cluster(
                        client, work, tiling, snapshots, total, checkpoint_every, output, bar
                    )
            output.finish()
        finally:
            output.discard()
    return TiledResult(path, sweeps, _provenance(work, tiling, total, began))


def _default(lattice: StoredLattice) -> HerdedGibbs:
    equal = lattice.is_uniform and float(lattice.coupling) != 0
    return HerdedGibbs(weights="shared" if equal else "blanket")


def _check_integer(name: str, value: int, least: int) -> int:
    if not is_whole_number(value, least):
        raise MethodError(f"expected {name} as a whole number of {least} or more, got {value!r}")
    return int(value)


def _tiling(
    work: TileJob,
    tile: int | Sequence[int] | None,
    folder: Path | None,
    client: Any,
    limit: float,
) -> Tiling:
    """Return the tiles asked for, those of the snapshot, or bands of a default height."""
    shape = work.lattice.shape
    header = read_snapshot_header(folder) if folder else None
    if tile is None and header is not None:
        tile = header["tile"]
    if tile is None and client is None:
        tile = _rows_of_a_band(work, limit)
    elif tile is None:
        share = -(-shape[0] // max(1, len(client.nthreads())))
        tile = max(2, share + share % 2)
    tiling = Tiling(shape, check_tile(tile, shape), work.lattice.periodic)
    if client is None and tiling.grid[1] > 1:
        raise MethodError(
            f"expected tile= as a number of rows without client=, got {tile!r}: bands of full "
            "width run from disk"
        )
    return tiling


def _rows_of_a_band(work: TileJob, limit: float) -> int:
    """Return the rows that leave memory for deep passes, or else for one sweep at a time."""
    height, width = work.lattice.shape
    row = width * work.site_bytes

    def most(depth: int) -> float:
        whole = limit // row  # rows
        bands = bands_in_memory(depth, height, work.lattice.periodic)
        return whole if whole >= height else whole // bands

    rows = min(most(1), max(most(PASS_SWEEPS), SMALL_BAND_SITES // width), BAND_SITES // width)
    return 2 * max(1, int(rows) // 2)


@contextmanager
def _working(folder: Path | None, out: Path, client: object) -> Iterator[Path | None]:
    """Provide the folder of snapshots: the given one, a temporary one for disk runs, or None."""
    if folder is not None or client is not None:
        yield folder
        return
    folder = out.with_name(f".herded-{os.urandom(8).hex()}.tiles")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run_here(
    work: TileJob, tiling: Tiling, snapshots: Snapshots, total: int, limit: float, bar: Progress
) -> None:
    """Run passes over all bands, each as deep as memory allows, with a snapshot after each."""
    band, bands = tiling.tile[0] * tiling.shape[1] * work.site_bytes, len(tiling.places)
    periodic = tiling.periodic
    need = bands_in_memory(1, bands, periodic) * band
    memory_limits.check_memory(need, limit, "the bands of one sweep", "use a smaller tile=")
    most = MAX_PASS_SWEEPS
    while bands_in_memory(most, bands, periodic) * band > limit:
        most -= 1
    before, began = snapshots.seconds, time.perf_counter()
    while (done := snapshots.sweep) < total:
        passes = -(-(total - done) // most)
        depth = -(-(total - done) // passes)
        target = snapshots.begin(done + depth)
        show = partial(_show_progress, bar, done, depth)
        run_pass(work, tiling, done, depth, snapshots.current, target, show)
        snapshots.commit(done + depth, before + time.perf_counter() - began)


def _show_progress(bar: Progress, done: int, depth: int, share: float) -> None:
    """Show the progress of a pass of `depth` sweeps."""
    bar.update(int(done + share * depth))


def _write_saved(work: TileJob, tiling: Tiling, snapshots: Snapshots, output: OutputArray) -> None:
    folder, recorded = snapshots.current, snapshots.sweep - work.burn_in
    if folder is None:
        raise CheckpointError(f"expected a snapshot at {snapshots.folder}, got none")
    for place in tiling.places:
        output.write(place, saved_marginals(work, place, folder, recorded))


def _identity(work: TileJob, tiling: Tiling) -> dict[str, Any]:
    """Return what must be equal for a run to be resumed."""
    return {
        "lattice": work.lattice.name,
        "method": method_to_dict(work.method),
        "burn_in": work.burn_in,
        "rao_blackwell": work.rao_blackwell,
        "tile": list(tiling.tile),
    }


def _provenance(work: TileJob, tiling: Tiling, total: int, began: float) -> dict[str, Any]:
    return {
        **_identity(work, tiling),
        "method": full_repr(work.method),
        "sweeps": total - work.burn_in,
        "tiles": len(tiling.places),
        "seconds": time.perf_counter() - began,
        "versions": {"herded": __version__, "numpy": np.__version__},
    }
