"""What methods and models declare that they can do, and what holds where they declare nothing."""

from dataclasses import dataclass

import numpy as np
import pytest

import herded as hd
from herded.methods.protocol import has_same_layouts, sampler_capabilities, solver_capabilities
from herded.methods.schedule import is_annealed
from herded.models.factor_graph import has_factors
from herded.models.protocol import is_model, model_capabilities
from tests.models.test_custom_models import Herd, dice


@pytest.mark.parametrize(
    ("method", "declared"),
    [
        (hd.Gibbs(), {}),
        (hd.Gibbs(herd=8), {"members": 8}),
        (hd.Gibbs(schedule="linear"), {"is_annealed": True}),
        (hd.Gibbs(moves=hd.Blocks()), {"moves": hd.Blocks()}),
        (hd.HerdedGibbs(max_weights=9), {"herds_in_time": True, "max_weights": 9}),
        (hd.HerdedGibbs(herd=8), {"herds_in_time": True, "members": 8, "max_weights": 2**22}),
        (hd.Tempered(hd.Gibbs(herd=4), rungs=5), {"members": 4, "rungs": 5}),
    ],
    ids=repr,
)
def test_what_samplers_can_do(method, declared):
    own, plain = method.capabilities, hd.SamplerCapabilities()
    assert own.proposes_layouts
    for name in ("members", "rungs", "is_annealed", "herds_in_time", "moves", "max_weights"):
        assert getattr(own, name) == declared.get(name, getattr(plain, name)), name
    assert is_annealed(method) == own.is_annealed


def test_classes_of_others_have_the_defaults():
    assert sampler_capabilities(Herd()) == hd.SamplerCapabilities()
    assert sampler_capabilities(hd.Exact()) == hd.SamplerCapabilities()
    assert solver_capabilities(hd.Gibbs()) == hd.SolverCapabilities()
    assert model_capabilities(dice()) == hd.ModelCapabilities()
    assert is_model(dice()) and not has_factors(dice())
    assert not is_model(hd.FactorGraph) and not is_model([2, 2])


@dataclass(frozen=True)
class Cooled(Herd):
    """A sampler that inherits nothing of the package, and declares that it is annealed."""

    capabilities = hd.SamplerCapabilities(is_annealed=True)


def test_a_sampler_of_ones_own_declares_what_it_can_do():
    with pytest.raises(hd.MethodError, match="whose temperature falls from the first"):
        hd.infer(dice(), Cooled(), seconds=1.0)
    result = hd.infer(dice(), Cooled(), sweeps=9, chains=2, keep=[hd.BestState()])
    assert not result.diagnostics and "times" not in result.kept


def test_something_else_under_this_name_is_refused():
    @dataclass(frozen=True)
    class Wrong(Herd):
        capabilities = ("herds_in_time",)

    with pytest.raises(hd.MethodError, match=r"expected capabilities of Wrong such as hd\.Sampler"):
        hd.infer(dice(), Wrong(), sweeps=9)


def test_layouts_are_for_all_seeds_and_no_other_options():
    assert has_same_layouts(hd.Gibbs(seed=1), hd.Gibbs(seed=2))
    assert has_same_layouts(hd.HerdedGibbs(phases="half"), hd.HerdedGibbs(max_weights=5))
    for other in (hd.Gibbs(herd=2), hd.Gibbs(scan="random"), hd.HerdedGibbs(), hd.Exact()):
        assert not has_same_layouts(hd.Gibbs(), other)
    assert not has_same_layouts(hd.Tempered(), hd.Tempered(rungs=5))


def test_a_model_of_ones_own_declares_its_factors():
    class Pair:
        """Two variables, which tell no more than that they have factors."""

        capabilities = hd.ModelCapabilities(has_factors=True, preferred_scan="random")
        graph = hd.pairwise_model(np.zeros((2, 2)), [[0, 1]], np.eye(2))

        def __getattr__(self, name):
            return getattr(self.graph, name)

        content_hash = graph.content_hash

    found = hd.infer(Pair(), hd.Exact()).marginals
    np.testing.assert_array_equal(found, hd.infer(Pair.graph, hd.Exact()).marginals)
