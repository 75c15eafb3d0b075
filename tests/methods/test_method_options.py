"""Every option of infer and of the methods, right and wrong."""

import numpy as np
import pytest

import herded as hd
from herded.errors import MethodError, ModelError, NotKeptError
from tests.conformance.twins.enumerated_joint import naive_joint, naive_viterbi
from tests.support.fixtures import MODELS, SMALL, SOLVERS, names
from tests.support.timeouts import ending

# -- options ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("match", "options"),
    [
        ("sweeps to be a whole number of 1 or more, got -1", {"sweeps": -1}),
        ("sweeps", {"sweeps": 0}),
        ("sweeps", {"sweeps": 1.5}),
        ("sweeps", {"sweeps": "many"}),
        ("sweeps", {"sweeps": True}),
        ("sweeps", {"sweeps": np.array([1, 2])}),
        ("burn_in to be a whole number of 0 or more", {"burn_in": -1}),
        ("chains", {"chains": 0}),
        ("chains", {"chains": "two"}),
        ("threads", {"threads": 0}),
        ("threads", {"threads": "all"}),
        ("checkpoint_every", {"checkpoint_every": -1}),
        ("checkpoint_every", {"checkpoint_every": "often"}),
        ("Samples once in keep=", {"keep": [hd.Samples(), hd.Samples(3)]}),
        ("in keep=, got <class", {"keep": [hd.Samples]}),
        ("in keep=, got 'best'", {"keep": ["best"]}),
        ("keep= as a list", {"keep": hd.Samples()}),
        ("a method such as", {"method": hd.Gibbs}),
        ("did you mean 'gibbs'?", {"method": "gibs"}),
        ("a method with layout=", {"method": None, "layout": "table"}),
        ("a method such as", {"method": 5}),
    ],
)
def test_wrong_options(match, options):
    with pytest.raises(MethodError, match=match) as caught:
        hd.infer(SMALL, **{"method": hd.HerdedGibbs()} | options)
    assert str(caught.value).startswith("expected")


@pytest.mark.parametrize("model", [None, 5, "grid.uai", [2, 2], hd.FactorGraph])
def test_wrong_models(model):
    with pytest.raises((ModelError, MethodError), match="expected"):
        hd.infer(model if model is not hd.FactorGraph else np.zeros(3), hd.HerdedGibbs())


@pytest.mark.parametrize(
    "make",
    [
        lambda: hd.HerdedGibbs(weights="own"),
        lambda: hd.HerdedGibbs(weights=["blanket"]),
        lambda: hd.HerdedGibbs(weights=None),
        lambda: hd.HerdedGibbs(slack=-1),
        lambda: hd.HerdedGibbs(slack=np.nan),
        lambda: hd.HerdedGibbs(slack="much"),
        lambda: hd.HerdedGibbs(phases="full"),
        lambda: hd.HerdedGibbs(max_weights=0),
        lambda: hd.HerdedGibbs(max_weights="many"),
        lambda: hd.HerdedGibbs(seed=-1),
        lambda: hd.Gibbs(seed=0.5),
        lambda: hd.Gibbs(seed=None),
        lambda: hd.Gibbs(schedule="fast"),
        lambda: hd.Gibbs(schedule=1.0),
        lambda: hd.HerdedGibbs(schedule="fast"),
        lambda: hd.HerdedGibbs("shared", schedule="linear"),
        lambda: hd.HerdedGibbs("full", schedule="linear"),
        lambda: hd.HerdedGibbs("pooled", slack=1, schedule="linear"),
        lambda: hd.MeanField(damping=0),
        lambda: hd.MeanField(damping="half"),
        lambda: hd.MeanField(updates="all"),
        lambda: hd.BeliefPropagation(tolerance=-1),
        lambda: hd.BeliefPropagation(tolerance=None),
        lambda: hd.BeliefPropagation(damping=2),
        lambda: hd.Samples(every=0),
        lambda: hd.Samples(every=2.5),
        lambda: hd.Samples(every="other"),
    ],
)
def test_wrong_options_of_methods(make):
    with pytest.raises(MethodError, match="expected"):
        make()


@pytest.mark.parametrize("method", SOLVERS, ids=names)
def test_what_solvers_do_not_take(method):
    model = MODELS["chain"]
    refused = [{"chains": 2}, {"start": np.zeros(5)}, {"keep": [hd.Samples()]}]
    if not isinstance(method, hd.Exact):  # which resumes (`test_exact_in_parts.py`)
        refused.append({"checkpoint": "x"})
    for options in refused:
        with pytest.raises(MethodError, match="not a sampler"):
            hd.infer(model, method, **options)


# -- methods through infer --------------------------------------------------------------------


def test_annealed_gibbs_ends_in_a_local_best():
    """The last sweep of the linear schedule takes the best state of each conditional."""
    rng = np.random.default_rng(7)
    model = hd.ising_grid(rng.normal(size=(5, 5)), 0.7)
    x = hd.infer(model, hd.Gibbs(schedule="linear"), sweeps=200, keep=[hd.Samples(200)]).samples[
        0, 0
    ]
    greedy = hd.infer(
        model,
        hd.Gibbs(schedule=lambda sweep, total: 0),
        sweeps=9,
        start=x,
        keep=[hd.Samples(9)],
    ).samples[0, 0]
    assert model.log_score(greedy) - model.log_score(x) < 1.0  # near a best state
    alone = hd.infer(
        model, hd.Gibbs(schedule="linear"), sweeps=1, start=x, keep=[hd.Samples()]
    ).samples
    for i in range(25):  # with one sweep the schedule is 0: the argmax, site by site
        y = np.concatenate([alone[0, 0, : i + 1], x[i + 1 :]]).astype(int)
        other = y.copy()
        other[i] = 1 - other[i]
        assert model.log_score(y) >= model.log_score(other)


@pytest.mark.parametrize("name", ["chain", "mixed", "lattice", "clamped"])
def test_annealed_gibbs_finds_the_best(name):
    model = MODELS[name]
    result = hd.infer(
        model, hd.Gibbs(schedule="linear"), sweeps=300, chains=3, keep=[hd.BestState()]
    )
    np.testing.assert_allclose(result.best.log_score, naive_viterbi(model)[1])


def test_schedules_see_every_sweep():
    seen = []

    def schedule(sweep, total):
        seen.append((sweep, total))
        return np.float64(1.0)

    hd.infer(SMALL, hd.Gibbs(schedule=schedule), sweeps=5, burn_in=2)
    assert seen == [(s, 7) for s in range(7)]
    annealed = hd.infer(SMALL, hd.Gibbs(schedule=schedule), sweeps=50, keep=[hd.Samples()]).samples
    plain = hd.infer(SMALL, hd.Gibbs(), sweeps=50, keep=[hd.Samples()], layout="factor").samples
    assert (annealed == plain).all()


@pytest.mark.parametrize("temperature", [-1.0, np.nan, np.inf, None, "hot", 1j])
def test_wrong_temperatures(temperature):
    with pytest.raises(MethodError, match=r"finite temperature of 0 or more.*sweep 0 of 3"):
        hd.infer(SMALL, hd.Gibbs(schedule=lambda sweep, total: temperature), sweeps=3)


@pytest.mark.parametrize("sampler", [hd.Gibbs, hd.HerdedGibbs])
@pytest.mark.parametrize("temperature", [0, 5e-324, 1e-300, 1e-10, 1e308])
def test_extreme_temperatures_stay_in_the_support(temperature, sampler):
    table = [[-np.inf, 1e11], [-1e11, 0.0]]
    for k in (2, 3):
        tables = np.full((k, k), -np.inf)
        tables[:2, :2] = table
        model = hd.FactorGraph([k, k], [((0, 1), tables)])
        method = sampler(schedule=lambda sweep, total: temperature)
        kept = hd.infer(model, method, sweeps=20, keep=[hd.Samples()]).samples
        assert np.isfinite(model.log_score(kept)).all()
        if temperature < 1:
            assert kept[0, -1].tolist() == [0, 1]


def test_exact_through_infer():
    for name in ("lattice", "mixed", "clamped", "wide evidence", "a pixel"):
        model = MODELS[name]
        result = hd.infer(model, hd.Exact())
        joint = naive_joint(model)
        np.testing.assert_allclose(result.joint, joint, atol=1e-12)
        np.testing.assert_allclose(result.best.log_score, naive_viterbi(model)[1])
        flat = result.marginals.reshape(model.n_variables, -1)
        for i, k in enumerate(model.cardinalities):
            axes = tuple(j for j in range(model.n_variables) if j != i)
            np.testing.assert_allclose(flat[i, :k], joint.sum(axis=axes), atol=1e-12)
        for i, j in result.pair_marginals.edges:
            axes = tuple(a for a in range(model.n_variables) if a not in (i, j))
            table = result.pair_marginals[i, j]
            np.testing.assert_allclose(table, joint.sum(axis=axes), atol=1e-12)
        assert result.converged and np.isfinite(result.log_z)


def test_viterbi_through_infer():
    result = hd.infer(MODELS["chain"], hd.Viterbi())
    state, score = naive_viterbi(MODELS["chain"])
    assert (result.best.state == state).all()
    np.testing.assert_allclose(result.best.log_score, score)
    with pytest.raises(NotKeptError):
        _ = result.log_z
    with pytest.raises(MethodError, match="drop ErrorCurve"):
        hd.infer(MODELS["chain"], hd.Viterbi(), keep=[hd.ErrorCurve(np.zeros((5, 2)))])


@pytest.mark.parametrize("method", [hd.MeanField(), hd.BeliefPropagation(), hd.Exact()], ids=names)
def test_error_curves_of_solvers(method):
    model = MODELS["chain"]
    truth = hd.infer(model, hd.Exact()).marginals
    result = hd.infer(model, method, sweeps=100, keep=[hd.ErrorCurve(truth, at=[1, 3, 100])])
    assert result.curve.errors.shape == (1, 3) and not np.isnan(result.curve.errors).any()
    np.testing.assert_allclose(result.curve.errors[0, -1], np.abs(result.marginals - truth).mean())


def test_every_chain_counts_against_max_memory():
    model = hd.pairwise_model(np.zeros((50, 2)), [(i, i + 1) for i in range(49)], np.eye(2))
    one = hd.HerdedGibbs().compile(model)
    max_memory = one.memory + 9 * one.chain_memory
    assert hd.infer(model, hd.HerdedGibbs(), sweeps=2, chains=10, max_memory=max_memory).sweeps == 2
    with pytest.raises(hd.MemoryLimitError, match="the weights of 11 chains"):
        hd.infer(model, hd.HerdedGibbs(), sweeps=2, chains=11, max_memory=max_memory)


@pytest.mark.parametrize("temperature", [np.inf, np.nan, -1.0])
def test_a_temperature_is_a_finite_number(temperature):
    model = hd.FactorGraph([3], [((0,), [0, -np.inf, 0])])
    with pytest.raises(hd.MethodError, match=r"expected a .*temperature"):
        hd.infer(model, hd.Gibbs(schedule=lambda sweep, total: temperature), sweeps=5)


def test_sweeps_may_be_written_as_1e2_and_one_state_continues_one_chain():
    model = hd.FactorGraph([2], [((0,), [0.0, 1.0])])
    first = hd.infer(model, hd.HerdedGibbs(), sweeps=1e2)
    assert first.sweeps == 100
    again = hd.infer(model, hd.HerdedGibbs(), sweeps=100, start=first.state[0])
    assert again.state[0].sweep == 200


def test_shared_weights_without_coupling_are_one_weight_per_pixel():
    """Every neighbour state has the same conditional: lattices go by tables then."""
    lattice = hd.ising_grid(np.zeros((3, 3)), 0.0)
    layout = hd.HerdedGibbs(weights="shared").compile(lattice)
    assert (layout.kind, layout.contexts.size) == ("table", 9)


def test_a_variable_of_a_hundred_thousand_states():
    """Nothing is the square of its states large, and nothing loops over them in Python."""
    states = 100_000
    model = hd.FactorGraph([states, 2], [((0,), np.zeros(states)), ((0, 1), np.zeros((states, 2)))])
    exact = hd.infer(model, hd.Exact())
    assert exact.pair_marginals[1, 0].shape == (2, states)
    with ending():
        hd.infer(model, hd.Gibbs(herd=4), sweeps=2)
    with pytest.raises(hd.MemoryLimitError, match="where tables of pairs of states take"):
        hd.infer(model, hd.Gibbs(), sweeps=2, keep=[hd.PairMarginals()])
