"""A sampler outside the package, through public names only: what infer offers, it has."""

import ast
import importlib.util
from pathlib import Path

import numpy as np
import pytest

import herded as hd

PATH = Path(__file__).parents[2] / "examples" / "tree_sampler.py"
SPEC = importlib.util.spec_from_file_location("tree_sampler", PATH)
own = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(own)


def ring(n=7, states=3, seed=0):
    """A loop with a chord and a known variable."""
    rng = np.random.default_rng(seed)
    edges = [(i, (i + 1) % n) for i in range(n)] + [(0, n // 2)]
    model = hd.pairwise_model(
        rng.normal(size=(n, states)), edges, 1.5 * rng.normal(size=(n + 1, states, states))
    )
    return model.given({1: states - 1})


def test_it_imports_public_names_only():
    names = {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(ast.parse(PATH.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    used = {name[3:] for name in names if name.startswith("hd.")}
    assert used <= set(hd.__all__) and {"Layout", "Sampler", "infer"} <= used
    imports = [node for node in ast.walk(ast.parse(PATH.read_text())) if _imports(node)]
    assert {_imports(node) for node in imports} == {"dataclasses", "numpy", "herded"}


def _imports(node):
    if isinstance(node, ast.ImportFrom):
        return node.module
    return node.names[0].name if isinstance(node, ast.Import) else ""


def test_it_is_a_sampler_and_nothing_else():
    assert isinstance(own.TreeGibbs(), hd.Sampler)
    assert not isinstance(own.TreeGibbs(), hd.Solver)


def test_every_forest_is_one_and_they_cover_what_is_free():
    model = hd.ising_grid(np.zeros((4, 5)), 0.3).given({3: 1}).as_factor_graph()
    _, near, forests = own.TreeGibbs().compile(model).arrays
    members = [i for forest in forests for i in forest]
    assert sorted(members) == [i for i in range(20) if i != 3]
    for forest in forests:
        edges = sum(j in forest for i in forest for j in near[i]) // 2
        assert edges == sum(parent is not None for parent in forest.values())  # no loop


def test_the_joint_is_the_model():
    model = ring(5, 2)
    exact = hd.infer(model, hd.Exact()).joint
    keep = [hd.Joint(), hd.Marginals()]
    found = hd.infer(model, own.TreeGibbs(seed=3), sweeps=4000, burn_in=10, keep=keep)
    assert abs(found.joint - exact).sum() / 2 < 0.03
    assert abs(found.marginals - hd.infer(model, hd.Exact()).marginals).max() < 0.03


def test_a_tree_is_drawn_at_once():
    """Every sample of a chain of strong couplings is independent of the one before."""
    model = hd.chain_model(np.zeros((6, 2)), [[6.0, 0.0], [0.0, 6.0]])
    x = hd.infer(model, own.TreeGibbs(), sweeps=2000, keep=[hd.Samples()]).samples[0, :, 0]
    assert abs(np.mean(x[1:] == x[:-1]) - 0.5) < 0.05


def test_best_state_samples_and_several_chains():
    model = ring()
    keep = [hd.BestState(), hd.Samples(every=5), hd.Marginals(), hd.PairMarginals()]
    result = hd.infer(model, own.TreeGibbs(), sweeps=200, chains=3, keep=keep)
    assert result.best.log_score == pytest.approx(hd.infer(model, hd.Exact()).best.log_score)
    assert result.samples.shape == (3, 40, 7) and (result.samples[:, :, 1] == 2).all()
    assert (result.samples[0] != result.samples[1]).any()
    assert result.standard_error.max() < 0.2


def test_it_resumes_to_the_same_bits(tmp_path):
    model, method, file = ring(), own.TreeGibbs(seed=1), tmp_path / "run.ckpt"
    options = {"chains": 2, "burn_in": 3, "keep": [hd.Marginals(), hd.Samples()]}
    whole = hd.infer(model, method, sweeps=60, **options)
    hd.infer(model, method, sweeps=25, checkpoint=file, **options)
    resumed = hd.infer(model, method, sweeps=60, checkpoint=file, **options)
    assert np.array_equal(whole.samples, resumed.samples)
    part = hd.infer(model, method, sweeps=25, **options)
    more = hd.infer(model, method, sweeps=35, start=part.state, **{**options, "burn_in": 0})
    assert np.array_equal(whole.samples[:, 25:], more.samples)


def test_what_it_cannot_do_is_said():
    with pytest.raises(hd.MethodError, match="without rao_blackwell for TreeGibbs"):
        hd.infer(ring(), own.TreeGibbs(), keep=[hd.Marginals(rao_blackwell=True)])
    three = hd.FactorGraph([2, 2, 2], [((0, 1, 2), np.zeros((2, 2, 2)))])
    with pytest.raises(hd.MethodError, match="at most two variables, got 3"):
        hd.infer(three, own.TreeGibbs())
