"""Observables: what is recorded is the function of the samples, whoever runs them; and refusals."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import herded as hd
import herded.run.sampler_run
from herded.errors import MemoryLimitError, MethodError, ModelError, NotKeptError
from herded.run.observables.batched import batched_energy, batched_magnetisation
from tests.conformance.twins import observables
from tests.conformance.twins.enumerated_joint import naive_joint
from tests.support.fixtures import MODELS, SMALL

RNG = np.random.default_rng(5)
GRID = hd.ising_grid(RNG.normal(size=(4, 5)), 0.4).given({(1, 1): 1})


def first(states):
    return states.reshape(len(states), -1)[:, 0]


def squares(states, model):
    flat = states.reshape(len(states), -1)
    assert flat.shape[1] == model.n_variables and (flat < model.cardinalities).all()
    return np.stack([flat.sum(axis=1), flat.sum(axis=1) ** 2], axis=1)


KEEP = [
    hd.Observable(first),
    hd.Observable(squares, every=3),
    hd.Observable(hd.energy, every=2),
    hd.Observable(lambda x: x.mean(axis=-1), name="means", series=False),
]


# -- what is recorded -------------------------------------------------------------------------


@pytest.mark.parametrize("method", [hd.HerdedGibbs(), hd.Gibbs(), hd.Gibbs(schedule="linear")])
@pytest.mark.parametrize("name", ["lattice", "clamped", "nothing to choose"])
def test_values_are_those_of_the_samples(method, name, monkeypatch):
    model = MODELS[name]
    monkeypatch.setattr(herded.run.sampler_run, "BLOCK_ENTRIES", 7 * model.n_variables)
    check_against_samples(model, method)


@pytest.mark.parametrize(
    "model",
    [
        GRID,
        hd.ising_grid(RNG.normal(size=(17, 18)), 0.4),
        hd.potts_grid(RNG.normal(size=(17, 18, 3)), 0.4),
        hd.pairwise_model(RNG.normal(size=(60, 2)), [(i, i + 1) for i in range(59)], np.eye(2)),
        MODELS["clamped"],
    ],
    ids=["small grid", "grid", "potts", "field", "table"],
)
def test_values_of_herds_are_those_of_the_samples(model):
    check_against_samples(model, hd.Gibbs(herd=5, seed=3))


def check_against_samples(model, method):
    keep = [*KEEP, hd.Samples()]
    result = hd.infer(model, method, sweeps=31, burn_in=4, chains=2, keep=keep)
    samples = result.samples.astype(int).reshape(-1, 31, *model.shape)
    chains, found = len(samples), result.observables
    assert (found["first"].series == samples.reshape(chains, 31, -1)[:, :, 0]).all()
    sums = samples.reshape(chains, 31, -1).sum(axis=2)[:, 2::3]
    assert (found["squares"].series == np.stack([sums, sums**2], axis=2)).all()
    energy = hd.energy(samples, model)[:, 1::2]
    np.testing.assert_allclose(found["energy"].series, energy, rtol=1e-12, atol=1e-12)
    means = samples.mean(axis=-1)
    np.testing.assert_allclose(found["means"].mean, means.mean(axis=(0, 1)), rtol=1e-12)
    by_herd = energy.reshape(2, -1).mean(axis=1)
    np.testing.assert_allclose(found["energy"].chain_means, by_herd, rtol=1e-12, atol=1e-12)


def test_who_runs_it_makes_no_difference(tmp_path, monkeypatch):
    keep = [hd.Observable(squares, every=3), hd.Observable(hd.energy)]
    method = hd.Gibbs(herd=6)
    options = {"sweeps": 100, "burn_in": 7, "chains": 3, "keep": keep}
    whole = hd.infer(GRID, method, **options)
    runs = [hd.infer(GRID, method, threads=2, **options)]
    monkeypatch.setattr(herded.run.sampler_run, "BLOCK_ENTRIES", 20 * 6 * 13)
    runs.append(hd.infer(GRID, method, **options))
    for sweeps in (1, 40, 100):
        part = hd.infer(GRID, method, checkpoint=tmp_path / "c", **{**options, "sweeps": sweeps})
    runs.append(part)
    with ThreadPoolExecutor(2) as executor:
        runs.append(hd.infer(GRID, method, executor=executor, **options))
    for run in runs:
        for name, expected in whole.observables.items():
            assert (run.observables[name].series == expected.series).all()
            assert (run.observables[name].chain_means == expected.chain_means).all()


def test_on_processes():
    options = {"sweeps": 20, "chains": 2, "keep": [hd.Observable(squares)]}
    expected = hd.infer(SMALL, hd.Gibbs(), **options).observables["squares"].series
    with ProcessPoolExecutor(1) as executor:
        found = hd.infer(SMALL, hd.Gibbs(), executor=executor, **options)
        assert (found.observables["squares"].series == expected).all()
        with pytest.raises(MethodError, match="functions of a module in place of lambdas"):
            hd.infer(SMALL, hd.Gibbs(), sweeps=5, keep=KEEP[-1:], executor=executor)


def test_a_callback_sees_the_states():
    seen = []

    def look(snapshot):
        seen.append(snapshot.states())

    result = hd.infer(
        GRID, hd.Gibbs(herd=6), sweeps=50, chains=2, keep=[hd.Samples()], callback=look
    )
    assert (seen[-1] == result.samples[:, -1].reshape(12, 4, 5)).all()
    hd.infer(GRID, hd.MeanField(), callback=look)
    assert seen[-1] is None


# -- what is made of it -----------------------------------------------------------------------


def test_means_and_intervals_hold():
    """Energy, magnetisation and correlations of a lattice with evidence, against enumeration."""
    measured = {"energy": hd.energy, "magnetisation": hd.magnetisation}
    measured["correlations"] = hd.Correlations([1, 2])
    keep = [hd.Observable(f) for f in measured.values()]
    model = hd.ising_grid(RNG.normal(size=(3, 3)), 0.4).given({(1, 1): 1})
    result = hd.infer(model, hd.Gibbs(herd=32), sweeps=400, burn_in=40, chains=8, keep=keep)
    p = naive_joint(model).reshape(-1)
    states = np.stack(np.unravel_index(np.flatnonzero(p), [2] * 9), axis=1)
    for name, f in measured.items():
        truth, found = p[p > 0] @ f(states, model), result.observables[name]
        assert (abs(truth - found.mean) < 5 * found.standard_error).all()
        np.testing.assert_allclose(
            found.interval[..., 1] - found.mean, 2.3646 * found.standard_error, rtol=1e-4
        )
        assert np.all(found.standard_error < 0.02)
    assert "95 % interval" in repr(result.observables["energy"])
    assert "8 herds of 32" in repr(result.observables["correlations"])


def test_autocorrelation_time_of_a_known_chain():
    """Two spins visited in turn: the second is a Markov chain with eigenvalue tanh(J)^2."""
    pair = hd.ising_grid([[0.0, 0.0]], 1.0)
    keep = [hd.Observable(lambda x: x[:, 0, 1], name="second"), hd.Observable(hd.energy, every=4)]
    options = {"sweeps": 3000, "burn_in": 50, "chains": 4, "keep": keep}
    eigenvalue = np.tanh(1.0) ** 2
    expected = (1 + eigenvalue) / (1 - eigenvalue)
    for method in (hd.Gibbs(), hd.Gibbs(herd=16)):
        found = hd.infer(pair, method, **options).observables["second"]
        assert abs(found.autocorrelation_time / expected - 1) < 0.2
    with pytest.raises(MethodError, match="HerdedGibbs, whose draws follow from each other"):
        _ = hd.infer(pair, hd.HerdedGibbs(), **options).observables["second"].autocorrelation_time
    short = hd.infer(pair, hd.Gibbs(), sweeps=8, keep=keep).observables["second"]
    with pytest.raises(MethodError, match="use more sweeps"):
        _ = short.autocorrelation_time


def test_one_chain_says_why_it_has_no_interval():
    result = hd.infer(SMALL, hd.Gibbs(), sweeps=10, keep=[hd.Observable(first)])
    found = result.observables["first"]
    with pytest.raises(MethodError, match=r"expected at least 2 independent .* pass chains=4"):
        _ = found.interval
    assert "of one chain: no interval without chains=4" in repr(found)
    with pytest.raises(NotKeptError, match="did you mean 'first'"):
        _ = result.observables["frist"]
    assert np.isnan(
        hd.infer(SMALL, hd.Gibbs(), sweeps=99, keep=[hd.Observable(len_of)])
        .observables["len_of"]
        .autocorrelation_time
    )


def len_of(states):
    return np.full(len(states), 3)


@pytest.mark.parametrize(
    "model",
    [
        hd.ising_grid(RNG.integers(-8, 9, (5, 7)) / 8, 0.375),
        hd.ising_grid(RNG.integers(-8, 9, (4, 6)) / 8, -0.25, periodic=True),
        hd.potts_grid(RNG.integers(-8, 9, (5, 3, 4)) / 8, 0.5),
        hd.ising_grid(RNG.integers(-8, 9, (3, 4, 5)) / 8, 0.5, periodic=(True, False, True)),
        hd.potts_grid(np.where(RNG.random((4, 4, 2)) < 0.2, [0.5, -np.inf], 0.25), 0.5),
    ],
    ids=["free", "periodic", "potts", "3D", "zeros"],
)
def test_ready_made_of_lattices(model):
    """Numbers with few digits have sums without error: bit for bit."""
    possible = np.isfinite(model.log_unary.reshape(model.n_variables, -1))
    k = possible.shape[1]
    samples = np.where(possible[:, 1], RNG.integers(0, k, (70, model.n_variables)), 0)
    samples = samples.astype(np.uint8)
    graph = model.as_factor_graph()
    expected = [observables.energy(graph, x) for x in samples]
    assert batched_energy(samples, model).tolist() == expected
    assert batched_energy(samples, graph).tolist() == expected
    assert hd.energy(samples, model).tolist() == expected
    order = [observables.magnetisation(x, k) for x in samples]
    assert batched_magnetisation(samples, model).tolist() == order
    assert hd.magnetisation(samples, graph).tolist() == order


def test_ready_made_of_any_model():
    model = MODELS["mixed"]
    samples = RNG.integers(0, model.cardinalities, (70, 4)).astype(np.uint8)
    expected = [observables.energy(model, x) for x in samples]
    assert batched_energy(samples, model).tolist() == expected
    np.testing.assert_allclose(hd.energy(samples, model), expected, rtol=1e-12)
    random = hd.ising_grid(RNG.normal(size=(9, 9)), RNG.normal(), periodic=True)
    samples = RNG.integers(0, 2, (70, 81)).astype(np.uint8)
    expected = hd.energy(samples, random)
    np.testing.assert_allclose(batched_energy(samples, random), expected, rtol=1e-13, atol=1e-11)


def test_correlations_pair_by_pair():
    model = hd.potts_grid(np.zeros((3, 4, 3)), 0.5, periodic=True)
    x = RNG.integers(0, 3, (5, 3, 4))

    def alike(a, b):
        return (3 * (a == b) - 1) / 2

    across = [alike(x[:, r, c], x[:, r, (c + 2) % 4]) for r in range(3) for c in range(2)]
    down = [alike(x[:, r, c], x[:, (r + 2) % 3, c]) for r in range(3) for c in range(4)]
    expected = np.mean(across + down, axis=0)
    np.testing.assert_allclose(hd.Correlations([2])(x, model)[:, 0], expected)
    across = [alike(x[:, r, c], x[:, r, (c + 3) % 4]) for r in range(3) for c in range(4)]
    np.testing.assert_allclose(hd.Correlations([3])(x, model)[:, 0], np.mean(across, axis=0))
    free = hd.potts_grid(np.zeros((3, 4, 3)), 0.5)
    across = [alike(x[:, r, c], x[:, r, c + 2]) for r in range(3) for c in range(2)]
    down = [alike(x[:, 0, c], x[:, 2, c]) for c in range(4)]
    expected = np.mean(across + down, axis=0)
    np.testing.assert_allclose(hd.Correlations([1, 2])(x, free)[:, 1], expected)
    cube = hd.ising_grid(np.zeros((3, 4, 5)), periodic=(True, False, False))
    y = RNG.integers(0, 2, (3, 4, 5))
    last = [alike_spins(y, y[:, :, [2, 3, 4, 0, 1]]), alike_spins(y[:, :2], y[:, 2:])]
    last.append(alike_spins(y[:1], y[2:]))
    expected = np.concatenate([part.ravel() for part in last]).mean()
    np.testing.assert_allclose(hd.Correlations([2])(y, cube), [expected])
    pairs = hd.Correlations([(0, 11), (3, 4)])(x, free)
    flat = x.reshape(5, -1)
    np.testing.assert_allclose(pairs[:, 0], alike(flat[:, 0], flat[:, 11]))
    np.testing.assert_allclose(pairs[:, 1], alike(flat[:, 3], flat[:, 4]))


def alike_spins(a, b):
    return np.where(a == b, 1.0, -1.0)


def test_a_run_that_does_not_mix_is_doubted():
    """Deep below the critical point members stay in stripes, where the energy is higher."""
    model = hd.ising_grid(np.zeros((16, 16)), 0.8, periodic=True)
    truth = 256 * (-2 * 0.8 + 8 * 0.8 * np.exp(-8 * 0.8))  # to first order: single spins turned
    keep = [hd.Observable(hd.energy), hd.Observable(hd.energy, name="sums", series=False)]
    options = {"sweeps": 60, "burn_in": 60, "chains": 4, "keep": keep}
    with pytest.warns(hd.HerdedWarning, match="have not moved on"):
        result = hd.infer(model, hd.Gibbs(herd=64), **options)
    energy, sums = result.observables["energy"], result.observables["sums"]
    assert energy.diagnostics == result.diagnostics
    assert "doubtful, see result.warnings" in repr(energy)
    assert "doubtful" in result._repr_html_()
    low, high = energy.interval
    assert energy.mean - 4 * energy.standard_error > truth + 1  # which the spread does not know
    assert low < truth and high == energy.series.mean(axis=1).max()
    assert sums.interval.tolist() == [-np.inf, np.inf]
    start = np.ones((16, 16), int)
    hot = hd.ising_grid(np.zeros((16, 16)), 0.2, periodic=True)
    fine = hd.infer(hot, hd.Gibbs(herd=64), **options, start=start).observables["energy"]
    assert not fine.diagnostics and "doubtful" not in repr(fine)
    reach = 3.1824 * fine.standard_error
    np.testing.assert_allclose(fine.interval, [fine.mean - reach, fine.mean + reach], rtol=1e-4)


def test_without_a_method_a_sampler_runs():
    result = hd.infer(GRID, keep=[hd.Observable(hd.energy)])
    assert result.observables["energy"].interval[0] < result.observables["energy"].mean


# -- mistakes ---------------------------------------------------------------------------------


def three(states):
    return np.zeros(3)


def fails(states):
    raise KeyError("no such thing")


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (three, r"expected numbers of shape \(1,\) or \(1, ...\) from the observable 'three', .*"),
        (lambda x: x.mean(), r"got shape \(\)"),
        (lambda x: np.full(1, np.nan), "expected finite numbers from the observable 'lambda', got"),
        (lambda x: ["a"], "expected real numbers from the observable 'lambda', got <U1"),
        (lambda x: None, "expected real numbers from the observable 'lambda', got object"),
        (fails, "but it raised KeyError: 'no such thing'"),
        (lambda: 1, "but it raised TypeError"),
    ],
)
def test_functions_that_do_not_do(f, message):
    with pytest.raises(MethodError, match=message):
        hd.infer(GRID, hd.Gibbs(), sweeps=5, keep=[hd.Observable(f)])


def test_a_function_that_changes_its_mind():
    calls = iter([1, 1, 2])

    def unsteady(states):
        return np.zeros((1, next(calls)))

    with pytest.raises(MethodError, match=r"shape \(1, 1\) .* as at the start, got shape \(1, 2\)"):
        hd.infer(GRID, hd.Gibbs(), sweeps=5, keep=[hd.Observable(unsteady)])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hd.Observable(3), "expected a function of states as an observable"),
        (lambda: hd.Observable(hd.Correlations), "expected a function of states"),
        (lambda: hd.Observable(first, every=0), "expected every to be 1 or more, got 0"),
        (lambda: hd.Observable(first, name=3), "expected a text as name"),
    ],
)
def test_options(make, message):
    with pytest.raises(MethodError, match=message):
        make()


def test_refusals(tmp_path):
    twice = [hd.Observable(first), hd.Observable(first)]
    with pytest.raises(MethodError, match="different names, got 'first' twice: pass name="):
        hd.infer(GRID, hd.Gibbs(), sweeps=5, keep=twice)
    with pytest.raises(MethodError, match=r"expected no keep=\[Observable\(\)\] for Exact"):
        hd.infer(GRID, hd.Exact(), keep=twice[:1])
    with pytest.raises(MemoryLimitError, match=r"every=, or keep no series with series=False"):
        hd.infer(GRID, hd.Gibbs(), sweeps=10**9, keep=twice[:1], max_memory="100M")
    with pytest.raises(NotKeptError, match=r"pass keep=\[Observable\(energy\)\]"):
        _ = hd.infer(GRID, hd.Gibbs(), sweeps=5).observables
    with pytest.raises(NotKeptError, match="pass series=True"):
        _ = hd.infer(GRID, hd.Gibbs(), sweeps=5, keep=KEEP[-1:]).observables["means"].series
    hd.infer(GRID, hd.Gibbs(), sweeps=5, keep=twice[:1], checkpoint=tmp_path / "c")
    other = [hd.Observable(first, every=2)]
    with pytest.raises(hd.CheckpointError):
        hd.infer(GRID, hd.Gibbs(), sweeps=9, keep=other, checkpoint=tmp_path / "c")
    with pytest.raises(MethodError, match="equally many states, two or more, got 1 to 4"):
        hd.magnetisation([0, 0, 0, 0], MODELS["mixed"])
    with pytest.raises(MethodError, match=r"distances from 1 to 4 .* 4 x 5, got \[5\]"):
        hd.Correlations([5])(np.zeros((4, 5), int), GRID)
    with pytest.raises(ModelError, match="expected pairs of variables 0 to 19"):
        hd.Correlations([(0, 20)])(np.zeros((4, 5), int), GRID)
    with pytest.raises(MethodError, match=r"expected pairs \(E, 2\) .* not a lattice"):
        hd.Correlations()(np.zeros(5, int), MODELS["chain"])
