"""infer: one conformance suite over the table of methods, and every option of the one verb."""

import dataclasses
import itertools

import numpy as np
import pytest
from naive import naive_joint, naive_viterbi

import herded as hd
import herded.sampling
from herded.errors import CheckpointError, MethodError, ModelError, NotKeptError
from herded.methods.protocol import Sampler, Solver

SAMPLERS = [
    hd.HerdedGibbs(),
    hd.HerdedGibbs(weights="shared"),
    hd.HerdedGibbs(weights="pooled"),
    hd.HerdedGibbs(weights="lazy"),
    hd.HerdedGibbs(weights="full"),
    hd.HerdedGibbs(slack=1.0, phases="random", seed=5),
    hd.HerdedGibbs(scan="random"),
    hd.Gibbs(),
    hd.Gibbs(scan="jacobi"),
    hd.AnnealedGibbs(),
]
SOLVERS = [hd.MeanField(), hd.BeliefPropagation(), hd.Exact(), hd.Viterbi()]
METHODS = SAMPLERS + SOLVERS

RNG = np.random.default_rng(7)


def mixed():
    """Cardinalities 3, 1, 2, 4 in a chain, with a factor of no variables."""
    cards = [3, 1, 2, 4]
    factors = [((i, i + 1), RNG.normal(size=(cards[i], cards[i + 1]))) for i in range(3)]
    return hd.FactorGraph(cards, [*factors, ((), 0.5)], names="abcd")


MODELS = {
    "lattice": hd.ising_grid(RNG.normal(size=(3, 4)), 0.3),
    "chain": hd.chain(RNG.normal(size=(5, 2)), RNG.normal(size=(2, 2))),
    "mixed": mixed(),
    "clamped": mixed().given({"d": 3}),
    "wide evidence": hd.FactorGraph([2, 5], [((0, 1), RNG.normal(size=(2, 5)))]).given({1: 4}),
    "all clamped": mixed().given({0: 2, 1: 0, 2: 1, 3: 3}),
    "one": hd.FactorGraph([2], [((0,), [0.0, 0.4])]),
    "nothing to choose": hd.FactorGraph([1, 1], []),
    "no factors": hd.FactorGraph([2, 3], []),
    "a pixel": hd.ising_grid([[0.3]]),
    "a row": hd.ising_grid(RNG.normal(size=(1, 5)), 0.3).given({(0, 2): 1}),
    "clamped pixels": hd.ising_grid(RNG.normal(size=(3, 3)), 0.3).given({0: 1, (1, 1): 0}),
}
SMALL = hd.FactorGraph(
    [2, 3, 2], [((0, 1), RNG.normal(size=(2, 3))), ((1, 2), RNG.normal(size=(3, 2)))]
)


def names(method):
    return repr(method).replace("max_weights=4194304", "")


every_method = pytest.mark.parametrize("method", METHODS, ids=names)
every_sampler = pytest.mark.parametrize("method", SAMPLERS, ids=names)


def works_on(method, model):
    return not isinstance(method, hd.Viterbi) or model != "lattice"


# -- one shape for all methods ----------------------------------------------------------------


@every_method
def test_protocol(method):
    kind, other = (Sampler, Solver) if method in SAMPLERS else (Solver, Sampler)
    assert isinstance(method, kind) and not isinstance(method, other)
    assert dataclasses.is_dataclass(method)
    for field in dataclasses.fields(method):
        assert f"{field.name}=" in repr(method)
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
    assert result.provenance["method"] == repr(method)
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
    np.testing.assert_allclose(result.pair_marginals.tables.sum(axis=(1, 2)), 1.0)


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
    if not isinstance(method, hd.AnnealedGibbs) and method.scan != "jacobi":
        assert np.abs(joint - naive_joint(SMALL)).sum() / 2 < 0.05


# -- sweeps, burn-in, chains, state -----------------------------------------------------------


@every_sampler
def test_continuing_is_one_long_run(method):
    if isinstance(method, hd.AnnealedGibbs):
        method = hd.AnnealedGibbs(schedule=temperature_by_sweep)
    model = MODELS["chain"]
    keep = [hd.Samples(), hd.Marginals(rao_blackwell=True)]
    whole = hd.infer(model, method, sweeps=1000, chains=2, keep=keep)
    first = hd.infer(model, method, sweeps=300, chains=2, keep=keep)
    before = [state.sweep for state in first.state]
    rest = hd.infer(model, method, sweeps=700, chains=2, keep=keep, state=first.state)
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
        rest = hd.infer(model, method, sweeps=30, keep=[hd.Samples()], state=first.state)
        assert (np.concatenate([first.samples, rest.samples], axis=1) == whole.samples).all()


def test_a_state_of_another_run_is_refused():
    """Kernels do not look: another method's or model's state would make them write anywhere."""
    model = MODELS["chain"]
    gibbs = hd.infer(model, hd.Gibbs(), sweeps=2).state
    blanket = hd.infer(model, hd.HerdedGibbs(), sweeps=2).state
    lazy = hd.infer(model, hd.HerdedGibbs(weights="lazy"), sweeps=2).state
    for method, state in [
        (hd.HerdedGibbs(), gibbs),
        (hd.HerdedGibbs(weights="pooled"), blanket),
        (hd.HerdedGibbs(weights="lazy"), blanket),
        (hd.HerdedGibbs(), lazy),
        (hd.HerdedGibbs(slack=1), lazy),
    ]:
        with pytest.raises(CheckpointError, match="another run"):
            hd.infer(model, method, sweeps=2, state=state)
    wide = hd.infer(hd.FactorGraph([9] * 5, []), hd.Gibbs(), sweeps=2).state
    with pytest.raises(ModelError, match="expected states of variable"):
        hd.infer(model, hd.Gibbs(), sweeps=2, state=wide)
    with pytest.raises(ModelError, match="agrees with the evidence"):
        hd.infer(model.given({0: 1 - int(gibbs[0].values(hd.Gibbs().compile(model))[0])}),
                 hd.Gibbs(), sweeps=2, state=gibbs)  # fmt: skip
    with pytest.raises(MethodError, match="states of 2 chains, got 1"):
        hd.infer(model, hd.Gibbs(), sweeps=2, chains=2, state=gibbs)


def first_sweep_keeps(model, state, chains=1):
    """The start is used: at zero temperature and at a best state, nothing moves."""
    return hd.infer(
        model,
        hd.AnnealedGibbs(schedule=lambda sweep, total: 0.0),
        sweeps=1,
        chains=chains,
        state=state,
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
    chain = hd.chain(np.zeros((3, 2)), 5 * np.eye(2))
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
        hd.infer(MODELS["chain"], hd.Gibbs(), sweeps=1, state=state)


@every_sampler
def test_chains_are_distinct(method):
    rng = np.random.default_rng(7)
    model = hd.chain(0.1 * rng.normal(size=(12, 2)), 0.1 * rng.normal(size=(2, 2)))
    start = np.zeros(12, int)
    kept = hd.infer(model, method, sweeps=30, chains=3, state=start, keep=[hd.Samples()]).samples
    for a, b in itertools.combinations(kept, 2):
        assert (a != b).any()
    alone = hd.infer(model, method, sweeps=30, state=start, keep=[hd.Samples()]).samples
    assert (kept[0] == alone[0]).all()


# -- keep -------------------------------------------------------------------------------------


@every_sampler
@pytest.mark.parametrize("name", ["lattice", "clamped", "wide evidence"])
def test_records_are_those_of_the_samples(method, name, monkeypatch):
    model = MODELS[name]
    n, width = model.n_variables, int(model.cardinalities.max())
    monkeypatch.setattr(herded.sampling, "BLOCK", 7 * n)  # blocks that fit nothing
    reference = np.full((n, width), 0.25)
    keep = [
        hd.Marginals(),
        hd.Samples(),
        hd.PairMarginals(),
        hd.Joint(),
        hd.BestState(),
        hd.ErrorCurve(reference, at=[1, 5, 33, 60, 99]),
    ]
    options = {"sweeps": 60, "burn_in": 11, "chains": 2}
    result = hd.infer(model, method, keep=keep, **options)
    samples = result.samples.astype(int)
    onehot = samples[..., None] == np.arange(width)
    np.testing.assert_allclose(result.chain_marginals, onehot.mean(axis=1), atol=1e-12)
    assert (result.frequencies == result.marginals).all()
    for (i, j), table in zip(
        result.pair_marginals.edges, result.pair_marginals.tables, strict=True
    ):
        expected = np.einsum("csa,csb->ab", onehot[:, :, i] * 1.0, onehot[:, :, j] * 1.0) / 120
        np.testing.assert_allclose(table, expected, atol=1e-12)
        np.testing.assert_allclose(result.pair_marginals[j, i], expected.T, atol=1e-12)
    joint = np.zeros(model.cardinalities)
    np.add.at(joint, tuple(samples.reshape(-1, n).T), 1 / 120)
    np.testing.assert_allclose(result.joint, joint, atol=1e-12)
    real = (np.arange(width) < model.cardinalities[:, None]) & (model.evidence < 0)[:, None]
    assert result.curve.sweeps.tolist() == [1, 5, 33, 60]
    for p, t in enumerate(result.curve.sweeps):
        gap = np.abs(onehot[:, :t].mean(axis=1) - reference)[:, real].mean(axis=1)
        np.testing.assert_allclose(result.curve.errors[:, p], gap, atol=1e-12)
    scores = model.log_score(samples)
    assert result.best.log_score >= scores.max() - 1e-9
    for every in (4, 60, 61):
        thin = hd.infer(model, method, keep=[hd.Samples(every=every)], **options).samples
        assert (thin == samples[:, every - 1 :: every]).all() and thin.shape[1] == 60 // every


def naive_conditional(model, x, i):
    """P(x_i | the rest) from the scores of its alternatives."""
    states = np.repeat(x[None], model.cardinalities[i], axis=0)
    states[:, i] = np.arange(model.cardinalities[i])
    scores = model.log_score(states)
    p = np.exp(scores - scores.max())
    return p / p.sum()


@pytest.mark.parametrize("name", ["lattice", "chain", "clamped", "wide evidence"])
@pytest.mark.parametrize("plan", [None, "factor"])
def test_rao_blackwell_is_the_mean_of_the_conditionals(name, plan):
    """Sequential: each is seen with the new values before it and the old ones after it."""
    model = MODELS[name]
    order = np.flatnonzero(model.evidence < 0)
    if name == "lattice":
        colours = np.indices(model.shape).sum(axis=0).ravel() % 2
        order = np.argsort(colours, kind="stable")
    start = np.maximum(model.evidence, 0)
    keep = [hd.Marginals(rao_blackwell=True), hd.Samples()]
    result = hd.infer(model, hd.Gibbs(), sweeps=15, state=start, keep=keep, plan=plan)
    width = int(model.cardinalities.max())
    expected, x = np.zeros((model.n_variables, width)), start.copy()
    for sample in result.samples[0]:
        for i in order:
            expected[i, : model.cardinalities[i]] += naive_conditional(model, x, i) / 15
            x[i] = sample[i]
    clamped = np.flatnonzero(model.evidence >= 0)
    expected[clamped, model.evidence[clamped]] = 1.0
    np.testing.assert_allclose(result.chain_marginals[0], expected, atol=1e-6)
    assert (result.frequencies != result.marginals).any()


def test_rao_blackwell_error_curve():
    model = MODELS["chain"]
    truth = hd.infer(model, hd.Exact()).marginals
    keep = [hd.Marginals(rao_blackwell=True), hd.ErrorCurve(truth, rao_blackwell=True)]
    result = hd.infer(model, hd.Gibbs(), sweeps=100, keep=keep)
    assert result.curve.sweeps.tolist() == [1, 2, 4, 8, 16, 32, 64, 100]
    np.testing.assert_allclose(result.curve.errors[0, -1], np.abs(result.marginals - truth).mean())
    alone = hd.infer(model, hd.Gibbs(), sweeps=100, keep=[hd.ErrorCurve(truth, rao_blackwell=True)])
    assert (alone.curve.errors == result.curve.errors).all()


def test_best_of_each_part_not_the_best_moment():
    rng = np.random.default_rng(7)
    parts = 40
    model = hd.chain(rng.normal(size=(3 * parts, 3)), rng.normal(size=(3, 3)), lengths=[3] * parts)
    keep = [hd.BestState(), hd.Samples()]
    result = hd.infer(model, hd.Gibbs(), sweeps=400, chains=2, keep=keep)
    best = hd.infer(model, hd.Viterbi()).best
    np.testing.assert_allclose(result.best.log_score, best.log_score)
    assert model.log_score(result.samples).max() < best.log_score - 1.0


def test_evidence_parts_a_lattice():
    """A clamped column makes two parts of a picture, on every plan."""
    rng = np.random.default_rng(7)
    field = rng.normal(size=(3, 5))
    model = hd.ising_grid(field, 0.1).given({(r, 2): 1 for r in range(3)})
    for plan in ("lattice", "table", "factor"):
        keep = [hd.BestState(), hd.Samples()]
        result = hd.infer(model, hd.Gibbs(), sweeps=60, keep=keep, plan=plan)
        pictures = result.samples.reshape(-1, 3, 5)
        scores = []
        for part in (slice(0, 3), slice(2, 5)):
            half = hd.ising_grid(field[:, part], 0.1)
            scores.append(half.log_score(np.ascontiguousarray(pictures[:, :, part])))
        left, right = (pictures[np.argmax(score)] for score in scores)
        expected = np.concatenate([left[:, :3], right[:, 3:]], axis=1)
        assert (result.best.state == expected).all()


def test_pairs_by_name_of_the_pair():
    result = hd.infer(SMALL, hd.Gibbs(), sweeps=10, keep=[hd.PairMarginals(edges=[(2, 0)])])
    assert result.pair_marginals[2, 0].shape == (3, 3)
    assert (result.pair_marginals[0, 2] == result.pair_marginals[2, 0].T).all()
    with pytest.raises(KeyError, match="not kept"):
        result.pair_marginals[0, 1]


@pytest.mark.parametrize("edges", [[(0, 9)], [(-1, 0)], [0, 1], [(0.5, 1)], "ab", [(0, 1), (1,)]])
def test_wrong_pairs(edges):
    with pytest.raises(ModelError, match="edges"):
        hd.infer(SMALL, sweeps=1, keep=[hd.PairMarginals(edges)])


def test_the_joint_of_large_models_is_refused():
    for model in (hd.FactorGraph([2] * 21, []), hd.FactorGraph([1] * 99, [])):
        with pytest.raises(MethodError, match="to keep the joint"):
            hd.infer(model, sweeps=1, keep=[hd.Joint()])


def test_the_reference_is_checked_before_the_work():
    with pytest.raises(ModelError, match=r"reference marginals of shape \(3, 3\)"):
        hd.infer(SMALL, sweeps=10**9, keep=[hd.ErrorCurve(np.zeros((2, 2)), at=[10**9])])
    with pytest.raises(ModelError, match="numbers in the reference"):
        hd.infer(SMALL, sweeps=10**9, keep=[hd.ErrorCurve("truth")])
    with pytest.raises(MethodError, match="1 or more in at="):
        hd.infer(SMALL, keep=[hd.ErrorCurve(np.zeros((3, 3)), at=[0])])
    with pytest.raises(ModelError, match="at="):
        hd.infer(SMALL, keep=[hd.ErrorCurve(np.zeros((3, 3)), at=["soon"])])


# -- result -----------------------------------------------------------------------------------


def test_standard_error():
    result = hd.infer(MODELS["lattice"], hd.Gibbs(), sweeps=50, chains=5)
    chains = result.chain_marginals
    expected = np.sqrt(((chains - chains.mean(axis=0)) ** 2).sum(axis=0) / 4 / 5)
    np.testing.assert_allclose(result.standard_error, expected.reshape(3, 4, 2))
    with pytest.raises(MethodError, match="at least 2 chains"):
        _ = hd.infer(MODELS["lattice"], hd.Gibbs(), sweeps=50).standard_error
    with pytest.raises(MethodError, match="identical"):
        _ = hd.infer(MODELS["all clamped"], hd.Gibbs(), sweeps=50, chains=3).standard_error
    assert "bias" in hd.Result.standard_error.__doc__


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("marginals", "Marginals()"),
        ("chain_marginals", "Marginals()"),
        ("frequencies", "Marginals()"),
        ("standard_error", "Marginals()"),
        ("best", "BestState()"),
        ("samples", "Samples(every=10)"),
        ("pair_marginals", "PairMarginals()"),
        ("joint", "Joint()"),
        ("curve", "ErrorCurve(reference)"),
        ("log_z", "Exact()"),
    ],
)
def test_what_was_not_kept(name, remedy):
    result = hd.infer(SMALL, sweeps=1, keep=[])
    with pytest.raises(NotKeptError) as caught:
        getattr(result, name)
    assert remedy in str(caught.value) and str(caught.value).startswith("expected")
    assert not hasattr(result, name)


def test_provenance():
    facts = hd.infer(SMALL, hd.Gibbs(seed=3), sweeps=4, burn_in=2, chains=2).provenance
    assert (facts["sweeps"], facts["burn_in"], facts["chains"]) == (4, 2, 2)
    assert facts["versions"]["herded"] == hd.__version__ and facts["seconds"] > 0
    assert not facts["interrupted"]


# -- the same bits ----------------------------------------------------------------------------


@every_sampler
@pytest.mark.parametrize("rows", [1, 7, 64])
def test_bits_do_not_depend_on_blocks(method, rows, monkeypatch):
    rng = np.random.default_rng(7)
    model = hd.chain(rng.normal(size=(9, 2)), rng.normal(size=(2, 2)), lengths=[4, 5])
    keep = [hd.Samples(), hd.Marginals(rao_blackwell=True)]
    whole = hd.infer(model, method, sweeps=150, chains=2, keep=keep)
    monkeypatch.setattr(herded.sampling, "BLOCK", rows * 9)
    parts = hd.infer(model, method, sweeps=150, chains=2, keep=keep)
    assert (whole.samples == parts.samples).all()
    assert (whole.marginals == parts.marginals).all()


@every_sampler
@pytest.mark.parametrize("chains", [1, 3])
def test_bits_do_not_depend_on_threads(method, chains, monkeypatch):
    monkeypatch.setattr(herded.sampling, "WORTH_THREADS", 0)
    monkeypatch.setattr("herded.methods.sweeping.WORTH_A_THREAD", 1)
    rng = np.random.default_rng(1)
    model = hd.chain(rng.normal(size=(60, 3)), rng.normal(size=(3, 3)), lengths=[4, 6] * 6)
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
            hd.infer(model, method, sweeps=300, keep=keep, plan=plan).samples
            for plan in ("table", "factor")
        )
        if weights != "lazy" or isinstance(method, hd.Gibbs):
            assert (table == factor).all()


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
        ("chains", {"chains": None}),
        ("threads", {"threads": 0}),
        ("threads", {"threads": "all"}),
        ("checkpoint_every", {"checkpoint_every": -1}),
        ("checkpoint_every", {"checkpoint_every": "often"}),
        ("Samples once in keep=", {"keep": [hd.Samples(), hd.Samples(3)]}),
        ("in keep=, got <class", {"keep": [hd.Samples]}),
        ("in keep=, got 'best'", {"keep": ["best"]}),
        ("keep= as a list", {"keep": hd.Samples()}),
        ("a method such as", {"method": hd.Gibbs}),
        ("a method such as", {"method": "gibbs"}),
        ("a method such as", {"method": 5}),
    ],
)
def test_wrong_options(match, options):
    with pytest.raises(MethodError, match=match) as caught:
        hd.infer(SMALL, **options)
    assert str(caught.value).startswith("expected")


@pytest.mark.parametrize("model", [None, 5, "grid.uai", [2, 2], hd.FactorGraph])
def test_wrong_models(model):
    with pytest.raises((ModelError, MethodError), match="expected"):
        hd.infer(model if model is not hd.FactorGraph else np.zeros(3))


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
        lambda: hd.AnnealedGibbs(schedule="fast"),
        lambda: hd.AnnealedGibbs(schedule=None),
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
    for options in (
        {"chains": 2},
        {"state": np.zeros(5)},
        {"checkpoint": "x"},
        {"keep": [hd.Samples()]},
    ):
        with pytest.raises(MethodError, match="not a sampler"):
            hd.infer(model, method, **options)


# -- methods through infer --------------------------------------------------------------------


def test_annealed_gibbs_ends_in_a_local_best():
    """The last sweep of the linear schedule takes the best state of each conditional."""
    rng = np.random.default_rng(7)
    model = hd.ising_grid(rng.normal(size=(5, 5)), 0.7)
    x = hd.infer(model, hd.AnnealedGibbs(), sweeps=200, keep=[hd.Samples(200)]).samples[0, 0]
    greedy = hd.infer(
        model,
        hd.AnnealedGibbs(schedule=lambda sweep, total: 0),
        sweeps=9,
        state=x,
        keep=[hd.Samples(9)],
    ).samples[0, 0]
    assert model.log_score(greedy) - model.log_score(x) < 1.0  # near a best state
    alone = hd.infer(model, hd.AnnealedGibbs(), sweeps=1, state=x, keep=[hd.Samples()]).samples
    for i in range(25):  # with one sweep the schedule is 0: the argmax, site by site
        y = np.concatenate([alone[0, 0, : i + 1], x[i + 1 :]]).astype(int)
        other = y.copy()
        other[i] = 1 - other[i]
        assert model.log_score(y) >= model.log_score(other)


@pytest.mark.parametrize("name", ["chain", "mixed", "lattice", "clamped"])
def test_annealed_gibbs_finds_the_best(name):
    model = MODELS[name]
    result = hd.infer(model, hd.AnnealedGibbs(), sweeps=300, chains=3, keep=[hd.BestState()])
    np.testing.assert_allclose(result.best.log_score, naive_viterbi(model)[1])


def test_schedules_see_every_sweep():
    seen = []

    def schedule(sweep, total):
        seen.append((sweep, total))
        return np.float64(1.0)

    hd.infer(SMALL, hd.AnnealedGibbs(schedule), sweeps=5, burn_in=2)
    assert seen == [(s, 7) for s in range(7)]
    annealed = hd.infer(SMALL, hd.AnnealedGibbs(schedule), sweeps=50, keep=[hd.Samples()]).samples
    plain = hd.infer(SMALL, hd.Gibbs(), sweeps=50, keep=[hd.Samples()], plan="factor").samples
    assert (annealed == plain).all()


@pytest.mark.parametrize("temperature", [-1.0, np.nan, np.inf, None, "hot", 1j])
def test_wrong_temperatures(temperature):
    with pytest.raises(MethodError, match=r"finite temperature of 0 or more.*sweep 0 of 3"):
        hd.infer(SMALL, hd.AnnealedGibbs(lambda sweep, total: temperature), sweeps=3)


@pytest.mark.parametrize("temperature", [0, 5e-324, 1e-300, 1e-10, 1e308])
def test_extreme_temperatures_stay_in_the_support(temperature):
    table = [[-np.inf, 1e300], [-1e300, 0.0]]
    for k in (2, 3):
        tables = np.full((k, k), -np.inf)
        tables[:2, :2] = table
        model = hd.FactorGraph([k, k], [((0, 1), tables)])
        method = hd.AnnealedGibbs(lambda sweep, total: temperature)
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
            table = result.pair_marginals[i, j][: model.cardinalities[i], : model.cardinalities[j]]
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


def test_every_chain_counts_against_the_cap():
    model = hd.pairwise(np.zeros((50, 2)), [(i, i + 1) for i in range(49)], np.eye(2))
    one = hd.HerdedGibbs().compile(model)
    cap = one.memory + 9 * one.chain_memory
    assert hd.infer(model, sweeps=2, chains=10, cap=cap).sweeps == 2
    with pytest.raises(hd.CapError, match="the weights of 11 chains"):
        hd.infer(model, sweeps=2, chains=11, cap=cap)


@pytest.mark.parametrize("temperature", [np.inf, np.nan, -1.0])
def test_a_temperature_is_a_finite_number(temperature):
    model = hd.FactorGraph([3], [((0,), [0, -np.inf, 0])])
    with pytest.raises(hd.MethodError, match=r"expected a .*temperature"):
        hd.infer(model, hd.AnnealedGibbs(schedule=lambda sweep, total: temperature), sweeps=5)


def test_sweeps_may_be_written_as_1e2_and_one_state_continues_one_chain():
    model = hd.FactorGraph([2], [((0,), [0.0, 1.0])])
    first = hd.infer(model, sweeps=1e2)
    assert first.sweeps == 100
    again = hd.infer(model, sweeps=100, state=first.state[0])
    assert again.state[0].sweep == 200


def test_shared_weights_without_coupling_are_one_weight_per_pixel():
    """Every neighbour state has the same conditional: lattices go by tables then."""
    lattice = hd.ising_grid(np.zeros((3, 3)), 0.0)
    plan = hd.HerdedGibbs(weights="shared").compile(lattice)
    assert (plan.kind, plan.contexts.size) == ("table", 9)
