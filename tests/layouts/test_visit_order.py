"""Scans: in which order variables are visited, colours and components, and orders that are none."""

import numpy as np
import pytest
from hypothesis import given

import herded as hd
from herded.errors import MethodError
from herded.layouts.factor_arrays import compile_factors
from herded.layouts.visit_order import connected_components, greedy_colouring
from herded.run.build_result import full_repr
from tests.support.example_budget import examples
from tests.support.strategies import models

RNG = np.random.default_rng(0)
CHAIN = hd.chain_model(RNG.normal(size=(6, 3)), RNG.normal(size=(3, 3)))


def test_a_permutation_is_the_order():
    order = [3, 1, 0, 2, 5, 4]
    assert hd.Gibbs(scan=order).compile(CHAIN).scan.order.tolist() == order
    assert hd.Gibbs(scan=np.array(order)).compile(CHAIN).scan.order.tolist() == order
    clamped = CHAIN.given({0: 1, 5: 0})
    assert hd.Gibbs(scan=order).compile(clamped).scan.order.tolist() == [3, 1, 2, 4]


def test_methods_with_a_permutation_can_be_compared():
    order = np.arange(5000)
    one, other = hd.Gibbs(scan=order), hd.Gibbs(scan=order[::-1].copy())
    assert (
        one == hd.Gibbs(scan=order.tolist()) and one != other and full_repr(one) != full_repr(other)
    )
    assert hash(one) == hash(hd.Gibbs(scan=range(5000)))


@pytest.mark.parametrize(
    "scan",
    [
        "sideways",
        [0, 1, 2],
        [0, 0, 1, 2, 3, 4],
        np.arange(1, 7),
        5,
        None,
        [[0, 1], [2]],
        ["a"] * 6,
        [0.5, 1, 2, 3, 4, 5],
        np.zeros((2, 3)),
    ],
)
@pytest.mark.parametrize("schedule", [None, "linear"])
@pytest.mark.parametrize("method", [hd.Gibbs, hd.HerdedGibbs])
def test_wrong_scans(scan, method, schedule):
    with pytest.raises(MethodError, match="permutation"):
        hd.infer(CHAIN, method(scan=scan, schedule=schedule), sweeps=1)


@examples(40)
@given(models(max_variables=6))
def test_no_neighbours_have_one_colour(model):
    factors = compile_factors(model)
    colours = greedy_colouring(factors)
    for i in np.flatnonzero(model.evidence < 0):
        near = [j for j in model.neighbours(i) if model.evidence[j] < 0]
        assert colours[i] not in colours[near]
        assert colours[i] <= len(model.neighbours(i))


@examples(40)
@given(models(max_variables=6))
def test_components_are_those_of_the_free_variables(model):
    free = model.evidence < 0
    part = connected_components(compile_factors(model), free)
    assert ((part >= 0) == free).all()
    expected = np.where(free, np.arange(len(free)), -1)
    for _ in range(len(free)):  # the lowest index spreads
        for i in np.flatnonzero(free):
            near = [j for j in model.neighbours(i) if free[j]]
            expected[i] = min([expected[i], *expected[near]])
    for i in np.flatnonzero(free):
        assert ((part == part[i]) == (expected == expected[i]))[free].all()


def test_a_scan_goes_component_by_component():
    model = hd.FactorGraph([2] * 6, [((0, 4), np.zeros((2, 2))), ((1, 3), np.zeros((2, 2)))])
    scan = hd.Gibbs().compile(model).scan
    assert scan.order.tolist() == [0, 4, 1, 3, 2, 5]
    assert scan.segment_start.tolist() == [0, 2, 4, 5, 6]
    assert scan.segments.tolist() == [2, 2, 1, 1]
    lazy = hd.HerdedGibbs(weights="lazy").compile(model, kind="factor").scan
    assert lazy.order.tolist() == scan.order.tolist()
    whole = hd.HerdedGibbs(weights="full").compile(model).scan
    assert whole.order.tolist() == [0, 1, 2, 3, 4, 5] and whole.segments.tolist() == [6]


@pytest.mark.parametrize("scan", ["sequential", "checkerboard", "random", "jacobi"])
def test_nothing_to_visit(scan):
    model = hd.FactorGraph([2, 3], [((0, 1), np.zeros((2, 3)))]).given({0: 1, 1: 2})
    layout = hd.Gibbs(scan=scan).compile(model)
    assert layout.scan.order.size == 0 and layout.scan.segment_start.tolist() == [0]
    marginals = hd.infer(model, hd.Gibbs(scan=scan), sweeps=3).marginals
    assert marginals.tolist() == [[0, 1, 0], [0, 0, 1]]


def test_jacobi_and_hard_zeros():
    hard = hd.pairwise_model(np.zeros((2, 2)), [(0, 1)], [[0, -np.inf], [-np.inf, 0]])
    with pytest.raises(MethodError, match=r"strictly positive.*sequential"):
        hd.infer(hard, hd.HerdedGibbs(scan="jacobi"))
    lattice = hd.potts_grid([[[0.0, -np.inf], [0.0, 0.0]]])
    with pytest.raises(MethodError, match="strictly positive"):
        hd.infer(lattice, hd.Gibbs(scan="jacobi"))
