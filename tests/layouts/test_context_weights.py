"""Whatever weights are kept for: the support is never left, and counts and merges are exact."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.layouts.general.context_weights import WEIGHT_MODES
from herded.layouts.general.table_arrays import row_entries
from herded.models.constraints.start_states import start_state
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.twins.integer_conditionals import SCALAR
from tests.support.example_budget import examples
from tests.support.kernel_runs import advance
from tests.support.strategies import sampled_models

lax = examples(60)
few = examples(20)

EVERY = [
    *(hd.HerdedGibbs(w, s, phases="random") for w in WEIGHT_MODES for s in (0.0, 1.0)),
    hd.Gibbs(),
    hd.Gibbs(schedule="linear"),
    hd.HerdedGibbs(schedule="linear"),
]


@pytest.mark.parametrize("method", EVERY, ids=lambda m: f"{type(m).__name__}-{vars(m)}"[:48])
@examples(12)
@given(model=sampled_models(1, 4, zeros=(0.3, 0.7)), seed=st.integers(0, 5))
def test_support_is_never_left(method, model, seed):
    """Hard constraints hold in every sample, whatever the weights."""
    x0 = start_state(model, stream_key(seed, 0, 3))
    samples, *_ = advance(method, method.compile(model), x0, 200)
    assert (model.log_score(samples) > -np.inf).all()


@lax
@given(model=sampled_models(1, 4), vector=st.booleans())
def test_shared_merges_equal_conditionals_only(model, vector):
    """One weight for all rows of a variable with one conditional, and for no others."""
    layout = hd.HerdedGibbs("shared", slack=float(vector)).compile(model)
    owner, first = row_entries(layout.arrays)
    weight = layout.contexts.shared.astype(int)
    width = layout.arrays.width[owner]
    rows = [
        (int(i), tuple(layout.arrays.p[a : a + w].tolist()))
        for i, a, w in zip(owner, first, width, strict=True)
    ]
    of_weight, of_row = {}, {}
    for row, at in zip(rows, weight, strict=True):
        assert of_weight.setdefault(at, row) == row
        assert of_row.setdefault(row, at) == at
    taken = sorted((at, at + len(p)) for (_, p), at in of_row.items())
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(taken))  # and none overlap
    assert not taken or (taken[0][0], taken[-1][1]) == (0, layout.contexts.size)


@pytest.mark.parametrize("weights", WEIGHT_MODES)
@few
@given(model=sampled_models(1, 4), data=st.data())
def test_relabelling_permutes_the_result(weights, model, data):
    """New numbers for the variables, the scan renumbered with them: the same run, renumbered."""
    n = model.n_variables
    new = np.array(data.draw(st.permutations(range(n))))
    scan = np.array(data.draw(st.permutations(range(n))))
    cards = np.empty(n, int)
    cards[new] = model.cardinalities
    factors = [model.factor(f) for f in range(model.n_factors)]
    renumbered = hd.FactorGraph(cards, [(new[scope], table) for scope, table in factors])
    clamped = np.flatnonzero(model.evidence >= 0)
    renumbered = renumbered.given({int(new[i]): int(model.evidence[i]) for i in clamped})
    x0 = start_state(model, stream_key(1, 0, 3))
    y0 = np.empty(n, int)
    y0[new] = x0
    one, other = (hd.HerdedGibbs(weights, scan=order, phases="half") for order in (scan, new[scan]))
    samples, tally, _ = advance(one, one.compile(model), x0, 140)
    moved, moved_tally, _ = advance(other, other.compile(renumbered), y0, 140)
    np.testing.assert_array_equal(moved[:, new], samples)
    np.testing.assert_array_equal(moved_tally[new], tally)


@few
@given(model=sampled_models(2, 2), seed=st.integers(0, 5), random=st.booleans())
def test_pooled_counts(model, seed, random):
    """Ones within the number of bins of the sum of the conditionals met, over two splits.

    Bins split at sweeps 128 and 512. With ends e_b of the bins' phases, the excess telescopes to
    sum e_(4 bins) - sum e_(2 bins) - e_(1 bin) - start, each between 0 and 1.
    """
    method = hd.HerdedGibbs("pooled", phases="random" if random else "half", seed=seed)
    x0 = start_state(model, stream_key(seed, 0, 3))
    layout = method.compile(model)
    for sweeps, bins in ((127, 1), (400, 2), (900, 4)):
        samples, tally, _ = advance(method, layout, x0, sweeps)
        ones = samples.sum(axis=0, dtype=np.int64)
        free = model.evidence < 0
        assert (np.abs(ones * SCALAR - tally[:, 0])[free] <= bins * SCALAR).all()
