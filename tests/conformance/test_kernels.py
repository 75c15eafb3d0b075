"""Compiled kernels against the slow twins in `twins`: equal bit for bit.

Every choice of weights, slack, scan and phases, on every layout, binary and K-ary, with evidence
and hard zeros. The Rao-Blackwell sums are compared too, as whole numbers.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.draws.fixed_point import fixed_scalar, fixed_vector
from herded.layouts.general.context_weights import WEIGHT_MODES
from herded.models.constraints.start_states import start_state
from herded.system.numerics.counter_rng import random_bits, stream_key
from tests.conformance.twins.counter_rng import naive_draw, naive_key
from tests.conformance.twins.draw_rules import naive_herd, naive_herding
from tests.conformance.twins.integer_conditionals import (
    VECTOR,
    WEIGHT,
    naive_fixed_scalar,
    naive_fixed_vector,
)
from tests.conformance.twins.samplers.algorithm_1 import (
    naive_annealed_gibbs,
    naive_gibbs,
    naive_herded_gibbs,
)
from tests.conformance.twins.samplers.grid import naive_lattice
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.kernel_runs import RULES, advance, assert_equal, runs
from tests.support.strategies import lattices, seeds

pytestmark = pytest.mark.usefixtures("quiet")

# (weights, layout) that go together; None is Gibbs sampling.
CHOICES = [(w, k) for w in (*WEIGHT_MODES, None) for k in ("table", "factor")]
CHOICES = [(w, k) for w, k in CHOICES if k == "table" or w not in ("blanket", "shared")]


# -- the twins ----------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("weights", "kind"), CHOICES)
@examples(40)
@given(data=st.data())
def test_equal_to_the_naive_twin(weights, kind, rule, data):
    """HerdedGibbs with any options and Gibbs, on tables and on factors."""
    run = data.draw(runs(rule))
    model, x0, chain = run.pop("model"), run.pop("x0"), run.pop("chain")
    sweeps = data.draw(st.sampled_from((1, 12, 40)))
    if weights is None:
        del run["slack"], run["phases"]
        method = hd.Gibbs(**run)
        expected = naive_gibbs(model, **run, chain=chain, x0=x0, sweeps=sweeps)
    else:
        method = hd.HerdedGibbs(weights=weights, **run)
        expected = naive_herded_gibbs(
            model, weights=weights, **run, chain=chain, x0=x0, sweeps=sweeps, kind=kind
        )
    layout = method.compile(model, kind=kind)
    assert layout.kind == kind
    cut = data.draw(st.integers(0, sweeps))
    assert_equal(advance(method, layout, x0, sweeps, chain, cuts=[cut]), expected)


@pytest.mark.parametrize("rule", ["binary", "mixed"])
@pytest.mark.parametrize("kind", ["table", "factor"])
@examples(8)
@given(data=st.data())
def test_pools_split_as_the_twin_says(kind, rule, data):
    """Bins 1, 2, 4: over sweeps 128 and 512, cut anywhere."""
    run = data.draw(runs(rule, slacks=(0.0, 1.0)))
    model, x0, chain = run.pop("model"), run.pop("x0"), run.pop("chain")
    sweeps = 520 if not UNCOMPILED else 132
    method = hd.HerdedGibbs(weights="pooled", **run)
    expected = naive_herded_gibbs(
        model, weights="pooled", **run, chain=chain, x0=x0, sweeps=sweeps, kind=kind
    )
    cuts = sorted(data.draw(st.lists(st.sampled_from((0, 127, 128, 129)), max_size=3)))
    found = advance(method, method.compile(model, kind=kind), x0, sweeps, chain, cuts=cuts)
    assert_equal(found, expected)


@pytest.mark.parametrize("weights", ["blanket", "shared", None])
@examples(60)
@given(data=st.data())
def test_lattice_equal_to_the_naive_twin(weights, data):
    """Packed by colour, swept as a wave: the bits of a plain checkerboard."""
    model = data.draw(lattices(uniform=True if weights == "shared" else None))
    seed, chain = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 1))
    x0 = start_state(model, stream_key(seed, chain, 3))
    sweeps = data.draw(st.sampled_from((1, 7, 25)))
    options = {"seed": seed}
    method = hd.Gibbs(seed)
    if weights is not None:
        options["phases"] = data.draw(st.sampled_from(("half", "random")))
        method = hd.HerdedGibbs(weights=weights, **options)
    layout = method.compile(model)
    assert layout.kind == "grid"
    expected = naive_lattice(model, weights=weights, **options, chain=chain, x0=x0, sweeps=sweeps)
    assert_equal(advance(method, layout, x0, sweeps, chain), expected)


@pytest.mark.skipif(UNCOMPILED, reason="thousands of sites")
@pytest.mark.parametrize("weights", ["blanket", "shared", None])
@pytest.mark.parametrize("shape", [(7, 1101), (45, 60), (530, 2), (1, 1100), (1200, 1)])
def test_lattice_of_many_strips(shape, weights):
    """Several strips of rows, the last not full: wide, square, narrow, one row, one column."""
    rng = np.random.default_rng(1)
    model = hd.ising_grid(rng.normal(size=shape), 0.4)
    options = {} if weights is None else {"phases": "random"}
    method = hd.Gibbs() if weights is None else hd.HerdedGibbs(weights=weights, **options)
    x0 = rng.integers(0, 2, shape[0] * shape[1])
    found = advance(method, method.compile(model), x0, 2)
    expected = naive_lattice(model, weights=weights, **options, x0=x0, sweeps=2)
    assert_equal(found, expected)


@pytest.mark.parametrize("rule", RULES)
@examples(40)
@given(data=st.data())
def test_annealed_gibbs_equal_to_the_naive_twin(rule, data):
    """Linear and other schedules, down to temperature 0, where the draw is an argmax."""
    run = data.draw(runs(rule))
    model, x0, chain = run.pop("model"), run.pop("x0"), run.pop("chain")
    del run["slack"], run["phases"]
    sweeps = data.draw(st.sampled_from((1, 2, 15)))
    linear = data.draw(st.booleans())

    def cooling(sweep, total):
        return 4.0 / (1 + sweep) ** 2 if sweep % 5 else 0.0

    def straight(sweep, total):
        return 1.0 - sweep / (total - 1) if total > 1 else 0.0

    method = hd.Gibbs(schedule="linear" if linear else cooling, **run)
    expected = naive_annealed_gibbs(
        model, straight if linear else cooling, **run, chain=chain, x0=x0, sweeps=sweeps
    )
    found = advance(method, method.compile(model), x0, sweeps, chain, cuts=[sweeps // 2])
    assert_equal(found, expected)


@examples(60)
@given(
    odds=st.lists(st.sampled_from((0, 0, 1, 2, 5, 1000)), min_size=1, max_size=6).filter(any),
    T=st.integers(0, 200),
)
def test_herding_equal_to_the_naive_twin(odds, T):
    """Equation (1) with indicators; its probabilities rounded as documented."""
    p = np.array(odds) / sum(odds)
    with np.errstate(divide="ignore"):
        fixed = naive_fixed_vector([float(a) for a in np.log(p)])
    assert sum(fixed) == 2**24 and all(
        (q == 0) == (o == 0) for q, o in zip(fixed, odds, strict=True)
    )
    np.testing.assert_array_equal(hd.herd_distribution(p, T), naive_herding(fixed, T))


@examples(40)
@given(seed=seeds, rows=st.integers(1, 6), columns=st.integers(1, 4), T=st.integers(0, 100))
def test_herd_equal_to_the_naive_twin(seed, rows, columns, T):
    """Equation (1) with any features."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(rows, columns))
    mu = rng.dirichlet(np.ones(rows)) @ phi
    np.testing.assert_array_equal(hd.herd_moments(phi, mu, T), naive_herd(phi, mu, T))


# -- the parts ----------------------------------------------------------------------------------


@given(key=st.integers(0, 2**64 - 1), counter=st.integers(0, 2**64 - 1))
@examples(50)
def test_stream(key, counter):
    """SplitMix64 in 64-bit words and in Python's integers."""
    assert int(random_bits(np.uint64(key), np.uint64(counter))) == naive_draw(key, counter)
    assert int(stream_key(key, counter, 1)) == naive_key(key, counter, 1)


def test_splitmix_reference():
    """The published first outputs of SplitMix64 seeded with 1234567."""
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [int(random_bits(np.uint64(1234567), np.uint64(c))) for c in (1, 2, 3)] == known


extreme = st.sampled_from((-np.inf, -800.0, -30.0, -1.0, 0.0, 1e-12, 1.0, 30.0, 800.0))
logits = st.one_of(extreme, st.floats(-40, 40))


@given(zero=logits, one=logits, beta=st.sampled_from((0.01, 1.0, 50.0, np.inf)))
@examples(100)
def test_scalar_probabilities(zero, one, beta):
    """round(pi * 2^31): 0 and 1 are exact, and only the impossible must be 0."""
    p = int(fixed_scalar(zero, one, beta))
    assert 0 <= p <= 2**31
    assert abs(p - naive_fixed_scalar(zero, one, beta)) <= UNCOMPILED  # another exp
    if zero == -np.inf < one:
        assert p == 2**31
    if one == -np.inf < zero:
        assert p == 0


@given(
    row=st.lists(logits, min_size=1, max_size=6),
    beta=st.sampled_from((0.01, 1.0, 50.0, np.inf)),
    one=st.sampled_from((VECTOR, WEIGHT)),
)
@examples(100)
def test_vector_probabilities(row, beta, one):
    """They sum to the scale exactly, are within a quantum of pi, and 0 where impossible."""
    p = np.full(len(row) + 2, -7, np.int32)
    fixed_vector(np.array(row), beta, len(row), p, 1, float(one))
    assert p[0] == p[-1] == -7 and p[1:-1].sum() == one and (p[1:-1] >= 0).all()
    assert np.abs(p[1:-1] - naive_fixed_vector(row, beta, one)).max() <= UNCOMPILED
    if max(row) > -np.inf:
        assert (p[1:-1][np.isneginf(row)] == 0).all()
        gaps = beta * (np.array(row) - max(row)) if beta < np.inf else np.zeros(len(row))
        if beta < np.inf:
            pi = np.exp(gaps) / np.exp(gaps).sum()
            assert np.abs(p[1:-1] - pi * one).max() <= 1.0 + 1e-6


# -- uncompiled ---------------------------------------------------------------------------------


@pytest.mark.skipif(UNCOMPILED, reason="this is the inner run")
def test_the_same_without_the_compiler():
    """A selection of the twins with NUMBA_DISABLE_JIT=1: the kernels are plain Python too."""
    here = Path(__file__)
    chosen = "naive_twin or pools_split or probabilities or (one_sweep and not blanket)"
    chosen += " or (every_part and random) or bits_of_their_twin or (callback_ and twin)"
    command = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider"]
    others = (
        "conformance/test_kernels",
        "conformance/test_layouts_agree",
        "layouts/test_hashed_weights",
        "models/test_callback_models",
        "moves/test_callback_ladders",
        "learn/test_variable_selection",
        "learn/test_dirichlet_mixture",
        "learn/test_structure_search",
        "learn/test_fit_conditionals",
    )
    command += [str(here.parents[1] / f"{name}.py") for name in others]
    done = subprocess.run(
        [*command, "-k", chosen],
        # Plugins of other packages are imported for nothing, and take longer than many a test.
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        cwd=here.parents[2],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]
