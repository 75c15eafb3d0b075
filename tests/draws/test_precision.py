"""Precision: what its page says of rounded conditionals, checked with many digits."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import herded as hd
from herded.draws.fixed_point import SCALAR_ONE, VECTOR_ONE, fixed_scalar, fixed_vector
from herded.layouts.binary_pairs.arrays import FIELD_BITS, Couplings, fixed_sigmoid, sigmoid_table
from herded.layouts.binary_pairs.herd_arrays import (
    MAX_LAW_ERROR,
    ROUNDING_DEPENDENCE,
    law_error,
    sigmoid_of_field,
)
from herded.layouts.binary_pairs.herd_rounding import INCREMENT, MULTIPLIER
from herded.layouts.potts.herd_conditionals import right_branch_shares
from herded.methods.schedule import constant_beta
from tests.support.example_budget import examples

fields = st.floats(-40.0, 40.0)
ROUNDED = 1e-3  # of a quantum: what exp and a division in double precision add


def exact_sigmoid(field):
    with mp.workprec(100):
        return 1 / (1 + mp.exp(-mpf(field)))


@examples(200)
@given(field=fields)
def test_binary_conditionals_are_within_half_a_quantum(field):
    p = int(fixed_scalar(0.0, field, 1.0))
    assert abs(p - exact_sigmoid(field) * int(SCALAR_ONE)) <= 0.5 + ROUNDED


@examples(200)
@given(logits=st.lists(st.floats(-30.0, 30.0), min_size=2, max_size=6))
def test_cumulated_conditionals_are_within_half_a_quantum(logits):
    p = np.empty(len(logits), np.int32)
    fixed_vector(np.array(logits), 1.0, len(logits), p, 0, VECTOR_ONE)
    with mp.workprec(100):
        weights = [mp.exp(mpf(logit)) for logit in logits]
        total, upto = sum(weights), mpf(0)
        for weight, cumulated in zip(weights, np.cumsum(p, dtype=np.int64).tolist(), strict=True):
            upto += weight
            assert abs(cumulated - upto / total * int(VECTOR_ONE)) <= 0.5 + ROUNDED


@examples(200)
@given(field=st.integers(-(40 << FIELD_BITS), 40 << FIELD_BITS))
def test_the_interpolated_sigmoid(field):
    p = int(fixed_sigmoid(np.int64(field), sigmoid_table()))
    assert abs(p / SCALAR_ONE - exact_sigmoid(field / 2.0**FIELD_BITS)) <= 2.0**-24


@pytest.mark.parametrize("bits", [10, 12, 14])
def test_the_tabulated_sigmoid(bits):
    table = sigmoid_of_field(bits)
    for field in (-(2**15), -12345, -1, 0, 1, 4096, 2**15 - 1):
        expected = exact_sigmoid(field / 2.0**bits) * int(SCALAR_ONE)
        assert abs(int(table[field % 2**16]) - expected) <= 0.5 + ROUNDED


@examples(30)
@given(seed=st.integers(0, 2**32 - 1), neighbours=st.integers(1, 6), bits=st.integers(10, 14))
def test_the_error_of_second_order_is_within_its_bound(seed, neighbours, bits):
    """The mean of the sigmoid over all roundings of a field, weighted, beside the sigmoid."""
    rng = np.random.default_rng(seed)
    steps = rng.integers(-(2**23), 2**23, neighbours + 1)  # the last is the field alone
    scale = 2**FIELD_BITS
    exact = exact_sigmoid(int(steps.sum()) / scale)
    down = steps >> (FIELD_BITS - bits)
    share = (steps - (down << (FIELD_BITS - bits))) / 2.0 ** (FIELD_BITS - bits)
    law = mpf(0)
    for ups in np.ndindex(*(2,) * len(steps)):
        up = np.array(ups)
        chance = np.prod(np.where(up, share, 1 - share))
        law += mpf(float(chance)) * exact_sigmoid(float((down + up).sum()) / 2.0**bits)
    couplings = Couplings(
        alone=steps[-1:], first=np.zeros(neighbours, int), second=np.zeros(neighbours, int),
        coupling=steps[:-1],
    )  # fmt: skip
    assert abs(law - exact) <= law_error(couplings, bits) + 1e-14


@pytest.mark.parametrize("rest", [256, 8192, 32768, 50000])
def test_roundings_of_neighbours_are_as_good_as_independent(rest):
    """The variance of their sum, over all 2^16 random numbers that `round_row` can start from."""
    random, ups = np.arange(2**16, dtype=np.uint16), np.zeros(2**16)
    for row in range(64):
        random = random * MULTIPLIER + np.uint16(row * int(INCREMENT) % 2**16)
        ups += rest > random
    share = rest / 2**16
    assert ups.mean() == pytest.approx(64 * share, rel=1e-12)
    assert ups.var() <= 1.01 * 64 * share * (1 - share) < ROUNDING_DEPENDENCE * ups.var()


def test_no_herd_gets_a_layout_that_rounds_too_coarsely():
    """Among layouts of herds the binary pairwise one is refused where its bound is too large."""
    rng = np.random.default_rng(0)
    n = 600
    links = np.array([(i, j) for i in range(n) for j in range(i)])
    tables = np.zeros((len(links), 2, 2))
    tables[:, 1, 1] = 0.03 * rng.normal(size=len(links))
    model = hd.pairwise_model(np.zeros((n, 2)), links, tables)
    assert MAX_LAW_ERROR == 2.0**-20
    with pytest.raises(hd.HerdedError, match="rounded too coarsely"):
        hd.infer(model, hd.Gibbs(herd=64), sweeps=1, layout="field")


@pytest.mark.parametrize("temperature", [1e-6, 1e-4, 0.5])
def test_a_herd_that_stays_cold_has_its_law(temperature):
    """Fields far below a step are rounded at random, which a low temperature would multiply."""
    unary = np.zeros((400, 2))
    unary[:, 1], unary[0, 1] = 3e-4, 20.0  # which sets the step of all
    edges = np.stack([np.arange(399), np.arange(1, 400)], axis=1)
    model = hd.pairwise_model(unary, edges, np.zeros((2, 2)))
    method = hd.Gibbs(herd=64, schedule=lambda sweep, total: temperature)
    keep = [hd.Marginals(rao_blackwell=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = hd.infer(model, method, sweeps=50, burn_in=1, keep=keep)
    exact = 1 / (1 + math.exp(-3e-4 / temperature))
    assert abs(result.marginals[1:, 1].mean() - exact) < 1e-4


def test_only_a_temperature_that_stays_is_one():
    def cold(sweep, total):
        return 0.25

    assert [constant_beta(one) for one in (None, "linear", cold)] == [1.0, 1.0, 4.0]
    assert constant_beta(lambda sweep, total: 1.0 - sweep / total) == 1.0
    assert constant_beta(lambda sweep, total: 0.0) == 1.0


weights = st.floats(2.0**-30, 2.0**30, width=32)


@examples(200)
@given(left=weights, right=weights)
def test_shares_of_branches_keep_their_relative_precision(left, right):
    """Herds of Potts models and pairs: a 31-bit number of the lighter branch, never cut to 24."""
    few, many = right_branch_shares(np.float32(left), np.float32(right), np.float32(2.0**31))
    lighter = 2**31 - int(many) if right > left else int(few)
    exact = min(left, right) / (left + right) * 2.0**31
    assert abs(lighter - exact) <= 0.5 + 2.0**-22 * exact
