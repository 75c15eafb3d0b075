"""What learning is made of: visits have their twin's bits, moments and gradients are exact."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import herded as hd
from herded.draws.systematic import member_orders
from herded.learn.fitting.conditional_kernels import (
    count_entries,
    links_of,
    pseudo_likelihood,
    score_rows,
    squared_statistics,
    sweep_members,
)
from herded.learn.fitting.exact_moments import ExactMoments, KnownRows
from herded.learn.fitting.herd_moments import MomentHerd, UnknownParts
from herded.learn.fitting.lbfgs import maximise
from herded.learn.fitting.log_linear import build_log_linear
from herded.learn.fitting.objectives import (
    Likelihood,
    ObservedStatistics,
    PseudoLikelihood,
    TrainingRows,
)
from herded.models.constraints.start_states import member_starts
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.twins.learning.conditionals import (
    naive_herd_sweeps,
    naive_pseudo_likelihood,
    naive_scores,
    naive_statistics,
)
from tests.support.example_budget import examples
from tests.support.strategies import models, seeds
from tests.theory.small_graphs import HARD, MIXED

LARGE = 2.0**30


def by_columns(rows):
    return np.ascontiguousarray(np.asarray(rows).T).astype(np.uint16)


def all_states(model):
    return np.array(list(itertools.product(*map(range, model.cardinalities.tolist()))))


@examples(40)
@given(models(evidence=False, scales=(1.0,)), st.integers(1, 20), seeds)
def test_visits_have_the_bits_of_their_twins(model, members, seed):
    rng = np.random.default_rng(seed)
    rows = member_starts(model, members, stream_key(seed, 0)).astype(np.int64)
    weights = rng.random(members)
    links, tables = links_of(model), model.log_tables
    expected, counts = np.zeros(len(tables)), np.zeros(len(tables))
    value = pseudo_likelihood(links, tables, by_columns(rows), weights, expected)
    twin, of_twin = naive_pseudo_likelihood(model, tables, rows, weights)
    assert value == twin
    np.testing.assert_array_equal(expected, of_twin)
    known = np.where(rng.random(rows.shape) < 0.3, rows, -1)
    x, key, order_key = by_columns(rows), stream_key(seed, 1), stream_key(seed, 2)
    expected[:] = 0.0
    sweep_members(
        links, tables, np.ascontiguousarray(known.T).astype(np.int32), x, key, order_key, 3, 2,
        member_orders(members), weights, expected,
    )  # fmt: skip
    moved, of_twin = naive_herd_sweeps(
        model, tables, known, rows, int(key), int(order_key), 3, 2, weights
    )
    np.testing.assert_array_equal(x.T, moved)
    np.testing.assert_array_equal(expected, of_twin)
    both, scores = np.array([tables, rng.normal(size=len(tables))]), np.zeros((2, members))
    score_rows(links, both, by_columns(rows), scores)
    np.testing.assert_array_equal(scores, naive_scores(model, both, rows))
    constant = model.log_score(rows) - scores[0]  # factors of no variable
    np.testing.assert_allclose(constant, constant[0], atol=1e-9)
    count_entries(links, by_columns(rows), weights, counts)
    group, half = rng.integers(-1, 3, len(tables)), np.full(len(tables), 0.5)
    group[np.repeat(np.diff(model.factor_start) == 0, np.diff(model.table_start))] = -1
    squares, of_twin, total = np.zeros(3), np.zeros(3), np.zeros(3)
    squared_statistics(links, group, half, by_columns(rows), weights, squares)
    for row, weight in zip(rows, weights, strict=True):
        own = naive_statistics(model, group, half, row, 3)
        of_twin += weight * own**2
        total += weight * own
    np.testing.assert_allclose(squares, of_twin, rtol=1e-12, atol=1e-12)
    learned = group >= 0
    met = np.bincount(group[learned], 0.5 * counts[learned], minlength=3)
    np.testing.assert_allclose(met, total, rtol=1e-12, atol=1e-12)


@examples(40)
@given(models(evidence=False, scales=(1.0,)), seeds)
def test_moments_by_elimination_are_those_of_enumeration(model, seed):
    """Of the model, and given rows that know some variables."""
    states = all_states(model)
    scores = np.array([model.log_score(x) for x in states])
    links, size = links_of(model), len(model.log_tables)

    def enumerated(possible):
        top = scores[possible].max()
        p = np.where(possible, np.exp(scores - top), 0.0)
        met = np.zeros(size)
        count_entries(links, by_columns(states), p / p.sum(), met)
        return top + np.log(p.sum()), met

    constant = np.repeat(np.diff(model.factor_start) == 0, np.diff(model.table_start))
    log_z, met = enumerated(np.isfinite(scores))
    found, expected = ExactMoments(model, LARGE).of(model.log_tables)
    assert found == pytest.approx(log_z, abs=1e-9)
    np.testing.assert_allclose(expected[~constant], met[~constant], atol=1e-12)
    rng = np.random.default_rng(seed)
    rows = states[rng.choice(np.flatnonzero(np.isfinite(scores)), 3)]
    rows[:, rng.random(model.n_variables) < 0.5] = -1
    assume((np.diff(model.factor_start) > 0).any())
    known = ObservedStatistics(
        TrainingRows(build_log_linear(model, np.zeros(size)), rows), LARGE, 1, 0
    )
    value, met = known.of(model.log_tables)
    parts = [enumerated(((states == row) | (row < 0)).all(axis=1)) for row in rows]
    assert value == pytest.approx(np.mean([part[0] for part in parts]), abs=1e-9)
    expected = np.mean([part[1] for part in parts], axis=0)
    np.testing.assert_allclose(met[~constant], expected[~constant], atol=1e-12)


MODELS = {
    "each entry": (MIXED, {}),
    "hard zeros": (HARD, {}),
    "lattice": (hd.ising_grid([[0.1, -0.2, 0.3], [0.0, 0.2, -0.1]], 0.4), {}),
    "Potts": (hd.potts_grid(np.zeros((2, 2, 3)), 0.3), {}),
    "tied": (hd.ising_grid([[0.1, -0.2, 0.3], [0.0, 0.2, -0.1]], 0.4), {"groups": "tied"}),
    "hidden": (hd.ising_grid([[0.1, -0.2, 0.3], [0.0, 0.2, -0.1]], 0.4), {}),
}


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_those_of_finite_differences(name):
    model, options = MODELS[name]
    family = build_log_linear(model, **options)
    rng = np.random.default_rng(1)
    states = all_states(model)
    possible = states[np.isfinite(model.log_score(states))]
    rows = possible[rng.choice(len(possible), 40)]
    if name == "hidden":
        rows[:, 2] = -1
        rows[:20, 4] = -1
    seen, known = (
        TrainingRows(family, rows),
        ObservedStatistics(TrainingRows(family, rows), LARGE, 1, 0),
    )
    objectives = [Likelihood(known, ExactMoments(family.graph, LARGE), None)]
    objectives += [] if name == "hidden" else [PseudoLikelihood(seen)]
    at = family.start + rng.normal(0.0, 0.1, family.count)
    for objective in objectives:
        _, gradient = objective(at)
        for p in range(family.count):
            step = np.zeros(family.count)
            step[p] = 1e-5
            slope = (objective(at + step)[0] - objective(at - step)[0]) / 2e-5
            assert gradient[p] == pytest.approx(slope, abs=1e-7)
    joint = np.array([family.rebuilt(at).log_score(x) for x in states])
    log_z = np.log(np.exp(joint).sum())
    each = [np.log(np.exp(joint[((states == r) | (r < 0)).all(axis=1)]).sum()) for r in rows]
    assert objectives[0](at)[0] == pytest.approx(np.mean(each) - log_z, abs=1e-10)


@pytest.mark.parametrize("model", [MIXED, HARD], ids=["mixed", "hard zeros"])
def test_herds_of_rows_have_the_law_of_the_model(model):
    """Members that know nothing sample the model; those that know something, its conditional."""
    family = build_log_linear(model)
    links, size = links_of(model), len(model.log_tables)
    rows = np.repeat(member_starts(model, 1, stream_key(0)).astype(np.int64), 512, axis=0)
    for known in (np.full_like(rows, -1), np.where(np.arange(3) == 1, rows, -1)):
        drawn = UnknownParts(links, known, size, seed=1)
        drawn.x[:] = rows.T
        weight = np.full(512, 1 / 512)
        drawn.of(model.log_tables, weight, 20)
        met = drawn.of(model.log_tables, weight, 40)
        _, exact = ObservedStatistics(TrainingRows(family, known[:1]), LARGE, 1, 0).of(
            model.log_tables
        )
        assert np.abs(met - exact).max() < 0.01
    herd = MomentHerd(family, links, 512, 4, seed=1)
    met = np.mean([herd.of(family.start) for _ in range(40)][5:], axis=0)
    assert np.abs(met - ExactMoments(model, LARGE).of(model.log_tables)[1]).max() < 0.01


def test_steps_find_the_maximum_of_a_bowl_with_and_without_a_kink():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    bowl, top = root @ root.T + np.eye(6), rng.normal(size=6)

    def value(x):
        return -(x - top) @ bowl @ (x - top) / 2, -bowl @ (x - top)

    found = maximise(value, np.zeros(6), np.zeros(6), 100)
    assert found.converged and np.abs(found.x - top).max() < 1e-5
    l1 = np.full(6, 1.5)
    found = maximise(value, np.zeros(6), l1, 200)
    slope = value(found.x)[1]
    zero = found.x == 0.0
    assert found.converged and 0 < zero.sum() < 6
    assert (np.abs(slope[zero]) <= 1.5).all()
    np.testing.assert_allclose(slope[~zero], 1.5 * np.sign(found.x[~zero]), atol=1e-5)


@pytest.mark.parametrize("known", [0, 2])
def test_rows_tell_of_variables_that_no_factor_ties_to_what_they_know(known):
    rng = np.random.default_rng(0)
    factors = [((0, 1), 2 * rng.normal(size=(2, 2))), ((1, 2), 2 * rng.normal(size=(2, 2)))]
    graph = hd.FactorGraph([2, 2, 2], factors)
    rows = np.full((2, 3), -1)
    rows[:, known] = [0, 1]
    for some in (rows, rows[1:]):
        found = KnownRows(graph, some, np.ones(len(some)), 1e9).marginals(graph.log_tables)
        for row, one in zip(some, found, strict=True):
            truth = hd.infer(graph.given({known: int(row[known])}), hd.Exact()).marginals
            np.testing.assert_allclose(one, np.delete(truth, known, axis=0), atol=1e-12)
