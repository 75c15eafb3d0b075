"""Potts lattices on kernels of their own: bits of the naive twin, layouts, threads, marginals."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.system import threads
from tests.conformance.twins.samplers.potts import naive_potts
from tests.support.example_budget import examples
from tests.support.kernel_runs import advance, assert_equal
from tests.support.strategies import seeds

WEIGHTS = ["pooled", None]


def method_of(weights, **options):
    return hd.Gibbs(**options) if weights is None else hd.HerdedGibbs(weights, **options)


@st.composite
def potts_lattices(draw):
    """Open and periodic grids of 3 to 64 states, with zeros, evidence and unequal couplings."""
    periodic = draw(st.booleans())
    h, w = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    if periodic:
        h, w = 2 * h + 2, 2 * w + 2
    states = draw(st.sampled_from((3, 4, 8, 16, 64)))
    rng = np.random.default_rng(draw(seeds))
    scale = draw(st.sampled_from((0.0, 1.0, 20.0)))
    shapes = ((h, w), (h, w)) if periodic else ((h, w - 1), (h - 1, w))
    pair = tuple(np.clip(scale * rng.normal(size=shape), -75, 75) for shape in shapes)
    unary = draw(st.sampled_from((0.0, 1.0, 300.0))) * rng.normal(size=(h, w, states))
    unary[rng.random(unary.shape) < draw(st.sampled_from((0.0, 0.4)))] = -np.inf
    unary[..., 1] = np.where(np.isneginf(unary[..., 1]), 0.0, unary[..., 1])
    coupling = float(pair[0].ravel()[0]) if pair[0].size and draw(st.booleans()) else pair
    model = hd.potts_grid(unary, coupling, periodic=periodic)
    pixels = np.argwhere(rng.random((h, w)) < draw(st.sampled_from((0.0, 0.3))))
    return model.given({(int(r), int(c)): 1 for r, c in pixels})


@pytest.mark.parametrize("weights", WEIGHTS)
@examples(60)
@given(data=st.data())
def test_potts_lattice_equal_to_the_naive_twin(weights, data):
    model = data.draw(potts_lattices())
    seed, chain = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 1))
    options = {"seed": seed}
    if weights is not None:
        options["phases"] = data.draw(st.sampled_from(("half", "random")))
    method = method_of(weights, **options)
    layout = method.compile(model)
    assert layout.kind == "grid"
    x0 = np.ones(model.n_variables, int)
    twin = naive_potts(model, weights=weights, **options, chain=chain, x0=x0, sweeps=9)
    assert_equal(advance(method, layout, x0, 9, chain, cuts=(2, 2, 3)), twin)


@pytest.mark.parametrize("cuts", [(), (128,), (127, 129, 400, 512)])
def test_bins_split_as_in_the_twin(cuts):
    rng = np.random.default_rng(2)
    model = hd.potts_grid(rng.normal(size=(3, 2, 5)), 0.7)
    method, x0 = hd.HerdedGibbs("pooled", phases="random"), np.zeros(6, int)
    twin = naive_potts(model, weights="pooled", phases="random", x0=x0, sweeps=520)
    assert_equal(advance(method, method.compile(model), x0, 520, cuts=cuts), twin)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("shape", "periodic"), [((10, 520), True), ((40, 150), False)])
def test_bits_do_not_depend_on_threads(shape, periodic, weights, monkeypatch, waves_within):
    monkeypatch.setattr(threads, "MIN_UPDATES_PER_THREAD", 1)
    rng = np.random.default_rng(3)
    model = hd.potts_grid(rng.normal(size=(*shape, 3)), 0.6, periodic=periodic)
    method = method_of(weights)
    layout, x0 = method.compile(model), rng.integers(0, 3, model.n_variables)
    assert layout.n_parallel_parts > 4
    expected = naive_potts(model, weights=weights, x0=x0, sweeps=2)
    for count, near in ((1, 2**14), (1, 2**30), (3, 2**18)):
        waves_within(near)
        with ThreadPoolExecutor(count) as pool:
            assert_equal(advance(method, layout, x0, 2, pool=pool), expected)


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("method", [hd.HerdedGibbs("pooled"), hd.Gibbs()], ids=str)
@pytest.mark.parametrize("rao_blackwell", [False, True])
def test_marginals_approach_the_exact_ones(periodic, method, rao_blackwell):
    rng = np.random.default_rng(5)
    model = hd.potts_grid(rng.normal(size=(4, 4, 3)), 0.3, periodic=periodic)
    exact = hd.infer(model, hd.Exact()).marginals
    keep = [hd.Marginals(rao_blackwell=rao_blackwell)]
    result = hd.infer(model, method, sweeps=20_000, keep=keep)
    assert np.abs(result.marginals - exact).mean() < 0.005


@pytest.mark.parametrize(
    ("reason", "model", "method"),
    [
        ("3 to 64 states", hd.potts_grid(np.zeros((3, 3, 65))), hd.Gibbs()),
        ("more than two states", hd.potts_grid(np.zeros((3, 3, 3))), hd.HerdedGibbs("shared")),
        ("couplings beyond 75", hd.potts_grid(np.zeros((3, 3, 3)), 80.0), hd.Gibbs()),
        ("odd side", hd.potts_grid(np.zeros((3, 4, 3)), periodic=True), hd.Gibbs()),
        ("slack", hd.potts_grid(np.zeros((3, 3, 3))), hd.HerdedGibbs("pooled", slack=1.0)),
    ],
)
def test_no_lattice_layout_for(reason, model, method):
    """These go by other layouts, which run them as before."""
    assert method.compile(model).kind != "grid"
    with pytest.raises(hd.MethodError, match=reason):
        method.compile(model, kind="grid")
