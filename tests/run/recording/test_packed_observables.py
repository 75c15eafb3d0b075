"""Observables of herds counted on their bits: the twin's counts, and the numbers of the states."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.layouts.packing.member_bits import BitPlaces, unpack_states
from herded.run.observables.batched import batched_energy, batched_magnetisation
from herded.run.observables.packed import find_packed_observable
from herded.run.observables.packed_kernels import (
    COUNT_LISTED_PAIRS,
    COUNT_OFFSET_PAIRS,
    COUNT_STATE,
    LANES,
    WORDS_PER_CHUNK,
    WORDS_PER_TILE,
    add_counts_where_true,
)
from tests.conformance.twins import observables
from tests.conformance.twins.member_bits import naive_states, naive_true, naive_words
from tests.support.example_budget import examples
from tests.support.strategies import seeds

RNG = np.random.default_rng(8)
NOTHING = np.zeros(0, np.int64)


def few_digits(*shape):
    """Whose sums have no error."""
    return RNG.integers(-8, 9, shape) / 8


EDGES = [(i, (i * 7 + 1) % 70) for i in range(70) if i != (i * 7 + 1) % 70]
MODELS = {
    "equal": hd.ising_grid(np.full((18, 16), 0.125), 0.375, periodic=True),
    "fields": hd.ising_grid(few_digits(17, 19), 0.25).given({(2, 3): 1, (4, 4): 0}),
    "couplings": hd.ising_grid(few_digits(17, 16), (few_digits(17, 15), few_digits(16, 16))),
    "cube": hd.ising_grid(few_digits(6, 7, 8), 0.5, periodic=(True, False, True)),
    "potts": hd.potts_grid(few_digits(5, 6, 5), 0.5),
    "potts, no fields": hd.potts_grid(np.zeros((4, 6, 3)), -0.5, periodic=True),
    "potts cube": hd.potts_grid(few_digits(3, 4, 4, 3), 0.25),
    "graph": hd.pairwise_model(few_digits(70, 2), EDGES, few_digits(len(EDGES), 2, 2)).given(
        {3: 1}
    ),
    "spin glass": hd.pairwise_model(np.zeros((70, 2)), EDGES, 0.5 * np.eye(2)),
}


def herd(model, members):
    """A layout whose members are bits, and a block of three samples in it, with their states."""
    method = hd.Gibbs(herd=members)
    layout = method.compile(model, kind="grid" if model.shape != (70,) else "field")
    states = RNG.integers(0, model.cardinalities, (3, members, model.n_variables)).astype(np.uint8)
    states[..., model.evidence >= 0] = model.evidence[model.evidence >= 0]
    packed = [layout.packed(method.init(layout, x)) for x in states]
    return layout, np.stack(packed), states


@pytest.mark.parametrize("members", [3, 64, 70])
@pytest.mark.parametrize("name", MODELS)
def test_ready_made_observables(name, members):
    model = MODELS[name]
    layout, block, states = herd(model, members)
    words = layout.words_of(block)
    np.testing.assert_array_equal(layout.members_of(block), states)
    samples, k = states.reshape(3 * members, -1), int(model.cardinalities[0])
    found = find_packed_observable(hd.energy, layout).values(words, members)
    assert found.reshape(-1).tolist() == batched_energy(samples, model).tolist()
    graph = model.as_factor_graph() if hasattr(model, "as_factor_graph") else model
    assert found[0, 0] == observables.energy(graph, samples[0])
    found = find_packed_observable(hd.magnetisation, layout).values(words, members)
    assert found.reshape(-1).tolist() == batched_magnetisation(samples, model).tolist()
    assert found[0, 0] == observables.magnetisation(samples[0], k)
    lists = [] if name in ("graph", "spin glass") else [[1], [3, 2, 1]]
    for at in [*lists, [(0, 5), (7, 3)]]:
        f = hd.Correlations(at)
        expected = f(samples, model).reshape(3, members, -1)
        np.testing.assert_array_equal(
            find_packed_observable(f, layout).values(words, members), expected
        )
        np.testing.assert_allclose(
            find_packed_observable(f, layout).sums(words, members),
            expected.sum(axis=1),
            rtol=1e-13,
            atol=1e-12,
        )


def test_sums_without_few_digits():
    """Sums of whole numbers of a unit that is finer than the last digits of floats."""
    graph = hd.pairwise_model(RNG.normal(size=(70, 2)), EDGES, RNG.normal(size=(len(EDGES), 2, 2)))
    for model in (hd.ising_grid(RNG.normal(size=(16, 17)), 0.3), graph):
        layout, block, states = herd(model, 5)
        found = find_packed_observable(hd.energy, layout).values(layout.words_of(block), 5)
        np.testing.assert_allclose(found, hd.energy(states, model), rtol=1e-13, atol=1e-11)


@examples(12)
@given(
    seed=seeds,
    n=st.sampled_from([1, 2, 9, 65, WORDS_PER_CHUNK, WORDS_PER_CHUNK + 1, WORDS_PER_TILE + 5]),
    members=st.sampled_from([1, 5, 8, 64, 65, 130]),
    planes=st.integers(1, 3),
)
def test_bits_and_counts_of_the_twin(seed, n, members, planes):
    rng = np.random.default_rng(seed)
    states = rng.integers(0, 2**planes, (members, n)).astype(np.uint8)
    words = naive_words(states, planes)
    np.testing.assert_array_equal(unpack_states(words[None], members), [states])
    first, second = rng.integers(0, n, (2, 7))
    step = int(rng.integers(0, n))
    weights = rng.integers(-(2**50), 2**50, max(n, 7))
    holes = np.unique(rng.integers(0, min(7, n - step), 2))
    cases = [
        (COUNT_STATE, 1, n, lambda x: [value == 1 for value in x]),
        (
            COUNT_OFFSET_PAIRS,
            step,
            n - step,
            lambda x: [a == b for a, b in zip(x, x[step:], strict=False)],
        ),
        (
            COUNT_LISTED_PAIRS,
            0,
            7,
            lambda x: [x[i] == x[j] for i, j in zip(first, second, strict=True)],
        ),
    ]
    members_of = [naive_states(some) for some in words]
    for kind, value, length, truth in cases:
        mine = holes[holes < length]
        kept = [int(i not in mine) for i in range(length)]
        for own in (NOTHING, weights[:length]):
            totals = np.zeros((1, 64 * len(words)), np.int64)
            add_counts_where_true(words[None], kind, value, first, second, mine, own, totals)
            expected = own.tolist() if len(own) else kept
            parts = [naive_true(some, truth, expected) for some in members_of]
            assert totals[0].tolist() == np.concatenate(parts).tolist()


@pytest.mark.parametrize(
    "n", [64 * LANES, 9 * WORDS_PER_TILE, 12 * WORDS_PER_TILE + WORDS_PER_CHUNK - 1]
)
def test_counts_whose_carries_go_far(n):
    """So many words that every lane counts beyond its lower bits."""
    words = RNG.integers(0, 2**64, (2, 1, 1, n), np.uint64, endpoint=False)
    words[1] = 2**64 - 1
    totals = np.zeros((2, 64), np.int64)
    add_counts_where_true(words, COUNT_STATE, 1, NOTHING, NOTHING, NOTHING, NOTHING, totals)
    bits = words[0, 0, 0, None] >> np.arange(64, dtype=np.uint64)[:, None] & np.uint64(1)
    assert totals.tolist() == [bits.sum(axis=1).tolist(), [n] * 64]


@examples(40)
@given(seed=seeds, members=st.integers(1, 140), bits=st.sampled_from([8, 32, 64]))
def test_words_from_any_place(seed, members, bits):
    """Shorter words, some way apart, become words of 64."""
    rng = np.random.default_rng(seed)
    runs, length, planes, short = 3, 4, 2, -(-members // bits)
    kind = {8: np.uint8, 32: np.uint32, 64: np.uint64}[bits]
    shape = 2, runs, short, planes, length
    block = rng.integers(0, 2**bits, shape, np.uint64, endpoint=False).astype(kind)
    place = rng.permutation(runs * length)[:7]
    words = BitPlaces.of(place, length, planes).words_of(block.reshape(2, -1), members)
    found = unpack_states(words, members)
    for r in range(2):
        for m in range(members):
            for i, at in enumerate(place):
                high, low = block[r, at // length, m // bits, :, at % length].tolist()
                expected = 2 * (high >> (m % bits) & 1) + (low >> (m % bits) & 1)
                assert found[r, m, i] == expected
