"""Exact inference in blocks, segments, slices and logarithms; as asked for, saved and resumed."""

import itertools
import math
import os
import signal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.methods.exact import elimination, elimination_tables
from herded.methods.exact.elimination_order import elimination_order
from herded.methods.exact.elimination_plan import BucketSizes, plan_elimination
from herded.methods.exact.solver import Exact, ExactState
from herded.models.pairwise import pairwise_model
from tests.conformance.twins.enumerated_joint import naive_joint, naive_log_z, naive_viterbi
from tests.support.example_budget import examples
from tests.support.strategies import models

TASKS = [{"marginals"}, {"log_z"}, {"best"}, {"pairs"}, {"joint"}, {"marginals", "best", "pairs"}]


def cut(model, n_held, n_segments):
    """A plan with so many variables held, the last ones of the order, and so many segments."""
    found = elimination_order(model)
    order, states = list(found.clusters), list(found.states)
    held = [order.pop() for _ in range(min(n_held, len(order)))]
    for i in held:
        states[i] = 1
    sizes = BucketSizes(order, found, states)
    return plan_elimination(found)._replace(
        order=np.array(order, np.int64),
        held=np.array(held, np.int64),
        scopes=tuple(sizes.scopes),
        segments=np.array(sizes.cut(n_segments), np.int64),
        slices=math.prod(found.states[i] for i in held),
    )


def check(model, answer, asked):
    """Against enumeration."""
    joint = naive_joint(model)

    def marginal(*kept):
        return joint.sum(axis=tuple(i for i in range(joint.ndim) if i not in kept))

    if asked & {"marginals", "log_z", "pairs"}:
        np.testing.assert_allclose(answer.log_z, naive_log_z(model), rtol=1e-12, atol=1e-8)
    if "marginals" in asked:
        for i, k in enumerate(model.cardinalities):
            np.testing.assert_allclose(answer.marginals[i, :k], marginal(i), atol=1e-9)
    if "pairs" in asked:
        for pair, table in answer.pairs.items():
            np.testing.assert_allclose(table, marginal(*pair), atol=1e-9)
    if "joint" in asked:
        np.testing.assert_allclose(answer.joint, joint, atol=1e-9)
    if "best" in asked:
        assert answer.log_score == pytest.approx(naive_viterbi(model)[1], abs=1e-9)
        assert model.log_score(answer.state) == answer.log_score
    left_out = {"marginals", "pairs", "joint"} - asked
    assert all(getattr(answer, name) is None for name in left_out)
    assert (answer.state is None) == ("best" not in asked)


@examples(150)
@given(
    models(scales=(1.0, 100.0, 1000.0), max_factors=8),
    st.integers(0, 2),
    st.integers(1, 4),
    st.sampled_from([1, 4, 2**16]),
    st.sampled_from([690.0, 690.0, 20.0]),
    st.sampled_from(TASKS),
)
def test_every_cut_agrees_with_enumeration(model, held, segments, block, wide, asked):
    """Blocks of one entry, and logarithms where e^-20 is already too small, among others."""
    plan = cut(model, held, segments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elimination_tables, "TABLE_BLOCK_ENTRIES", block)
        patch.setattr(elimination_tables, "SMALL_TABLE_ENTRIES", 0)
        patch.setattr(elimination, "MAX_LOG_RANGE", wide)
        state = ExactState(model, plan, asked)
        state.advance(state.total)
    assert state.converged and state.sweep == state.total
    check(model, state.found, asked)


def test_potentials_that_no_double_could_multiply():
    """Each of two factors alone makes one of two states impossible for a double; both do not."""
    far = np.array([[0.0, -1e4], [-1e4, 0.0]])
    factors = [((0, 1), far), ((1, 2), far), ((0,), [0.0, -1e4]), ((2,), [-1e4, 0.0])]
    model = hd.FactorGraph([2, 2, 2], factors)
    result = hd.infer(model, Exact())
    np.testing.assert_allclose(result.marginals, [marginal_of(model, i) for i in range(3)])
    assert result.log_z == pytest.approx(naive_log_z(model))


def marginal_of(model, i):
    joint = naive_joint(model)
    return joint.sum(axis=tuple(j for j in range(joint.ndim) if j != i))


def test_components_and_single_variables():
    """Models that fall apart, of one variable, and of nothing that is free."""
    apart = hd.FactorGraph([2, 3, 2, 2], [((0, 1), np.ones((2, 3))), ((2,), [0.0, 1.0])])
    for model in (apart, hd.FactorGraph([4], [((0,), [0.0, 1.0, 2.0, 3.0])]), apart.given({0: 1})):
        check(model, solved(model), TASKS[-1])
    known = hd.FactorGraph([2], [((0,), [0.0, 3.0])]).given({0: 1})
    assert hd.infer(known, Exact()).log_z == 3.0 and hd.infer(known, Exact()).best.log_score == 3.0


def solved(model, asked=frozenset(TASKS[-1])):
    state = Exact().init(Exact().compile(model), asked)
    state.advance(state.total)
    return state.found


def test_ties_go_to_one_state_the_same_each_time():
    alike = pairwise_model(np.zeros((4, 3)), [(0, 1), (1, 2), (2, 3)], np.eye(3))
    found = [hd.infer(alike, Exact(), keep=[hd.BestState()]).best.state for _ in range(3)]
    assert (found[0] == found[1]).all() and (found[0] == found[2]).all()
    assert len(set(found[0].tolist())) == 1  # one of three that are equally good


def test_hard_zeros_leave_fewer_states_to_sum_over():
    """Twelve variables of six states, of which each factor with its neighbour leaves two."""
    table = np.full((6, 6), -np.inf)
    table[:2, :2] = np.random.default_rng(0).normal(size=(2, 2))
    pairs = list(itertools.combinations(range(12), 2))
    model = hd.FactorGraph([6] * 12, [(pair, table) for pair in pairs])
    found = elimination_order(model)
    assert set(found.states) == {2} and found.log2_largest == 12
    small = hd.FactorGraph([2] * 12, [(pair, table[:2, :2]) for pair in pairs])
    result, truth = hd.infer(model, Exact()), hd.infer(small, Exact())
    np.testing.assert_allclose(result.marginals[:, :2], truth.marginals, atol=1e-12)
    assert (result.marginals[:, 2:] == 0).all() and result.log_z == pytest.approx(truth.log_z)
    assert (result.best.state == truth.best.state).all()


# -- what is asked for ---------------------------------------------------------------------------


def test_only_what_is_asked_for_is_computed(monkeypatch):
    model = hd.ising_grid(np.random.default_rng(0).normal(size=(4, 4)), 0.5)
    calls = []
    for kind in (elimination.SumElimination, elimination.MaxElimination):
        for step in ("forward", "backward"):
            true = getattr(kind, step)

            def counted(self, k, true=true, name=f"{kind.__name__}.{step}"):
                calls.append(name)
                return true(self, k)

            monkeypatch.setattr(kind, step, counted)

    def called(keep):
        calls.clear()
        hd.infer(model, Exact(), keep=keep)
        return {name: calls.count(name) for name in set(calls)}

    assert called(None) == {"SumElimination.forward": 16, "SumElimination.backward": 16}
    assert called([]) == {"SumElimination.forward": 16}
    assert called([hd.BestState()]) == {"MaxElimination.forward": 16, "MaxElimination.backward": 16}


def test_what_was_not_asked_for_is_found_when_it_is():
    model = hd.ising_grid(np.random.default_rng(0).normal(size=(3, 3)), 0.5)
    result = hd.infer(model, Exact(), keep=[])
    assert set(result.kept) - {"joint", "curve"} == {"log_z"}
    whole = hd.infer(model, Exact(), keep=[hd.Marginals(), hd.BestState(), hd.PairMarginals()])
    assert (result.best.state == whole.best.state).all()
    assert (result.marginals == whole.marginals).all()
    assert (result.pair_marginals[0, 1] == whole.pair_marginals[0, 1]).all()
    assert result.joint.sum() == pytest.approx(1.0)
    with pytest.raises(hd.NotKeptError, match="samples"):
        result.samples  # noqa: B018


def test_what_takes_slices_is_not_found_behind_ones_back():
    model = hd.ising_grid(np.random.default_rng(0).normal(size=(12, 12)), 0.5)
    whole = hd.infer(model, Exact())
    result = hd.infer(model, Exact(), max_memory=whole.provenance["memory"] / 1.5)
    np.testing.assert_allclose(result.marginals, whole.marginals, atol=1e-12)
    assert result.log_z == pytest.approx(whole.log_z)
    with pytest.raises(hd.NotKeptError, match=r"keep=\[BestState\(\)\]"):
        result.best  # noqa: B018


# -- save and resume -----------------------------------------------------------------------------

GRID = hd.ising_grid(np.random.default_rng(1).normal(size=(6, 7)), 0.5)
KEEP = [hd.Marginals(), hd.BestState(), hd.PairMarginals()]


@pytest.fixture
def in_small_parts(monkeypatch):
    """Every operation is a part of the work."""
    monkeypatch.setattr("herded.methods.exact.solver.PROGRESS_UNIT_ENTRIES", 8)
    plan = cut(GRID, 2, 3)
    return Exact().compile(GRID).__class__(model=GRID, method=Exact(), arrays=plan, memory=1.0)


@pytest.mark.parametrize("stop", [1, 40, 150, 400, 900, 1400])
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(in_small_parts, tmp_path, stop):
    layout, path = in_small_parts, tmp_path / "exact.ckpt"
    whole = hd.infer(GRID, Exact(), keep=KEEP, layout=layout)
    assert whole.sweeps > 1400

    def press(snapshot):
        if snapshot.sweeps >= stop:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        hd.infer(GRID, Exact(), keep=KEEP, layout=layout, checkpoint=path, callback=press)
    seen = []
    again = hd.infer(
        GRID,
        Exact(),
        keep=KEEP,
        layout=layout,
        checkpoint=path,
        callback=lambda snapshot: seen.append(snapshot.sweeps),
    )
    assert stop <= seen[0] <= stop + 100 and seen[-1] == whole.sweeps
    assert (again.marginals == whole.marginals).all() and again.log_z == whole.log_z
    assert (again.best.state == whole.best.state).all()
    for pair in whole.pair_marginals:
        assert (again.pair_marginals[pair] == whole.pair_marginals[pair]).all()


def test_checkpoints_of_other_runs_and_broken_ones(in_small_parts, tmp_path):
    layout, path = in_small_parts, tmp_path / "exact.ckpt"
    run = {"layout": layout, "checkpoint": path, "checkpoint_every": 0.0}
    hd.infer(GRID, Exact(), **run)
    with pytest.raises(hd.CheckpointError, match="with asked"):
        hd.infer(GRID, Exact(), keep=[hd.BestState()], **run)
    with pytest.raises(hd.CheckpointError, match="with plan"):
        hd.infer(GRID, Exact(), checkpoint=path)
    with pytest.raises(hd.CheckpointError, match="with model"):
        hd.infer(GRID.given({0: 1}), Exact(), checkpoint=path)
    with np.load(path) as file:
        arrays = dict(file)
    for name in arrays:
        if name == "header":
            continue
        lie = {**arrays, name: np.append(arrays[name].reshape(-1), arrays[name].reshape(-1)[:1])}
        np.savez(tmp_path / "lie.npz", **lie)
        with pytest.raises(hd.CheckpointError, match="broken in its arrays"):
            hd.infer(GRID, Exact(), layout=layout, checkpoint=tmp_path / "lie.npz")
    arrays["where"] = np.array([0, 99, 0, 1])
    np.savez(tmp_path / "lie.npz", **arrays)
    with pytest.raises(hd.CheckpointError, match="broken in its arrays"):
        hd.infer(GRID, Exact(), layout=layout, checkpoint=tmp_path / "lie.npz")


def test_quick_runs_leave_no_checkpoint(tmp_path):
    hd.infer(GRID, Exact(), checkpoint=tmp_path / "exact.ckpt")
    hd.infer(GRID, checkpoint=tmp_path / "exact.ckpt")
    assert list(tmp_path.iterdir()) == []
