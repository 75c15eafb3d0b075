"""Compiled kernels driven without `infer`, and the runs that are compared with their twins."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from herded.layouts.base import SweepCall
from herded.models.constraints.start_states import start_state
from herded.system.numerics.counter_rng import stream_key
from tests.support.strategies import sampled_models

SCANS = ("sequential", "checkerboard", "random", "jacobi", "permutation")
RULES = {"binary": (2, 2), "mixed": (1, 4)}  # the scalar rule, and mostly the vector rule


def assert_equal(found, expected):
    """Samples and sums of conditionals are the same whole numbers."""
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def advance(method, layout, x0, sweeps, chain=0, cuts=(), pool=None):
    """The samples (sweeps, N), the sums (N, .) of conditionals, and the state after them.

    The sweeps are run in blocks that end at `cuts`.
    """
    state = method.init(layout, x0, chain=chain, tally=True, total=sweeps)
    parts = []
    for a, b in zip([0, *cuts], [*cuts, sweeps], strict=True):
        block = np.empty((b - a, layout.n_stored), layout.state_type)
        layout.fill(block, state)
        method.advance(layout, state, block, pool)
        parts.append(np.array(layout.unstore(block)))
    assert state.sweep == sweeps
    tally = state.conditional_sums.reshape(layout.n_stored, -1)
    return np.concatenate(parts), layout.unstore(tally.T).T, state


@st.composite
def runs(draw, rule, slacks=(0.0, 0.3, 1.0)):
    """A model, a start in its support, and the options of a run."""
    least, most = RULES[rule]
    model = draw(sampled_models(least, most))
    n = model.n_variables
    scan = draw(st.sampled_from(SCANS))
    assume(scan != "jacobi" or not model.has_hard_zeros)
    if scan == "permutation":
        scan = draw(st.permutations(range(n)))
    seed, chain = draw(st.integers(0, 3)), draw(st.integers(0, 1))
    return {
        "model": model,
        "x0": start_state(model, stream_key(seed, chain, 3)),
        "scan": scan,
        "seed": seed,
        "chain": chain,
        "slack": draw(st.sampled_from(slacks)),
        "phases": draw(st.sampled_from(("half", "random"))),
    }


def sweep_layout(layout, state, block, step, betas=None, pool=None):
    """Advance a state by the kernels of a layout, and count its sweeps."""
    end = state.sweep + len(block)
    layout.sweep(SweepCall(state, block, step, betas, pool))
    state.sweep = end
