"""Ladders on conditionals of one's own: the twin's bits, exact joints, resumed runs, refusals."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import herded as hd
from tests.conformance.twins.enumerated_joint import naive_joint
from tests.conformance.twins.samplers.callback_ladder import naive_own_ladder
from tests.support.callback_models import as_functions
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.kernel_runs import RULES, runs

pytestmark = pytest.mark.usefixtures("quiet")


def wells(n=6, strength=1.2):
    """Spins that all attract each other: two wells that single moves hardly ever leave."""
    pairs = [(i, j) for i in range(n) for j in range(i)]
    table = strength * np.eye(2)
    return hd.pairwise_model(np.tile([0.3, 0.0], (n, 1)), pairs, table)


@pytest.mark.parametrize("rule", RULES)
@examples(12)
@given(data=st.data())
def test_the_twin(rule, data):
    """Samples of all rungs, sums, temperatures, trips and scores; also as plain Python."""
    run = data.draw(runs(rule))
    model, x0, seed, chain = (run[name] for name in ("model", "x0", "seed", "chain"))
    assume(not model.has_hard_zeros and (model.evidence < 0).any())
    rungs, burn_in, sweeps = data.draw(st.integers(2, 4)), data.draw(st.sampled_from((0, 40))), 50
    own = as_functions(model, compiled=data.draw(st.sampled_from((None, False))))
    method = hd.Tempered(hd.Gibbs(seed=seed), rungs=rungs)
    layout = method.compile(own)
    state = method.init(layout, x0, chain=chain, tally=True, total=sweeps)
    first, scores, betas = (
        layout.replicas(state),
        state.method_arrays["scores"].copy(),
        layout.first_betas,
    )
    expected = naive_own_ladder(
        model, x0=first, scores=scores, betas=betas, seed=seed, chain=chain, sweeps=sweeps,
        burn_in=burn_in,
    )  # fmt: skip
    parts = []
    for count in (burn_in, sweeps - burn_in):
        block = np.zeros((count, layout.sample_size), layout.sample_type)
        method.advance(layout, state, block)
        parts.append(layout.replicas_of(block).copy())
        if count == burn_in:
            tried = state.method_arrays["came"].copy()
            layout.end_burn_in(state)
            state.method_arrays["came"][:] = tried  # which the twin goes on counting
    np.testing.assert_array_equal(np.concatenate(parts), expected[0])
    np.testing.assert_array_equal(
        state.conditional_sums.reshape(model.n_variables, -1), expected[1]
    )
    np.testing.assert_array_equal(state.method_arrays["betas"], expected[2])
    np.testing.assert_array_equal(state.method_arrays["came"], expected[3])
    np.testing.assert_array_equal(
        state.method_arrays["scores"][state.method_arrays["lane_at"]], expected[4]
    )


@pytest.mark.skipif(UNCOMPILED, reason="thousands of sweeps")
def test_the_joint_of_wells():
    """Where Gibbs chains stay in the well they fell into."""
    model = wells()
    own = as_functions(model)
    found = hd.infer(
        own, hd.Tempered(rungs=5), sweeps=20_000, burn_in=500, chains=2, keep=[hd.Joint()]
    )
    assert not found.warnings and min(found.provenance["round_trips"]) > 100
    assert 0.5 * np.abs(found.joint - naive_joint(model)).sum() < 0.03


def test_saved_resumed_and_best(tmp_path):
    own, method = as_functions(wells()), hd.Tempered(hd.Gibbs(seed=2), rungs=3)
    keep, path = [hd.Samples(), hd.BestState()], tmp_path / "run.ckpt"
    whole = hd.infer(own, method, sweeps=60, burn_in=10, chains=2, keep=keep)
    for sweeps in (25, 60):
        options = {"sweeps": sweeps, "burn_in": 10, "chains": 2, "keep": keep}
        found = hd.infer(own, method, checkpoint=path, **options)
    np.testing.assert_array_equal(found.samples, whole.samples)
    np.testing.assert_array_equal(found.best.state, np.zeros(6))


def test_refusals():
    own = as_functions(wells())
    hard = as_functions(hd.FactorGraph([2, 2], [((0, 1), [[0.0, -np.inf], [-np.inf, 0.0]])]))
    for model, method, told in (
        (own, hd.Tempered(hd.Gibbs(herd=4)), "one ladder to a chain"),
        (own, hd.Tempered(hd.Gibbs(moves=hd.Blocks())), "one ladder to a chain"),
        (own, hd.Tempered(hottest_beta=0.0), "so that there is no log Z, got 0"),
        (hard, hd.Tempered(hd.Gibbs(seed=1), rungs=8), "impossible"),
    ):
        start = [0, 0] if model is hard else None
        with pytest.raises((hd.MethodError, hd.ModelError)) as caught:
            hd.infer(model, method, sweeps=5, start=start)
        assert told in str(caught.value), caught.value
