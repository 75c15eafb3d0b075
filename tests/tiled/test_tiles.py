"""One lattice in tiles: the kernel's bits, its borders, and how a lattice is cut."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.models.constraints.start_states import start_state
from herded.system.numerics.counter_rng import stream_key
from herded.tiled.dask_cluster import TileHost
from herded.tiled.tile import OPPOSITE, Tile, TileJob, TilePosition
from herded.tiled.tiling import Tiling, check_tile
from herded.version import __version__
from tests.conformance.twins.samplers.grid import naive_lattice
from tests.support.example_budget import examples
from tests.tiled.lattice_tiles import SHARED, as_model, lattice

# -- the kernel -----------------------------------------------------------------------------------


@examples(25)
@given(
    shape=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    tile=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    weights=st.sampled_from(["shared", "blanket"]),
    phases=st.sampled_from(["half", "random"]),
    seed=st.integers(0, 2**32),
    hosts=st.integers(1, 3),
    clamped=st.booleans(),
    periodic=st.booleans(),
)
def test_tiles_follow_the_slow_twin(shape, tile, weights, phases, seed, hosts, clamped, periodic):
    """Every state after every sweep, and the conditionals that were seen."""
    if periodic:
        shape = tuple(max(4, side + side % 2) for side in shape)
    uniform = weights == "shared" or min(shape) < 2
    stored = lattice(*shape, seed=seed % 1000, uniform=uniform, clamped=clamped, periodic=periodic)
    method = hd.HerdedGibbs(weights=weights, phases=phases, seed=seed)
    work = TileJob(stored, method, 0, True)
    tiling = Tiling(shape, (2 * tile[0], 2 * tile[1]), periodic)
    count = len(tiling.places)
    shares = [list(range(count))[k::hosts] for k in range(min(hosts, count))]
    crew = [TileHost(__version__, work, tiling, share, None, 1) for share in shares]
    model = as_model(stored)
    start = start_state(model, stream_key(seed, 0, 3))
    samples, tally = naive_lattice(
        model, weights=weights, phases=phases, seed=seed, x0=start, sweeps=4
    )
    ones = np.zeros(shape)
    seen = {}
    for host in crew:
        seen.update(host.edges(1))
    for half in range(8):
        sent = [host.half_sweep(half, seen) for host in crew]
        seen = {place: line for edges in sent for place, line in edges.items()}
    for host in crew:
        for t in host.tiles.values():
            p = t.place
            ones[p.top : p.bottom, p.left : p.right] = t.marginals(1)
            counts = Tile.marginals(_frequencies(t), 1)
            expected = samples.sum(axis=0).reshape(shape)[p.top : p.bottom, p.left : p.right]
            assert np.array_equal(counts, expected)
    assert np.array_equal(ones, tally.reshape(shape) / 2.0**31)


def _frequencies(tile):
    """The same tile, seen by one who asks for counts."""
    other = Tile.__new__(Tile)
    other.__dict__ = {
        **tile.__dict__,
        "work": TileJob(tile.work.lattice, tile.work.method, 0, False),
    }
    return other


def test_a_tile_sees_only_what_it_is_shown():
    """The border is the neighbours' edges: without them another state comes out."""
    work = TileJob(lattice(8, 8), SHARED, 0, False)
    tiles = [Tile(work, TilePosition(0, 0, 4, 8)) for _ in range(2)]
    tiles[1].see(1, {"down": 1 - tiles[1].x[1, -1, 1:-1]})
    for tile in tiles:
        tile.half_sweep(0)
    assert not np.array_equal(tiles[0].x[0, 1:-1, 1:-1], tiles[1].x[0, 1:-1, 1:-1])
    assert np.array_equal(tiles[0].x[0, 1:-2, 1:-1], tiles[1].x[0, 1:-2, 1:-1])


@examples(25)
@given(
    shape=st.tuples(st.integers(2, 9), st.integers(2, 9)),
    corners=st.tuples(*[st.integers(0, 9)] * 4),
    uniform=st.booleans(),
    kind=st.sampled_from(["float32", "float64", "int8"]),
)
def test_a_patch_is_a_part_of_the_whole(shape, corners, uniform, kind):
    stored = lattice(*shape, uniform=uniform, clamped=True)
    field = (9 * stored.field).astype(kind)
    (top, bottom), (left, right) = (
        sorted(min(c, side - 1) for c in pair)
        for pair, side in zip((corners[:2], corners[2:]), shape, strict=True)
    )
    whole = as_model(replace(stored, field=field))
    part = replace(stored, field=field).patch(top, left, bottom + 1, right + 1)
    assert np.array_equal(part.log_unary, whole.log_unary[top : bottom + 1, left : right + 1])
    assert np.array_equal(part.right, whole.right[top : bottom + 1, left:right])
    assert np.array_equal(part.down, whole.down[top:bottom, left : right + 1])
    assert np.array_equal(part.clamped, whole.clamped[top : bottom + 1, left : right + 1])


@examples(25)
@given(
    sides=st.tuples(st.integers(2, 4), st.integers(2, 4)),
    corner=st.tuples(st.integers(-9, 9), st.integers(-9, 9)),
    size=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    uniform=st.booleans(),
)
def test_a_patch_of_a_periodic_lattice_goes_round(sides, corner, size, uniform):
    shape = 2 * sides[0], 2 * sides[1]
    stored = lattice(*shape, uniform=uniform, clamped=True, periodic=True)
    (top, left), (rows, columns), whole = corner, size, as_model(stored)
    part = stored.patch(top, left, top + rows, left + columns)
    r, c = (
        np.arange(top, top + rows)[:, None] % shape[0],
        np.arange(left, left + columns) % shape[1],
    )
    assert not part.periodic
    assert np.array_equal(part.log_unary, whole.log_unary[r, c])
    assert np.array_equal(part.right, whole.right[r, c[:-1]])
    assert np.array_equal(part.down, whole.down[r[:-1], c])
    assert np.array_equal(part.clamped, whole.clamped[r, c])


# -- tilings --------------------------------------------------------------------------------------


@given(
    shape=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    tile=st.tuples(st.integers(1, 25), st.integers(1, 25)),
)
def test_every_site_is_in_one_tile(shape, tile):
    tiling = Tiling(shape, check_tile((2 * tile[0], 2 * tile[1]), shape))
    count, places = np.zeros(shape, int), tiling.places
    for p in places:
        count[p.top : p.bottom, p.left : p.right] += 1
        assert p.top % 2 == 0 and p.left % 2 == 0
    assert (count == 1).all()
    for t, place in enumerate(places):
        for side, n in tiling.neighbours(t).items():
            other = places[n]
            assert tiling.neighbours(n)[OPPOSITE[side]] == t
            a, b = (place, other) if side in ("down", "right") else (other, place)
            if side in ("up", "down"):
                assert a.bottom == b.top and (a.left, a.right) == (b.left, b.right)
            else:
                assert a.right == b.left and (a.top, a.bottom) == (b.top, b.bottom)


@given(bands=st.integers(1, 12), across=st.integers(1, 3))
def test_a_ring_of_tiles(bands, across):
    """Neighbours see each other, and a band's lie in its rank or in the one before or behind."""
    ring = Tiling((2 * bands, 2 * across), (2, 2), periodic=True)
    for t in range(bands * across):
        around = ring.neighbours(t)
        assert set(around) == set(OPPOSITE)
        assert all(ring.neighbours(n)[OPPOSITE[side]] == t for side, n in around.items())
        assert around["down"] == (t + across) % (bands * across)
        assert around["right"] == t - t % across + (t + 1) % across
    for tiling in (Tiling((2 * bands, 2), (2, 2), periodic) for periodic in (False, True)):
        ranks = tiling.ranks
        rank_of = {band: k for k, rank in enumerate(ranks) for band in rank}
        assert sorted(rank_of) == list(range(bands)) and sum(map(len, ranks)) == bands
        for band, k in rank_of.items():
            assert all(abs(rank_of[n] - k) <= 1 for n in tiling.neighbours(band).values())


@pytest.mark.parametrize("tile", [3, 0, (4, 5), (4,), "ab", 2.5, (2, 2, 2), True])
def test_tiles_that_make_no_sense(tile):
    with pytest.raises(hd.MethodError, match=r"expected (tile=|even sides)"):
        check_tile(tile, (10, 10))
