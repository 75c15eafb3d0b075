"""Herds as finite computations: members are Gibbs chains, counts are rounded; wrong draws fail."""

from fractions import Fraction
from functools import cache
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from docs.tools.page_files import page_files
from herded import theory
from herded.errors import MethodError, ModelError
from tests.support.example_budget import examples
from tests.theory.small_graphs import HARD, coins, complete

SPINS = np.array([[1.0, -1.0], [-1.0, 1.0]])
PAIR = complete(0, 2)
TERNARY = hd.FactorGraph([3], [((0,), np.log([0.2, 0.5, 0.3]))])
MIXED = hd.FactorGraph([2, 3], [((0, 1), np.random.default_rng(5).normal(size=(2, 3)))])
THREE = hd.pairwise_model(  # a path: contexts are shared by several states of the rest
    [[0.0, 0.4], [0.1, 0.0], [0.0, -0.6]], [(0, 1), (1, 2)], [0.7 * SPINS, -0.5 * SPINS]
)
HERDS = [
    (PAIR, 2),
    (PAIR, 3),
    (PAIR, 4),
    (THREE, 2),
    (THREE, 3),
    (HARD, 3),
    (MIXED, 3),
    (TERNARY, 4),
]
FREE = hd.pairwise_model(np.zeros((2, 2)), [(0, 1)], 0.5 * SPINS)


@cache
def _together(rows, order):
    return theory.together_law(rows, order)


def together(conditionals, order):
    """The law that herds have by themselves, for tests that ask for the same visits again."""
    return _together(tuple(map(tuple, conditionals)), tuple(order))


def halves(conditionals, order):
    return theory.together_law(conditionals, order, tree="halves")


@st.composite
def conditionals(draw, most=4):
    """Rows of whole numbers over their sum: zeros and certainty included."""
    n, states = draw(st.integers(1, 4)), draw(st.integers(2, most))
    row = st.lists(st.integers(0, 6), min_size=states, max_size=states).filter(any)
    rows = draw(st.lists(row, min_size=n, max_size=n))
    return [[Fraction(p, sum(row)) for p in row] for row in rows]


# -- wrong draws, as laws -----------------------------------------------------------------------


def order_by_phase(conditionals, order):
    """Two states, and an order that turns round where the phase is large: not the proposition's."""
    turned = list(reversed(order))
    edges = {Fraction(0), Fraction(1, 2), Fraction(1)}
    for way in (order, turned):
        upto = Fraction(0)
        for k in way:
            upto += Fraction(conditionals[k][1])
            edges.add(-upto % 1)
    law = []
    for left, right in pairwise(sorted(edges)):
        phase, states = (left + right) / 2, [0] * len(order)
        for k in order if phase < Fraction(1, 2) else turned:
            phase += Fraction(conditionals[k][1])
            states[k], phase = int(phase >= 1), phase % 1
        law.append((right - left, tuple(states)))
    return law


def one_for_all(conditionals, order):
    """The same number for every member, which is right for each and makes them vary together."""
    edges = sorted({Fraction(0), Fraction(1), *(Fraction(row[0]) for row in conditionals)})
    return [
        (right - left, tuple(int((left + right) / 2 >= Fraction(row[0])) for row in conditionals))
        for left, right in pairwise(edges)
    ]


def lattice_law(rule, rows, scale):
    """Over all phases that are whole multiples of 1 / scale, one less than there are states."""
    phases = list(product(range(scale), repeat=len(rows[0]) - 1))
    return [(Fraction(1, len(phases)), rule(list(phase), rows, scale)) for phase in phases]


def chain_of_carries(phases, rows, scale):
    states = []
    for row in rows:
        left = scale
        for s, phase in enumerate(phases):
            step = scale * (left - row[s]) // left if left else 0
            assert left == 0 or step * left == scale * (left - row[s])  # no rounding in the example
            phases[s] = (phase + step) % scale
            left -= row[s]
            if phase + step < scale:
                states.append(s)
                break
        else:
            states.append(len(row) - 1)
    return tuple(states)


def argmax_of_vectors(phases, rows, scale):
    """The vector rule of herding in time, its weights begun anywhere and shared by the members."""
    weights = [*phases, -sum(phases)]
    states = []
    for row in rows:
        weights = [w + p for w, p in zip(weights, row, strict=True)]
        state = max((w, s) for s, w in enumerate(weights) if row[s])[1]
        weights[state] -= scale
        states.append(state)
    return tuple(states)


# -- one visit ----------------------------------------------------------------------------------


def member_laws(law, n, states):
    found = [[Fraction(0)] * states for _ in range(n)]
    for probability, drawn in law:
        for k, state in enumerate(drawn):
            found[k][state] += probability
    return found


@examples(60)
@given(conditionals(), st.randoms(use_true_random=False), st.sampled_from(["chain", "halves"]))
def test_each_member_has_its_conditional_exactly(rows, random, tree):
    order = random.sample(range(len(rows)), len(rows))
    law = theory.together_law(rows, order, tree=tree)
    assert sum(probability for probability, _ in law) == 1
    assert member_laws(law, len(rows), len(rows[0])) == rows


@examples(60)
@given(conditionals(most=2), st.sampled_from(["shuffled", "sorted", "fixed"]))
def test_the_count_is_the_sum_rounded_up_or_down(rows, orders):
    expected = sum(row[1] for row in rows)
    for _, states in theory.visit_law(rows, orders=orders):
        assert abs(sum(states) - expected) < 1


@examples(30)
@given(conditionals(most=2))
def test_any_order_gives_the_least_variance(rows):
    fraction = float(sum(row[1] for row in rows) % 1)
    for order in permutations(range(len(rows))):
        law = theory.together_law(rows, order)
        together, independent = theory.count_variance(rows, law=law)
        assert np.allclose(together, fraction * (1 - fraction), atol=1e-12)
        assert (together <= independent + 1e-12).all()


def test_pieces_of_a_phase_against_a_fine_comb():
    """Midpoints of 840 equal teeth, no breakpoint of which is inside a tooth."""
    steps = [Fraction(3, 7), Fraction(1, 3), Fraction(0), Fraction(1), Fraction(5, 8)]
    teeth = 840
    counts = {}
    for tooth in range(teeth):
        phase, carried = Fraction(2 * tooth + 1, 2 * teeth), []
        for step in steps:
            phase += step
            carried.append(int(phase >= 1))
            phase %= 1
        counts[tuple(carried)] = counts.get(tuple(carried), 0) + Fraction(1, teeth)
    found = {}
    for length, carried in theory.phase_law(steps):
        found[carried] = found.get(carried, 0) + length
    assert found == counts


def test_a_chain_on_a_lattice_of_phases_is_exact_and_the_argmax_is_not():
    """At scale 12 these rows need no rounding, so all phases of the lattice are all there is."""
    rows, scale = [[6, 3, 3], [6, 4, 2], [0, 9, 3], [8, 2, 2]], 12
    given_rows = [[Fraction(p, scale) for p in row] for row in rows]
    chain = lattice_law(chain_of_carries, rows, scale)
    assert member_laws(chain, 4, 3) == given_rows
    merged = {}
    for probability, states in chain:
        merged[states] = merged.get(states, 0) + probability
    assert merged == {states: p for p, states in theory.together_law(given_rows)}
    wrong = member_laws(lattice_law(argmax_of_vectors, rows, scale), 4, 3)
    gaps = np.array(wrong, dtype=float) - np.array(given_rows, dtype=float)
    assert np.abs(gaps).max() > 0.05


def test_counts_of_later_states_are_looser():
    """In a bad order they vary more than independent draws; the first split never does."""
    rows = [[Fraction(p, 8) for p in row] for row in ([8, 0, 0], [4, 0, 4], [5, 0, 3], [4, 4, 0])]
    excess = []
    for order in permutations(range(4)):
        law = theory.together_law(rows, order)
        together, independent = theory.count_variance(rows, law=law)
        excess.append(together - independent)
    worst = np.max(excess, axis=0)
    assert worst[0] < 1e-12 and worst[1:].max() > 0.3
    shuffled, independent = theory.count_variance(rows)
    assert (shuffled <= independent + 1e-12).all()


# -- models -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "members"), HERDS)
def test_members_are_gibbs_chains_after_a_visit_and_after_a_sweep(model, members):
    for sweep in (False, True):
        check = theory.check_members(model, members, draw=together, sweep=sweep)
        assert check.holds and check.measured < 1e-14, check
    assert "a sweep" in str(check)


@pytest.mark.parametrize("orders", ["sorted", "fixed"])
def test_the_order_is_free_as_long_as_it_does_not_know_the_phase(orders):
    for model, members in ((PAIR, 4), (THREE, 3), (MIXED, 3)):
        assert theory.check_members(model, members, draw=together, orders=orders).holds


def test_a_tree_of_halves():
    model = hd.FactorGraph([5], [((0,), np.log([0.1, 0.3, 0.2, 0.15, 0.25]))])
    assert theory.check_members(model, 3, draw=halves).holds
    assert theory.check_members(MIXED, 3, draw=halves).holds


@pytest.mark.parametrize(("model", "members"), HERDS)
def test_counts_and_their_variance(model, members):
    assert theory.check_counts(model, members).holds
    assert theory.check_variance(model, members).holds


def test_a_single_member_is_the_gibbs_kernel():
    assert np.allclose(
        theory.herd_sweep_kernel(THREE, 1), theory.gibbs_sweep_kernel(THREE), atol=1e-15
    )


def test_an_order_that_knows_the_phase_fails():
    for sweep in (False, True):
        check = theory.check_members(PAIR, 3, draw=order_by_phase, orders="fixed", sweep=sweep)
        assert not check.holds and check.measured > 0.01, check


def test_one_number_for_all_fails_the_counts_alone():
    assert theory.check_members(PAIR, 3, draw=one_for_all).holds
    assert not theory.check_counts(PAIR, 3, draw=one_for_all).holds
    assert not theory.check_variance(PAIR, 3, draw=one_for_all).holds


def test_the_argmax_fails_the_check_of_members():
    def argmax(conditionals, order):
        rows = [[round(12 * p) for p in conditionals[k]] for k in order]
        law = lattice_law(argmax_of_vectors, rows, 12)
        back = np.argsort(order)
        return [(probability, tuple(states[k] for k in back)) for probability, states in law]

    tables = np.log([[6, 3, 3], [6, 4, 2], [1, 9, 2]])  # rows over 12
    model = hd.FactorGraph([3, 3], [((0, 1), tables)])

    def second(draw):
        kernel = theory.herd_kernel(model, 1, 2, draw=draw, orders="fixed")
        states = np.arange(81)
        gibbs = theory.gibbs_kernel(model, 1)
        return max(
            np.abs(theory.member_kernel(kernel, 2, k) - gibbs[(states // 9, states % 9)[k]]).max()
            for k in (0, 1)
        )

    assert second(theory.together_law) < 1e-14
    assert second(argmax) > 0.02


def test_a_phase_that_is_kept_is_not_fresh():
    """Two visits of a fair coin by one member with one phase: the second is no free draw."""
    for half in (Fraction(1, 2), 0.5):
        law = {states: length for length, states in theory.phase_law([half] * 2)}
        assert law == {(0, 1): Fraction(1, 2), (1, 0): Fraction(1, 2)}


# -- what a herd's average gains ------------------------------------------------------------------


def long_run_variance(kernel, start, f, sweeps):
    """T Var(average) of a stationary run, summed lag by lag."""
    centred = f - start @ f
    total, moved = start * centred @ centred, centred
    for _ in range(sweeps):
        moved = kernel @ moved
        total += 2 * (start * centred @ moved)
    return total


def test_the_variance_ratio_is_that_of_sums_over_lags():
    f = np.array([0.3, -1.0, 2.0, 0.5])
    kernel, single = theory.herd_sweep_kernel(PAIR, 3), theory.gibbs_sweep_kernel(PAIR)
    start = np.linalg.matrix_power(kernel, 200)[0]
    states = np.stack(np.unravel_index(np.arange(64), (4, 4, 4)), axis=1)
    herd = long_run_variance(kernel, start, f[states].mean(axis=1), 200)
    alone = long_run_variance(single, theory.target(PAIR).ravel(), f, 200)
    assert theory.variance_ratio(PAIR, f, 3) == pytest.approx(3 * herd / alone, rel=1e-9)


def test_independent_members_have_ratio_one():
    def independent(conditionals, order):
        law = [(Fraction(1), ())]
        for row in conditionals:
            law = [(a * Fraction(p), (*x, s)) for a, x in law for s, p in enumerate(row)]
        return law

    for values in ([0, 0, 1, 1], [1, -1, -1, 1]):
        ratio = theory.variance_ratio(PAIR, values, 3, draw=independent, orders="fixed")
        assert ratio == pytest.approx(1, rel=1e-9)


def test_without_fields_a_fixed_order_collapses():
    """The herd ends with two states, each the other's mirror image, and is worth one chain."""
    kernel = theory.herd_sweep_kernel(FREE, 4, orders="fixed")
    herds = np.stack(np.unravel_index(np.arange(256), (4,) * 4), axis=1)
    distinct = np.array([len(set(herd)) for herd in herds.tolist()])
    later = np.linalg.matrix_power(kernel, 2000).mean(axis=0)
    assert later @ distinct == pytest.approx(2, abs=1e-9)
    assert theory.variance_ratio(FREE, SPINS, 4, orders="fixed") == pytest.approx(4, rel=1e-6)
    shuffled = np.linalg.matrix_power(theory.herd_sweep_kernel(FREE, 4), 2000).mean(axis=0)
    pi = theory.target(FREE).ravel()
    assert shuffled @ distinct > pi[herds].prod(axis=1) @ distinct


def test_sorted_members_are_better_at_products_and_as_good_at_means():
    mean = [[0, 0], [1, 1]]
    ratios = {
        orders: [
            theory.variance_ratio(FREE, f, 4, draw=together, orders=orders) for f in (mean, SPINS)
        ]
        for orders in ("shuffled", "sorted", "fixed")
    }
    assert [found[0] for found in ratios.values()] == pytest.approx([0.0] * 3, abs=1e-9)
    assert ratios["sorted"][1] < 1.3 < 2.1 < ratios["shuffled"][1] < 2.2 < 3.9 < ratios["fixed"][1]


def test_the_page_shows_what_is_computed():
    page = page_files()["design/herd-orders"].read_text(encoding="utf-8")
    table = page.partition("| J, h | members | mean of a spin |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    assert len(rows) == 5
    for strengths, members, *ratios in rows:
        if members == "3":  # five take seconds
            coupling, field = map(float, strengths.split(", "))
            model = hd.pairwise_model([[-field, field]] * 2, [(0, 1)], coupling * SPINS)
            computed = [theory.variance_ratio(model, [0, 0, 1, 1], 3, draw=together)]
            for orders in ("shuffled", "sorted", "fixed"):
                computed.append(
                    theory.variance_ratio(model, SPINS, 3, draw=together, orders=orders)
                )
            assert [f"{ratio:.2f}" for ratio in computed] == ratios


# -- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.together_law([]), "rows of one length"),
        (lambda: theory.together_law([[0.5, 0.5], [1.0]]), "rows of one length"),
        (lambda: theory.together_law([[0.5, 0.6]]), "sum to 1"),
        (lambda: theory.together_law([[1.5, -0.5]]), "sum to 1"),
        (lambda: theory.together_law([[0.5, 0.5]], [1]), "an order of 1"),
        (lambda: theory.together_law([[0.5, 0.5]], tree="bush"), "tree"),
        (lambda: theory.visit_law([[0.5, 0.5]], orders="any"), "orders"),
        (lambda: theory.herd_kernel(PAIR, 2, 2), "a variable from 0 to 1"),
        (lambda: theory.herd_kernel(PAIR, 0, 6), "at most 2048"),
        (lambda: theory.herd_kernel(PAIR, 0, 0), "one member or more"),
        (lambda: theory.member_kernel(np.eye(15), 2, 0), "a kernel of herds"),
        (lambda: theory.member_kernel(np.eye(16), 2, 2), "a kernel of herds"),
        (lambda: theory.check_counts(complete(0, 8), 3), "choices of contexts"),
        (lambda: theory.variance_ratio(PAIR, [1.0], 2), "a value for each"),
        (lambda: theory.variance_ratio(PAIR, np.ones(4), 2), "that varies"),
    ],
)
def test_refusals(call, words):
    with pytest.raises((MethodError, ModelError), match=words):
        call()


def test_a_function_of_states_that_no_sweep_connects():
    same = hd.pairwise_model(np.zeros((2, 2)), [(0, 1)], [[0.0, -np.inf], [-np.inf, 0.0]])
    with pytest.raises(MethodError, match="one closed class"):
        theory.variance_ratio(same, [0, 0, 0, 1], 2)


def test_coins_of_a_herd_are_as_even_as_can_be():
    assert theory.check_variance(coins(0.3, 0.7), 4).holds
    assert theory.herd_kernel(coins(0.5), 0, 4, orders="fixed")[0].nonzero()[0].tolist() == [5, 10]
