"""Boltzmann machines: the twins' bits, exact sums and laws, and scikit-learn's promises."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.twins.learning.boltzmann import (
    naive_layer_sweeps,
    naive_log_score,
    naive_log_z,
    naive_statistics,
)
from tests.support.example_budget import examples
from tests.support.strategies import seeds

pytest.importorskip("sklearn", reason="Boltzmann machines need scikit-learn")

from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import herded as hd
from herded import learn
from herded.errors import MethodError, ModelError
from herded.learn.boltzmann.log_z import annealed_log_z
from herded.learn.boltzmann.rbm_parameters import RBMParameters, RBMTraining
from herded.system.numerics.counter_rng import stream_key
from tests.support.page_transcripts import transcripts

TWO = np.array([[0, 0, 1, 1], [1, 1, 0, 0]] * 20)
MIXED = np.random.default_rng(0).integers(0, [2, 3, 4], (60, 3))


@parametrize_with_checks(
    [hd.learn.RBM(2, epochs=2, herd=4), hd.learn.BoltzmannMachine(1, steps=2, herd=8)]
)
def test_scikit_learn_accepts_them(estimator, check):
    check(estimator)


@st.composite
def machines(draw, most=3):
    """Layers of random weights, and the states of some members."""
    states = np.array(draw(st.lists(st.integers(2, 4), min_size=1, max_size=most)))
    hidden, seed = draw(st.integers(1, most)), draw(seeds)
    rng = np.random.default_rng(seed)
    first = np.append(0, np.cumsum(states - 1))
    rows = int(first[-1])
    weights, biases = rng.normal(size=(rows, hidden)), rng.normal(size=rows + hidden)
    layers = RBMParameters(first, weights, biases[:rows], biases[rows:])
    return layers, rng.integers(0, states, (draw(st.integers(1, 20)), len(states))), seed


@examples(30)
@given(machines())
def test_layers_have_the_bits_of_their_twins(machine):
    layers, rows, seed = machine
    x = np.ascontiguousarray(rows.T).astype(np.uint16)
    for found, twin in zip(layers.statistics(x), naive_statistics(layers, rows), strict=True):
        np.testing.assert_array_equal(found, twin)
    np.testing.assert_array_equal(layers.log_scores(x), [naive_log_score(layers, r) for r in rows])
    layers.sweep(x, 3, 2, seed)
    key, order_key = (int(stream_key(seed, n, 17)) for n in (0, 1))
    np.testing.assert_array_equal(x.T, naive_layer_sweeps(layers, rows, key, order_key, 3, 2))
    means = layers.hidden_means(x)
    assert means.shape == (len(rows), len(layers.hidden_bias)) and (means > 0).all()


@examples(20)
@given(machines())
def test_log_z_is_that_of_all_states_and_of_its_factors(machine):
    """By either layer: whichever has fewer states is enumerated."""
    layers, rows, _ = machine
    exact = naive_log_z(layers)
    assert layers.enumerated_log_z() == pytest.approx(exact, abs=1e-10)
    graph = layers.as_graph()
    solved = hd.infer(graph, hd.Exact())
    assert solved.log_z == pytest.approx(exact, abs=1e-9)
    x = np.ascontiguousarray(rows[:1].T).astype(np.uint16)
    seen = hd.infer(graph.given(dict(enumerate(rows[0].tolist()))), hd.Exact())
    assert layers.log_scores(x)[0] == pytest.approx(seen.log_z, abs=1e-9)
    hidden = seen.marginals[rows.shape[1] :, 1]
    np.testing.assert_allclose(layers.hidden_means(x)[0], hidden, atol=1e-12)


def machine_of(seed):
    rng = np.random.default_rng(seed)
    first = np.array([0, 1, 3, 4, 5])
    return RBMParameters(
        first, rng.normal(0, 1.5, (5, 3)), rng.normal(0, 0.5, 5), rng.normal(0, 0.5, 3)
    )


def test_sweeps_of_layers_have_the_law_of_the_model():
    layers = machine_of(1)
    exact = hd.infer(layers.as_graph(), hd.Exact()).marginals[:4]
    x, counts = np.zeros((4, 256), np.uint16), np.zeros((4, 3))
    for sweep in range(220):
        layers.sweep(x, sweep, 1, 5)
        if sweep >= 20:
            counts += np.stack([(x == k).mean(axis=1) for k in range(3)], axis=1)
    assert np.abs(counts / 200 - exact).max() < 0.01


def test_annealing_finds_log_z_within_its_interval():
    for seed in range(3):
        layers = machine_of(seed)
        found, exact = annealed_log_z(layers, 50, seed), layers.enumerated_log_z()
        low, high = found.interval
        assert not found.is_exact and 0.0 < high - low < 0.3
        assert abs(found.value - exact) < high - low


def test_the_gradient_is_that_of_the_likelihood():
    """A step of a huge herd goes where finite differences of the exact likelihood point."""
    layers, rng = machine_of(2), np.random.default_rng(0)
    rows = np.ascontiguousarray(rng.integers(0, [2, 3, 2, 2], (200, 4)).T).astype(np.uint16)

    def likelihood(weights, visible, hidden):
        moved = RBMParameters(layers.first, weights, visible, hidden)
        return moved.log_scores(rows).mean() - moved.enumerated_log_z()

    herd = np.zeros((4, 20_000), np.uint16)
    layers.sweep(herd, 0, 100, 1)
    zero = np.zeros(5), np.zeros(3)  # no centring: the plain gradient
    training = RBMTraining(layers, herd, *zero, done=100)
    training.step(rows, 1.0, 0.0, 1, 1)
    now = [layers.weights, layers.visible_bias, layers.hidden_bias]
    after = training.layers.weights, training.layers.visible_bias, training.layers.hidden_bias
    for part in range(3):
        for at in np.ndindex(now[part].shape):
            step = np.zeros(now[part].shape)
            step[at] = 1e-5
            up, down = list(now), list(now)
            up[part], down[part] = now[part] + step, now[part] - step
            slope = (likelihood(*up) - likelihood(*down)) / 2e-5
            assert after[part][at] - now[part][at] == pytest.approx(slope, abs=0.03)


def test_an_rbm_learns_two_patterns_and_draws_them():
    machine = hd.learn.RBM(2, epochs=300, batch=40, rate=1.0).fit(TWO)
    assert machine.score(TWO) > -1.0 and machine.score_samples([[0, 1, 0, 1]])[0] < -4
    drawn = machine.sample(200, sweeps=50)
    share = [(drawn == row).all(axis=1).mean() for row in TWO[:2]]
    assert min(share) > 0.2 and sum(share) > 0.6
    other = machine.sample(200, sweeps=50, seed=9)
    assert (other != drawn).any()
    states = np.array(list(np.ndindex(2, 2, 2, 2)))
    assert np.exp(machine.score_samples(states)).sum() == pytest.approx(1.0, abs=1e-9)
    assert machine.log_z().is_exact and machine.model_.n_variables == 6


def test_an_rbm_of_many_states():
    rows = np.repeat([[0, 2, 1], [1, 0, 3], [1, 1, 0]], 20, axis=0)
    machine = hd.learn.RBM(3, epochs=300, batch=60, rate=1.0, seed=1).fit(rows)
    np.testing.assert_array_equal(machine.states_, [2, 3, 4])
    assert machine.score(rows) > -2.0 > machine.score(MIXED)
    given = hd.learn.RBM(2, states=5, epochs=1).fit(rows)
    np.testing.assert_array_equal(given.states_, [5, 5, 5])


def test_the_same_seed_gives_the_same_bits_and_steps_go_on():
    one, two = (hd.learn.RBM(2, epochs=5, batch=16, seed=3).fit(TWO).layers_ for _ in range(2))
    np.testing.assert_array_equal(one.weights, two.weights)
    by_steps, again = hd.learn.RBM(2, seed=3), hd.learn.RBM(2, seed=3)
    for part in (TWO[:20], TWO[20:]):
        by_steps.partial_fit(part)
        again.partial_fit(part)
    assert by_steps.training_.done == 2
    np.testing.assert_array_equal(by_steps.layers_.weights, again.layers_.weights)
    assert clone(by_steps).get_params() == by_steps.get_params()


def test_a_boltzmann_machine_is_exact_where_it_can_be():
    rows = MIXED[:, :2] > 0
    rows = np.concatenate([rows, rows[:, :1] ^ rows[:, 1:]], axis=1).astype(int)
    plain = hd.learn.BoltzmannMachine().fit(rows)
    hidden = hd.learn.BoltzmannMachine(3, seed=1, l2=1e-4).fit(rows)
    states = np.array(list(np.ndindex(2, 2, 2)))
    for machine in (plain, hidden):
        assert np.exp(machine.score_samples(states)).sum() == pytest.approx(1.0, abs=1e-9)
    assert hidden.score(rows) > plain.score(rows) + 0.3  # three-way: pairs of visible units fail
    seen = hd.infer(hidden.model_.given(dict(enumerate(rows[0].tolist()))), hd.Exact()).marginals
    np.testing.assert_allclose(hidden.transform(rows[:1])[0], seen[3:, 1], atol=1e-12)
    graph = plain.model_.given({0: int(rows[0, 0]), 2: int(rows[0, 2])})
    alone = hd.infer(graph, hd.Exact()).marginals[1, 1]
    assert plain.transform(rows[:1])[0, 1] == pytest.approx(alone, abs=1e-12)
    drawn = plain.sample(2000, sweeps=20)
    assert np.abs(drawn.mean(axis=0) - rows.mean(axis=0)).max() < 0.05
    sparse = hd.learn.BoltzmannMachine(edges=[[2, 0]]).fit(rows)
    np.testing.assert_array_equal(sparse.edges_, [[0, 2]])


@pytest.mark.parametrize(
    ("make", "data", "said"),
    [
        (lambda: hd.learn.RBM(), TWO + 0.5, "expected whole numbers as X, got"),
        (lambda: hd.learn.RBM(), TWO - 1, "expected states of 0 or more, got -1"),
        (lambda: hd.learn.RBM(states=2), TWO + 1, "expected states from 0 to 1 of feature"),
        (lambda: hd.learn.RBM(), TWO[:1], "expected two rows of data or more, got 1 sample"),
        (lambda: hd.learn.RBM(states=1), TWO, "expected states of 2 or more"),
        (lambda: hd.learn.RBM(0), TWO, "expected hidden as a whole number from 1"),
        (lambda: hd.learn.RBM(rate=-1), TWO, "expected rate of 0 or more"),
        (lambda: hd.learn.RBM(rate=1e6, l2=1e6), TWO, "expected a rate with which training"),
        (lambda: hd.learn.BoltzmannMachine(-1), TWO, "expected hidden units of 0 or more"),
        (lambda: hd.learn.BoltzmannMachine(edges=[[0, 9]]), TWO, "expected edges between units"),
        (lambda: hd.learn.BoltzmannMachine(edges=[[0, 0]]), TWO, "expected edges between two"),
        (lambda: hd.learn.BoltzmannMachine(l2=-1), TWO, "expected l2 of 0 or more"),
        (lambda: hd.learn.BoltzmannMachine(), TWO[:1], "expected two rows of data or more"),
        (lambda: hd.learn.BoltzmannMachine(l2=0), TWO * [1, 1, 1, 0], "expected data that vary"),
    ],
)
def test_what_cannot_be_learned_is_a_sentence(make, data, said):
    with np.errstate(all="ignore"), pytest.raises((ModelError, MethodError), match=rf"^{said}"):
        make().fit(data)


def test_requests_that_make_no_sense_are_a_sentence():
    machine = hd.learn.RBM(1, epochs=1).fit(TWO)
    for options in ({"rows": 0}, {"sweeps": 2.5}, {"seed": -1}):
        with pytest.raises(MethodError, match="expected"):
            machine.sample(**{"rows": 1, **options})
    with pytest.raises(MethodError, match=r"at most 2\^20 joint states"):
        hd.learn.RBM(21, epochs=1).fit(np.tile(TWO, (1, 6))).log_z(exact=True)


def test_scikit_learn_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    for name, module in (("RBM", "rbm"), ("BoltzmannMachine", "boltzmann_machine")):
        monkeypatch.delitem(sys.modules, f"herded.learn.boltzmann.{module}")
        monkeypatch.delattr(learn, name, raising=False)
        with pytest.raises(MethodError, match=rf"for {name}.*'herded\[learn\]'"):
            getattr(learn, name)
    assert "RBM" in dir(learn) and callable(learn.fit)


def test_the_page_on_learning_prints_what_it_says():
    """If not, and rightly so: python -m docs.tools.refresh_pages learn"""
    found = transcripts("learn")
    assert len(found) >= 7
    for said, printed in found:
        assert said == printed
