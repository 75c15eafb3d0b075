"""CPU nanoseconds per update on lattices, beside Gibbs samplers as an expert would write them.

The experts know the lattice, tabulate their probabilities and use xorshift, all in Numba: one goes
over the sites in raster order, one over the colours of a packed checkerboard, vectorised.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit

import herded as hd
from benchmarks.timing import nanoseconds
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
    p = np.empty((height, width, 5), np.uint32)
    packed = np.empty((2, height, 5, width // 2), np.uint32)
    for row in range(height):
        chance = 1 / (1 + np.exp(-2 * (field[row][:, None] + coupling * counts)))
        p[row] = np.minimum(chance * 2.0**32, 2.0**32 - 1)
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


@njit(nogil=True)
def potts_gibbs(u, like, x, seed, sweeps):
    """u (H, W, K) are exponentials of unaries; x (H + 2, W + 2) has a border of its own state."""
    height, width, states = u.shape
    z = np.uint64(seed)
    chance, upto = np.empty(states + 1), np.empty(states)
    for _ in range(sweeps):
        for r in range(height):
            for c in range(width):
                for k in range(states):
                    chance[k] = u[r, c, k]
                chance[x[r + 1, c]] *= like
                chance[x[r + 1, c + 2]] *= like
                chance[x[r, c + 1]] *= like
                chance[x[r + 2, c + 1]] *= like
                total = 0.0
                for k in range(states):
                    total += chance[k]
                    upto[k] = total
                z ^= z << np.uint64(13)
                z ^= z >> np.uint64(7)
                z ^= z << np.uint64(17)
                left = np.float64(z >> np.uint64(11)) * (total / 2.0**53)
                k = 0
                while left >= upto[k]:
                    k += 1
                x[r + 1, c + 1] = k


def potts_works(size: int, states: int, sweeps: int) -> dict[str, Work]:
    """Samplers of a Potts lattice, the peer first."""
    unary, coupling = np.random.default_rng(0).normal(size=(size, size, states)), 0.8
    model = hd.potts_grid(unary, coupling)
    u, x = np.exp(unary), np.full((size + 2, size + 2), states, np.uint8)
    x[1:-1, 1:-1] = 0
    like = float(np.exp(coupling))
    pooled = hd.HerdedGibbs("pooled")
    return {
        "expert Gibbs, raster": lambda: potts_gibbs(u, like, x, 88172645463325252, sweeps),
        "Gibbs": herded_work(model, hd.Gibbs(), sweeps),
        "herded, pooled": herded_work(model, pooled, sweeps),
        "herded, pooled, from sweep 2,048": herded_work(model, pooled, sweeps, 2048),
    }


def herded_work(model: Any, method: Any, sweeps: int, sweep: int = 0) -> Work:
    """Sweeps of a method of ours, numbered from `sweep`: pooled weights have more bins later."""
    plan = method.compile(model, kind="lattice", cap=8 * 2**30)
    state = method.init(plan, np.zeros(model.n_variables, int))
    state.sweep = sweep
    block = np.zeros((sweeps, plan.n_stored), plan.state_type)
    return lambda: method.advance(plan, state, block)


def ising_works(size: int, sweeps: int) -> dict[str, Work]:
    """Samplers of an Ising lattice with fields, the peer first."""
    field, coupling = np.random.default_rng(0).normal(size=(size, size)), 0.3
    model = hd.ising_grid(field, coupling)
    methods = {"Gibbs": hd.Gibbs()}
    for bits in (32, 16):
        methods[f"herded, shared, {bits} bits"] = hd.HerdedGibbs(weights="shared", bits=bits)
        if size <= 1024:
            methods[f"herded, blanket, {bits} bits"] = hd.HerdedGibbs(bits=bits)
    works = experts(field, coupling, sweeps)
    works |= {name: herded_work(model, method, sweeps) for name, method in methods.items()}
    return works


def packed_adds() -> str:
    """Which packed additions the kernel has, and in which registers.

    In a process of its own that compiles it: what comes from the cache cannot be inspected.
    """
    command = [sys.executable, "-c", "from benchmarks.lattice import compiled; print(compiled())"]
    environment = {**os.environ, "HERDED_CACHE": "0"}
    text = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = sorted(set(re.findall(r"\bv?(padd[dw])\b.*%([xyz]mm)\d", text.stdout)))
    return ", ".join(f"`{add}` on `{register}`" for add, register in found) or "none"


def compiled() -> str:
    """The assembly of the lattice kernel, for both sizes of weights."""
    for bits in (32, 16):
        herded_work(hd.ising_grid(np.zeros((2, 600))), hd.HerdedGibbs("shared", bits=bits), 1)()
    return "".join(lattice_sweeps.inspect_asm().values())


def lines(quick: bool) -> Iterator[str]:
    yield "## Lattices"
    yield ""
    repeats = 3 if quick else 9
    yield f"CPU ns per update, one thread, medians of {repeats} alternating repeats"
    yield ""
    yield "| work | method | ns | over the fastest expert |"
    yield "|---|---|---|---|"
    works = {"Ising 512x512": (512 * 512 * 24, ising_works(512, 24))}
    works["Potts 128x128, K = 8"] = (128 * 128 * 24, potts_works(128, 8, 24))
    if not quick:
        works["Ising 4096x4096"] = (4096 * 4096 * 16, ising_works(4096, 16))
    for work, (updates, samplers) in works.items():
        found = nanoseconds(samplers, updates=updates, repeats=repeats)
        base = min(cost for name, cost in found.items() if name.startswith("expert"))
        for name, cost in found.items():
            yield f"| {work} | {name} | {cost:.2f} | {cost / base:.2f} |"
    yield ""
    yield f"Packed additions in the compiled kernel: {packed_adds()}."
    yield ""
    yield from two_threads(1024 if quick else 4096, repeats)
    yield ""
    yield from rounding(10_000 if quick else 100_000)


def two_threads(size: int, repeats: int) -> Iterator[str]:
    """How much faster two threads are on one lattice, by the clock on the wall."""
    model = hd.ising_grid(np.random.default_rng(0).normal(size=(size, size)), 0.3)
    yield f"Ising {size}x{size} on two threads: wall ns per update, medians of {repeats}"
    yield ""
    yield "| method | one thread | two threads | times as fast | same bits |"
    yield "|---|---|---|---|---|"
    with ThreadPoolExecutor(2) as pool:
        for bits in (32, 16):
            method = hd.HerdedGibbs(weights="shared", bits=bits)
            plan = method.compile(model, cap=8 * 2**30)
            blocks = [np.zeros((16, plan.n_stored), plan.state_type) for _ in range(2)]
            states = [method.init(plan, np.zeros(model.n_variables, int)) for _ in range(2)]
            took: list[list[float]] = [[], []]
            same = True
            for _ in range(repeats + 1):  # the first one compiles
                for threads, state, block in zip((None, pool), states, blocks, strict=True):
                    began = time.perf_counter()
                    method.advance(plan, state, block, threads)
                    took[threads is pool].append(time.perf_counter() - began)
                same = same and bool((blocks[0] == blocks[1]).all())
            one, two = (float(np.median(times[1:])) / blocks[0].size * 1e9 for times in took)
            yield (
                f"| herded, shared, {bits} bits | {one:.2f} | {two:.2f} | {one / two:.2f} "
                f"| {'yes' if same else 'no'} |"
            )


def rounding(sweeps: int) -> Iterator[str]:
    """What weights of 16 bits cost in accuracy, where the truth is known."""
    yield f"Mean error of the marginals of 5 Ising grids 10x10 after {sweeps:,} sweeps"
    yield ""
    yield "| couplings | 32 bits | 16 bits | Gibbs |"
    yield "|---|---|---|---|"
    for coupling in (0.1, 0.3):
        fields = np.random.default_rng(0).normal(size=(5, 10, 10))
        models = [hd.ising_grid(field, coupling) for field in fields]
        truths = [hd.infer(model, hd.Exact()).marginals for model in models]
        methods = [hd.HerdedGibbs("shared", phases="random", bits=bits) for bits in (32, 16)]
        cells = []
        for method in (*methods, hd.Gibbs()):
            found = [hd.infer(m, method, sweeps=sweeps, burn_in=100).marginals for m in models]
            cells.append(f"{np.abs(np.array(found) - truths).mean():.1e}")
        yield f"| {coupling} | " + " | ".join(cells) + " |"
