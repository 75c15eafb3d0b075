"""Plans of small models are kept with them, and only those."""

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import herded as hd
from herded.layouts.cache import MOST, SMALL, remembered


def pair():
    return hd.FactorGraph([2, 2], [((0, 1), [[0.3, -0.1], [0.2, 0.5]])])


def test_a_plan_is_made_once():
    model = pair()
    first = remembered(model, hd.HerdedGibbs(), None, None)
    assert remembered(model, hd.HerdedGibbs(), None, None) is first
    others = [
        remembered(model, hd.HerdedGibbs(weights="pooled"), None, None),
        remembered(model, hd.HerdedGibbs(), "table", None),
        remembered(model, hd.HerdedGibbs(), None, 1e9),
        remembered(pair(), hd.HerdedGibbs(), None, None),
        remembered(model.given({0: 1}), hd.HerdedGibbs(), None, None),
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
    first, second = (hd.infer(model, sweeps=50, keep=[hd.Samples()]).samples for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert len(compiled) == 1


def test_large_plans_are_let_go():
    model = hd.FactorGraph([2] * 16, [(range(16), np.zeros([2] * 16))])
    first = remembered(model, hd.HerdedGibbs(), None, None)
    assert first.tables.p.nbytes > SMALL
    assert remembered(model, hd.HerdedGibbs(), None, None) is not first


def test_few_plans_are_kept():
    model = pair()
    for seed in range(3 * MOST):
        remembered(model, hd.Gibbs(seed), None, None)
        assert len(model._shelf) <= MOST


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_has_plans_of_its_own(again):
    model = pair()
    plan = remembered(model, hd.HerdedGibbs(), None, None)
    assert b"TableArrays" not in pickle.dumps(model)
    twin = again(model)
    found = remembered(twin, hd.HerdedGibbs(), None, None)
    assert found is not plan and found.model is twin


def test_methods_that_may_change_are_asked_each_time():
    @dataclass
    class Changing:
        seed: int = 0

        def compile(self, model, *, kind=None, cap=None):
            return hd.HerdedGibbs(seed=self.seed).compile(model, kind=kind, cap=cap)

    model, method = pair(), Changing()
    first = remembered(model, method, None, None)
    method.seed = 1
    second = remembered(model, method, None, None)
    assert (first.made_for.seed, second.made_for.seed) == (0, 1)


@pytest.mark.parametrize("wrong", [{"cap": [1]}, {"cap": True}, {"plan": ["table"]}, {"plan": {}}])
def test_what_cannot_be_looked_up_is_refused_as_ever(wrong):
    model = pair()
    hd.infer(model, hd.Gibbs(), sweeps=1, cap=1, plan="factor")
    with pytest.raises(hd.MethodError, match="expected"):
        hd.infer(model, hd.Gibbs(), sweeps=1, **({"plan": "factor"} | wrong))
