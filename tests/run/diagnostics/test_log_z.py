"""log Z by ladders: bridges against their twins, truth within intervals, and what is doubted."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.moves.tempering.ladder_layouts import soften_hard_zeros
from herded.run.recording import log_z_estimator
from herded.run.recording.log_z_estimator import KeepLogZ, log_z_diagnostics
from herded.run.recording.log_z_kernels import log_mean_exp, score_replicas, solve_bridge_log_ratio
from herded.run.result import LogZEstimate, Result
from herded.run.selection import log_z_escalation
from herded.run.selection.escalation import CROSS_CHECK_SHARE, Stage
from herded.system.diagnostics.kinds import DiagnosticKind
from tests.conformance.twins.enumerated_joint import naive_log_scores, naive_log_z
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.strategies import sampled_models, seeds

pytestmark = pytest.mark.usefixtures("quiet")
compiled = pytest.mark.skipif(UNCOMPILED, reason="too slow without a compiler")


def naive_bridge(u, v):
    """Where both means are equal, by halving an interval that holds the answer."""

    def share(z):
        return 1 / (1 + math.exp(-z)) if z > -700 else 0.0

    low, high = min(*u, *v) - 50, max(*u, *v) + 50
    for _ in range(200):
        c = (low + high) / 2
        if math.fsum(share(a - c) for a in u) > math.fsum(share(c - b) for b in v):
            low = c
        else:
            high = c
    return low


@examples(40)
@given(seed=seeds, apart=st.sampled_from((0.0, 1.0, 8.0, 60.0)))
def test_bridges_are_where_both_means_are_equal(seed, apart):
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=64), rng.normal(size=64) + apart
    up, down = np.empty(4), np.empty(4)
    found = solve_bridge_log_ratio(u, v, 4, up, down)
    assert found == pytest.approx(naive_bridge(u, v), abs=1e-6)
    assert up.mean() == pytest.approx(0.0, abs=1e-9)
    assert down.mean() == pytest.approx(0.0, abs=1e-9)
    expected = np.logaddexp.reduce(u) - math.log(64)
    assert log_mean_exp(u) == pytest.approx(expected, abs=1e-12)


def test_what_a_batch_adds_is_how_the_estimate_changes():
    """To first order, without the last batch."""
    rng = np.random.default_rng(1)
    u, v = rng.normal(size=4000), rng.normal(size=4000) + 1
    up, down = np.empty(40), np.empty(40)
    whole = solve_bridge_log_ratio(u, v, 40, up, down)
    less = solve_bridge_log_ratio(u[:3900], v[:3900], 1, np.empty(1), np.empty(1))
    assert less - whole == pytest.approx(-(up[-1] - down[-1]) / 39, rel=0.1)


@examples(30)
@given(model=sampled_models(1, 3), seed=st.integers(0, 9))
def test_scores_of_replicas(model, seed):
    """Those of the melted model, and whether a state has a hard zero in the model itself."""
    layout = hd.Tempered(rungs=3, hottest_beta=0).compile(model)
    rng = np.random.default_rng(seed)
    free = rng.integers(0, model.cardinalities, (4, 3, model.n_variables))
    states = np.where(model.evidence >= 0, model.evidence, free)
    rows = np.stack([layout.pack(one) for one in states])
    scores, solid = np.empty((4, 3)), np.empty((4, 1), np.uint8)
    score_replicas(layout.components_of, rows, 3, 2, 1, scores, solid)
    soft = soften_hard_zeros(model) if layout.softens_zeros else model
    expected = naive_log_scores(soft)
    possible = naive_log_scores(model) > -np.inf
    for row, lane in np.ndindex(4, 3):
        assert scores[row, lane] == pytest.approx(expected[tuple(states[row, lane])], abs=1e-9)
    assert solid[:, 0].tolist() == [int(possible[tuple(s[1])]) for s in states]


# -- the truth is in the interval -----------------------------------------------------------------


def random_models():
    """Forty small models of all kinds: pairs, three states, factors of three, zeros, evidence."""
    rng = np.random.default_rng(11)
    for k in range(40):
        cards = rng.integers(2, 4, 6) if k % 2 else np.full(6, 2)
        scopes = [
            tuple(rng.choice(6, size=3 if k % 4 == 3 else 2, replace=False)) for _ in range(8)
        ]
        witness, factors = rng.integers(0, cards), []
        for scope in scopes:
            table = 2 * rng.normal(size=tuple(cards[list(scope)]))
            if k % 3 == 2:
                hard = rng.random(table.shape) < 0.3
                hard[tuple(witness[list(scope)])] = False
                table = np.where(hard, -np.inf, table)
            factors.append((scope, table))
        model = hd.FactorGraph(cards, factors)
        yield model.given({0: int(witness[0])}) if k % 5 == 4 else model


@compiled
def test_intervals_hold():
    """99 % of them, whatever the model; and they are not wide for nothing."""
    hits, reach = 0, []
    for k, model in enumerate(random_models()):
        method = hd.Tempered(hd.Gibbs(seed=k), rungs=9, hottest_beta=0)
        result = hd.infer(model, method, sweeps=3000, burn_in=300)
        truth, (low, high) = naive_log_z(model), result.log_z_interval
        hits += low <= truth <= high
        reach.append((high - low) / 2)
        assert abs(result.log_z - truth) < 3 * (high - low)
    assert hits >= 38
    assert np.mean(reach) < 0.12


@compiled
def test_herds_blocks_and_several_ladders():
    model = list(random_models())[5]
    for inner in (hd.Gibbs(herd=4), hd.Gibbs(moves=hd.Blocks(entries=8))):
        method = hd.Tempered(inner, rungs=6, hottest_beta=0)
        result = hd.infer(model, method, sweeps=500, burn_in=100, chains=2)
        low, high = result.log_z_interval
        assert abs(result.log_z - naive_log_z(model)) < high - low < 2.0


INF = -np.inf


@compiled
@pytest.mark.parametrize(
    "factors",
    [
        [((0, 1), [[-50.0, INF], [INF, INF]])],
        [((0,), [0.0, -30.0]), ((0, 1), [[INF, INF], [INF, 0.0]])],
    ],
    ids=["low", "forbidden and likely"],
)
def test_one_possible_state(factors):
    """However little its factors give to it beside what they give to states that are forbidden."""
    model = hd.FactorGraph([2, 2], factors)
    result = hd.infer(model, hd.Tempered(rungs=5, hottest_beta=0), sweeps=500, burn_in=100)
    assert result.log_z == pytest.approx(naive_log_z(model), abs=0.5)


@given(model=sampled_models(1, 3))
def test_what_is_possible_is_worth_the_same_when_melted(model):
    scores = naive_log_scores(model)
    soft = naive_log_scores(soften_hard_zeros(model))
    possible = scores > -np.inf
    np.testing.assert_allclose(soft[possible], scores[possible], atol=1e-9)
    assert np.isfinite(soften_hard_zeros(model).log_tables).all()


def test_margins_of_several_ladders_see_how_far_they_are_apart():
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(4, log_z_estimator.BATCHES_PER_LADDER))
    alike = log_z_estimator._half_width(noise - noise.mean(), log_z_estimator.BATCH_COUNTS)
    assert 2.5 / np.sqrt(noise.size) < alike < 6 / np.sqrt(noise.size)
    apart = noise + 3 * np.array([[-1], [1], [-1], [1]])
    assert log_z_estimator._half_width(apart, log_z_estimator.BATCH_COUNTS) > 3 * 3 / np.sqrt(
        len(apart)
    ) / np.sqrt(2)


# -- with seconds ---------------------------------------------------------------------------------


class Ladders:
    """Runs that take the seconds they are given, by a clock that only they move."""

    def __init__(self, monkeypatch, speed=1000.0, apart=1.0, compiling=0.0):
        self.now, self.speed, self.apart, self.compiling = 0.0, speed, apart, compiling
        self.calls = []
        monkeypatch.setattr(log_z_escalation, "time", self)
        monkeypatch.setattr(log_z_escalation, "run_belief_propagation_check", self.no_witness)

    def perf_counter(self):
        return self.now

    def no_witness(self, model, seconds):
        raise hd.MethodError("none")

    def __call__(self, rung, seconds, name):
        self.calls.append((name, round(seconds, 6), rung.burn_in, rung.method.rungs))
        self.now += seconds + self.compiling
        sweeps = int(self.speed * seconds) - rung.burn_in
        if sweeps < 1:
            raise hd.MethodError("expected seconds enough")
        facts = {"seconds": seconds, "burn_in": rung.burn_in, "interrupted": False}
        facts |= {"compiling": self.compiling, "apart": [[self.apart] * (rung.method.rungs - 1)]}
        kept = {"bridged": LogZEstimate(1.0, 0.1, 1.0, 1.0, (1.0, 1.0)), "log_z": 1.0}
        model = next(random_models())
        return Result(model.shape, sweeps, None, facts, kept=kept, model=model, method=rung.method)


RUNG = Stage("tempered", hd.Tempered(rungs=16, hottest_beta=0), None, 100, 2)
LAST = 100 * (1 - CROSS_CHECK_SHARE)  # of 100 seconds, when the last run ends


@pytest.mark.parametrize("compiling", [0.0, 50.0])
def test_a_short_ladder_tells_how_long_the_burn_in_may_be(monkeypatch, compiling):
    ladders = Ladders(monkeypatch, compiling=compiling)
    result = log_z_escalation.escalate_log_z(RUNG, ladders, 100.0)
    (_, share, *short), (name, rest, burn_in, rungs) = ladders.calls
    assert short == [100, 16] and name == "tempered at length" and rungs == 16
    assert share + rest == pytest.approx(LAST)
    assert burn_in == pytest.approx(1000 * rest / log_z_escalation.BURN_IN_DIVISOR, rel=1e-3)
    assert [step.said for step in result.escalation] == ["log Z is 1 +- 0.1"] * 2


def test_rungs_that_are_far_apart_are_more(monkeypatch):
    ladders = Ladders(monkeypatch, apart=16.0)  # four standard deviations in each gap
    log_z_escalation.escalate_log_z(RUNG, ladders, 100.0)
    assert ladders.calls[1][3] == 32
    ladders = Ladders(monkeypatch, apart=1e6)
    log_z_escalation.escalate_log_z(RUNG, ladders, 100.0)
    assert ladders.calls[1][3] == log_z_escalation.MAX_LOG_Z_RUNGS


def test_a_slow_model_has_all_of_the_time_for_one_run(monkeypatch):
    ladders = Ladders(monkeypatch, speed=10.0)
    log_z_escalation.escalate_log_z(RUNG, ladders, 100.0)
    assert [name for name, *_ in ladders.calls] == ["tempered", "tempered at length"]
    assert ladders.now == pytest.approx(LAST)
    ladders = Ladders(monkeypatch)
    log_z_escalation.escalate_log_z(RUNG._replace(sweeps=500), ladders, 100.0)
    assert len(ladders.calls) == 1


@pytest.mark.parametrize("kept", [{}, {"log_z": 2.0}])
def test_an_interrupt_leaves_the_log_z_that_is_there(monkeypatch, kept):
    """Of the short ladder, where the long one had no time for any."""
    ladders = Ladders(monkeypatch)

    def run(rung, seconds, name):
        found = ladders(rung, seconds, name)
        if name == "tempered":
            return found
        later = {**found.kept, **kept} if kept else {}
        facts = {**found.provenance, "interrupted": True}
        return replace(found, kept=later, provenance=facts)

    result = log_z_escalation.escalate_log_z(RUNG, run, 100.0)
    assert len(ladders.calls) == 2 and result.provenance["interrupted"]
    assert result.log_z == kept.get("log_z", 1.0) and len(result.escalation) == 1 + len(kept)


def test_a_run_that_is_too_short_says_so(monkeypatch):
    def short(rung, seconds, name):
        return hd.infer(next(random_models()), rung.method, sweeps=10)

    with pytest.raises(hd.MethodError, match="expected 64 sweeps or more for log Z"):
        log_z_escalation.escalate_log_z(RUNG._replace(sweeps=10), short)


# -- what is recorded -----------------------------------------------------------------------------


def test_scores_do_not_depend_on_blocks_workers_or_interruptions(monkeypatch, tmp_path):
    """Also where so many sweeps were seen that only some are kept."""
    monkeypatch.setattr(log_z_estimator, "MAX_KEPT_SWEEPS", 80)
    model, method = next(random_models()), hd.Tempered(rungs=4, hottest_beta=0)
    options = {"burn_in": 20, "chains": 2}
    whole = hd.infer(model, method, sweeps=300, **options)
    file = tmp_path / "run"
    for sweeps in (30, 100, 101, 300):
        cut = hd.infer(model, method, sweeps=sweeps, checkpoint=file, **options)
    with ThreadPoolExecutor(2) as executor:
        spread = hd.infer(model, method, sweeps=300, executor=executor, **options)
    assert whole.kept["bridged"] == cut.kept["bridged"] == spread.kept["bridged"]


def test_sweeps_that_are_kept(monkeypatch):
    monkeypatch.setattr(log_z_estimator, "MAX_KEPT_SWEEPS", 40)
    layout = hd.Tempered(rungs=3, hottest_beta=0).compile(next(random_models()))
    recorder = KeepLogZ().recorder(layout)
    for rows in (7, 33, 1, 100, 19):
        recorder.add(np.zeros((rows, layout.sample_size), layout.sample_type), None)
    recorder.gather()
    np.testing.assert_array_equal(recorder.arrays["series sweeps"], np.arange(4, 161, 4))
    assert len(recorder.arrays["series scores"]) == 40


def test_a_ladder_that_does_not_begin_at_zero_has_no_log_z():
    model = next(random_models())
    result = hd.infer(model, hd.Tempered(rungs=3), sweeps=50)
    with pytest.raises(hd.NotKeptError, match=r"Tempered\(rungs=16, hottest_beta=0\)"):
        result.log_z  # noqa: B018
    with pytest.raises(hd.NotKeptError, match=r"Tempered\(rungs=16, hottest_beta=0\)"):
        result.log_z_interval  # noqa: B018


# -- what is doubted ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (LogZEstimate(5.0, 0.1, 5.0, 5.1, (5.05, 4.95)), []),
        (LogZEstimate(5.0, 0.1, 5.0, 5.0, (5.3, 4.7)), ["the burn-in was not long enough"]),
        (LogZEstimate(5.0, 0.1, 4.0, 7.0, (5.0, 5.0)), ["rungs are too far apart"]),
        (LogZEstimate(-math.inf, 0.1, -math.inf, -math.inf, (1, 1)), ["log Z is unknown"]),
    ],
)
def test_doubts(found, said):
    told = log_z_diagnostics(found, [50.0, 30.0])
    assert len(told) == len(said)
    assert all(part in one.message for part, one in zip(said, told, strict=True))


def test_few_round_trips_are_told():
    told = log_z_diagnostics(LogZEstimate(5.0, 0.1, 5.0, 5.1, (5.05, 4.95)), [50.0, 3.0])
    assert told[0].kind == DiagnosticKind.LOG_Z_ROUND_TRIPS
    assert told[0].message.startswith("log Z rests on 3 round trips")


@compiled
def test_a_short_ladder_on_a_strong_grid_is_doubted():
    """It has not burnt in: several agree, and are wrong by more than their interval."""
    rng = np.random.default_rng(2)
    couplings = rng.uniform(-4, 4, (12, 11)), rng.uniform(-4, 4, (11, 12))
    model = hd.ising_grid(rng.uniform(-1, 1, (12, 12)), couplings)
    truth = hd.infer(model, hd.Exact()).log_z
    result = hd.infer(model, hd.Tempered(rungs=5, hottest_beta=0), sweeps=100)
    low, high = result.log_z_interval
    is_doubted = any("log Z" in text or "hottest" in text for text in result.warnings)
    assert low <= truth <= high or is_doubted
    assert is_doubted
