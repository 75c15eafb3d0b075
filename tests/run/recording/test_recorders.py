"""keep= and the result: every record is that of the samples."""

import numpy as np
import pytest

import herded as hd
import herded.run.sampler_run
from herded.errors import MethodError, ModelError, NotKeptError
from tests.support.fixtures import MODELS, SMALL, every_sampler

# -- keep -------------------------------------------------------------------------------------


@every_sampler
@pytest.mark.parametrize("name", ["lattice", "clamped", "wide evidence"])
def test_records_are_those_of_the_samples(method, name, monkeypatch):
    model = MODELS[name]
    n, width = model.n_variables, int(model.cardinalities.max())
    monkeypatch.setattr(herded.run.sampler_run, "BLOCK_ENTRIES", 7 * n)  # blocks that fit nothing
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
        expected = expected[: model.cardinalities[i], : model.cardinalities[j]]
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
@pytest.mark.parametrize("layout", [None, "factor"])
def test_rao_blackwell_is_the_mean_of_the_conditionals(name, layout):
    """Sequential: each is seen with the new values before it and the old ones after it."""
    model = MODELS[name]
    order = np.flatnonzero(model.evidence < 0)
    if name == "lattice":
        colours = np.indices(model.shape).sum(axis=0).ravel() % 2
        order = np.argsort(colours, kind="stable")
    start = np.maximum(model.evidence, 0)
    keep = [hd.Marginals(rao_blackwell=True), hd.Samples()]
    result = hd.infer(model, hd.Gibbs(), sweeps=15, start=start, keep=keep, layout=layout)
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
    model = hd.chain_model(
        rng.normal(size=(3 * parts, 3)), rng.normal(size=(3, 3)), lengths=[3] * parts
    )
    keep = [hd.BestState(), hd.Samples()]
    result = hd.infer(model, hd.Gibbs(), sweeps=400, chains=2, keep=keep)
    best = hd.infer(model, hd.Viterbi()).best
    np.testing.assert_allclose(result.best.log_score, best.log_score)
    assert model.log_score(result.samples).max() < best.log_score - 1.0


def test_evidence_parts_a_lattice():
    """A clamped column makes two parts of a picture, on every layout."""
    rng = np.random.default_rng(7)
    field = rng.normal(size=(3, 5))
    model = hd.ising_grid(field, 0.1).given({(r, 2): 1 for r in range(3)})
    for layout in ("grid", "table", "factor"):
        keep = [hd.BestState(), hd.Samples()]
        result = hd.infer(model, hd.Gibbs(), sweeps=60, keep=keep, layout=layout)
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
    assert result.pair_marginals[2, 0].shape == tuple(SMALL.cardinalities[[2, 0]])
    assert (result.pair_marginals[0, 2] == result.pair_marginals[2, 0].T).all()
    with pytest.raises(KeyError, match="not kept"):
        result.pair_marginals[0, 1]


@pytest.mark.parametrize("edges", [[(0, 9)], [(-1, 0)], [0, 1], [(0.5, 1)], "ab", [(0, 1), (1,)]])
def test_wrong_pairs(edges):
    with pytest.raises(ModelError, match="edges"):
        hd.infer(SMALL, hd.HerdedGibbs(), sweeps=1, keep=[hd.PairMarginals(edges)])


def test_the_joint_of_large_models_is_refused():
    for model in (hd.FactorGraph([2] * 21, []), hd.FactorGraph([1] * 99, [])):
        with pytest.raises(MethodError, match="to keep the joint"):
            hd.infer(model, hd.HerdedGibbs(), sweeps=1, keep=[hd.Joint()])


@pytest.mark.parametrize(
    ("cardinalities", "told"),
    [
        ([2] * 21, "2,097,152 states and 21 variables"),
        ([2] * 1600, r"2\^1600 states and 1,600 variables"),
        ([2, 3] * 800, r"about 10\^623 states and 1,600 variables"),
    ],
)
def test_states_beyond_any_float_are_told(cardinalities, told, recwarn):
    with pytest.raises(MethodError, match=f"got {told}: keep"):
        hd.infer(hd.FactorGraph(cardinalities, []), hd.HerdedGibbs(), sweeps=1, keep=[hd.Joint()])
    assert not recwarn.list


def test_the_reference_is_checked_before_the_work():
    with pytest.raises(ModelError, match=r"reference marginals of shape \(3, 3\)"):
        hd.infer(
            SMALL,
            hd.HerdedGibbs(),
            sweeps=10**9,
            keep=[hd.ErrorCurve(np.zeros((2, 2)), at=[10**9])],
        )
    with pytest.raises(ModelError, match="numbers in the reference"):
        hd.infer(SMALL, hd.HerdedGibbs(), sweeps=10**9, keep=[hd.ErrorCurve("truth")])
    with pytest.raises(MethodError, match="1 or more in at="):
        hd.infer(SMALL, hd.HerdedGibbs(), keep=[hd.ErrorCurve(np.zeros((3, 3)), at=[0])])
    with pytest.raises(ModelError, match="at="):
        hd.infer(SMALL, hd.HerdedGibbs(), keep=[hd.ErrorCurve(np.zeros((3, 3)), at=["soon"])])


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
    result = hd.infer(SMALL, hd.HerdedGibbs(), sweeps=1, keep=[])
    with pytest.raises(NotKeptError) as caught:
        getattr(result, name)
    asked = "marginals" if name in ("chain_marginals", "standard_error") else name
    assert remedy in str(caught.value)
    assert str(caught.value).startswith(f"expected {asked} to be kept, but got none: ")
    assert not hasattr(result, name)


def test_provenance():
    facts = hd.infer(SMALL, hd.Gibbs(seed=3), sweeps=4, burn_in=2, chains=2).provenance
    assert (facts["sweeps"], facts["burn_in"], facts["chains"]) == (4, 2, 2)
    assert facts["versions"]["herded"] == hd.__version__ and facts["seconds"] > 0
    assert not facts["interrupted"]
