"""Tempering: the twin's bits, the joint of all rungs, exact answers, and what `infer` offers."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.models.constraints.start_states import member_starts
from herded.moves.tempering.ladder_layouts import MoveLadder, soften_hard_zeros
from herded.moves.tempering.replica_exchange import collect_component, compile_exchange_arrays
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.twins.enumerated_joint import naive_joint, naive_log_scores
from tests.conformance.twins.samplers.tempering import naive_ladder
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.kernel_runs import RULES
from tests.support.strategies import binary_pairs, sampled_models

pytestmark = pytest.mark.usefixtures("quiet")
compiled = pytest.mark.skipif(UNCOMPILED, reason="too slow without a compiler")


def climb(method, layout, x0, sweeps, burn_in, chain=0, cuts=()):
    """Samples (sweeps, rungs, N) of all rungs, the coldest's sums, and the last state."""
    state = method.init(layout, x0, chain=chain, tally=True, total=sweeps)
    state.state_counts, parts = layout.new_counts(), []
    ends = sorted({*cuts, burn_in, sweeps})
    for a, b in zip([0, *ends], ends, strict=False):
        if a == burn_in:
            layout.end_burn_in(state)
        block = np.zeros((b - a, layout.sample_size), layout.sample_type)
        method.advance(layout, state, block)
        parts.append(np.array(layout.replicas_of(block)))
    return np.concatenate(parts), state.conditional_sums.reshape(layout.n_stored, -1), state


def starts_of(layout, x0, seed, chain):
    """Where all rungs start: the coldest where it is told to."""
    key = stream_key(seed, chain, 8)
    return np.concatenate([member_starts(layout.melted(), layout.rungs - 1, key), x0])


# -- the twin -------------------------------------------------------------------------------------


def compare_with_twin(model, kind, data):
    """The same samples, sums, temperatures, rejections and trips, wherever blocks are cut."""
    seed, chain = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 2))
    scan = data.draw(st.sampled_from(("sequential", "checkerboard", "random")))
    hottest_beta, swaps = (
        data.draw(st.sampled_from((0.3, 0.0))),
        data.draw(st.sampled_from(("components", "whole"))),
    )
    rungs = data.draw(st.sampled_from((3, 4, 5, 8) if kind == "field" else (3, 4, 5)))
    method = hd.Tempered(hd.Gibbs(seed=seed, scan=scan), rungs, hottest_beta, swaps)
    layout = method.compile(model, kind=None if kind == "field" else kind)
    x0, sweeps, burn_in = member_starts(model, 1, stream_key(seed, chain, 3)), 70, 66
    found, tally, state = climb(
        method, layout, x0, sweeps, burn_in, chain, cuts=[data.draw(st.integers(1, 65))]
    )
    expected = naive_ladder(
        model,
        x0=starts_of(layout, x0, seed, chain),
        betas=layout.first_betas,
        kind=kind,
        swaps=swaps,
        scan=scan,
        seed=seed,
        chain=chain,
        sweeps=sweeps,
        burn_in=burn_in,
        melted=soften_hard_zeros(model) if layout.softens_zeros else None,
    )
    np.testing.assert_array_equal(found, expected[0])
    np.testing.assert_array_equal(state.method_arrays["betas"], expected[2])
    known = model.evidence >= 0
    np.testing.assert_array_equal(tally[~known], expected[1][~known])


@pytest.mark.parametrize("rule", RULES)
@examples(40)
@given(data=st.data())
def test_the_twin(rule, data):
    compare_with_twin(data.draw(sampled_models(*RULES[rule])), "factor", data)


@examples(40)
@given(data=st.data())
def test_the_twin_of_fields(data):
    compare_with_twin(data.draw(binary_pairs(8)), "field", data)


@pytest.mark.parametrize("hottest_beta", [0.2, 0.0])
@examples(25)
@given(data=st.data())
def test_any_layout_that_cools_does_what_the_kernel_does(hottest_beta, data):
    """Rung by rung with the layout "factor": the bits of the kernel that does all."""
    model = data.draw(sampled_models(1, 3))
    method = hd.Tempered(hd.Gibbs(seed=data.draw(st.integers(0, 3))), 4, hottest_beta)
    layout = method.compile(model, kind="factor")
    rungs = [
        replace(hd.Gibbs(schedule="linear").compile(m), method=method.method)
        for m in (model, layout.melted())
    ]
    shared = {f: getattr(layout, f) for f in SHARED}
    slow = MoveLadder(**shared, coldest=rungs[0], others=rungs[1])
    x0 = member_starts(model, 1, stream_key(1))
    a, b = (climb(method, one, x0, 40, 35, cuts=[3]) for one in (layout, slow))
    np.testing.assert_array_equal(a[0], b[0])
    np.testing.assert_array_equal(a[1], b[1])


SHARED = (
    "model", "method", "memory", "chain_memory", "scalar", "members", "components_of",
    "first_betas", "is_whole", "softens_zeros",
)  # fmt: skip


# -- the joint distribution of all rungs ----------------------------------------------------------


def exchanged(model, betas, hot, cold):
    """What an exchange of components makes of two replicas: (states, probability) of each case."""
    g = compile_exchange_arrays(model, model.log_tables, False)
    n = model.n_variables
    x = np.stack([hot, cold], axis=1).astype(np.uint8).reshape(-1)
    mark = (np.array(hot) != np.array(cold)).astype(np.uint8)
    met, stack = np.full(model.n_factors + 1, -1), np.empty(n, np.int64)
    cases = [((hot, cold), 1.0)]
    for i in range(n):
        if mark[i] == 1:
            size, difference = collect_component(g, x, 2, 0, 1, i, False, mark, met, stack, 0)
            accepted = min(1.0, np.exp((betas[1] - betas[0]) * difference))
            part = set(stack[:size].tolist())
            cases = [
                case
                for (a, b), p in cases
                for case in (
                    ((mixed(a, b, part), mixed(b, a, part)), p * accepted),
                    ((a, b), p * (1 - accepted)),
                )
            ]
    return cases


def mixed(a, b, part):
    return tuple(b[i] if i in part else a[i] for i in range(len(a)))


@examples(40)
@given(model=sampled_models(1, 3, max_variables=3))
def test_exchanges_leave_the_joint_of_both_rungs_as_it_is(model):
    """Exactly, over all pairs of states: zeros, evidence, three states, factors of three."""
    scores, betas = naive_log_scores(model), (0.3, 1.0)
    states = [x for x in itertools.product(*map(range, model.cardinalities)) if scores[x] > -np.inf]
    weight = {
        (a, b): np.exp(betas[0] * scores[a] + betas[1] * scores[b])
        for a, b in itertools.product(states, states)
    }
    after = dict.fromkeys(weight, 0.0)
    for (hot, cold), w in weight.items():
        for pair, p in exchanged(model, betas, hot, cold):
            if p:
                after[pair] += w * p
    before, after = (np.array(list(d.values())) for d in (weight, after))
    np.testing.assert_allclose(after, before, rtol=1e-9, atol=1e-12 * before.sum())


@compiled
@pytest.mark.parametrize("method", [
    hd.Tempered(rungs=4), hd.Tempered(rungs=4, hottest_beta=0), hd.Tempered(rungs=3, swaps="whole"),
    hd.Tempered(hd.Gibbs(herd=5), rungs=3),
    hd.Tempered(hd.Gibbs(moves=hd.Blocks(entries=8)), rungs=3),
])  # fmt: skip
@pytest.mark.parametrize("name", ["pairs", "zeros", "evidence"])
def test_the_joint_of_the_coldest_rung(method, name):
    """Total variation from enumeration is what so many draws leave."""
    model = small_models()[name]
    expected = naive_joint(model)
    sweeps = 30_000 if method.method == hd.Gibbs() else 4000 // method.herd * 2
    result = hd.infer(model, method, sweeps=sweeps, burn_in=200, keep=[hd.Joint()])
    assert np.abs(result.joint - expected).sum() / 2 < 0.03


def small_models():
    rng = np.random.default_rng(5)
    pairs = [((i, (i + 1) % 5), rng.normal(size=(2, 2))) for i in range(5)]
    tables = [((0, 1, 2), rng.normal(size=(3, 2, 2))), ((2, 3), rng.normal(size=(2, 3)))]
    hard = [(scope, np.where(rng.random(t.shape) < 0.3, -np.inf, t)) for scope, t in tables]
    zeros = hd.FactorGraph([3, 2, 2, 3], [*hard, ((0,), np.zeros(3))])
    return {
        "pairs": hd.FactorGraph([2] * 5, pairs),
        "zeros": zeros,
        "evidence": zeros.given({3: int(np.argmax(naive_joint(zeros).sum(axis=(0, 1, 2))))}),
    }


# -- what infer offers ----------------------------------------------------------------------------


def two_wells(n=12, strength=3.0):
    """A ring whose variables are all 0 or all 1, a little more often 1."""
    pair = [[strength, 0.0], [0.0, strength]]
    links = [((i, (i + 1) % n), pair) for i in range(n)]
    return hd.FactorGraph([2] * n, [*links, ((0,), [0.0, 0.5])])


def test_wells_that_single_moves_do_not_leave():
    model = two_wells()
    exact = hd.infer(model, hd.Exact()).marginals
    result = hd.infer(model, hd.Tempered(), sweeps=20_000, burn_in=1000)
    assert np.abs(result.marginals - exact).max() < 0.03
    assert result.provenance["round_trips"][0] > 10
    betas = result.provenance["betas"][0]
    assert betas[0] == 0.1
    assert betas[-1] == 1.0
    assert (np.diff(betas) > 0).all()
    assert not [text for text in result.warnings if "hottest" in text]


@compiled
def test_leaps_are_learnt_in_the_burn_in_and_not_after():
    """What lies between the wells is a leap, which is taken more often than trips are made."""
    model, method = two_wells(strength=6.0), hd.Tempered(rungs=4)
    result = hd.infer(model, method, sweeps=4000, burn_in=1000, keep=[hd.Samples()])
    leaps = result.state[0].method_arrays["leaps"].reshape(64, 12)
    assert leaps.all(axis=1).any()
    wells = result.samples[0].sum(axis=1) > 6
    assert np.diff(wells).sum() > 5 * result.provenance["round_trips"][0]
    longer = hd.infer(model, method, sweeps=8000, burn_in=1000)
    np.testing.assert_array_equal(longer.state[0].method_arrays["leaps"], leaps.reshape(-1))
    assert not hd.infer(model, method, sweeps=100).state[0].method_arrays["leaps"].any()


def test_the_hottest_rung_is_hotter_where_all_variables_pull_together():
    """Half of this model's couplings would keep it ordered at a tenth."""
    n, pull = 40, [[3.0, 0.0], [0.0, 3.0]]
    pairs = [((i, j), pull) for i in range(n) for j in range(n // 2, n) if i < n // 2]
    pull_down = [((i,), [60.0, 0.0]) for i in range(n)]
    model = hd.FactorGraph([2] * n, [*pairs, *pull_down])
    assert hd.Tempered().compile(model).first_betas[0] == pytest.approx(4 / 120)
    assert hd.Tempered(hottest_beta=0.01).compile(model).first_betas[0] == 0.01
    assert hd.Tempered(hottest_beta=0).compile(model).first_betas[0] == 0.0


def test_temperatures_move_in_the_burn_in_and_not_after():
    model, method = two_wells(), hd.Tempered(rungs=5)
    first = method.compile(model).first_betas
    at = [
        hd.infer(model, method, sweeps=sweeps, burn_in=burn_in).provenance["betas"][0]
        for sweeps, burn_in in ((300, 0), (10, 200), (400, 200))
    ]
    np.testing.assert_array_equal(at[0], first)
    assert at[1] != first.tolist()
    assert at[2] == at[1]


def test_nothing_came_down():
    """Rungs too far apart for anything to pass are told."""
    model = two_wells(60, 8.0)
    result = hd.infer(model, hd.Tempered(rungs=2, hottest_beta=0.01, swaps="whole"), sweeps=200)
    assert any("nothing came down from the hottest rung" in text for text in result.warnings)


def test_best_state_of_any_rung():
    """One that the coldest rung never had in so short a run, on a model that freezes at once."""
    rng = np.random.default_rng(3)
    model = hd.ising_grid(rng.normal(size=(6, 6)), (rng.normal(size=(6, 5)) * 3, 2.0))
    best = hd.infer(model, hd.Exact()).best.log_score
    result = hd.infer(model, hd.Tempered(), sweeps=3000, keep=[hd.BestState()])
    assert result.best.log_score == pytest.approx(best)
    layout = hd.Tempered().compile(model)
    block = np.zeros((1, layout.sample_size), layout.sample_type)
    assert layout.replicas_of(block).shape == (1, 8, 36)
    assert layout.members_of(block).shape == (1, 1, 36)


@pytest.mark.parametrize("herd", [1, 3])
def test_checkpoints_threads_and_workers_give_the_same_bits(herd, tmp_path):
    model = small_models()["zeros"]
    method = hd.Tempered(hd.Gibbs(herd=herd, seed=2), rungs=3)
    keep = [hd.Marginals(rao_blackwell=True), hd.Samples(), hd.BestState()]
    options = {"burn_in": 40, "chains": 2, "keep": keep}
    whole = hd.infer(model, method, sweeps=60, **options)
    file = tmp_path / "run"
    for sweeps in (1, 21, 60):
        cut = hd.infer(model, method, sweeps=sweeps, checkpoint=file, **options)
    with ThreadPoolExecutor(2) as executor:
        spread = hd.infer(model, method, sweeps=60, executor=executor, **options)
    for other in (cut, spread):
        np.testing.assert_array_equal(other.marginals, whole.marginals)
        np.testing.assert_array_equal(other.samples, whole.samples)
        assert other.provenance["betas"] == whole.provenance["betas"]
    assert whole.samples.shape == (2 * herd, 60, 4)


def test_a_checkpoint_may_not_claim_states_that_do_not_exist(tmp_path):
    """Also of the rungs that are not recorded: kernels would read beyond their tables."""
    model = small_models()["zeros"]
    result = hd.infer(model, hd.Tempered(rungs=3), sweeps=5)
    layout = hd.Tempered(rungs=3).compile(model)
    state = result.state[0]
    assert layout.replicas(state).shape == (3, 4)
    assert layout.values(state).shape == (1, 4)


def test_a_run_goes_on():
    model, method = two_wells(), hd.Tempered(rungs=3)
    one = hd.infer(model, method, sweeps=30, burn_in=40)
    two = hd.infer(model, method, sweeps=30, start=one.state)
    whole = hd.infer(model, method, sweeps=60, burn_in=40)
    both = (one.marginals + two.marginals) / 2
    np.testing.assert_allclose(both, whole.marginals)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": hd.HerdedGibbs()}, "got HerdedGibbs: its weights belong to one state"),
        ({"method": hd.Exact()}, r"expected Gibbs\(...\) to temper, got Exact"),
        ({"method": hd.Gibbs(schedule="linear")}, "drop schedule="),
        ({"rungs": 1}, "expected 2 to 256 rungs, got 1"),
        ({"rungs": 2.5}, "expected 2 to 256 rungs, got 2.5"),
        ({"hottest_beta": 1.0}, "from 0 to below 1, got 1.0"),
        ({"hottest_beta": -0.1}, "from 0 to below 1, got -0.1"),
        ({"swaps": "some"}, "got 'some'"),
    ],
)
def test_refusals(options, said):
    with pytest.raises(hd.MethodError, match=said):
        hd.Tempered(**options)


def test_refused_scan():
    with pytest.raises(hd.MethodError, match="one variable at a time under tempering"):
        hd.infer(two_wells(), hd.Tempered(hd.Gibbs(scan="jacobi")), sweeps=1)
    layout = hd.Tempered(rungs=3).compile(model := two_wells())
    with pytest.raises(hd.MethodError, match="expected a layout from compile"):
        hd.infer(model, hd.Tempered(rungs=4), layout=layout, sweeps=1)


def test_shown():
    assert repr(hd.Tempered()) == "Tempered()"
    assert repr(hd.Tempered(hd.Gibbs(seed=3), rungs=5)) == "Tempered(method=Gibbs(seed=3), rungs=5)"
