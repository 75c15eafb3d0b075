"""CPU nanoseconds per update on lattices, beside Gibbs samplers as an expert would write them.

The experts know the lattice, tabulate their probabilities and use xorshift, all in Numba: one goes
over the sites in raster order, one over the colours of a packed checkerboard, vectorised.
"""

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba import njit

import herded as hd
from herded.kernels.lattice import lattice_sweeps

Work = Callable[[], None]


@njit(nogil=True)
def raster_gibbs(p, x, seed, sweeps):
    """p (H, W, 5) are probabilities at scale 2^32; x (H + 2, W + 2) has a border of zeros."""
    height, width, _ = p.shape
    z = np.uint64(seed)
    for _ in range(sweeps):
        for r in range(height):
            for c in range(width):
                z ^= z << np.uint64(13)
                z ^= z >> np.uint64(7)
                z ^= z << np.uint64(17)
                ones = x[r + 1, c] + x[r + 1, c + 2] + x[r, c + 1] + x[r + 2, c + 1]
                x[r + 1, c + 1] = np.uint32(z >> np.uint64(32)) < p[r, c, ones]


@njit(nogil=True)
def checkerboard_gibbs(p, x, state, sweeps):
    """p (2, H, 5, M) by colour; x (2, H + 2, M + 2); each place has a generator of its own."""
    _, height, _, columns = p.shape
    for _ in range(sweeps):
        for colour in range(2):
            for r in range(height):
                shift = (r + colour) & 1
                left, right = x[1 - colour, r + 1, shift:], x[1 - colour, r + 1, shift + 1 :]
                up, down = x[1 - colour, r, 1:], x[1 - colour, r + 2, 1:]
                none, one, two = p[colour, r, 0], p[colour, r, 1], p[colour, r, 2]
                three, four = p[colour, r, 3], p[colour, r, 4]
                mine, generator = x[colour, r + 1, 1:], state[colour, r]
                for m in range(columns):
                    z = generator[m]
                    z ^= z << np.uint32(13)
                    z ^= z >> np.uint32(17)
                    z ^= z << np.uint32(5)
                    generator[m] = z
                    ones = left[m] + right[m] + up[m] + down[m]
                    low = none[m] if ones == 0 else one[m]
                    high = three[m] if ones == 3 else four[m]
                    chance = low if ones < 2 else two[m] if ones == 2 else high
                    mine[m] = z < chance


def experts(field: np.ndarray, coupling: float, sweeps: int) -> dict[str, Work]:
    """Both, ready to run `sweeps` sweeps."""
    height, width = field.shape
    counts = 2 * np.arange(5) - 4
    chance = 1 / (1 + np.exp(-2 * (field[..., None] + coupling * counts)))
    p = np.minimum(chance * 2.0**32, 2.0**32 - 1).astype(np.uint32)
    packed = np.zeros((2, height, 5, width // 2), np.uint32)
    for row in range(height):
        for colour in range(2):
            packed[colour, row] = p[row, (row + colour) % 2 :: 2].T
    x = np.zeros((height + 2, width + 2), np.uint8)
    halves = np.zeros((2, height + 2, width // 2 + 2), np.uint8)
    rng = np.random.default_rng(1)
    state = rng.integers(1, 2**32, (2, height, width // 2), dtype=np.uint32)
    return {
        "expert Gibbs, raster": lambda: raster_gibbs(p, x, 88172645463325252, sweeps),
        "expert Gibbs, checkerboard": lambda: checkerboard_gibbs(packed, halves, state, sweeps),
    }


def herded_work(model: Any, method: Any, sweeps: int) -> Work:
    """Sweeps of a method of ours."""
    plan = method.compile(model, kind="lattice")
    state = method.init(plan, np.zeros(model.n_variables, int))
    block = np.zeros((sweeps, plan.n_stored), plan.state_type)
    return lambda: method.advance(plan, state, block)


def ising_works(size: int, sweeps: int) -> dict[str, Work]:
    """Samplers of an Ising lattice with fields, the peer first."""
    field, coupling = np.random.default_rng(0).normal(size=(size, size)), 0.3
    model = hd.ising_grid(field, coupling)
    methods = {"Gibbs": hd.Gibbs(), "herded, shared": hd.HerdedGibbs(weights="shared")}
    if size <= 1024:
        methods["herded, blanket"] = hd.HerdedGibbs()
    works = experts(field, coupling, sweeps)
    works |= {name: herded_work(model, method, sweeps) for name, method in methods.items()}
    return works


def packed_adds() -> str:
    """Which packed additions the compiled kernel has, and in which registers."""
    text = "".join(lattice_sweeps.inspect_asm().values())
    found = sorted({(a, b) for a, b in re.findall(r"\bv?(padd[dw])\b.*%([xyz]mm)\d", text)})
    return ", ".join(f"`{add}` on `{register}`" for add, register in found) or "none"


def lines(quick: bool) -> Iterator[str]:
    yield "## Lattices"
    yield ""
    repeats = 3 if quick else 9
    yield f"CPU ns per update, one thread, medians of {repeats} alternating repeats"
    yield ""
    yield "| work | method | ns | over the checkerboard expert |"
    yield "|---|---|---|---|"
    for size, sweeps in [(512, 24)] if quick else [(512, 24), (4096, 8)]:
        works = ising_works(size, sweeps)
        found = median_nanoseconds(works, size * size * sweeps, repeats)
        base = found["expert Gibbs, checkerboard"]
        for name, cost in found.items():
            yield f"| Ising {size}x{size} | {name} | {cost:.2f} | {cost / base:.2f} |"
    yield ""
    yield f"Packed additions in the compiled kernel: {packed_adds()}."


def median_nanoseconds(works: dict[str, Work], updates: int, repeats: int) -> dict[str, float]:
    """CPU time per update of each; the first run compiles and does not count."""
    took: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    for _ in range(repeats):
        for name, work in works.items():
            began = time.process_time()
            work()
            took[name].append((time.process_time() - began) / updates * 1e9)
    return {name: float(np.median(times)) for name, times in took.items()}
