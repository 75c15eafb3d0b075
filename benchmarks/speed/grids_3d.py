"""Ising models in three dimensions: nanoseconds per update, and what is known of them."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import herded as hd
from benchmarks.peers.handwritten.grid_3d import (
    CHECKERBOARD,
    RASTER,
    cube_checkerboard,
    cube_raster,
    cube_thresholds,
    pack_cube,
)
from benchmarks.support.timing import nanoseconds

HERD = 64
HERDS = 8  # independent ones, for the standard error
LARGEST_GRAPH = 64  # side of a cube that is written as a factor graph
SEED = np.uint64(88172645463325252)
# log Z per spin is log(2 cosh(K)^3) + sum of a_n v^n with v = tanh(K), on the simple cubic lattice
# (Arisue and Fujiwara, Physical Review E 67, 066109, 2003).
SERIES = {4: 3.0, 6: 22.0, 8: 187.5, 10: 1980.0, 12: 24044.0, 14: 319170.0}
CRITICAL = 0.2216544  # Talapov and Blote, Journal of Physics A 29, 5727, 1996


def series_energy(coupling: float) -> float:
    """The energy per spin above the critical temperature, in units of the coupling."""
    v = np.tanh(coupling)
    loops = sum(n * a * v ** (n - 1) for n, a in SERIES.items())
    return -float(3 * v + (1 - v * v) * loops)


def known_magnetisation(coupling: float) -> float:
    """Per spin, below the critical temperature: the fit of Talapov and Blote."""
    t = 1 - CRITICAL / coupling
    return float(t**0.32694109 * (1.6919045 - 0.34357731 * t**0.50842026 - 0.42572366 * t))


def works(size: int, sweeps: int) -> dict[str, Callable[[], None]]:
    """Samplers of a periodic cube with fields, the experts first."""
    rng = np.random.default_rng(0)
    field = 0.3 * rng.normal(size=(size,) * 3)
    model = hd.ising_grid(field, 0.2, periodic=True)
    table = cube_thresholds(field, 0.2)
    planes = np.ascontiguousarray(pack_cube(table).swapaxes(3, 4))
    x = np.zeros((size,) * 3, np.uint8)
    halves = np.zeros((2, size, size, size // 2 + 2), np.uint32)
    draws = rng.integers(1, 2**32, size // 2, np.uint32)
    found = {
        RASTER: lambda: cube_raster(x, table, SEED, sweeps),
        CHECKERBOARD: lambda: cube_checkerboard(halves, planes, draws, sweeps),
    }
    methods = {"Gibbs": hd.Gibbs(), f"Gibbs(herd={HERD})": hd.Gibbs(herd=HERD)}
    methods |= {"herded, shared": hd.HerdedGibbs("shared")}
    for name, method in methods.items():
        found[name] = ours(model, method, "grid", sweeps)
        if size <= LARGEST_GRAPH and "herded" not in name:
            found[f"{name}, layout field"] = ours(model, method, "field", sweeps)
    return found


def ours(model: Any, method: Any, kind: str, sweeps: int) -> Callable[[], None]:
    """Sweeps that leave the last state, as the experts' do."""
    layout = method.compile(model, kind=kind, max_memory=8 * 2**30)
    members = (HERD,) if layout.is_herd else ()
    state = method.init(layout, np.zeros((*members, model.n_variables), np.uint8))
    block = np.zeros((sweeps, 0 if layout.counts_states else layout.n_stored), layout.sample_type)
    return lambda: method.advance(layout, state, block)


def averages(size: int, coupling: float, sweeps: int) -> tuple[np.ndarray, np.ndarray]:
    """Energies and magnetisations per spin of independent herds that began all up."""
    model = hd.ising_grid(np.zeros((size,) * 3), coupling, periodic=True)
    result = hd.infer(
        model,
        hd.Gibbs(herd=HERD),
        sweeps=sweeps,
        burn_in=sweeps // 4,
        chains=HERDS,
        start=np.ones((size,) * 3, int),
        keep=[hd.Samples(every=20)],
        progress=False,
    )
    spins = 2 * result.samples.reshape(HERDS, -1, size, size, size).astype(np.int8) - 1
    bonds = sum((spins * np.roll(spins, 1, axis)).mean(axis=(1, 2, 3, 4)) for axis in (2, 3, 4))
    return -bonds, spins.mean(axis=(1, 2, 3, 4))


def lines(quick: bool) -> Iterator[str]:
    yield "## Three dimensions"
    yield ""
    repeats = 3 if quick else 7
    yield f"Periodic Ising cubes with fields, CPU ns per update, medians of {repeats} in turns"
    yield ""
    yield "| work | method | ns | over the fastest expert |"
    yield "|---|---|---|---|"
    for size, sweeps in ((24, 32),) if quick else ((24, 128), (64, 16), (100, 16)):
        found = nanoseconds(works(size, sweeps), updates=size**3 * sweeps, repeats=repeats)
        found = {name: cost / (HERD if "herd=" in name else 1) for name, cost in found.items()}
        base = min(found[RASTER], found[CHECKERBOARD])
        for name, cost in found.items():
            yield f"| {size}x{size}x{size} | {name} | {cost:.2f} | {cost / base:.2f} |"
    yield ""
    yield f"What is known of them, by {HERDS} herds of {HERD}: the energy per spin from the"
    yield "high-temperature series (Arisue and Fujiwara 2003), the magnetisation from the fit of"
    yield "Talapov and Blote (1996)"
    yield ""
    yield "| lattice | coupling | what | found | standard error | known |"
    yield "|---|---|---|---|---|---|"
    size, sweeps = (16, 80) if quick else (24, 400)
    for coupling in (0.1, 0.15, 0.25, 0.3):
        energy, magnetisation = averages(size, coupling, sweeps)
        hot = coupling < CRITICAL
        found, what = (energy, "energy") if hot else (magnetisation, "magnetisation")
        known = series_energy(coupling) if hot else known_magnetisation(coupling)
        yield (
            f"| {size}x{size}x{size} | {coupling} | {what} | {found.mean():.5f} "
            f"| {found.std(ddof=1) / np.sqrt(HERDS):.5f} | {known:.5f} |"
        )
