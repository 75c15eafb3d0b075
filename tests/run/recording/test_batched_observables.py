"""Observables and recorders see some members at a time, and find the same bits as of all."""

import numpy as np
import pytest

import herded as hd
from herded.layouts.packing.member_bits import member_ranges
from herded.run.observables import batched as batched_observables
from herded.run.observables import large_lattices
from herded.run.observables import recorder as observable_recorder
from herded.run.observables.batched import batched_energy, lattice_energy_units
from herded.run.observables.packed import packed_energy
from herded.run.recording import recorder_base, recorders

RNG = np.random.default_rng(0)
EDGES = RNG.integers(0, 90, (250, 2))
SPINS = hd.pairwise_model(
    RNG.normal(size=(90, 2)), np.unique(np.sort(EDGES[EDGES[:, 0] != EDGES[:, 1]], 1), axis=0),
    0.3 * np.eye(2),
)  # fmt: skip
MODELS = {
    "grid": hd.ising_grid(0.2 * RNG.normal(size=(18, 17)), 0.3),
    "volume": hd.ising_grid(np.zeros((8, 8, 8)), 0.2, periodic=True),
    "potts": hd.potts_grid(np.zeros((9, 8, 5)), 0.4),
    "spins": SPINS,
    "known": SPINS.given({3: 1, 4: 0}),
    "states": hd.chain_model(RNG.normal(size=(70, 3)), np.eye(3)),
}
METHODS = [hd.Gibbs(herd=150), hd.Gibbs(herd=40), hd.Gibbs()]


def one(states):
    return states.reshape(len(states), -1)[:, 0] * 0.1


def some(states):
    return states.reshape(len(states), -1)[:, :7] * 0.1 + 0.3


def pair(states):
    return (states.reshape(len(states), -1)[:, :2] + 0.1)[:, None]


KEEP = [
    hd.Observable(hd.energy),
    hd.Observable(hd.Correlations([(0, 1), (2, 5), (1, 3)]), series=False),
    hd.Observable(one, every=2),
    hd.Observable(some),
    hd.Observable(some, series=False, name="sums"),
    hd.Observable(pair, series=False),
]


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("name", MODELS)
def test_the_same_bits_whatever_the_size_of_blocks(name, method, monkeypatch):
    model, n = MODELS[name], MODELS[name].n_variables
    options = {"sweeps": 7, "chains": 2, "keep": KEEP}
    whole = hd.infer(model, method, **options).observables
    for members, numbers, words in ((64, 2**21, n), (8, 2**21, 1), (1, 3, 1), (128, 20, 1)):
        monkeypatch.setattr(observable_recorder, "MAX_STATES_PER_CALL", members * n)
        monkeypatch.setattr(observable_recorder, "MAX_NUMBERS_PER_CALL", numbers)
        monkeypatch.setattr(observable_recorder, "MAX_STATES_PER_PASS", words)
        blocks = hd.infer(model, method, **options).observables
        for choice in KEEP:
            a, b = whole[choice.name], blocks[choice.name]
            assert (a.chain_means == b.chain_means).all(), choice.name
            if choice.series:
                assert (a.series == b.series).all(), choice.name


def test_functions_get_few_members_at_a_time(monkeypatch):
    model, seen = MODELS["grid"], []

    def watched(states):
        seen.append(states.shape)
        return states[:, 0, 0]

    options = {"sweeps": 2, "keep": [hd.Observable(watched)]}
    hd.infer(model, hd.Gibbs(herd=150), **options)
    assert seen == [(2, 18, 17)] + 2 * [(150, 18, 17)]  # of the start two members
    seen.clear()
    monkeypatch.setattr(observable_recorder, "MAX_STATES_PER_CALL", 70 * model.n_variables)
    hd.infer(model, hd.Gibbs(herd=150), **options)
    assert seen[0] == (2, 18, 17)
    assert sorted(seen[1:]) == sorted(2 * [(64, 18, 17), (64, 18, 17), (22, 18, 17)])


def test_a_function_must_give_a_number_for_each_member_of_a_block(monkeypatch):
    monkeypatch.setattr(observable_recorder, "MAX_STATES_PER_CALL", 1)
    mixed = hd.Observable(lambda states: np.zeros(40), name="mixed")
    with pytest.raises(hd.MethodError, match=r"expected numbers of shape \(1,\) or \(1, \.\.\.\)"):
        hd.infer(MODELS["grid"], hd.Gibbs(herd=40), sweeps=2, keep=[mixed])


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("name", MODELS)
def test_recorders_find_the_same_in_blocks(name, method, monkeypatch):
    model, n = MODELS[name], MODELS[name].n_variables
    options = {"sweeps": 5, "keep": [hd.BestState(), hd.PairMarginals(), hd.Samples(every=2)]}
    whole = hd.infer(model, method, **options)
    for at_once in (1, 8 * n, 300 * n):
        monkeypatch.setattr(recorder_base, "STATES_PER_PASS", at_once)
        monkeypatch.setattr(recorders, "STATES_PER_PASS", at_once)
        blocks = hd.infer(model, method, **options)
        assert (whole.samples == blocks.samples).all()
        assert (whole.best.state == blocks.best.state).all()
        assert all(
            (a == b).all()
            for a, b in zip(whole.pair_marginals.tables, blocks.pair_marginals.tables, strict=True)
        )


@pytest.mark.parametrize("name", MODELS)
def test_some_members_are_those_of_all(name):
    layout = hd.Gibbs(herd=150).compile(MODELS[name])
    state = layout.method.init(layout, np.zeros((150, layout.model.n_variables), int))
    block = np.zeros((3, layout.sample_size), layout.sample_type)
    layout.fill(block, state)
    layout.method.advance(layout, state, block)
    every, last = layout.members_of(block), layout.values(state)
    for most in (1, 3, 64, 70, 128, 150, 1000):
        ranges = list(member_ranges(150, most))
        assert [first for first, _ in ranges] == [0, *(last for _, last in ranges[:-1])]
        assert ranges[-1][1] == 150 and max(b - a for a, b in ranges) <= most
        for a, b in ranges:
            assert (layout.some_members_of(block, a, b) == every[:, a:b]).all()
            assert (layout.some_values(state, a, b) == last[a:b]).all()


# -- energies of large lattices -------------------------------------------------------------------

LATTICES = {
    "even": hd.ising_grid(np.full((6, 7), 0.3), -0.7),
    "ring": hd.ising_grid(np.zeros(11), 0.4, periodic=True),
    "torus": hd.ising_grid(np.full((5, 4, 6), -0.2), 0.35, periodic=True),
    "no coupling": hd.ising_grid(np.full((5, 4), 0.2), 0.0),
    "potts": hd.potts_grid(np.broadcast_to([0.1, -0.5, 1.0], (5, 6, 3)), 0.5, periodic=True),
    "fields": hd.ising_grid(RNG.normal(size=(7, 5)), 0.3),
    "glass": hd.ising_grid(
        RNG.normal(size=(7, 5)), (RNG.normal(size=(7, 4)), RNG.normal(size=(6, 5)))
    ),
    "potts fields": hd.potts_grid(RNG.normal(size=(7, 5, 4)), 0.3, periodic=True),
    "zeros": hd.potts_grid(np.where(RNG.random((7, 5, 3)) < 0.2, -np.inf, 0.4), 0.3),
}


@pytest.mark.parametrize("band", [1, 7, 2**18])
@pytest.mark.parametrize("name", LATTICES)
def test_energies_in_bands_are_those_of_all_terms(name, band, monkeypatch):
    monkeypatch.setattr(large_lattices, "SITES_PER_PASS", band)
    model = LATTICES[name]
    constant, unit, _ = lattice_energy_units(model)
    units = large_lattices.lattice_units(model)
    assert (units.constant, units.unit) == (constant, unit)
    x = RNG.integers(0, model.log_unary.shape[-1], (9, model.n_variables)).astype(np.uint8)
    expected = batched_energy(x, model)
    assert (large_lattices.energies_in_bands(x, model) == expected).all()


@pytest.mark.parametrize("name", LATTICES)
def test_terms_of_large_lattices_count_the_same(name, monkeypatch):
    model = LATTICES[name]
    words = RNG.integers(0, 2**63, (3, 2, model.log_unary.shape[-1] - 1, model.n_variables))
    words = words.astype(np.uint64)[:, :, :1]  # states 0 and 1
    expected = packed_energy(model).values(words, 100)
    monkeypatch.setattr(large_lattices, "LARGE_LATTICE_SITES", 1)
    assert large_lattices.is_large(model) == large_lattices.lattice_units(model).is_even
    if large_lattices.is_large(model):
        assert (packed_energy(model).values(words, 100) == expected).all()
    monkeypatch.setattr(large_lattices, "LARGE_UNEVEN_LATTICE_SITES", 1)
    if not large_lattices.lattice_units(model).is_even:
        assert packed_energy(model) is None
        x = RNG.integers(0, 2, (2, model.n_variables)).astype(np.uint8)
        assert (
            batched_observables.batched_energy(x, model)
            == large_lattices.energies_in_bands(x, model)
        ).all()
