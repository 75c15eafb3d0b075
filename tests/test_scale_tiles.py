"""One lattice in tiles: the kernel's bits, its borders, and how a lattice is cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.lattice import naive_lattice

import herded as hd
from herded.plan.support import start_state
from herded.scale.cluster import TileHost
from herded.scale.tile import OPPOSITE, Place, Tile, Work
from herded.scale.tiling import Tiling, check_tile
from herded.stream import stream_key
from herded.version import __version__
from tests.tiles import SHARED, lattice

# -- the kernel -----------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    tile=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    weights=st.sampled_from(["shared", "blanket"]),
    phases=st.sampled_from(["half", "random"]),
    bits=st.sampled_from([16, 32]),
    seed=st.integers(0, 2**32),
    hosts=st.integers(1, 3),
)
def test_tiles_follow_the_slow_twin(shape, tile, weights, phases, bits, seed, hosts):
    """Every state after every sweep, and the conditionals that were seen."""
    stored = lattice(*shape, seed=seed % 1000, uniform=weights == "shared" or min(shape) < 2)
    method = hd.HerdedGibbs(weights=weights, phases=phases, bits=bits, seed=seed)
    work = Work(stored, method, 0, True)
    tiling = Tiling(shape, (2 * tile[0], 2 * tile[1]))
    count = len(tiling.places)
    shares = [list(range(count))[k::hosts] for k in range(min(hosts, count))]
    crew = [TileHost(__version__, work, tiling, share, None, 1) for share in shares]
    model = hd.ising_grid(stored.field, stored.coupling)
    start = start_state(model, stream_key(seed, 0, 3))
    samples, tally = naive_lattice(
        model, weights=weights, phases=phases, bits=bits, seed=seed, x0=start, sweeps=4
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
    other.__dict__ = {**tile.__dict__, "work": Work(tile.work.lattice, tile.work.method, 0, False)}
    return other


def test_a_tile_sees_only_what_it_is_shown():
    """The border is the neighbours' edges: without them another state comes out."""
    work = Work(lattice(8, 8), SHARED, 0, False)
    tiles = [Tile(work, Place(0, 0, 4, 8)) for _ in range(2)]
    tiles[1].see(1, {"down": 1 - tiles[1].x[1, -1, 1:-1]})
    for tile in tiles:
        tile.half_sweep(0)
    assert not np.array_equal(tiles[0].x[0, 1:-1, 1:-1], tiles[1].x[0, 1:-1, 1:-1])
    assert np.array_equal(tiles[0].x[0, 1:-2, 1:-1], tiles[1].x[0, 1:-2, 1:-1])


@settings(max_examples=25, deadline=None)
@given(
    shape=st.tuples(st.integers(2, 9), st.integers(2, 9)),
    corners=st.tuples(*[st.integers(0, 9)] * 4),
    uniform=st.booleans(),
    kind=st.sampled_from(["float32", "float64", "int8"]),
)
def test_a_patch_is_a_part_of_the_whole(shape, corners, uniform, kind):
    stored = lattice(*shape, uniform=uniform)
    field = (9 * stored.field).astype(kind)
    (top, bottom), (left, right) = (
        sorted(min(c, side - 1) for c in pair)
        for pair, side in zip((corners[:2], corners[2:]), shape, strict=True)
    )
    whole = hd.ising_grid(field, stored.coupling)
    part = hd.StoredLattice(field, stored.coupling).patch(top, left, bottom + 1, right + 1)
    assert np.array_equal(part.log_unary, whole.log_unary[top : bottom + 1, left : right + 1])
    assert np.array_equal(part.right, whole.right[top : bottom + 1, left:right])
    assert np.array_equal(part.down, whole.down[top:bottom, left : right + 1])


# -- tilings --------------------------------------------------------------------------------------


@settings(deadline=None)
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


@pytest.mark.parametrize("tile", [3, 0, (4, 5), (4,), "ab", 2.5, (2, 2, 2), True])
def test_tiles_that_make_no_sense(tile):
    with pytest.raises(hd.MethodError, match=r"expected (tile=|even sides)"):
        check_tile(tile, (10, 10))
