"""Slack: errors stay bounded, draws keep their proportions, and use the room they have."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.draws.herded import slack_vector
from herded.system.numerics.counter_rng import random_bits
from tests.conformance.twins.draw_rules import naive_choose
from tests.conformance.twins.integer_conditionals import WEIGHT
from tests.support.example_budget import examples
from tests.support.kernel_runs import advance
from tests.support.strategies import distributions

lax = examples(60)


@lax
@given(
    ps=st.lists(st.one_of(st.sampled_from((0, 1, WEIGHT)), st.integers(0, WEIGHT)), min_size=1),
    slack=st.sampled_from((1, WEIGHT // 10, WEIGHT, 3 * WEIGHT)),
    key=st.integers(0, 2**63),
)
def test_slack_bounds_the_error(ps, slack, key):
    """|count - sum of p| <= c + 1 for two states, even where p changes from visit to visit.

    While |w| <= c a draw moves it by at most 1. Beyond c one state is overdrawn and the other is
    taken, if it is possible, which moves w towards 0. So |w| <= c + 1 for ever.
    """
    w, excess, widest = np.zeros(2, np.int32), 0, 0
    for t in range(300):
        p = ps[t % len(ps)]
        both = np.array([WEIGHT - p, p], np.int32)
        bits = np.uint64(random_bits(np.uint64(key), np.uint64(t)))
        x = int(slack_vector(w, 0, both, 0, 2, slack, bits))
        excess += p - x * WEIGHT
        widest = max(widest, abs(excess))
        assert w.sum() == 0 and w[1] == excess and both[x] > 0
    assert widest <= slack + WEIGHT


@lax
@given(
    cuts=st.lists(st.lists(st.integers(1, WEIGHT - 1), min_size=4, max_size=4), min_size=1),
    slack=st.sampled_from((1, WEIGHT // 10, WEIGHT, 3 * WEIGHT)),
    key=st.integers(0, 2**63),
)
def test_slack_overdraws_no_state(cuts, slack, key):
    """K states, all possible, p changing at will: no count is c + 1 above the sum of its p.

    So the weights, whose sum is 0, are never more than (K - 1) (c + 1) above it either.
    """
    ps = [np.diff([0, *sorted(set(cut)), WEIGHT]) for cut in cuts]
    ps = [np.sort(np.append(p, [0] * (5 - len(p)))) for p in ps]
    ps = [np.where(p == 0, 1, p) for p in ps]
    for p in ps:
        p[-1] -= p.sum() - WEIGHT
    w, due = np.zeros(5, np.int32), np.zeros(5, np.int64)
    for t in range(300):
        p = np.roll(ps[t % len(ps)], t).astype(np.int32)
        bits = np.uint64(random_bits(np.uint64(key), np.uint64(t)))
        x = int(slack_vector(w, 0, p, 0, 5, slack, bits))
        due += p
        due[x] -= WEIGHT
        assert (w == due).all() and w.sum() == 0
        assert w.min() > -slack - WEIGHT


@lax
@given(data=st.data(), p=distributions(), bits=st.integers(0, 2**64 - 1))
def test_slack_from_any_weights(data, p, bits):
    """Also where every possible state is overdrawn, or one is owed more than the rule allows."""
    size = len(p)
    units = st.one_of(st.integers(-70, 70), st.sampled_from((63, 64, 65)))
    whole = data.draw(st.lists(units, min_size=size, max_size=size))
    off = data.draw(st.lists(st.sampled_from((-1, 0, 1)), min_size=size, max_size=size))
    slack = data.draw(st.sampled_from((1, WEIGHT, 64 * WEIGHT)))
    w = np.array([u * WEIGHT + o for u, o in zip(whole, off, strict=True)], np.int32)
    twin = naive_choose(tuple(w.tolist()), tuple(p.tolist()), slack, bits)
    x = int(slack_vector(w, 0, p, 0, size, slack, np.uint64(bits)))
    assert (x, tuple(w.tolist())) == twin


def test_slack_keeps_proportions():
    """An overdrawn state is left out; the others are drawn as often as their p say.

    10,000 draws of 1/4 and 1/2: the share of the first, 1/3, has a standard deviation of 0.005.
    """
    p = np.array([WEIGHT // 4, WEIGHT // 4, WEIGHT // 2], np.int32)
    counts = np.zeros(3)
    for t in range(10_000):
        w = np.array([-2 * WEIGHT, WEIGHT, WEIGHT], np.int32)
        bits = np.uint64(random_bits(np.uint64(0), np.uint64(t)))
        counts[slack_vector(w, 0, p, 0, 3, WEIGHT, bits)] += 1
    assert counts[0] == 0 and abs(counts[1] / 10_000 - 1 / 3) < 0.02


def test_slack_uses_its_room():
    """With c = 3 the error of a fair coin leaves the herded bound: the draws are draws."""
    model = hd.pairwise_model(np.zeros((1, 2)), [], [])
    method = hd.HerdedGibbs(slack=3.0)
    samples, *_ = advance(method, method.compile(model), np.zeros(1, int), 5000)
    error = np.abs(np.cumsum(samples[:, 0], dtype=int) - 0.5 * np.arange(1, 5001))
    assert 3.0 < error.max() <= 4.0
