"""A few chains: no false alarms on easy models, and no silence where all are in one mode."""

import itertools

import numpy as np
import pytest

import herded as hd
from herded.run.diagnostics.variable_times import (
    NO_TIMES,
    VariableTimes,
    noise_of_frequencies,
    times_around_own_means,
)
from herded.system.diagnostics.kinds import DiagnosticKind

SPINS = np.array([[1.0, -1.0], [-1.0, 1.0]])
INDEPENDENT = hd.pairwise_model(np.zeros((40, 2)), [(0, 1)], 0.1 * SPINS[None])
HOT_LATTICE = hd.ising_grid(np.zeros((24, 24)), 0.2, periodic=True)


def double_well(n, coupling, field):
    edges = list(itertools.combinations(range(n), 2))
    tables = np.full(len(edges), coupling / n)[:, None, None] * SPINS
    return hd.pairwise_model(np.tile([-field, field], (n, 1)), edges, tables)


def stiff_chain(n, coupling):
    edges = [(i, i + 1) for i in range(n - 1)]
    return hd.pairwise_model(np.zeros((n, 2)), edges, np.repeat(coupling * SPINS[None], n - 1, 0))


def warned(model, method, **options):
    run = hd.infer(model, method, threads=1, progress=False, **options)
    return [one.kind for one in run.diagnostics if one.severity == "warning"], run


# -- easy models -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "sweeps"), [(INDEPENDENT, 100), (HOT_LATTICE, 200)], ids=["independent", "lattice"]
)
@pytest.mark.parametrize("chains", [2, 4])
def test_one_ordered_start_of_an_easy_model_does_not_matter(model, sweeps, chains):
    """The noise of the run itself explains what differs from herds: 91 of 100 were warned of."""
    start = np.zeros(model.shape, int)
    for seed in range(8):
        kinds, _ = warned(
            model, hd.Gibbs(seed=seed), sweeps=sweeps, burn_in=20, chains=chains, start=start
        )
        assert kinds == []


@pytest.mark.parametrize("chains", [2, 3])
def test_few_chains_of_many_easy_variables_agree(chains):
    """The largest of 576 differences of two chains: 38 % of the runs were warned of."""
    for seed in range(12):
        kinds, _ = warned(HOT_LATTICE, hd.Gibbs(seed=seed), sweeps=2000, burn_in=40, chains=chains)
        assert kinds == []


def test_ladders_with_few_round_trips_on_an_easy_model_are_not_warned_of():
    """A ladder of six rungs makes few in 100 sweeps, and needs none where single sites mix."""
    for seed in range(4):
        method = hd.Tempered(hd.Gibbs(seed=seed), 6)
        assert warned(INDEPENDENT, method, sweeps=100, burn_in=20, chains=4)[0] == []
    method = hd.Tempered(hd.Gibbs(), 6)
    well = double_well(14, 3.5, 0.1)
    assert DiagnosticKind.FEW_ROUND_TRIPS in warned(well, method, sweeps=300, chains=4)[0]


# -- modes that few chains miss --------------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [double_well(14, 3.5, 0.1), stiff_chain(12, 3.5)], ids=["double well", "chain"]
)
@pytest.mark.parametrize("sweeps", [60, 2000])
def test_two_chains_in_one_mode_are_warned_of(model, sweeps):
    truth = hd.infer(model, hd.Exact(), progress=False).chain_marginals[0]
    in_one_mode = 0
    for seed in range(12):
        kinds, run = warned(model, hd.Gibbs(seed=seed), sweeps=sweeps, chains=2)
        is_wrong = (np.abs(run.chain_marginals.mean(axis=0) - truth) > 0.05).any()
        assert kinds or not is_wrong or (run.half_widths() > 0.2).all()
        in_one_mode += DiagnosticKind.START_MATTERS in kinds
    assert in_one_mode


def test_the_sentence_says_what_few_chains_cannot_know():
    model = double_well(14, 3.5, 0.1)
    for seed in range(12):
        kinds, run = warned(model, hd.Gibbs(seed=seed), sweeps=2000, chains=2)
        if kinds == [DiagnosticKind.START_MATTERS]:
            break
    found = run.diagnostics[0]
    assert "its 2 chains are too few" in found.message and "Gibbs(herd=64)" in str(found.remedy)
    assert abs(found.figures["probability"] - found.figures["from_random_starts"]) > 0.1


def test_the_comparison_is_left_out_where_it_would_cost_too_much():
    """A short run on a large lattice, and runs of one chain, of herds and of annealing."""
    large = hd.ising_grid(np.zeros((128, 128)), 1 / 1.5, periodic=True)
    assert DiagnosticKind.START_MATTERS not in warned(large, hd.Gibbs(), sweeps=60, chains=2)[0]
    well = double_well(14, 3.5, 0.1)
    assert DiagnosticKind.START_MATTERS not in warned(well, hd.Gibbs(), sweeps=2000)[0]
    annealed = hd.Gibbs(schedule="linear")
    assert warned(well, annealed, sweeps=50, chains=2, keep=[hd.BestState()])[0] == []


# -- intervals -------------------------------------------------------------------------------------


def test_intervals_of_two_chains_are_as_wide_as_their_times_ask_for():
    """Two chains agree by chance: their spread alone gives intervals of any width."""
    chain = stiff_chain(12, 1.5)
    narrow, count = 0, 0
    for seed in range(20):
        kinds, run = warned(chain, hd.Gibbs(seed=seed), sweeps=2000, chains=2)
        if not kinds:
            narrow += (run.half_widths() < 0.05).mean()
            count += 1
    assert count > 10 and narrow == 0


def test_intervals_of_short_times_are_those_of_the_spread():
    run = warned(INDEPENDENT, hd.Gibbs(seed=1), sweeps=4000, chains=8)[1]
    spread = run.chain_marginals.std(axis=0, ddof=1) / np.sqrt(8)
    assert np.median(run.half_widths() / spread) == pytest.approx(2.3646, rel=0.1)


# -- figures ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("chains", "members"), [(2, 1), (4, 1), (4, 64)])
def test_times_around_own_means_do_not_see_where_chains_are(chains, members):
    rng = np.random.default_rng(chains)
    values = rng.integers(0, 2, (64, chains, members, 50))
    apart = values * (np.arange(chains) % 2)[:, None, None]  # half of the chains never move
    for one in (values, apart):
        times = times_around_own_means(one.reshape(64, -1, 50).astype(np.uint8), chains, 1.0)
        assert np.median(times) == pytest.approx(1.0, abs=0.3)


def test_the_noise_of_slow_variables():
    noise = noise_of_frequencies(np.full((3, 2), 0.5), 100.0, np.array([1]), np.array([16.0]), 4.0)
    np.testing.assert_allclose(noise, [[0.1] * 2, [0.2] * 2, [0.1] * 2])
    assert NO_TIMES.longest_around_own == 1.0 and NO_TIMES.typical == 1.0
    some = VariableTimes(np.arange(4), np.array([1.0, 2, 3, 40]), np.ones(4))
    assert 3 <= some.typical < 40
