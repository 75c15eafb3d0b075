"""log Z by ladders: bridges against their twins, truth within intervals, and what is doubted."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from compiled import UNCOMPILED, quick
from hypothesis import given
from hypothesis import strategies as st
from naive.joint import naive_log_scores, naive_log_z
from strategies import sampled_models, seeds

import herded as hd
from herded.moves.ladder import melted
from herded.run import bridged
from herded.run.bridge_kernels import bridge, log_mean_exp, score_replicas
from herded.run.bridged import LogZ, warnings_of
from herded.run.result import Bridged

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


@quick(40)
@given(seed=seeds, apart=st.sampled_from((0.0, 1.0, 8.0, 60.0)))
def test_bridges_are_where_both_means_are_equal(seed, apart):
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=64), rng.normal(size=64) + apart
    up, down = np.empty(4), np.empty(4)
    found = bridge(u, v, 4, up, down)
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
    whole = bridge(u, v, 40, up, down)
    less = bridge(u[:3900], v[:3900], 1, np.empty(1), np.empty(1))
    assert less - whole == pytest.approx(-(up[-1] - down[-1]) / 39, rel=0.1)


@quick(30)
@given(model=sampled_models(1, 3), seed=st.integers(0, 9))
def test_scores_of_replicas(model, seed):
    """Those of the melted model, and whether a state has a hard zero in the model itself."""
    layout = hd.Tempered(rungs=3, hottest=0).compile(model)
    rng = np.random.default_rng(seed)
    free = rng.integers(0, model.cardinalities, (4, 3, model.n_variables))
    states = np.where(model.evidence >= 0, model.evidence, free)
    rows = np.stack([layout.pack(one) for one in states])
    scores, solid = np.empty((4, 3)), np.empty((4, 1), np.uint8)
    score_replicas(layout.components_of, rows, 3, 2, 1, scores, solid)
    soft = melted(model) if layout.melts else model
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
    """95 % of them, whatever the model; and they are not wide for nothing."""
    hits, reach = 0, []
    for k, model in enumerate(random_models()):
        method = hd.Tempered(hd.Gibbs(seed=k), rungs=9, hottest=0)
        result = hd.infer(model, method, sweeps=4000, burn_in=300)
        low, high = result.log_z_interval
        hits += low <= naive_log_z(model) <= high
        reach.append((high - low) / 2)
        assert abs(result.log_z - naive_log_z(model)) < 3 * (high - low)
    assert hits >= 36
    assert np.mean(reach) < 0.12


@compiled
def test_herds_blocks_and_several_ladders():
    model = list(random_models())[5]
    for inner in (hd.Gibbs(herd=4), hd.Gibbs(moves=hd.Blocks(entries=8))):
        method = hd.Tempered(inner, rungs=6, hottest=0)
        result = hd.infer(model, method, sweeps=500, burn_in=100, chains=2)
        low, high = result.log_z_interval
        assert abs(result.log_z - naive_log_z(model)) < high - low < 2.0


# -- what is recorded -----------------------------------------------------------------------------


def test_scores_do_not_depend_on_blocks_workers_or_interruptions(monkeypatch, tmp_path):
    """Also where so many sweeps were seen that only some are kept."""
    monkeypatch.setattr(bridged, "MOST", 40)
    model, method = next(random_models()), hd.Tempered(rungs=4, hottest=0)
    options = {"burn_in": 20, "chains": 2}
    whole = hd.infer(model, method, sweeps=300, **options)
    file = tmp_path / "run"
    for sweeps in (30, 100, 101, 300):
        cut = hd.infer(model, method, sweeps=sweeps, checkpoint=file, **options)
    with ThreadPoolExecutor(2) as executor:
        spread = hd.infer(model, method, sweeps=300, executor=executor, **options)
    assert whole.kept["bridged"] == cut.kept["bridged"] == spread.kept["bridged"]


def test_sweeps_that_are_kept(monkeypatch):
    monkeypatch.setattr(bridged, "MOST", 40)
    layout = hd.Tempered(rungs=3, hottest=0).compile(next(random_models()))
    recorder = LogZ().recorder(layout)
    for rows in (7, 33, 1, 100, 19):
        recorder.add(np.zeros((rows, layout.sample_size), layout.sample_type), None)
    recorder.gather()
    np.testing.assert_array_equal(recorder.arrays["series sweeps"], np.arange(4, 161, 4))
    assert len(recorder.arrays["series scores"]) == 40


def test_a_ladder_that_does_not_begin_at_zero_has_no_log_z():
    model = next(random_models())
    result = hd.infer(model, hd.Tempered(rungs=3), sweeps=50)
    with pytest.raises(hd.NotKeptError, match=r"Tempered\(rungs=16, hottest=0\)"):
        result.log_z  # noqa: B018
    with pytest.raises(hd.NotKeptError, match=r"Tempered\(rungs=16, hottest=0\)"):
        result.log_z_interval  # noqa: B018


# -- what is doubted ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Bridged(5.0, 0.1, 5.0, 5.1, (5.05, 4.95)), []),
        (Bridged(5.0, 0.1, 5.0, 5.0, (5.3, 4.7)), ["the burn-in was not long enough"]),
        (Bridged(5.0, 0.1, 4.0, 7.0, (5.0, 5.0)), ["rungs are too far apart"]),
        (Bridged(-math.inf, 0.1, -math.inf, -math.inf, (1, 1)), ["log Z is unknown"]),
    ],
)
def test_doubts(found, said):
    told = warnings_of(found, [50.0, 20.0])
    assert len(told) == len(said)
    assert all(part in sentence for part, sentence in zip(said, told, strict=True))


def test_few_round_trips_are_told():
    told = warnings_of(Bridged(5.0, 0.1, 5.0, 5.1, (5.05, 4.95)), [50.0, 3.0])
    assert told[0].startswith("log Z rests on 3 round trips")


@compiled
def test_a_short_ladder_on_a_strong_grid_is_doubted():
    """It has not burnt in: several agree, and are wrong by more than their interval."""
    rng = np.random.default_rng(2)
    couplings = rng.uniform(-4, 4, (12, 11)), rng.uniform(-4, 4, (11, 12))
    model = hd.ising_grid(rng.uniform(-1, 1, (12, 12)), couplings)
    truth = hd.infer(model, hd.Exact()).log_z
    result = hd.infer(model, hd.Tempered(rungs=5, hottest=0), sweeps=100)
    low, high = result.log_z_interval
    is_doubted = any("log Z" in text or "hottest" in text for text in result.warnings)
    assert low <= truth <= high or is_doubted
    assert is_doubted
