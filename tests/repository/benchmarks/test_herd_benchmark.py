"""The benchmark of herds: its models, the samplers it compares with, and what its table says."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from benchmarks.accuracy import which_method
from benchmarks.herds import (
    energy_spread,
    gibbs_variants,
    herd_comparison,
    metropolised_gibbs,
    phase_orders,
    shared_bins,
)
from benchmarks.support import held_out_models, model_families, run_scores
from herded.system.numerics.counter_rng import random_bits, stream_key
from tests.support.example_budget import examples

MIXED = hd.FactorGraph(
    [2, 3, 4],
    [
        ((0, 1), np.random.default_rng(1).normal(size=(2, 3))),
        ((1, 2), np.random.default_rng(2).normal(size=(3, 4))),
        ((0,), np.array([0.0, 0.4])),
    ],
)
# As plain Python: compiled they are a part of their samplers, which have their twins below.
circle, nested = (
    getattr(flow, "py_func", flow)
    for flow in (metropolised_gibbs.circle, metropolised_gibbs.nested)
)
weights = st.lists(st.integers(0, 9), min_size=2, max_size=6).filter(lambda w: sum(w) > 0)


def conditional(model, i, x):
    """From scores of whole states."""
    logs = []
    for state in range(model.cardinalities[i]):
        y = list(x)
        y[i] = state
        logs.append(float(model.log_score(y)))
    shares = [math.exp(v - max(logs)) for v in logs]
    return [v / sum(shares) for v in shares]


def pick(p, u):
    return next((s for s in range(len(p)) if u < sum(p[: s + 1]) and p[s] > 0), len(p) - 1)


def flows(p):
    """Suwa and Todo's matrix, by laying pieces over each other on a line."""
    order = sorted(range(len(p)), key=lambda s: (-p[s], s))[:1]
    order += [s for s in range(len(p)) if s != order[0]]
    ends = np.concatenate([[0.0], np.cumsum([p[s] for s in order])])
    moved = ends + p[order[0]]
    found = np.zeros((len(p), len(p)))
    for a in range(len(p)):
        for b in range(len(p)):
            for turn in (0.0, ends[-1]):
                left = max(moved[a], ends[b] + turn)
                right = min(moved[a + 1], ends[b + 1] + turn)
                found[order[a], order[b]] += max(0.0, right - left)
    return found


@examples(60)
@given(weights)
def test_restless_flows_keep_the_distribution_and_stay_as_seldom_as_they_can(whole):
    p = np.array(whole, float) / sum(whole)
    found = np.zeros((len(p), len(p)))
    for now in np.flatnonzero(p):
        row = np.empty(len(p))
        circle(p, len(p), now, row)
        assert row.sum() == pytest.approx(1)
        found[now] = p[now] * row
    assert np.allclose(found.sum(axis=0), p)
    assert np.trace(found) == pytest.approx(max(0.0, 2 * p.max() - 1))
    assert np.allclose(found, flows(p))


@examples(60)
@given(weights)
def test_zero_self_flows_are_reversible_and_stay_as_seldom_as_they_can(whole):
    p = np.array(whole, float) / sum(whole)
    found = np.zeros((len(p), len(p)))
    for now in np.flatnonzero(p):
        row = np.empty(len(p))
        nested(p, len(p), now, row, np.empty(len(p), np.int64))
        assert row.sum() == pytest.approx(1)
        found[now] = p[now] * row
    assert np.allclose(found, found.T) and (found > -1e-12).all()
    assert np.trace(found) == pytest.approx(max(0.0, 2 * p.max() - 1))


def test_zero_self_flows_of_known_numbers():
    """Three states have one such matrix; of four, the second and the rest get just as much."""
    expected = {
        (0.4, 0.35, 0.25): [[0, 0.25, 0.15], [0.25, 0, 0.1], [0.15, 0.1, 0]],
        (0.6, 0.3, 0.1): [[0.2, 0.3, 0.1], [0.3, 0, 0], [0.1, 0, 0]],
        (0.25, 0.25, 0.25, 0.25): ((1 - np.eye(4)) / 12).tolist(),
    }
    for p, flow in expected.items():
        row = np.empty(len(p))
        for now in range(len(p)):
            nested(np.array(p), len(p), now, row, np.empty(len(p), np.int64))
            assert np.allclose(p[now] * row, flow[now])


@pytest.mark.parametrize("rule", ["circle", "nested"])
def test_restless_sweeps_keep_the_exact_joint(rule):
    """The matrix of a sweep over all 24 joint states: no other distribution is kept."""
    pi, shape = hd.theory.target(MIXED), (2, 3, 4)
    states = list(np.ndindex(shape))
    sweep = np.eye(len(states))
    for i in range(3):
        move = np.zeros_like(sweep)
        for a, x in enumerate(states):
            p = np.array(conditional(MIXED, i, x))
            row, order = np.empty(len(p)), np.empty(len(p), np.int64)
            if rule == "circle":
                circle(p, len(p), x[i], row)
            else:
                nested(p, len(p), x[i], row, order)
            for k, share in enumerate(row):
                y = list(x)
                y[i] = k
                move[a, np.ravel_multi_index(y, shape)] += share
        sweep = sweep @ move
    assert np.allclose(pi.ravel() @ sweep, pi.ravel())
    assert np.allclose(np.linalg.matrix_power(sweep, 400)[0], pi.ravel())


@pytest.mark.parametrize(
    ("how", "off"),
    [(shared_bins.CENTRED, 0.2), (shared_bins.EXACTLY, 0.02), (shared_bins.ROUNDED, 0.02)],
)
def test_binned_herding_beside_the_exact_joint(how, off):
    """Total variation after 20,000 sweeps: the centres of bins are wrong, and stay so."""
    pi = hd.theory.target(MIXED).ravel()
    met = shared_bins.run(MIXED, 20_000, 0, how, joint=True)[1]
    distance = np.abs(met / met.sum() - pi).sum() / 2
    assert distance < off and (how != shared_bins.CENTRED or distance > 0.05)


SAMPLERS = {
    "plain": metropolised_gibbs.plain,
    "restless": metropolised_gibbs.restless,
    "zero_self": metropolised_gibbs.zero_self,
    "antithetic": gibbs_variants.antithetic,
    "driven": gibbs_variants.driven,
    "exactly": shared_bins.exactly,
    "rounded": shared_bins.rounded,
}


@pytest.mark.parametrize("sampler", ["plain", "restless", "antithetic", "driven"])
def test_each_sampler_has_the_averages_of_its_twin(sampler):
    updates, seed = 100, 3
    of = gibbs_variants.arrays(MIXED, seed)
    kept = np.zeros((3, 4))

    def record(i, p):
        kept[i, : len(p)] += p

    def uniform(count):
        return float(int(random_bits(stream_key(seed, 0, 77), np.uint64(count))) >> 11) * 2.0**-53

    count = 0
    if sampler == "driven":
        modulus, multiplier = gibbs_variants.generator(updates)
        shift = np.random.default_rng(seed).random(3)
        x, at = of.start.tolist(), 1
        length = gibbs_variants.coprime(3, modulus - 1)
        for t in range(modulus - 1):
            for i in range(3):
                p = conditional(MIXED, i, x)
                x[i] = pick(
                    p,
                    (at * pow(multiplier, t * length + i, modulus) % modulus / modulus + shift[i])
                    % 1,
                )
                if t >= (modulus - 1) // 10:
                    record(i, p)
    elif sampler == "antithetic":
        chains = [of.start.tolist(), gibbs_variants.arrays(MIXED, seed + 1).start.tolist()]
        for t in range(updates // 2):
            for i in range(3):
                count += 1
                for x, u in zip(chains, (uniform(count), 1 - uniform(count)), strict=True):
                    p = conditional(MIXED, i, x)
                    x[i] = pick(p, u)
                    if t >= updates // 20:
                        record(i, p)
    else:
        x = of.start.tolist()
        for t in range(updates):
            for i in range(3):
                count += 1
                p = conditional(MIXED, i, x)
                rule = p if sampler == "plain" else flows(p)[x[i]] / p[x[i]]
                x[i] = pick(list(rule), uniform(count))
                if t >= updates // 10:
                    record(i, p)
    found = SAMPLERS[sampler](MIXED, updates, seed)
    assert np.allclose(found, kept / kept.sum(axis=1, keepdims=True), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_samplers_come_to_the_exact_marginals(sampler):
    model = MIXED.given({2: 1})
    truth = hd.infer(model, hd.Exact()).marginals
    found = SAMPLERS[sampler](model, 20_000, 0)
    assert np.abs(found - truth).max() < 0.02
    assert found[2].tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("sweeps", [52, 1000, 10_000])
def test_a_period_has_every_run_of_numbers_once(sweeps):
    modulus, multiplier = gibbs_variants.generator(sweeps)
    assert 0.98 * sweeps < modulus <= sweeps + 1
    for least in (1, 4, 10):
        length = gibbs_variants.coprime(least, modulus - 1)
        step = pow(multiplier, length, modulus)
        at, seen = 1, set()
        for _ in range(modulus - 1):
            seen.add(at)
            at = at * step % modulus
        assert len(seen) == modulus - 1  # first numbers of the runs, which determine the rest


def test_the_shortest_vector_against_trying_all():
    for modulus in (31, 101, 251):
        for a in range(1, modulus, 7):
            tried = min(
                k * k + min(k * a % modulus, modulus - k * a % modulus) ** 2
                for k in range(1, modulus)
            )
            assert gibbs_variants.shortest(a, modulus) == min(tried, modulus**2)


def test_models_of_all_families_are_small_and_the_same_each_time():
    makers = [
        *model_families.spins(),
        *model_families.no_fields(),
        *model_families.many_states(),
        *model_families.nets(),
        *model_families.zeros(),
    ]
    assert len(makers) >= 80 and len({name for name, _ in makers}) == len(makers)
    for number, (name, make) in list(enumerate(makers))[::7]:
        one, other = (make(np.random.default_rng([11, number])) for _ in range(2))
        assert one.content_hash == other.content_hash and one.n_variables <= 100, name


def test_other_models_are_small_and_the_same_each_time():
    kinds = [make for of in held_out_models.KINDS.values() for make in of]
    found, again = (list(held_out_models.families(len(kinds), 5)) for _ in range(2))
    assert [kind for kind, _, _ in found] == [kind for kind, _, _ in again]
    for (_, name, one), (_, _, other) in zip(found, again, strict=True):
        assert one.content_hash == other.content_hash and one.n_variables <= 100, name


def test_rows_are_asked_for_by_their_beginnings():
    assert list(herd_comparison.chosen_rows(("recommend",))) == ["Gibbs", "recommend"]
    assert set(herd_comparison.HAND) < set(herd_comparison.chosen_rows(None))
    with pytest.raises(hd.HerdedError, match="expected --rows"):
        herd_comparison.chosen_rows(("recomend",))


def test_a_book_is_gone_on_with(tmp_path, monkeypatch):
    """What it has is not run again."""
    monkeypatch.setattr(
        herd_comparison, "_known", cache(herd_comparison._known)
    )  # models, and what is true of them
    path = tmp_path / "scores"
    told = herd_comparison.Wanted((500,), ("Gibbs, 4",), scores=str(path))
    first = list(herd_comparison.lines(True, told))
    kept = path.read_text()
    assert list(herd_comparison.lines(True, told)) == first and path.read_text() == kept
    book = run_scores.Book(str(path))
    assert len(book.scores) == len(kept.splitlines()) and not book.lacks(*next(iter(book.scores)))
    assert any(line.startswith("| Gibbs, 4 chains |") for line in first)


def test_a_fair_share_is_what_the_time_allows():
    def of(cpu):
        return [
            [run_scores.Score(0.1, None, None, cpu), run_scores.Score(0.1, None, None, 2 * cpu)]
        ]

    table = {"Gibbs": of(1.0), "half": of(2.0), "fast": of(1e-9)}
    assert [herd_comparison.fair_share(table, name, 0, 1000) for name in table] == [
        1000,
        500,
        50_000,
    ]


def test_a_score_of_known_numbers():
    model = hd.FactorGraph([2, 3], [((0,), np.zeros(2)), ((1,), np.zeros(3))])
    truth = np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])
    off = np.array([[0.1, -0.1, 0.0], [0.0, 0.2, -0.2]])
    spread, ends = np.full((2, 3), 0.05), np.array([-0.159, 0.159])
    told = spread, (truth + off)[..., None] + ends
    found = run_scores.score(model, run_scores.Answer(truth + off, *told, False, 1.0), truth)
    assert found.error == pytest.approx(0.6 / 5)
    assert found.covered == pytest.approx(3 / 5)
    assert found.squares == pytest.approx((0.1 / 5, 0.0025))
    silent = run_scores.score(model, run_scores.Answer(truth + off, *told, True, 1.0), truth)
    assert silent.covered is None and silent.error == found.error


def test_rows_are_ratios_to_gibbs():
    def of(*errors):
        return [[run_scores.Score(e, 0.95, (4.0, 1.0), 2.0)] for e in errors]

    table = {"Gibbs": of(0.01, 0.02, 0.3, 0.02), "other": of(0.02, 0.005, 9.0, 0.0)}
    cells = "| 0.17 | 0.25 | 0.33 | 2.0 | 0.950 | 2.00 | 1.00 |"  # 0.17: the root of 2 / 4 / 100
    assert herd_comparison._row("other", table, [0, 1, 3]) == f"| other {cells}"


def test_tables_by_family():
    """Unusable models and those that a method cannot do do not count; a solver is never best."""
    error = np.array(
        [[0.02, 0.01, 0.3, 0.005], [0.01, 0.01, 0.1, np.nan], [0.0, 0.04, 0.1, 0.0005]]
    )
    cpu = np.array([[1.0, 1.0, 1.0, 1.0], [2.0, 8.0, 2.0, np.nan], [0.5, 0.5, 0.5, 0.5]])
    names, kinds = ["Gibbs", "other", which_method.SOLVED], ["a", "a", "a", "b"]
    found = list(which_method.table("Title", names, kinds, error, cpu))
    assert found[3] == "| | a (2) | b (1) | slow (1) | all (3) | worst | best | CPU | left out |"
    assert found[5:] == [
        "| Gibbs | 1.00 | 1.00 | 1.00 | 1.00 | 1.0 | 0.67 | 1.00 |  |",
        "| other | 0.71 |  | 0.50 | 0.71 | 1.0 | 0.33 | 4.00 | 1 |",
        f"| {which_method.SOLVED} | 0.20 | 0.10 | 0.01 | 0.16 | 4.0 |  | 0.50 |  |",
    ]


def test_a_method_that_has_no_room_is_left_out():
    def refuses(model, updates, seed):
        raise hd.MemoryLimitError("too large")

    truth = hd.infer(MIXED, hd.Exact()).marginals
    runs = {"Gibbs": which_method.contenders()["Gibbs"], "none": refuses}
    error, cpu = which_method.measured(runs, [(MIXED, truth)], np.full((2, 1), 500), 2)
    assert 0 < error[0, 0] < 0.05 and cpu[0, 0] >= 0 and np.isnan([error[1, 0], cpu[1, 0]]).all()


HOW = {
    "independent": phase_orders.INDEPENDENT,
    "shuffled": phase_orders.SHUFFLED,
    "sorted": phase_orders.SORTED,
    "two phases": phase_orders.TWO_PHASES,
}


def two_phases(conditionals, order):
    """Those below 1/2 share a phase, and the others another."""
    groups = [[k for k in order if (conditionals[k][1] >= 0.5) == high] for high in (False, True)]
    laws = [
        hd.theory.together_law([conditionals[k] for k in group]) if group else [(1, ())]
        for group in groups
    ]
    places = [*groups[0], *groups[1]]
    return [
        (p * q, tuple(dict(zip(places, (*a, *b), strict=True))[k] for k in range(len(order))))
        for p, a in laws[0]
        for q, b in laws[1]
    ]


@pytest.mark.parametrize("how", HOW)
def test_herds_in_any_order_against_the_law_of_theory(how):
    """Averages of a long run on two spins, and for herds how they vary, as `hd.theory` has them."""
    spins = np.array([[1.0, -1.0], [-1.0, 1.0]])
    model = hd.pairwise_model([[-0.3, 0.3], [-0.3, 0.3]], [(0, 1)], 0.5 * spins)
    pi = hd.theory.target(model)
    averages = phase_orders.run([(0, 1)], 0.5, 0.3, 4, 10_000, HOW[how])
    values = np.array([spins, [[-2.0, 0.0], [0.0, 2.0]], [[4.0, 0.0], [0.0, 4.0]]])
    expected = (values * pi).sum(axis=(1, 2))
    error = (phase_orders.batch_variance(averages) / phase_orders.BATCHES) ** 0.5
    assert (np.abs(averages.mean(axis=0) - expected) < 5 * error).all()
    assert averages[:, 0].var() == pytest.approx(one_sweep_variance(model, spins, how), rel=0.05)


def one_sweep_variance(model, values, how):
    """Of a herd's average at the end of a sweep."""
    pi, f = hd.theory.target(model).ravel(), values.ravel()
    if how == "independent":
        return (pi @ f**2 - (pi @ f) ** 2) / 4
    told = {"draw": two_phases} if how == "two phases" else {"orders": how}
    herds = np.stack(np.unravel_index(np.arange(256), (4,) * 4), axis=1)
    kernel, alone = (
        hd.theory.herd_sweep_kernel(model, 4, **told),
        hd.theory.gibbs_sweep_kernel(model),
    )
    for k in range(4):
        assert np.allclose(hd.theory.member_kernel(kernel, 4, k), alone[herds[:, k]], atol=1e-14)
    law, averages = np.linalg.matrix_power(kernel, 300)[0], f[herds].mean(axis=1)
    return law @ averages**2 - (law @ averages) ** 2


def test_spread_of_a_herd_without_fields():
    """Of one member it is that of a chain, and no two members are then alike."""
    rows = list(energy_spread.lines(quick=True))
    assert len(rows) > 13 and all("nan" not in row for row in rows)
    spread, distinct = energy_spread.ratios("ring of 8, J = 0.5", "table", 1)
    assert 0.9 < spread < 1.1 and abs(distinct - 1) < 1e-9
