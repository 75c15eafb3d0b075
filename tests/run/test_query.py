"""The query that `infer` builds from its arguments."""

import inspect

import numpy as np
import pytest

import herded as hd
from herded.errors import MethodError
from herded.run.query import FIELDS, Budget, KeepOptions, QueryOptions, build_query, parse_keep
from herded.run.run_loop import UNLIMITED_SWEEPS

MODEL = hd.ising_grid(np.zeros((2, 2)), 0.2)
CHOICES = (
    hd.Samples(every=3),
    hd.Marginals(),
    hd.ErrorCurve(np.full((2, 2), 0.5), rao_blackwell=True),
    hd.Observable(hd.energy),
    hd.Observable(hd.magnetisation),
)


def test_each_choice_has_a_field():
    keep = parse_keep(CHOICES)
    assert (keep.samples, keep.marginals, keep.error_curve) == CHOICES[:3]
    assert keep.each_observable == CHOICES[3:]
    assert keep.best_state is keep.pair_marginals is keep.joint is None
    assert set(FIELDS.values()) | {"observables"} == set(KeepOptions.__dataclass_fields__)


def test_the_error_curve_has_no_recorder():
    keep = parse_keep(CHOICES)
    assert hd.ErrorCurve in keep.kinds
    assert [type(one).__name__ for one in keep.recorded] == ["Marginals", "Samples", "Observables"]


@pytest.mark.parametrize(("index", "averages"), [(0, False), (1, False), (2, True)])
def test_who_averages_conditionals(index, averages):
    assert parse_keep([CHOICES[index]]).averages_conditionals is averages


def test_by_default_marginals_are_kept():
    query = build_query(MODEL, hd.Gibbs())
    assert query.keep is None and query.keep_or_default == KeepOptions(marginals=hd.Marginals())
    assert build_query(MODEL, hd.Gibbs(), keep=[]).keep_or_default == KeepOptions()


def test_a_choice_comes_once():
    with pytest.raises(MethodError, match="expected Samples once in keep=, got it twice"):
        parse_keep([hd.Samples(), hd.Samples(every=2)])


def test_infer_has_every_option_of_a_query():
    names = list(inspect.signature(hd.infer).parameters)
    assert names == ["model", "method", *QueryOptions.__annotations__, "on_interrupt"]


@pytest.mark.parametrize(
    ("budget", "most"),
    [
        (Budget(), 1000),
        (Budget(sweeps=7), 7),
        (Budget(sweeps=7, seconds=1.0), 7),
        (Budget(seconds=1.0), UNLIMITED_SWEEPS),
    ],
)
def test_the_most_sweeps_of_a_budget(budget, most):
    assert budget.max_sweeps == most


def test_a_recommendation_fills_in_what_was_not_given():
    recommended = hd.recommend(MODEL, sweeps=100_000)
    whole = build_query(MODEL, recommended)
    assert whole.method == recommended.method and whole.reason == recommended.reason
    length = recommended.sweeps, None, recommended.burn_in, recommended.chains
    assert whole.budget == Budget(*length) and whole.keep_or_default.averages_conditionals
    timed = build_query(MODEL, recommended, seconds=2, burn_in=0).budget
    assert timed == Budget(None, 2, 0, recommended.chains)


def test_numbers_are_whole():
    assert build_query(MODEL, "gibbs", sweeps=1e4).budget.sweeps == 10_000
    with pytest.raises(MethodError, match="expected sweeps to be a whole number of 1 or more"):
        build_query(MODEL, "gibbs", sweeps=1.5)


def test_the_best_state_alone_is_a_task():
    best, marginals = hd.BestState(), hd.Marginals()
    assert build_query(MODEL, keep=[best]).task == "map"
    assert build_query(MODEL, keep=[best, marginals]).task == build_query(MODEL).task == "mar"


def test_a_solver_refuses_pairs_that_it_cannot_keep():
    chain = hd.chain_model(np.zeros((4, 2)), np.log([[0.9, 0.1], [0.2, 0.8]]))
    for method in (hd.Exact(), hd.BeliefPropagation()):
        with pytest.raises(MethodError, match=r"pairs that share a factor in keep= for .*\(0, 3\)"):
            hd.infer(chain, method, keep=[hd.PairMarginals([(0, 3)])])
    found = hd.infer(chain, hd.Exact(), keep=[hd.PairMarginals([(2, 1)])]).pair_marginals
    assert found[1, 2].sum() == pytest.approx(1.0)
