"""The samplers that the benchmarks' expert wrote by hand: each has its slow twin here."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.peers.handwritten import grid, grid_3d, potts, spin_graph
from benchmarks.peers.protocol import AVERAGES, LAST, VISITS
from benchmarks.speed import grids_3d
from benchmarks.support.workloads import IsingGrid, PottsGrid, random_graph, uneven_grid
from tests.support.example_budget import examples

FULL = 2**64 - 1
seeds = st.integers(0, 2**32 - 1)
sides = st.integers(1, 7)
one = np.float32(1)


def xorshift64(draw):
    draw ^= draw << 13 & FULL
    draw ^= draw >> 7
    return draw ^ (draw << 17 & FULL)


def xorshift32(draw):
    draw ^= draw << 13 & 0xFFFFFFFF
    draw ^= draw >> 17
    return draw ^ (draw << 5 & 0xFFFFFFFF)


def small_grid(height, width, seed):
    rng = np.random.default_rng(seed)
    return IsingGrid("small", rng.normal(size=(height, width)), float(rng.normal()))


def threshold(work, x, r, c):
    """P(x = 1 | neighbours) * 2^32, from the energy."""
    height, width = x.shape
    around = [(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)]
    spins = [2 * int(x[a, b]) - 1 for a, b in around if 0 <= a < height and 0 <= b < width]
    local = work.field[r, c] + work.coupling * sum(spins)
    return int(min(2.0**32 / (1 + np.exp(-2 * local)), 2.0**32 - 1))


@examples(20)
@given(sides, sides, seeds)
def test_raster(height, width, seed):
    work, sweeps = small_grid(height, width, seed), 5
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (height, width)).astype(np.uint8)
    draw = int(rng.integers(1, 2**63))
    visits, added = np.zeros(x.shape, int), np.zeros(x.shape, int)
    for _ in range(sweeps):
        for r in range(height):
            for c in range(width):
                draw = xorshift64(draw)
                p = threshold(work, x, r, c)
                x[r, c] = draw >> 32 < p
                visits[r, c] += x[r, c]
                added[r, c] += p
    sampler = grid.Raster()
    found = {keep: sampler.prepare(work, keep)(sweeps, seed) for keep in (LAST, VISITS, AVERAGES)}
    assert np.array_equal(found[LAST][:, 1], x.ravel())
    assert np.array_equal(found[VISITS][:, 1], visits.ravel() / sweeps)
    assert np.array_equal(found[AVERAGES][:, 1], added.ravel() / (sweeps * 2.0**32))


@examples(20)
@given(sides, sides, seeds)
def test_checkerboard(height, width, seed):
    work, sweeps = small_grid(height, width, seed), 5
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (height, width), np.uint8)
    draws = rng.integers(1, 2**32, (width + 1) // 2, np.uint32).tolist()
    visits = np.zeros(x.shape, int)
    for _ in range(sweeps):
        for colour in (0, 1):
            for r in range(height):
                for j in range(len(draws)):
                    c = 2 * j + (r + colour) % 2
                    draws[j] = xorshift32(draws[j])
                    if c < width:
                        x[r, c] = draws[j] < threshold(work, x, r, c)
        visits += x
    sampler = grid.Checkerboard()
    assert np.array_equal(sampler.prepare(work, LAST)(sweeps, seed)[:, 1], x.ravel())
    assert np.array_equal(
        sampler.prepare(work, VISITS)(sweeps, seed)[:, 1], visits.ravel() / sweeps
    )


@pytest.mark.parametrize("sampler", [spin_graph.Sums(), spin_graph.Flips()])
@examples(15)
@given(n=st.integers(2, 12), degree=st.integers(1, 4), seed=seeds)
def test_graphs(sampler, n, degree, seed):
    graph, sweeps = random_graph(n, min(degree, n - 1), seed), 5
    coupling = np.zeros((n, n), np.float32)
    for (a, b), value in zip(graph.edges, graph.coupling, strict=True):
        coupling[a, b] = coupling[b, a] = value
    field = graph.field.astype(np.float32)
    rng = np.random.default_rng(seed)
    spins = rng.choice(np.array([-1, 1], np.float32), n)
    draw = int(rng.integers(1, 2**63))

    def summed(i):
        local = field[i]
        for j in np.flatnonzero(coupling[i]):
            local = np.float32(local + coupling[i, j] * spins[j])
        return local

    local, visits, added = [summed(i) for i in range(n)], np.zeros(n), np.zeros(n)
    for _ in range(sweeps):
        for i in range(n):
            draw = xorshift64(draw)
            here = local[i] if sampler.follow_flips else summed(i)
            spin = one if here > spin_graph.HALF_LOGITS[draw >> 48] else -one
            if spin != spins[i]:
                spins[i] = spin
                for j in np.flatnonzero(coupling[i]):
                    local[j] = np.float32(local[j] + np.float32(2) * spin * coupling[i, j])
            visits[i] += spin > 0
            added[i] += 1 / (1 + math.exp(-2 * float(here)))
    found = {keep: sampler.prepare(graph, keep)(sweeps, seed) for keep in (LAST, VISITS, AVERAGES)}
    assert np.array_equal(found[LAST][:, 1], spins > 0)
    assert np.array_equal(found[VISITS][:, 1], visits / sweeps)
    assert np.allclose(found[AVERAGES][:, 1], added / sweeps, rtol=1e-12, atol=0)


@examples(20)
@given(sides, sides, st.integers(2, 5), seeds)
def test_potts(height, width, states, seed):
    rng = np.random.default_rng(seed)
    work = PottsGrid("small", rng.normal(size=(height, width, states)), float(rng.normal()))
    sweeps, gain = 5, np.float32(np.exp(work.coupling))
    unary = np.exp(work.log_unary - work.log_unary.max(axis=2, keepdims=True)).astype(np.float32)
    rng = np.random.default_rng(seed)
    x = rng.integers(0, states, (height, width))
    draw = int(rng.integers(1, 2**63))
    visits = np.zeros(unary.shape)
    for _ in range(sweeps):
        for r in range(height):
            for c in range(width):
                weights = unary[r, c].copy()
                for a, b in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
                    if 0 <= a < height and 0 <= b < width:
                        weights[x[a, b]] *= gain
                up_to = np.cumsum(weights, dtype=np.float32)
                draw = xorshift64(draw)
                goal = up_to[-1] * np.float32(draw >> 40) * np.float32(2.0**-24)
                x[r, c] = int((up_to[:-1] <= goal).sum())
                visits[r, c, x[r, c]] += 1
    sampler = potts.Potts()
    last = sampler.prepare(work, LAST)(sweeps, seed)
    assert np.array_equal(last.argmax(axis=1), x.ravel()) and (last.sum(axis=1) == 1).all()
    found = sampler.prepare(work, VISITS)(sweeps, seed)
    assert np.array_equal(found, visits.reshape(-1, states) / sweeps)


def test_what_they_are_not_for_they_say():
    uneven = uneven_grid(4, 0.5)
    assert "one coupling" in grid.Raster().obstacle(uneven, LAST)
    assert "visits" in grid.Checkerboard().obstacle(small_grid(3, 3, 0), AVERAGES)
    assert "Potts" in potts.Potts().obstacle(uneven, LAST)
    assert "spins" in spin_graph.Sums().obstacle(PottsGrid("", np.zeros((2, 2, 3)), 1.0), LAST)


def test_the_benchmark_of_cubes():
    """Its samplers run, and what they find is what is known."""
    for work in grids_3d.works(4, 2).values():
        work()
    assert grids_3d.series_energy(0.01) == pytest.approx(-0.03, abs=2e-5)
    _, magnetisation = grids_3d.averages(8, 0.3, 80)
    assert magnetisation.mean() == pytest.approx(grids_3d.known_magnetisation(0.3), abs=5e-3)


@examples(10)
@given(st.sampled_from([(2, 2, 2), (4, 2, 6), (2, 4, 4)]), seeds)
def test_cubes(shape, seed):
    """Both ways, with the draws of each: every spin of one colour, then every one of the other."""
    rng = np.random.default_rng(seed)
    field, coupling = rng.normal(size=shape), float(rng.normal())
    table = grid_3d.cube_thresholds(field, coupling)
    first = rng.integers(0, 2, shape, np.uint8)
    draws = rng.integers(1, 2**32, shape[2] // 2, np.uint32)
    draw, lanes = int(rng.integers(1, 2**63)), draws.tolist()
    packed = grid_3d.pack_cube(first).astype(np.uint32)
    halves = np.concatenate([packed[..., -1:], packed, packed[..., :1]], axis=3)
    by_row = first.copy()
    grid_3d.cube_raster(by_row, table, np.uint64(draw), 3)
    planes = np.ascontiguousarray(grid_3d.pack_cube(table).swapaxes(3, 4))
    grid_3d.cube_checkerboard(halves, planes, draws, 3)
    one, two = first.copy(), first.copy()
    for _ in range(3):
        for colour in (0, 1):
            for z, y, c in np.ndindex(*shape):
                if (z + y + c) % 2 != colour:
                    continue
                draw = xorshift64(draw)
                one[z, y, c] = draw >> 32 < cube_threshold(one, field, coupling, z, y, c)
                lanes[c // 2] = xorshift32(lanes[c // 2])
                two[z, y, c] = lanes[c // 2] < cube_threshold(two, field, coupling, z, y, c)
    assert np.array_equal(by_row, one)
    assert np.array_equal(halves[..., 1:-1], grid_3d.pack_cube(two))


def cube_threshold(x, field, coupling, z, y, c):
    """P(x = 1 | neighbours) * 2^32, from the energy; borders are joined."""
    spins = 0
    for axis, at in enumerate((z, y, c)):
        for step in (-1, 1):
            place = [z, y, c]
            place[axis] = (at + step) % x.shape[axis]
            spins += 2 * int(x[tuple(place)]) - 1
    local = field[z, y, c] + coupling * spins
    return int(min(2.0**32 / (1 + np.exp(-2 * local)), 2.0**32 - 1))
