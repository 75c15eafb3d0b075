"""One tile of a lattice: its conditionals, its state and its edges.

The conditionals p are computed from the fields when a tile is set up; its state consists of the
states x, the phases w and the counts. States are packed by colour
(`layouts/packing/colour_packing.py`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from herded.draws.fixed_point import SCALAR_BITS
from herded.draws.herded_weights import HALF_PHASE
from herded.draws.systematic_lanes import LANES
from herded.errors import CheckpointError, MethodError
from herded.layouts.grid.arrays import CONTEXTS_BY_BITS, CONTEXTS_BY_COUNT, compile_lattice
from herded.layouts.packing.colour_packing import (
    count_cells,
    pack_colours,
    strip_shape,
    unpack_colours,
)
from herded.methods.herded_gibbs import HerdedGibbs
from herded.system.aligned_arrays import aligned_zeros
from herded.system.argument_checks import short_repr
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.stream_purposes import StreamPurpose
from herded.tiled.snapshots import save_array
from herded.tiled.stored_lattice import StoredLattice
from herded.tiled.tile_kernels import cut_tile, half_sweep, start_states, start_tile_phases

MARGIN_SITES = 2  # sites around a tile that its conditionals depend on; even, as tiles are
OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}


class TilePosition(NamedTuple):
    """The rows top..bottom-1 and columns left..right-1 of a tile."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.bottom - self.top, self.right - self.left


@dataclass(frozen=True)
class TileJob:
    """The work to be done on every tile."""

    lattice: StoredLattice
    method: HerdedGibbs
    burn_in: int
    rao_blackwell: bool

    @property
    def shared(self) -> bool:
        return self.method.weights == "shared"

    @property
    def contexts(self) -> int:
        """The number of weights of a site."""
        return CONTEXTS_BY_COUNT if self.shared else CONTEXTS_BY_BITS

    @property
    def site_bytes(self) -> int:
        """Bytes of memory for every site of a tile: p, w, x and counts."""
        return 8 * self.contexts + 1 + 4 + 8 * self.rao_blackwell

    @property
    def state_bytes(self) -> int:
        """Bytes on disk for every site."""
        return self.site_bytes - 4 * self.contexts

    def check(self) -> None:
        """Raise if the method cannot run on tiles."""
        method = self.method
        if not isinstance(method, HerdedGibbs):
            raise MethodError(f"expected HerdedGibbs(...) on tiles, got {short_repr(method)}")
        if method.herd > 1:
            raise MethodError(
                f"expected one chain on tiles, got a herd of {method.herd}: drop herd="
            )
        if method.weights not in ("shared", "blanket") or method.slack:
            raise MethodError(
                'expected weights "shared" or "blanket" and no slack on tiles, got '
                f"{method.weights!r} and slack {method.slack:g}"
            )
        if method.schedule is not None:
            raise MethodError(f"expected no schedule on tiles, got {short_repr(method.schedule)}")
        if not (isinstance(method.scan, str) and method.scan in ("auto", "checkerboard")):
            raise MethodError(
                f"expected the checkerboard scan on tiles, got {short_repr(method.scan)}"
            )
        if self.shared and not (self.lattice.is_uniform and float(self.lattice.coupling)):
            raise MethodError(
                'expected one coupling other than 0 for weights="shared", whose contexts are counts'
                ': use weights="blanket"'
            )


class Tile:
    """The part of a lattice at `place`, between two half-sweeps."""

    def __init__(self, work: TileJob, place: TilePosition, folder: Path | None = None) -> None:
        """Set up a tile at the start of a run, or load it from `folder`."""
        self.work, self.place = work, place
        self.p = _conditionals(work, place)
        self.state = _start(work, place) if folder is None else _load(work, place, folder)
        h, w = place.shape
        self.x = np.zeros((2, h + 2, (w + 1) // 2 + 2), np.uint8)
        self.x[:, 1:-1, 1:-1] = self.state.pop("x")

    def half_sweep(self, half: int) -> None:
        """Run half-sweep number `half`, counted from the start of the run."""
        recorded = half // 2 >= self.work.burn_in
        nothing = np.empty((2, 0, 0))
        ones = self.state["ones"] if recorded else nothing.astype(np.uint32)
        tally = self.state["tally"] if recorded else nothing.astype(np.int64)
        p, w = (a.reshape(2, len(a[0]), -1) for a in (self.p, self.state["w"]))
        half_sweep(p, (0,) * self.work.contexts, self.x, w, half & 1, ones, tally)

    def edges(self, colour: int) -> dict[str, np.ndarray]:
        """Return the outermost sites of a colour, on each side."""
        inside = self.x[colour, 1:-1, 1:-1]
        sides = {"up": inside[0], "down": inside[-1], "left": inside[:, 0], "right": inside[:, -1]}
        return {side: line.copy() for side, line in sides.items()}

    def see(self, colour: int, around: dict[str, np.ndarray]) -> None:
        """Copy the neighbours' edges of a colour, in `around` by side, into the border."""
        x = self.x[colour]
        borders = {"up": x[0, 1:-1], "down": x[-1, 1:-1], "left": x[1:-1, 0], "right": x[1:-1, -1]}
        for side, line in around.items():
            borders[side][:] = line

    def marginals(self, sweeps: int) -> np.ndarray:
        """Return P(x = 1) of the sites after a number of recorded sweeps."""
        sums = self.state["tally" if self.work.rao_blackwell else "ones"]
        return _marginals(self.work, self.place, sums, sweeps)

    def save(self, folder: Path) -> None:
        """Write the state into `folder`, under the tile's name."""
        for name, array in {**self.state, "x": self.x[:, 1:-1, 1:-1]}.items():
            save_array(_file(folder, self.place, name), array)


def saved_marginals(work: TileJob, place: TilePosition, folder: Path, sweeps: int) -> np.ndarray:
    """Return P(x = 1) of a saved tile's sites after a number of recorded sweeps."""
    name = "tally" if work.rao_blackwell else "ones"
    return _marginals(work, place, np.load(_file(folder, place, name)), sweeps)


def _marginals(work: TileJob, place: TilePosition, sums: np.ndarray, sweeps: int) -> np.ndarray:
    one = 2.0**SCALAR_BITS if work.rao_blackwell else 1
    return unpack_colours(sums, *place.shape) / (sweeps * one)


def _conditionals(work: TileJob, place: TilePosition) -> np.ndarray:
    """Compute p of the tile's sites on a patch that contains all their neighbours."""
    top, left = place.top - MARGIN_SITES, place.left - MARGIN_SITES
    bottom, right = place.bottom + MARGIN_SITES, place.right + MARGIN_SITES
    if not work.lattice.periodic:
        height, width = work.lattice.shape
        top, left, bottom, right = max(0, top), max(0, left), min(height, bottom), min(width, right)
    patch = work.lattice.patch(top, left, bottom, right)
    compiled = compile_lattice(patch, work.shared, origin=(-top, -left))
    above, before = place.top - top, (place.left - left) // 2
    p = aligned_zeros(*_shapes(work, place)["w"])
    cut_tile(compiled.p, compiled.rows, compiled.columns, above, before, p)
    return p


def _shapes(work: TileJob, place: TilePosition) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Return the shapes and types of the arrays of a tile's state."""
    h, w = place.shape
    sites = (2, h, (w + 1) // 2)
    weights = (2, h, count_cells(sites[2]), work.contexts, LANES)
    return {
        "x": (sites, np.uint8),
        "w": (weights, np.uint32),
        "ones": (sites, np.uint32),
        "tally": (sites if work.rao_blackwell else (2, 0, 0), np.int64),
    }


def _start(work: TileJob, place: TilePosition) -> dict[str, np.ndarray]:
    """Sweep 0, as `infer` starts the first chain of the whole lattice."""
    state = {name: np.zeros(*known) for name, known in _shapes(work, place).items()}
    x = np.empty(place.shape, np.uint8)
    key = stream_key(work.method.seed, 0, StreamPurpose.START_STATES)
    height, width = work.lattice.shape
    start_states(place.top, place.left, width, key, x)
    known = work.lattice.evidence(*place)
    state["x"] = pack_colours(np.where(known < 0, x, known).astype(np.uint8), place.shape[0])
    state["w"] = aligned_zeros(*_shapes(work, place)["w"])
    state["w"][:] = HALF_PHASE
    if work.method.phases == "random":
        rows, columns, strips = strip_shape(height, width)
        here = (place.shape[1] + 1) // 2
        key = stream_key(work.method.seed, 0, StreamPurpose.WEIGHTS_AND_SCANS)
        start_tile_phases((strips, rows, columns), place.top, place.left, here, key, state["w"])
    return state


def _load(work: TileJob, place: TilePosition, folder: Path) -> dict[str, np.ndarray]:
    state = {}
    for name, (shape, kind) in _shapes(work, place).items():
        path = _file(folder, place, name)
        try:
            state[name] = np.load(path, allow_pickle=False)
            whole = state[name].shape == shape and state[name].dtype == kind
        except (OSError, ValueError):
            whole = False
        if not whole:
            raise CheckpointError(
                f"expected a whole tile at {path}, got none or another: move {folder.parent} away "
                "to start again"
            )
    return state


def _file(folder: Path, place: TilePosition, name: str) -> Path:
    return folder / f"{place.top}-{place.left}.{name}.npy"
