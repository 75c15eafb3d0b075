"""Herds: the twin's bits, exact joints, members that stay apart, and all that `infer` offers."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.draws.systematic import member_orders
from herded.models.constraints.start_states import member_starts
from herded.run.diagnostics.chain_agreement import find_stuck_members
from herded.run.diagnostics.intervals import t_quantile_95
from herded.run.initial_states import initial_states
from herded.run.query import KeepOptions
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.twins.enumerated_joint import naive_joint
from tests.conformance.twins.herds.any_graph import naive_herd, naive_orders
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.kernel_runs import RULES
from tests.support.strategies import sampled_models

compiled = pytest.mark.skipif(UNCOMPILED, reason="too slow without a compiler")


def method_of(kept, members, **options):
    return (hd.HerdedGibbs if kept else hd.Gibbs)(herd=members, **options)


def run_herd(method, layout, x0, sweeps, chain=0, cuts=(), pool=None):
    """Samples (sweeps, members, N), sums of conditionals (N, .), counts, and the last state."""
    state = method.init(layout, x0, chain=chain, tally=True, total=sweeps)
    state.state_counts = layout.new_counts()
    parts = []
    for a, b in zip([0, *cuts], [*cuts, sweeps], strict=True):
        block = np.zeros((b - a, layout.sample_size), layout.sample_type)
        layout.fill(block, state)
        method.advance(layout, state, block, pool)
        parts.append(np.array(layout.members_of(block)))
    tally = layout.unstore(state.conditional_sums.reshape(layout.n_stored, -1).T).T
    return (
        np.concatenate(parts),
        tally,
        layout.unstore(state.state_counts.reshape(layout.n_stored, -1).T).T,
    )


@st.composite
def herds(draw, rule):
    """A model, starts of all members in its support, and the options of a run."""
    model = draw(sampled_models(*RULES[rule]))
    scan = draw(st.sampled_from(("sequential", "checkerboard", "random")))
    members = draw(st.sampled_from((2, 3, 7, 16)))
    seed, chain = draw(st.integers(0, 3)), draw(st.integers(0, 2))
    x0 = member_starts(model, members, stream_key(seed, chain, 3))
    return {"model": model, "x0": x0, "scan": scan, "seed": seed, "chain": chain}


@pytest.mark.parametrize("kind", ["table", "factor"])
@pytest.mark.parametrize("rule", RULES)
@examples(60)
@given(data=st.data())
def test_the_twin(kind, rule, data):
    options, kept = data.draw(herds(rule)), data.draw(st.booleans())
    model, x0 = options.pop("model"), options.pop("x0")
    chain, sweeps = options.pop("chain"), 4
    schedule = None
    if kind == "factor" and data.draw(st.booleans()):
        schedule = "linear"
    method = method_of(kept, len(x0), schedule=schedule, **options)
    layout = method.compile(model, kind=kind)
    found, tally, counts = run_herd(method, layout, x0, sweeps, chain, cuts=(1,))
    if schedule:
        options["schedule"] = lambda sweep, total: 1.0 - sweep / (total - 1)
    expected = naive_herd(model, kept=kept, chain=chain, x0=x0, sweeps=sweeps, kind=kind, **options)
    free = model.evidence < 0
    np.testing.assert_array_equal(found, expected[0])
    np.testing.assert_array_equal(tally[free], expected[1][free])
    states = np.moveaxis(found.reshape(-1, model.n_variables), 0, 1)[free]
    width = int(model.cardinalities.max())
    real = np.array([np.bincount(own, minlength=width) for own in states]).reshape(-1, width)
    np.testing.assert_array_equal(counts[free], real[:, 1:] if width == 2 else real)


@pytest.mark.parametrize("members", [2, 5, 64, 3000])
def test_orders(members):
    """Each row is a permutation, that of the twin, and no two are alike where there are many."""
    found = member_orders(members)
    np.testing.assert_array_equal(np.sort(found), np.tile(np.arange(members), (len(found), 1)))
    assert found[:4].tolist() == naive_orders(members)[:4]
    assert len(found) == len(naive_orders(members))


# -- the law ------------------------------------------------------------------------------------


def tiny(name):
    """Models whose joint is enumerated: couplings, zeros, several states, factors of three."""
    rng = np.random.default_rng(3)
    if name == "ring":
        edges = [(i, (i + 1) % 6) for i in range(6)]
        return hd.pairwise_model(np.zeros((6, 2)), edges, np.eye(2))
    if name == "states":
        cards, scopes = [2, 3, 4, 5], [(0, 1, 2), (2, 3), (0, 3)]
    else:
        cards, scopes = [3, 3, 2, 2], [(0, 1), (1, 2), (2, 3), (0, 3)]
    tables = [rng.normal(size=[cards[i] for i in scope]) for scope in scopes]
    if name == "zeros":
        tables[0][0, 0] = tables[1][2, 1] = -np.inf
    return hd.FactorGraph(cards, list(zip(scopes, tables, strict=True)))


@compiled
@pytest.mark.parametrize("members", [2, 16, 200])
@pytest.mark.parametrize("name", ["ring", "states", "zeros"])
def test_joint(name, members):
    """The joint of fresh herds is right: no state is further off than draws would be.

    The bound is 5 standard deviations of as many independent draws as there are effective ones;
    the models mix within some ten sweeps.
    """
    model = tiny(name)
    truth = naive_joint(model)
    sweeps = (400_000 if members > 2 else 200_000) // members
    keep = [hd.Joint()]
    found = hd.infer(
        model, hd.Gibbs(herd=members, seed=5), sweeps=sweeps, burn_in=50, chains=2, keep=keep
    ).joint
    effective = 2 * members * sweeps / 10
    assert (found[truth == 0] == 0).all()
    gap = np.abs(found - truth) / np.sqrt(truth * (1 - truth) / effective + 1e-300)
    assert gap[truth > 0].max() < 5


@compiled
def test_fresh_herds_are_unbiased_where_one_chain_is_not():
    """On a ring with J = 1 herding in time stays off; a herd's error goes on falling."""
    edges = [(i, (i + 1) % 8) for i in range(8)]
    model = hd.pairwise_model(np.zeros((8, 2)), edges, 2.0 * np.eye(2))
    truth = naive_joint(model)

    def distance(method, sweeps):
        run = hd.infer(model, method, sweeps=sweeps, burn_in=100, keep=[hd.Joint()])
        return 0.5 * np.abs(run.joint - truth).sum()

    alone = distance(hd.HerdedGibbs(), 1_000_000)
    together = np.mean([distance(hd.Gibbs(herd=64, seed=s), 1_000_000 // 64) for s in range(3)])
    assert together < alone / 3


# -- members stay apart ---------------------------------------------------------------------------


def zero_field(name):
    if name == "grid":
        return hd.ising_grid(np.zeros((3, 4)), 0.3)
    pairs = [(i, (i + 1) % 8) for i in range(8)]
    if name == "complete":
        pairs = list(itertools.combinations(range(8), 2))
    strength = 0.5 if name == "ring" else 0.1
    return hd.pairwise_model(np.zeros((8, 2)), pairs, strength * np.eye(2))


@compiled
@pytest.mark.parametrize(("members", "kept"), [(4, False), (8, False), (64, False), (64, True)])
@pytest.mark.parametrize("name", ["ring", "grid", "complete"])
def test_members_stay_apart(name, members, kept):
    """Without fields members that draw in a fixed order would collapse to two.

    As many are distinct as among independent chains, and the mean energy of a herd strays from
    draw to draw no further than that of as many independent chains: with 64 by 0.55 to 0.75 of
    theirs. What those do is known by enumeration.
    """
    model = zero_field(name)
    n, options = model.n_variables, {"burn_in": 200, "keep": [hd.Samples(every=20)]}
    herds = [
        hd.infer(model, method_of(kept, members, seed=seed), sweeps=240, **options).samples
        for seed in range(6)
    ]
    names = np.concatenate(herds, axis=1).reshape(members, -1, n) @ (1 << np.arange(n))
    scores = model.log_score(np.arange(2**n)[:, None] >> np.arange(n) & 1)
    joint = np.exp(scores) / np.exp(scores).sum()
    distinct = 1 + (np.diff(np.sort(names, axis=0), axis=0) > 0).sum(axis=0).mean()
    assert distinct > 0.9 * (1 - (1 - joint) ** members).sum()
    alone = np.sqrt((joint @ scores**2 - (joint @ scores) ** 2) / members)
    ratio = scores[names].mean(axis=0).std() / alone  # which 72 draws tell to 8 %
    assert ratio < {4: 1.5, 8: 1.4, 64: 1.1}[members]


# -- what infer offers ----------------------------------------------------------------------------


MODEL = hd.FactorGraph(
    [2, 3, 2, 2],
    [
        ((0, 1), np.array([[0.5, 0.0, -1.0], [0.0, 1.0, 0.3]])),
        ((1, 2), np.eye(3, 2)),
        ((2, 3), np.eye(2)),
    ],
)


@pytest.mark.parametrize("kept", [False, True])
def test_members_are_chains(kept):
    method = method_of(kept, 5)
    keep = [
        hd.Marginals(rao_blackwell=True),
        hd.Samples(every=2),
        hd.PairMarginals(),
        hd.Joint(),
        hd.BestState(),
    ]
    result = hd.infer(MODEL.given({3: 1}), method, sweeps=8, chains=2, keep=keep)
    assert result.samples.shape == (10, 4, 4) and (result.samples[..., 3] == 1).all()
    assert result.chain_marginals.shape == (2, 4, 3)
    assert result.marginals.sum(axis=1).round(9).tolist() == [1.0] * 4
    assert result.marginals[3].tolist() == [0.0, 1.0, 0.0] == result.frequencies[3].tolist()
    assert result.joint.sum() == pytest.approx(1.0)
    assert result.pair_marginals[0, 1].sum() == pytest.approx(1.0)
    assert result.best.log_score == pytest.approx(
        max(
            MODEL.log_score(x)
            for x in hd.infer(
                MODEL.given({3: 1}), method, sweeps=8, chains=2, keep=[hd.Samples()]
            ).samples.reshape(-1, 4)
        )
    )
    every = hd.infer(MODEL.given({3: 1}), method, sweeps=8, chains=2, keep=[hd.Samples()]).samples
    np.testing.assert_array_equal(result.samples, every[:, 1::2])
    shares = np.stack([(every == k).mean(axis=(0, 1)) for k in range(3)], axis=1)
    np.testing.assert_allclose(result.frequencies, shares)


@pytest.mark.parametrize("kept", [False, True])
def test_resumed(kept, tmp_path):
    """A run that goes on, from a checkpoint or from its result, has the bits of one run."""
    method, keep = method_of(kept, 6), [hd.Marginals(rao_blackwell=True), hd.Samples()]
    whole = hd.infer(MODEL, method, sweeps=40, chains=2, keep=keep)
    for sweeps in (15, 40):
        part = hd.infer(
            MODEL, method, sweeps=sweeps, chains=2, keep=keep, checkpoint=tmp_path / "c"
        )
    np.testing.assert_array_equal(part.samples, whole.samples)
    np.testing.assert_array_equal(part.marginals, whole.marginals)
    early = hd.infer(MODEL, method, sweeps=15, chains=2, keep=keep)
    late = hd.infer(MODEL, method, sweeps=25, chains=2, keep=keep, start=early.state)
    np.testing.assert_array_equal(
        np.concatenate([early.samples, late.samples], axis=1), whole.samples
    )


def test_threads_and_executors():
    from concurrent.futures import ThreadPoolExecutor

    method, keep = hd.Gibbs(herd=4), [hd.Marginals(rao_blackwell=True), hd.Samples()]
    parts = hd.FactorGraph([2] * 8, [((i, i + 1), np.eye(2)) for i in range(0, 8, 2)])
    one = hd.infer(parts, method, sweeps=30, chains=3, keep=keep, threads=1)
    two = hd.infer(parts, method, sweeps=30, chains=3, keep=keep, threads=2)
    with ThreadPoolExecutor(2) as pool:
        far = hd.infer(parts, method, sweeps=30, chains=3, keep=keep, executor=pool)
        run_herd(method, method.compile(parts), np.zeros((4, 8), int), 3, pool=pool)
    for other in (two, far):
        np.testing.assert_array_equal(one.samples, other.samples)
        np.testing.assert_array_equal(one.chain_marginals, other.chain_marginals)


def test_starts_of_more_states_than_two_bytes_have():
    model = hd.FactorGraph([100_000, 2], [])
    starts = member_starts(model, 400, stream_key(1))
    assert 80_000 < starts[:, 0].max() < 100_000 and starts[:, 0].min() < 20_000
    assert set(starts[:, 1].tolist()) == {0, 1}


@pytest.mark.parametrize("members", [1, 255, 256, 65_536])
def test_shares_of_any_number_of_members(members):
    """They are counted in as few bytes as hold them all."""
    model, stuck = hd.FactorGraph([2, 2], []), np.zeros((members, 2), np.uint8)
    stuck[: members // 2] = 1
    said = find_stuck_members(model, np.arange(2), stuck, stuck, 9)
    assert (said is not None and said.variables == (0,)) == (members > 1)


def test_starts():
    """One start for all, one for each member of each herd, and random ones that differ."""
    method = hd.Gibbs(herd=3)
    given = np.tile(np.arange(6)[:, None] % 2, (1, 4))
    result = hd.infer(MODEL, method, sweeps=1, chains=2, start=given, keep=[hd.Samples()])
    assert result.samples.shape == (6, 1, 4)
    layout = method.compile(MODEL)
    state = method.init(layout, given[:3])
    np.testing.assert_array_equal(layout.values(state), given[:3])
    for start, expected in ((given, given), ([0, 1, 0, 1], np.tile([0, 1, 0, 1], (6, 1)))):
        states = initial_states(layout, method, 2, start, KeepOptions(), 1)
        found = np.concatenate([layout.values(state) for state in states])
        np.testing.assert_array_equal(found, expected)
    hd.infer(MODEL, method, sweeps=1, chains=2, start=[0, 0, 0, 0])
    with pytest.raises(hd.ModelError, match="expected"):
        hd.infer(MODEL, method, sweeps=1, start=[0, 5, 0, 0])
    starts = member_starts(MODEL, 100, stream_key(1))
    assert starts.shape == (100, 4) and (starts < MODEL.cardinalities).all()
    assert len(np.unique(starts, axis=0)) == 24


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, 2**17])
def test_refused_sizes(wrong):
    for method in (hd.Gibbs, hd.HerdedGibbs):
        with pytest.raises(hd.MethodError, match="expected a herd of 1 to 65536 members"):
            method(herd=wrong)


def test_refused_options():
    for options in ({"weights": "shared"}, {"slack": 1.0}, {"phases": "half"}):
        with pytest.raises(hd.MethodError, match="a herd of 8"):
            hd.HerdedGibbs(herd=8, **options)
    with pytest.raises(hd.MethodError, match='got "jacobi"'):
        hd.infer(MODEL, hd.Gibbs(herd=8, scan="jacobi"), sweeps=1)


def test_refused_lengths():
    """Sums of conditionals would overflow."""
    with pytest.raises(hd.MethodError, match="at most 33,554,432 sweeps of a herd of 64"):
        hd.infer(MODEL, hd.Gibbs(herd=64), sweeps=10**9)


def test_members_that_have_not_moved_on():
    """Two modes that no member leaves: herds agree, and are told to be stuck all the same."""
    stuck = hd.ising_grid(np.zeros((6, 6)), 1.5)
    with pytest.warns(hd.HerdedWarning, match="have not moved on: variable"):
        result = hd.infer(stuck, hd.Gibbs(herd=64), sweeps=50, burn_in=10)
    assert any("chance explains" in sentence for sentence in result.warnings)
    mixes = hd.ising_grid(np.zeros((6, 6)), 0.1)
    assert hd.infer(mixes, hd.Gibbs(herd=64), sweeps=50, chains=2).warnings == ()


def test_only_states_that_occur_are_looked_for_in_members():
    """A variable may have many thousands of them, and members only a few."""
    compared = []

    class Watched(np.ndarray):
        def __eq__(self, other):
            if np.ndim(other) == 0:
                compared.append(other)
            return np.asarray(self) == other

    model = hd.FactorGraph([60_000, 2], [((1,), np.zeros(2))])
    then = np.array([[59_999, 0], [7, 1], [300, 0], [2, 0]]).view(Watched)
    now = np.array([[59_999, 0], [300, 1], [5, 0], [7, 0]]).view(Watched)
    assert find_stuck_members(model, np.arange(2), then, now, 9) is None
    assert compared == [k for k in (0, 1, 7, 300, 59_999) for _ in range(2)]
    many = np.repeat(then, 64, axis=0)
    found = find_stuck_members(model, np.arange(2), many, many, 9)
    assert found.variables == (0,) and "as it was 9 sweeps before" in found.message


def test_intervals():
    """Student's t of four herds; within 0 and 1."""
    result = hd.infer(MODEL, hd.Gibbs(herd=16), sweeps=50, chains=4)
    low, high = result.interval[..., 0], result.interval[..., 1]
    reach = 3.1824 * result.standard_error
    np.testing.assert_allclose(low, np.maximum(result.marginals - reach, 0))
    np.testing.assert_allclose(high, np.minimum(result.marginals + reach, 1))
    with pytest.raises(hd.MethodError, match="at least 2 chains"):
        hd.infer(MODEL, hd.Gibbs(herd=16), sweeps=5).interval  # noqa: B018
    scipy_t = {2: 12.7062, 4: 3.1824, 31: 2.0423, 32: 2.0395, 101: 1.9840, 10_001: 1.9602}
    for runs, expected in scipy_t.items():
        assert t_quantile_95(runs) == pytest.approx(expected, abs=1e-4)


def test_herds_that_agree_to_the_bit_are_right():
    """Fresh phases are random, so that a spread of 0 says something: here symmetry makes it so."""
    coin = hd.FactorGraph([2], [((0,), np.zeros(2))])
    result = hd.infer(coin, hd.Gibbs(herd=16), sweeps=5, chains=2)
    assert (result.standard_error == 0).all()
    np.testing.assert_allclose(result.interval[0], [[0.5 - 1e-5, 0.5 + 1e-5]] * 2)
    with pytest.raises(hd.MethodError, match="identical"):
        _ = hd.infer(coin, hd.HerdedGibbs(herd=16), sweeps=5, chains=2).standard_error
