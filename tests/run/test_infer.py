"""infer: one conformance suite over the table of methods; chains, starts, and the same bits."""

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest

import herded as hd
import herded.run.sampler_run
from herded.errors import CheckpointError, MethodError, ModelError, NotKeptError
from herded.methods.protocol import Sampler, Solver
from herded.methods.schedule import is_annealed
from herded.run.build_result import full_repr
from tests.conformance.twins.enumerated_joint import naive_joint
from tests.support.fixtures import (
    MODELS,
    SAMPLERS,
    SMALL,
    every_method,
    every_sampler,
    works_on,
)

# -- one shape for all methods ----------------------------------------------------------------


@every_method
def test_protocol(method):
    kind, other = (Sampler, Solver) if method in SAMPLERS else (Solver, Sampler)
    assert isinstance(method, kind) and not isinstance(method, other)
    assert dataclasses.is_dataclass(method)
    for field in dataclasses.fields(method):
        usual = getattr(method, field.name) == field.default
        assert (f"{field.name}=" in repr(method)) == (not usual)
        assert f"{field.name}={getattr(method, field.name)!r}" in full_repr(method)
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(method, field.name, None)
    assert eval(repr(method), vars(hd)) == method and hash(method) == hash(
        eval(repr(method), vars(hd))
    )


@every_method
@pytest.mark.parametrize("name", MODELS)
def test_conformance(method, name):
    model = MODELS[name]
    if not works_on(method, name):
        with pytest.raises(MethodError, match="chains"):
            hd.infer(model, method)
        return
    result = hd.infer(model, method, sweeps=20)
    again = hd.infer(model, method, sweeps=20)
    assert result.provenance["method"] == full_repr(method)
    assert result.provenance["model"] == model.content_hash
    if isinstance(method, hd.Viterbi):
        assert (result.best.state == again.best.state).all()
        assert result.best.state.shape == model.shape
        with pytest.raises(NotKeptError):
            _ = result.marginals
        return
    marginals = result.marginals
    assert (marginals == again.marginals).all()
    width = int(model.cardinalities.max())
    assert marginals.shape == (*model.shape, width) and (marginals >= 0).all()
    flat = marginals.reshape(-1, width)
    np.testing.assert_allclose(flat.sum(axis=1), 1.0)
    beyond = np.arange(width) >= model.cardinalities[:, None]
    assert (flat[beyond] == 0).all()
    for i in np.flatnonzero(model.evidence >= 0):
        assert (flat[i] == (np.arange(width) == model.evidence[i])).all()


@every_sampler
@pytest.mark.parametrize("name", MODELS)
def test_conformance_of_samplers(method, name):
    model = MODELS[name]
    keep = [hd.Marginals(rao_blackwell=True), hd.Samples(), hd.BestState(), hd.PairMarginals()]
    result = hd.infer(model, method, sweeps=12, chains=2, keep=keep)
    width, n = int(model.cardinalities.max()), model.n_variables
    assert result.samples.shape == (2, 12, n)
    assert (result.samples < model.cardinalities).all()
    assert np.isfinite(model.log_score(result.samples)).all()
    assert result.chain_marginals.shape == (2, n, width)
    assert result.marginals.shape == (*model.shape, width)
    np.testing.assert_allclose(result.chain_marginals.sum(axis=2), 1.0)
    for i in np.flatnonzero(model.evidence >= 0):
        assert result.chain_marginals[:, i, model.evidence[i]].tolist() == [1.0, 1.0]
    assert result.best.state.shape == model.shape
    assert model.log_score(result.best.state) == result.best.log_score
    assert result.best.log_score >= model.log_score(result.samples).max() - 1e-12
    np.testing.assert_allclose([table.sum() for table in result.pair_marginals.tables], 1.0)


def test_many_states_of_one_variable():
    rng = np.random.default_rng(7)
    model = hd.FactorGraph([300, 2], [((0, 1), rng.normal(size=(300, 2)))])
    for method in (hd.Gibbs(), hd.HerdedGibbs()):
        result = hd.infer(model, method, sweeps=4000, keep=[hd.Marginals(), hd.Samples(100)])
        assert result.samples.max() > 255
        np.testing.assert_allclose(result.marginals[0], naive_joint(model).sum(axis=1), atol=0.03)


@every_sampler
def test_finds_the_joint(method):
    """All but the annealed and the jacobi scan are near the joint of a small model."""
    joint = hd.infer(SMALL, method, sweeps=4000, chains=2, keep=[hd.Joint()]).joint
    assert joint.shape == (2, 3, 2)
    np.testing.assert_allclose(joint.sum(), 1.0)
    if not is_annealed(method) and method.scan != "jacobi":
        assert np.abs(joint - naive_joint(SMALL)).sum() / 2 < 0.05


# -- sweeps, burn-in, chains, state -----------------------------------------------------------


@every_sampler
def test_continuing_is_one_long_run(method):
    if is_annealed(method):
        method = dataclasses.replace(method, schedule=temperature_by_sweep)
    model = MODELS["chain"]
    keep = [hd.Samples(), hd.Marginals(rao_blackwell=True)]
    whole = hd.infer(model, method, sweeps=1000, chains=2, keep=keep)
    first = hd.infer(model, method, sweeps=300, chains=2, keep=keep)
    before = [state.sweep for state in first.state]
    rest = hd.infer(model, method, sweeps=700, chains=2, keep=keep, start=first.state)
    assert (np.concatenate([first.samples, rest.samples], axis=1) == whole.samples).all()
    parts = 0.3 * first.chain_marginals + 0.7 * rest.chain_marginals
    np.testing.assert_allclose(parts, whole.chain_marginals, atol=1e-12)
    assert [state.sweep for state in first.state] == before == [300, 300]  # left as it was
    burnt = hd.infer(model, method, sweeps=700, burn_in=300, chains=2, keep=keep)
    assert (burnt.samples == whole.samples[:, 300:]).all()
    np.testing.assert_allclose(burnt.chain_marginals, rest.chain_marginals, atol=1e-12)


def temperature_by_sweep(sweep, total):
    return 1.0 / (1 + sweep)


def test_continuing_on_a_lattice():
    model = MODELS["clamped pixels"]
    for method in (hd.HerdedGibbs(), hd.HerdedGibbs(weights="shared"), hd.Gibbs()):
        whole = hd.infer(model, method, sweeps=50, keep=[hd.Samples()])
        first = hd.infer(model, method, sweeps=20, keep=[hd.Samples()])
        rest = hd.infer(model, method, sweeps=30, keep=[hd.Samples()], start=first.state)
        assert (np.concatenate([first.samples, rest.samples], axis=1) == whole.samples).all()


def test_a_state_of_another_run_is_refused():
    """Kernels do not look: another method's or model's state would make them write anywhere."""
    model = MODELS["chain"]
    gibbs = hd.infer(model, hd.Gibbs(), sweeps=2).state
    blanket = hd.infer(model, hd.HerdedGibbs(), sweeps=2).state
    full = hd.infer(model, hd.HerdedGibbs(weights="full"), sweeps=2).state
    for method, state in [
        (hd.HerdedGibbs(), gibbs),
        (hd.HerdedGibbs(weights="pooled"), blanket),
        (hd.HerdedGibbs(weights="full"), blanket),
        (hd.HerdedGibbs(), full),
        (hd.HerdedGibbs(slack=1), full),
    ]:
        with pytest.raises(CheckpointError, match="another run"):
            hd.infer(model, method, sweeps=2, start=state)
    wide = hd.infer(hd.FactorGraph([9] * 5, []), hd.Gibbs(), sweeps=2).state
    with pytest.raises(ModelError, match="expected states of variable"):
        hd.infer(model, hd.Gibbs(), sweeps=2, start=wide)
    with pytest.raises(ModelError, match="agrees with the evidence"):
        hd.infer(model.given({0: 1 - int(hd.Gibbs().compile(model).values(gibbs[0])[0, 0])}),
                 hd.Gibbs(), sweeps=2, start=gibbs)  # fmt: skip
    with pytest.raises(MethodError, match="states of 2 chains, got 1"):
        hd.infer(model, hd.Gibbs(), sweeps=2, chains=2, start=gibbs)


def first_sweep_keeps(model, state, chains=1):
    """The start is used: at zero temperature and at a best state, nothing moves."""
    return hd.infer(
        model,
        hd.Gibbs(schedule=lambda sweep, total: 0.0),
        sweeps=1,
        chains=chains,
        start=state,
        keep=[hd.Samples()],
    ).samples[:, 0]


def test_a_start_of_ones_own():
    strong = hd.ising_grid(np.zeros((2, 3)), 5.0)
    zeros, ones = np.zeros((2, 3), int), np.ones((2, 3), int)
    for start, expected in [(zeros, 0), (ones, 1), (ones.ravel(), 1), (ones.tolist(), 1)]:
        assert (first_sweep_keeps(strong, start) == expected).all()
        assert (first_sweep_keeps(strong, start, chains=3) == expected).all()
    both = first_sweep_keeps(strong, np.stack([zeros, ones]).reshape(2, 6), chains=2)
    assert (both[0] == 0).all() and (both[1] == 1).all()
    both = first_sweep_keeps(strong, np.stack([ones, zeros]), chains=2)
    assert (both[0] == 1).all() and (both[1] == 0).all()
    # (chains, N) for a chain, and a picture whose height happens to be the number of chains
    chain = hd.chain_model(np.zeros((3, 2)), 5 * np.eye(2))
    assert first_sweep_keeps(chain, [[0, 0, 0], [1, 1, 1]], chains=2).tolist() == [[0] * 3, [1] * 3]
    assert (first_sweep_keeps(strong, ones, chains=2) == 1).all()


@pytest.mark.parametrize(
    ("match", "state"),
    [
        ("expected states of 5 variables", [0, 1]),
        ("expected one state", np.zeros((3, 5), int)),
        ("whole numbers", "abc"),
        ("whole numbers", [0.5] * 5),
        ("whole numbers", [[0], [0, 1]]),
        ("from 0 to 1", [0, 0, 0, 0, 2]),
    ],
)
def test_wrong_starts(match, state):
    with pytest.raises(ModelError, match=match):
        hd.infer(MODELS["chain"], hd.Gibbs(), sweeps=1, start=state)


@every_sampler
def test_chains_are_distinct(method):
    rng = np.random.default_rng(7)
    model = hd.chain_model(0.1 * rng.normal(size=(12, 2)), 0.1 * rng.normal(size=(2, 2)))
    start = np.zeros(12, int)
    kept = hd.infer(model, method, sweeps=30, chains=3, start=start, keep=[hd.Samples()]).samples
    for a, b in itertools.combinations(kept, 2):
        assert (a != b).any()
    alone = hd.infer(model, method, sweeps=30, start=start, keep=[hd.Samples()]).samples
    assert (kept[0] == alone[0]).all()


# -- the same bits ----------------------------------------------------------------------------


@every_sampler
@pytest.mark.parametrize("rows", [1, 7, 64])
def test_bits_do_not_depend_on_blocks(method, rows, monkeypatch):
    rng = np.random.default_rng(7)
    model = hd.chain_model(rng.normal(size=(9, 2)), rng.normal(size=(2, 2)), lengths=[4, 5])
    keep = [hd.Samples(), hd.Marginals(rao_blackwell=True)]
    whole = hd.infer(model, method, sweeps=150, chains=2, keep=keep)
    monkeypatch.setattr(herded.run.sampler_run, "BLOCK_ENTRIES", rows * 9)
    parts = hd.infer(model, method, sweeps=150, chains=2, keep=keep)
    assert (whole.samples == parts.samples).all()
    assert (whole.marginals == parts.marginals).all()


@every_sampler
@pytest.mark.parametrize("chains", [1, 3])
def test_bits_do_not_depend_on_threads(method, chains, monkeypatch):
    monkeypatch.setattr(herded.run.sampler_run, "MIN_UPDATES_FOR_THREADS", 0)
    monkeypatch.setattr("herded.system.threads.MIN_UPDATES_PER_THREAD", 1)
    monkeypatch.setattr("herded.system.cpu_count.count_usable_cpus", lambda: 3)
    rng = np.random.default_rng(1)
    model = hd.chain_model(rng.normal(size=(60, 3)), rng.normal(size=(3, 3)), lengths=[4, 6] * 6)
    kept = [
        hd.infer(model, method, sweeps=40, chains=chains, threads=threads, keep=[hd.Samples()])
        for threads in (1, 2, 5, None)
    ]
    for other in kept[1:]:
        assert (kept[0].samples == other.samples).all()


@pytest.mark.parametrize("weights", ["pooled", "lazy", "full"])
def test_table_and_factor_plans_agree(weights):
    """Tabulated or summed on the way, a conditional has the same bits."""
    rng = np.random.default_rng(7)
    model = hd.FactorGraph([3, 2, 3], [((0, 1), rng.normal(size=(3, 2))), ((2,), [0, 1, 2])])
    for method in (hd.HerdedGibbs(weights=weights), hd.Gibbs(), hd.Gibbs(scan="random")):
        keep = [hd.Samples()]
        table, factor = (
            hd.infer(model, method, sweeps=300, keep=keep, layout=layout).samples
            for layout in ("table", "factor")
        )
        if weights != "lazy" or isinstance(method, hd.Gibbs):
            assert (table == factor).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.zeros((30, 30)), "got ndarray of shape (30, 30): build one"),
        ("grid.uai", "got 'grid.uai': read it first, with read_model"),
        (Path("grid.uai"), "read it first, with read_model"),
        (hd.Lattice, "got <class 'herded.models.lattice.Lattice'>: build one"),
        (None, "got None: build one"),
    ],
)
def test_what_is_no_model(given, said):
    with pytest.raises(hd.ModelError, match=r"^expected a model, ") as caught:
        hd.infer(given, hd.HerdedGibbs())
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"method": hd.ising_grid(np.zeros((30, 30)))},
        {"sweeps": np.zeros((30, 30))},
        {"keep": [np.zeros((30, 30))]},
        {"keep": [hd.PairMarginals(np.full((30, 2), 99))]},
        {"method": hd.Gibbs(scan=np.zeros(99))},
    ],
)
def test_arrays_are_told_on_one_line(options):
    with pytest.raises(hd.HerdedError, match=r"^expected ") as caught:
        hd.infer(hd.FactorGraph([2] * 50, []), **options)
    assert "\n" not in str(caught.value)
