"""Layouts of small models are kept with them, and only those."""

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import herded as hd
from herded.methods.layout_cache import MAX_CACHED_LAYOUT_BYTES, MAX_CACHED_LAYOUTS, cached_layout


def pair():
    return hd.FactorGraph([2, 2], [((0, 1), [[0.3, -0.1], [0.2, 0.5]])])


def test_a_layout_is_made_once():
    model = pair()
    first = cached_layout(model, hd.HerdedGibbs(), None, None)
    assert cached_layout(model, hd.HerdedGibbs(), None, None) is first
    others = [
        cached_layout(model, hd.HerdedGibbs(weights="pooled"), None, None),
        cached_layout(model, hd.HerdedGibbs(), "table", None),
        cached_layout(model, hd.HerdedGibbs(), None, 1e9),
        cached_layout(pair(), hd.HerdedGibbs(), None, None),
        cached_layout(model.given({0: 1}), hd.HerdedGibbs(), None, None),
    ]
    assert all(other is not first for other in others)
    assert len({id(other) for other in others}) == len(others)


def test_infer_uses_it_and_gives_the_same_bits(monkeypatch):
    model, compiled = pair(), []
    compile_once = hd.HerdedGibbs.compile
    monkeypatch.setattr(
        hd.HerdedGibbs,
        "compile",
        lambda self, *args, **options: (
            compiled.append(self) or compile_once(self, *args, **options)
        ),
    )
    first, second = (
        hd.infer(model, hd.HerdedGibbs(), sweeps=50, keep=[hd.Samples()]).samples for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    assert len(compiled) == 1


def test_large_plans_are_let_go():
    model = hd.FactorGraph([2] * 17, [(range(17), np.zeros([2] * 17))])
    first = cached_layout(model, hd.HerdedGibbs(), None, None)
    assert first.arrays.p.nbytes > MAX_CACHED_LAYOUT_BYTES
    assert cached_layout(model, hd.HerdedGibbs(), None, None) is not first
    for solver in (hd.MeanField(), hd.BeliefPropagation()):
        first = cached_layout(model, solver, None, None)
        assert (
            first.bytes > MAX_CACHED_LAYOUT_BYTES
            and cached_layout(model, solver, None, None) is not first
        )


def test_few_plans_are_kept():
    model = pair()
    for limit in range(10**6, 10**6 + 3 * MAX_CACHED_LAYOUTS):
        cached_layout(model, hd.Gibbs(), None, limit)
        assert len(model._layouts) <= MAX_CACHED_LAYOUTS


@pytest.mark.parametrize("states", [2, 3])
def test_other_seeds_and_sizes_of_herds_share_what_is_the_same(states):
    model = hd.pairwise_model(np.zeros((3, states)), [[0, 1], [1, 2]], np.eye(states))
    first = cached_layout(model, hd.Gibbs(herd=8), "table", None)
    other = cached_layout(model, hd.Gibbs(herd=80, seed=3), "table", None)
    assert other.arrays is first.arrays and other.members == 80 and other.method.seed == 3
    made = hd.Gibbs(herd=80, seed=3).compile(model, kind="table")
    assert made.hash == other.hash and made.chain_memory <= other.chain_memory
    runs = [
        hd.infer(model, made.method, layout=layout, sweeps=9, keep=[hd.Samples()]).samples
        for layout in (made, other)
    ]
    np.testing.assert_array_equal(*runs)
    assert cached_layout(model, hd.Gibbs(), None, None).members == 1


@pytest.mark.parametrize("kind", ["table", "pairs", "factor"])
def test_arrays_of_herds_that_know_their_size_are_not_shared(kind):
    rng = np.random.default_rng(1)
    edges = [[0, 1], [1, 2], [0, 2]]
    model = hd.pairwise_model(rng.normal(size=(3, 3)), edges, rng.normal(size=(3, 3, 3)))
    cached_layout(model, hd.Gibbs(herd=8), kind, None)
    method = hd.Gibbs(herd=24, seed=3)
    layouts = cached_layout(model, method, kind, None), method.compile(model, kind=kind)
    runs = [
        hd.infer(model, method, layout=layout, sweeps=9, keep=[hd.Samples()]).samples
        for layout in layouts
    ]
    np.testing.assert_array_equal(*runs)


def test_herds_on_lattices_of_another_size_are_laid_out_anew():
    model = hd.ising_grid(np.zeros((16, 16)), 0.2)
    sizes = [cached_layout(model, hd.Gibbs(herd=n), None, None).members for n in (8, 80)]
    assert sizes == [8, 80]


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_has_plans_of_its_own(again):
    model = pair()
    layout = cached_layout(model, hd.HerdedGibbs(), None, None)
    assert b"TableArrays" not in pickle.dumps(model)
    twin = again(model)
    found = cached_layout(twin, hd.HerdedGibbs(), None, None)
    assert found is not layout and found.model is twin


def test_methods_that_may_change_are_asked_each_time():
    @dataclass
    class Changing:
        seed: int = 0

        def compile(self, model, *, kind=None, max_memory=None):
            return hd.HerdedGibbs(seed=self.seed).compile(model, kind=kind, max_memory=max_memory)

    model, method = pair(), Changing()
    first = cached_layout(model, method, None, None)
    method.seed = 1
    second = cached_layout(model, method, None, None)
    assert (first.method.seed, second.method.seed) == (0, 1)


@pytest.mark.parametrize(
    "wrong", [{"max_memory": [1]}, {"max_memory": True}, {"layout": ["table"]}, {"layout": {}}]
)
def test_what_cannot_be_looked_up_is_refused_as_ever(wrong):
    model = pair()
    hd.infer(model, hd.Gibbs(), sweeps=1, max_memory=1, layout="factor")
    with pytest.raises(hd.MethodError, match="expected"):
        hd.infer(model, hd.Gibbs(), sweeps=1, **({"layout": "factor"} | wrong))
