"""Lattices of any dimension: one model with its factor graph, on every sampler."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.cli.main import main
from herded.errors import ModelError
from tests.conformance.twins.enumerated_joint import naive_joint, naive_viterbi
from tests.support.example_budget import examples
from tests.support.strategies import seeds

quick = examples(40)
SHAPES = [
    (1,),
    (2,),
    (5,),
    (1, 4),
    (3, 3),
    (1, 1, 3),
    (2, 2, 2),
    (3, 1, 3),
    (3, 2, 2),
    (1, 2, 3, 2),
]
CUBE = hd.ising_grid(np.linspace(-0.4, 0.6, 8).reshape(2, 2, 2), 0.3)
SAMPLERS = {
    "Gibbs": (hd.Gibbs(), 20_000),
    "Gibbs, factor": (hd.Gibbs(scan="random"), 20_000),
    "herd": (hd.Gibbs(herd=32), 2_000),
    "kept herd": (hd.HerdedGibbs(herd=64), 1_000),
    "full": (hd.HerdedGibbs("full"), 20_000),
}


@st.composite
def grids(draw, shapes=tuple(SHAPES), evidence=True):
    """Ising and Potts lattices: numbers, one for each axis, or arrays as couplings; zeros."""
    shape = draw(st.sampled_from(shapes))
    rng = np.random.default_rng(draw(seeds))
    joined = tuple(bool(n > 2 and draw(st.booleans())) for n in reversed(shape))
    lengths = [
        tuple(n - (a == axis and not wraps) for a, n in enumerate(shape))
        for axis, wraps in zip(reversed(range(len(shape))), joined, strict=True)
    ]
    numbers = tuple(rng.normal(size=len(shape)).tolist())
    arrays = tuple(rng.normal(size=length) for length in lengths)
    coupling = draw(st.sampled_from((numbers[0], numbers, arrays)))
    periodic = joined[0] if len(set(joined)) == 1 and draw(st.booleans()) else joined
    if draw(st.booleans()):
        model = hd.ising_grid(rng.normal(size=shape), coupling, periodic=periodic)
    else:
        unary = rng.normal(size=(*shape, draw(st.integers(1, 3))))
        unary[rng.random(shape) < draw(st.sampled_from((0.0, 0.3))), 1:] = -np.inf
        model = hd.potts_grid(unary, coupling, periodic=periodic)
    if not evidence:
        return model
    known = [tuple(map(int, place)) for place in np.argwhere(rng.random(shape) < 0.2)]
    return model.given({place: int(model.log_unary[place].argmax()) for place in known})


def edges_of(model):
    """Every pair of neighbours once, with its coupling, by looking at all pairs of places."""
    places = list(itertools.product(*map(range, model.shape)))
    for n, (along, joined) in enumerate(
        zip(model.couplings, model.is_periodic_by_axis, strict=True)
    ):
        axis = len(model.shape) - 1 - n
        for a, b in itertools.product(places, places):
            step = (b[axis] - a[axis]) % model.shape[axis] if joined else b[axis] - a[axis]
            if step == 1 and all(a[c] == b[c] for c in range(len(a)) if c != axis):
                yield a, b, along[a]


@quick
@given(grids(evidence=False), seeds)
def test_scores_are_sums_over_places_and_pairs(model, seed):
    x = np.random.default_rng(seed).integers(0, model.log_unary.shape[-1], model.shape)
    pairs = list(edges_of(model))
    assert sum(along.size for along in model.couplings) == len(pairs)
    terms = [model.log_unary[place][x[place]] for place in np.ndindex(*model.shape)]
    terms += [j * (1.0 if x[a] == x[b] else model.unlike) for a, b, j in pairs]
    np.testing.assert_allclose(model.log_score(x), math.fsum(terms), atol=1e-9)


@quick
@given(grids(), seeds)
def test_one_model_with_its_factor_graph(model, seed):
    graph, rng = model.as_factor_graph(), np.random.default_rng(seed)
    assert graph.shape == model.shape and graph.n_variables == model.n_variables
    states = rng.integers(0, model.log_unary.shape[-1], (4, *model.shape))
    np.testing.assert_allclose(model.log_score(states), graph.log_score(states), atol=1e-9)
    for i in range(model.n_variables):
        assert model.neighbours(i).tolist() == graph.neighbours(i).tolist()
    assert (graph.evidence == model.evidence).all()


@quick
@given(grids(shapes=[s for s in SHAPES if math.prod(s) <= 8]))
def test_exact_answers_are_enumerated_ones(model):
    joint = naive_joint(model)
    result = hd.infer(model, hd.Exact())
    for i, found in enumerate(result.marginals.reshape(model.n_variables, -1)):
        others = tuple(j for j in range(joint.ndim) if j != i)
        np.testing.assert_allclose(found, joint.sum(axis=others), atol=1e-9)
    assert result.marginals.shape == model.log_unary.shape
    assert result.best.state.shape == model.shape
    np.testing.assert_allclose(result.best.log_score, naive_viterbi(model)[1], atol=1e-9)


@quick
@given(grids(), st.sampled_from([".npz", ".safetensors"]))
def test_saved_lattices_come_back(tmp_path_factory, model, suffix):
    if suffix == ".safetensors":
        pytest.importorskip("safetensors", reason="safetensors is not installed")
    path = tmp_path_factory.mktemp("saved") / f"model{suffix}"
    hd.save_model(model, path)
    found = hd.load_model(path)
    assert (
        found.content_hash == model.content_hash
        and found.is_periodic_by_axis == model.is_periodic_by_axis
    )
    assert (found.shape, found.unlike) == (model.shape, model.unlike)


def test_hashes_tell_axes_apart():
    """Shape, couplings of each axis, and which axes are joined."""
    field = np.zeros((3, 4, 5))
    models = [
        hd.ising_grid(field, 0.3),
        hd.ising_grid(field, 0.3, periodic=True),
        hd.ising_grid(field, 0.3, periodic=(True, False, False)),
        hd.ising_grid(field, 0.3, periodic=(False, True, False)),
        hd.ising_grid(field, (0.3, 0.3, 0.2)),
        hd.ising_grid(field, (0.2, 0.3, 0.3)),
        hd.ising_grid(field.reshape(5, 4, 3), 0.3),
        hd.ising_grid(field.ravel(), 0.3),
    ]
    assert len({model.content_hash for model in models}) == len(models)
    again = hd.ising_grid(field, (0.3, 0.3, 0.3), periodic=(False, False, False))
    assert again.content_hash == models[0].content_hash


def test_a_ring_and_a_chain():
    """One dimension: couplings may come as the array alone."""
    ring = hd.ising_grid(np.zeros(7), np.arange(7.0), periodic=True)
    assert ring.neighbours(0).tolist() == [1, 6] and ring.log_score([1] * 7) == 21.0
    chain = hd.ising_grid(np.zeros(3), [0.5, 0.25])
    assert chain.log_score([1, 1, 0]) == 0.25
    assert chain.given({(1,): 1}).evidence.tolist() == [-1, 1, -1]
    picture = hd.ising_grid(np.zeros((1, 3)), (np.array([[0.5, 0.25]]), np.zeros((0, 3))))
    assert chain.as_factor_graph().n_factors == picture.as_factor_graph().n_factors


def test_denoising_a_volume():
    noisy = np.random.default_rng(0).normal(size=(2, 3, 2))
    model = hd.denoising_model(noisy, sigma=2.0, coupling=0.2)
    np.testing.assert_allclose(model.log_unary[..., 1], noisy / 4)
    assert [along.shape for along in model.couplings] == [(2, 3, 1), (2, 2, 2), (1, 3, 2)]


Z3 = np.zeros((3, 4, 5))


@pytest.mark.parametrize(
    ("match", "options"),
    [
        ("a tuple of 3 arrays, one along each axis, the last axis first", {"coupling": (0.1, 0.2)}),
        ("a tuple of 3 arrays", {"coupling": np.zeros(3)}),
        (r"along axis 2 of shape \(3, 4, 4\), got \(3, 4, 5\)", {"coupling": (Z3, Z3, Z3)}),
        (r"along axis 0 of shape \(2, 4, 5\), got \(2,\)", {"coupling": (0.1, 0.1, [1, 2])}),
        ("finite couplings along axis 1", {"coupling": (0.1, np.nan, 0.1)}),
        ("numbers in the coupling", {"coupling": (0.1, "a", 0.1)}),
        ("periodic as True or False, or as 3 values", {"periodic": (True, True)}),
        ("periodic as True or False", {"periodic": "yes"}),
        ("periodic as True or False", {"periodic": (True, 2, False)}),
    ],
)
def test_refusals(match, options):
    with pytest.raises(ModelError, match=match):
        hd.ising_grid(Z3, **options)


def test_short_axes_are_not_joined():
    """Of one or two places, in any dimension, unless their ends stay free."""
    for shape in ((2,), (2, 4), (4, 4, 1), (3, 3, 3, 2)):
        with pytest.raises(ModelError, match="at least 3 pixels along a periodic axis"):
            hd.ising_grid(np.zeros(shape), periodic=True)
    assert (
        hd.ising_grid(np.zeros((4, 4, 1)), periodic=(False, True, True)).is_periodic_by_axis[1:]
        == (True,) * 2
    )
    with pytest.raises(ModelError, match=r"or a pixel of a \(2, 2, 2\) picture"):
        CUBE.given({(0, 0): 1})
    with pytest.raises(ModelError, match=r"states of 8 variables"):
        CUBE.log_score(np.zeros((2, 2)))


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("known", [False, True])
def test_samplers_find_the_joint(name, known):
    """Total variation on eight variables, at most that of so many draws and a half of it again."""
    method, sweeps = SAMPLERS[name]
    model = CUBE.given({(1, 0, 1): 1}) if known else CUBE
    pi = naive_joint(model).ravel()
    result = hd.infer(model, method, sweeps=sweeps, burn_in=50, keep=[hd.Joint()])
    drawn = 0.5 * np.sqrt(2 / np.pi * pi * (1 - pi) / 20_000).sum()
    assert 0.5 * np.abs(result.joint.ravel() - pi).sum() < 1.5 * drawn


@pytest.mark.parametrize("method", [hd.Gibbs(), hd.Gibbs(herd=8), hd.HerdedGibbs(), hd.MeanField()])
@pytest.mark.parametrize("states", [2, 3])
def test_results_have_the_shape_of_the_lattice(method, states):
    rng = np.random.default_rng(1)
    model = hd.potts_grid(rng.normal(size=(2, 3, 4, states)), 0.2).given({(1, 2, 3): 0})
    sampler = not isinstance(method, hd.MeanField)
    options = {}
    if sampler:
        keep = [hd.Marginals(), hd.Samples(), hd.BestState()]
        options = {"sweeps": 5, "chains": 2, "keep": keep, "start": np.zeros((2, 3, 4), int)}
    result = hd.infer(model, method, **options)
    assert result.marginals.shape == (2, 3, 4, states)
    np.testing.assert_allclose(result.marginals.sum(axis=-1), 1.0)
    assert result.marginals[1, 2, 3, 0] == 1.0
    if sampler:
        assert result.best.state.shape == (2, 3, 4)
        assert result.best.log_score == pytest.approx(model.log_score(result.best.state))
        chains = 2 * getattr(method, "herd", 1)
        assert result.samples.shape == (chains, 5, 24)
        assert (result.samples.reshape(chains, 5, 2, 3, 4)[..., 1, 2, 3] == 0).all()


def test_exports():
    pytest.importorskip("pandas", reason="tables are pandas's")
    pytest.importorskip("xarray", reason="trees are xarray's")
    keep = [hd.Marginals(), hd.Samples(), hd.BestState()]
    result = hd.infer(CUBE, hd.Gibbs(), sweeps=20, chains=2, keep=keep)
    axes = ["axis_0", "axis_1", "axis_2"]
    table = result.to_pandas().set_index([*axes, "state"])
    assert table.loc[(1, 0, 1, 1), "probability"] == result.marginals[1, 0, 1, 1]
    tree = result.to_xarray()
    assert tree["posterior/x"].shape == (2, 20, 2, 2, 2)
    assert tree["marginals/marginal"].dims == (*axes, "state")
    assert (tree["best/x"].values == result.best.state).all()


def test_many_of_them_and_the_command(tmp_path, capsys):
    models = [CUBE, hd.ising_grid(np.zeros(4), 0.3, periodic=True)]
    found = hd.infer_many(models, hd.Exact())
    assert [one.marginals.shape for one in found] == [(2, 2, 2, 2), (4, 2)]
    hd.save_model(CUBE, tmp_path / "cube.npz")
    assert main(["info", str(tmp_path / "cube.npz")]) == 0
    assert "8 of 1 variable, 12 of 2 variables" in capsys.readouterr().out


def test_tiles_refuse_other_dimensions(tmp_path):
    np.save(tmp_path / "field.npy", np.zeros((4, 4, 4)))
    with pytest.raises(
        ModelError, match=r"a field of shape \(H, W\), got one of shape \(4, 4, 4\)"
    ):
        hd.StoredLattice(tmp_path / "field.npy")
