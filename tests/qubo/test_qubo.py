"""HerdedSampler: dimod's interface, right energies, right distribution, low minima."""

import importlib
import itertools
import math
import os
import signal
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.errors import HerdedError, MethodError, ModelError
from herded.qubo.beta_schedule import fitting_range, make_beta_schedule
from herded.qubo.spin_biases import read_biases
from tests.support.example_budget import examples
from tests.support.page_transcripts import transcripts

dimod = pytest.importorskip("dimod", reason="quadratic models are dimod's")
testing = importlib.import_module("dimod.testing")
module = importlib.import_module("herded.qubo.dimod_sampler")
SAMPLER = hd.qubo.HerdedSampler()
FIXED, ANNEALED = {"beta": 0.8}, {"beta_range": (0.1, 5.0)}
GRID = [(i, i + 1) for i in range(9) if i % 3 < 2] + [(i, i + 3) for i in range(6)]


def random_bqm(edges, n=9, seed=0, vartype="SPIN", scale=1.0):
    rng = np.random.default_rng(seed)
    linear = {i: scale * rng.normal() for i in range(n)}
    return dimod.BinaryQuadraticModel(
        linear, {edge: scale * rng.normal() for edge in edges}, 0.25, vartype
    )


def states(found, bqm):
    return found.record.sample[:, [found.variables.index(v) for v in bqm.variables]]


def test_it_is_a_dimod_sampler():
    testing.assert_sampler_api(SAMPLER)
    assert isinstance(SAMPLER, dimod.Initialized)
    for properties in SAMPLER.parameters.values():
        assert set(properties) <= SAMPLER.properties.keys()


@pytest.mark.parametrize("options", [{}, FIXED, ANNEALED], ids=["default", "fixed", "annealed"])
@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
def test_energies_are_the_models(vartype, options):
    bqm = random_bqm(GRID, vartype=vartype)
    found = SAMPLER.sample(bqm, num_reads=7, num_sweeps=20, seed=3, **options)
    testing.assert_response_energies(found, bqm)
    assert found.vartype is bqm.vartype and len(found) == 7
    assert set(found.variables) == set(bqm.variables)


LABELS = st.one_of(
    st.integers(-9, 2**60), st.text(max_size=2), st.tuples(st.integers(0, 2), st.text())
)
BIASES = st.one_of(st.just(0.0), st.floats(-100, 100), st.integers(-3, 3))


@st.composite
def models(draw):
    """Any labels and biases, with zeros, isolated variables and none at all."""
    labels = draw(st.lists(LABELS, max_size=6, unique=True))
    pairs = list(itertools.combinations(labels, 2))
    quadratic = draw(st.dictionaries(st.sampled_from(pairs), BIASES)) if pairs else {}
    linear = {label: draw(BIASES) for label in labels}
    vartype = draw(st.sampled_from(["SPIN", "BINARY"]))
    return dimod.BinaryQuadraticModel(linear, quadratic, draw(BIASES), vartype)


@given(models(), st.sampled_from([{}, FIXED, ANNEALED]), st.integers(1, 3), st.integers(1, 4))
@examples(60)
def test_any_model_is_sampled(bqm, options, reads, sweeps):
    found = SAMPLER.sample(bqm, num_reads=reads, num_sweeps=sweeps, **options)
    testing.assert_response_energies(found, bqm, precision=6)
    assert set(found.variables) == set(bqm.variables) and len(found) == reads
    again = SAMPLER.sample(
        bqm, num_reads=reads, num_sweeps=sweeps, seed=found.info["seed"], **options
    )
    assert (again.record.sample == found.record.sample).all()


def test_labels_that_read_alike_stay_apart():
    bqm = dimod.BinaryQuadraticModel({1: -5.0, "1": 5.0, ("1",): -5.0}, {}, 0.0, "BINARY")
    best = SAMPLER.sample(bqm, seed=0).first
    assert best.sample == {1: 1, "1": 0, ("1",): 1} and best.energy == -10.0


@pytest.mark.parametrize("options", [{}, FIXED, ANNEALED])
@pytest.mark.parametrize("offset", [1.0, -1e15, 1e300])
def test_an_offset_may_be_far_larger_than_all_biases(offset, options):
    """It counts in energies alone: reads are those of the model without it."""
    bqm = dimod.BinaryQuadraticModel({0: 2e-14, 1: -1e-14}, {(0, 1): 1e-14}, offset, "SPIN")
    found = SAMPLER.sample(bqm, num_reads=5, num_sweeps=4, seed=0, **options)
    assert (found.record.energy == bqm.energies(found)).all()
    bqm.offset = 0.0
    without = SAMPLER.sample(bqm, num_reads=5, num_sweeps=4, seed=0, **options)
    assert (without.record.sample == found.record.sample).all()


@pytest.mark.parametrize("offset", [np.inf, -np.inf, np.nan])
def test_an_offset_is_finite(offset):
    bqm = dimod.BinaryQuadraticModel({0: 1.0}, {}, offset, "SPIN")
    with pytest.raises(hd.ModelError, match="expected a finite offset, got"):
        SAMPLER.sample(bqm)


@pytest.mark.parametrize("options", [{}, FIXED])
def test_without_variables_there_is_the_offset(options):
    found = SAMPLER.sample(dimod.BinaryQuadraticModel({}, {}, 2.5, "SPIN"), num_reads=3, **options)
    assert found.record.energy.tolist() == [2.5] * 3 and not found.variables


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
@pytest.mark.parametrize("seed", range(4))
def test_annealing_finds_the_minimum_of_small_models(vartype, seed):
    edges = list(itertools.combinations(range(9), 2))
    bqm = random_bqm(edges, seed=seed, vartype=vartype)
    lowest = dimod.ExactSolver().sample(bqm).first.energy
    for kind in ("mixed", "geometric", "linear"):
        found = SAMPLER.sample(
            bqm, num_reads=10, num_sweeps=100, seed=seed, beta_schedule_type=kind
        )
        assert found.first.energy == pytest.approx(lowest)
    assert found.info["beta_schedule_type"] == "linear"


def test_the_last_sweep_goes_downhill():
    """Also where the coldest beta is as good as none: every read is a minimum of its last visit."""
    bqm = dimod.BinaryQuadraticModel({i: (-1.0) ** i * 1e-3 for i in range(20)}, {}, 0.0, "SPIN")
    found = SAMPLER.sample(bqm, num_reads=5, num_sweeps=10, seed=0, beta_range=(0.1, 1.0))
    assert found.record.energy == pytest.approx(np.full(5, -20e-3))


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
def test_reads_at_a_fixed_temperature_have_its_marginals(beta):
    bqm = random_bqm(GRID, seed=5)
    truth = hd.infer(hd.from_bqm(bqm, beta=beta), hd.Exact()).marginals[:, 1]
    reads = 2000
    found = SAMPLER.sample(bqm, num_reads=reads, num_sweeps=30, beta=beta, seed=1)
    gap = (states(found, bqm) == 1).mean(axis=0) - truth
    assert (np.abs(gap) < 4.5 * np.sqrt(truth * (1 - truth) / reads) + 1e-3).all()
    assert found.info["beta"] == beta


@pytest.mark.parametrize("reads", [1, 2, 5, 64])
def test_reads_are_the_members_of_a_herd(reads):
    """One read has a second member beside it, whose end is left out."""
    bqm, members = random_bqm(GRID, seed=2), max(reads, 2)
    start = np.random.default_rng(0).choice([-1, 1], (reads, 9))
    found = SAMPLER.sample(bqm, num_sweeps=17, beta=0.7, seed=4, initial_states=start)
    herd = hd.infer(
        hd.from_bqm(bqm, beta=0.7),
        hd.Gibbs(seed=4, herd=members),
        sweeps=17,
        keep=[hd.Samples()],
        start=(start[np.minimum(np.arange(members), reads - 1)] + 1) // 2,
    )
    assert (states(found, bqm) == 2 * herd.samples[:reads, -1].astype(int) - 1).all()


@pytest.mark.parametrize("reads", [1, 63, 64, 65, 130, 200])
def test_reads_are_shared_out_among_herds(reads):
    bqm = random_bqm(GRID, scale=0.1)
    found = SAMPLER.sample(bqm, num_reads=reads, num_sweeps=3, beta=1.0, seed=0)
    assert len(found) == reads
    members = module._members(reads)
    herds = -(-reads // members)
    assert 2 <= members <= 64 and herds == -(-reads // 64)
    assert f"herd={members}" in found.info["method"]


def test_seeds():
    bqm = random_bqm(GRID, scale=0.1)
    options = {"num_reads": 6, "num_sweeps": 5, "beta": 1.0}
    first, same, other = (
        states(SAMPLER.sample(bqm, seed=seed, **options), bqm) for seed in (1, 1, 2)
    )
    assert (first == same).all() and (first != other).any()
    drawn = {SAMPLER.sample(bqm, **options).info["seed"] for _ in range(3)}
    assert len(drawn) == 3


@pytest.mark.parametrize("options", [FIXED, ANNEALED], ids=["fixed", "annealed"])
def test_room_changes_no_bit(monkeypatch, options):
    """Where there is little, herds run one after another; each has phases of its own."""
    bqm = random_bqm(GRID, scale=0.1)
    start = np.ones((192, 9), np.int8)
    options = {"initial_states": start, "num_sweeps": 5, "seed": 0, **options}
    found = states(SAMPLER.sample(bqm, **options), bqm)
    monkeypatch.setattr(module, "MAX_PARALLEL_BYTES", 1)
    assert (states(SAMPLER.sample(bqm, **options), bqm) == found).all()
    herds = found.reshape(3, 64, 9)
    assert all((a != b).any() for a, b in itertools.combinations(herds, 2))


# -- large and small biases --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["mixed", "geometric", "linear"])
@pytest.mark.parametrize("exponent", [-400, -60, -9, 9, 60, 400])
def test_a_power_of_two_changes_nothing(exponent, kind):
    """Not a bit of any read: biases are divided by it, inverse temperatures multiplied."""
    plain, scaled = random_bqm(GRID, seed=3), random_bqm(GRID, seed=3)
    scaled.scale(2.0**exponent)
    options = {"num_reads": 9, "num_sweeps": 8, "seed": 1, "beta_schedule_type": kind}
    first, second = (SAMPLER.sample(bqm, **options) for bqm in (plain, scaled))
    assert (states(first, plain) == states(second, scaled)).all()
    ratios = np.divide(first.info["beta_range"], second.info["beta_range"])
    assert (ratios == 2.0**exponent).all()
    betas = {"beta_range": tuple(2.0**-exponent * beta for beta in (0.25, 2.0))}
    first = SAMPLER.sample(plain, **options, beta_range=(0.25, 2.0))
    second = SAMPLER.sample(scaled, **options, **betas)
    assert (states(first, plain) == states(second, scaled)).all()


def laid_out(bqm, **options):
    biases = read_biases(bqm)
    method = hd.Gibbs(
        herd=4, schedule=make_beta_schedule(biases, options.get("beta_range"), "linear")
    )
    return module._compile_layout(bqm, biases, method, None)


@pytest.mark.parametrize(
    ("cold", "kind"), [(None, "field"), (2.0**13, "dense"), (2.0**40, "factor")]
)
def test_layouts_are_as_fine_as_the_coldest_beta(cold, kind):
    edges = [(i, (i + d) % 200) for i in range(200) for d in (1, 3)]
    bqm = random_bqm(edges, n=200)
    layout, method = laid_out(bqm, beta_range=None if cold is None else (0.1, cold))
    assert layout.kind == kind
    exact = hd.from_bqm(bqm)
    ratio = np.abs(layout.model.log_tables).max() / np.abs(exact.log_tables).max()
    assert method.schedule.cold / (cold or fitting_range(read_biases(bqm))[1]) == 1 / ratio


@pytest.mark.parametrize("scale", [1e-140, 1e-30, 1e4, 1e9, 1e30, 1e140])
@pytest.mark.parametrize("n", [9, 200])
def test_strong_biases_do_not_overflow(scale, n):
    """Penalties a million times as strong as the rest: the minimum is that of each part."""
    rng = np.random.default_rng(1)
    small = {i: scale * rng.choice([-1.0, 1.0]) for i in range(n)}
    large = {(n + i, n + i + 1): 1e6 * scale * rng.choice([-1.0, 1.0]) for i in range(n - 1)}
    bqm = dimod.BinaryQuadraticModel(small, large, 0.0, "SPIN")
    weak = [bqm.variables.index(i) for i in range(n)]
    ranges = {"beta_range": (1e-9 / scale, 1e3 / scale)}
    for options in ({"num_sweeps": 300}, {"num_sweeps": 20, **ranges}, {"beta": 100 / scale}):
        found = SAMPLER.sample(bqm, num_reads=3, seed=0, **options)
        assert (states(found, bqm)[:, weak] == -np.sign(list(small.values()))).all()


def test_biases_that_no_scale_fits_are_refused():
    with pytest.raises(ModelError, match=r"below 2\^500, got 1e\+300"):
        SAMPLER.sample(dimod.BinaryQuadraticModel({0: 1e300}, {}, 0.0, "SPIN"))
    tiny = dimod.BinaryQuadraticModel({0: 1e-300}, {(0, 1): 5e-324}, 0.0, "SPIN")
    assert len(SAMPLER.sample(tiny, num_reads=3, num_sweeps=2)) == 3


# -- starts ------------------------------------------------------------------------------------


def test_starts_are_taken_by_label():
    """At temperature 0 with couplings only, a state that satisfies them all stays."""
    bqm = dimod.BinaryQuadraticModel({}, {"db": -1.0, "ba": 1.0, "ac": -1.0}, 0.0, "SPIN")
    start = {"a": -1, "c": -1, "b": 1, "d": 1}
    for given_start in (start, {label: (value + 1) // 2 for label, value in start.items()}):
        found = SAMPLER.sample(bqm, initial_states=given_start, num_sweeps=1, seed=0)
        assert dict(found.first.sample) == start and len(found) == 1
    flipped = {label: -value for label, value in start.items()}
    found = SAMPLER.sample(
        bqm,
        initial_states=[start, flipped],
        initial_states_generator="tile",
        num_reads=5,
        num_sweeps=1,
    )
    assert states(found, bqm)[:, 0].tolist() == [1, -1, 1, -1, 1]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"num_reads": 0}, MethodError, "num_reads .* got 0"),
        ({"num_reads": 2.5}, MethodError, "num_reads .* got 2.5"),
        ({"num_sweeps": 0}, MethodError, "num_sweeps .* got 0"),
        ({"num_sweeps": "many"}, MethodError, "num_sweeps .* got 'many'"),
        ({"seed": -1}, MethodError, "seed .* got -1"),
        ({"seed": 2**32}, MethodError, "seed .* got 4294967296"),
        ({"beta": -1.0}, MethodError, "beta .* got -1.0"),
        ({"beta": math.nan}, MethodError, "beta .* got nan"),
        ({"beta": "cold"}, MethodError, "beta .* got 'cold'"),
        ({"beta": 1.0, "beta_range": (1, 2)}, MethodError, "got both"),
        ({"beta_range": (2, 1)}, MethodError, r"0 <= hot <= cold, got \(2, 1\)"),
        ({"beta_range": (1, math.inf)}, MethodError, "beta_range"),
        ({"beta_range": (0.1,)}, MethodError, "beta_range"),
        ({"beta_range": 3}, MethodError, "beta_range"),
        ({"beta_range": (0, 1)}, MethodError, "linear"),
        ({"beta_range": (0, 1), "beta_schedule_type": "geometric"}, MethodError, "linear"),
        ({"beta_schedule_type": "cubic"}, MethodError, "geometric.*got 'cubic'"),
        ({"initial_states": {0: 1}}, ModelError, "initial_states .*mismatch"),
        ({"initial_states": [[7] * 9]}, ModelError, "initial_states"),
        ({"initial_states": object()}, ModelError, "initial_states"),
        ({"initial_states_generator": "some"}, MethodError, "one of none, tile, random"),
        ({"initial_states_generator": "none"}, ModelError, "initial_states"),
    ],
)
def test_bad_options_are_told(options, error, message):
    with pytest.raises(error, match=message):
        SAMPLER.sample(random_bqm(GRID), **options)


def test_other_models_are_refused():
    with pytest.raises(ModelError, match="got dict: use sample_qubo"):
        SAMPLER.sample({(0, 0): 1.0})
    with pytest.raises(ModelError, match="finite"):
        SAMPLER.sample(dimod.BinaryQuadraticModel({0: math.nan}, {}, 0.0, "SPIN"))


def test_dictionaries_have_methods_of_their_own():
    assert SAMPLER.sample_qubo({(0, 0): -1.0, (0, 1): 2.0}, seed=0).first.sample == {0: 1, 1: 0}
    assert SAMPLER.sample_ising({0: 1.0}, {(0, 1): 1.0}, seed=0).first.sample == {0: -1, 1: 1}


def test_unknown_options_are_ignored_as_dimod_does():
    with pytest.warns(dimod.exceptions.SamplerUnknownArgWarning, match="chain_strength"):
        SAMPLER.sample(random_bqm(GRID), num_sweeps=1, chain_strength=2)


# -- size, interruption, what is missing -------------------------------------------------------


@pytest.mark.parametrize("options", [{}, FIXED], ids=["annealed", "fixed"])
def test_a_thousand_variables(options):
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 1000, (3000, 2))
    quadratic = {(int(a), int(b)): float(rng.normal()) for a, b in edges if a != b}
    bqm = dimod.BinaryQuadraticModel(dict.fromkeys(range(1000), 0.0), quadratic, 0.0, "SPIN")
    found = SAMPLER.sample(bqm, num_reads=2, num_sweeps=100, seed=0, **options)
    testing.assert_response_energies(found, bqm)
    random = dimod.RandomSampler().sample(bqm, num_reads=50, seed=0)
    assert found.record.energy.max() < random.record.energy.min() - 500
    assert found.info["timing"]["sampling_ns"] > 0 and found.info["num_sweeps"] == 100


def test_ctrl_c_gives_the_reads_there_are(monkeypatch):
    """The signal comes in the third block of sweeps; herds that had not begun are left out."""
    monkeypatch.setattr(module, "MAX_PARALLEL_BYTES", 1)
    monkeypatch.setattr("herded.run.sampler_run.BLOCK_ENTRIES", 9 * 64 * 10)
    monkeypatch.setattr("herded.run.sampler_run.MAX_UNREAD_BLOCK_UPDATES", 9 * 64 * 10)
    advance, calls = hd.Gibbs.advance, []

    def interrupting(self, *arguments, **options):
        calls.append(1)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return advance(self, *arguments, **options)

    monkeypatch.setattr(hd.Gibbs, "advance", interrupting)
    bqm = random_bqm(GRID)
    with pytest.raises(KeyboardInterrupt) as caught:
        SAMPLER.sample(bqm, num_reads=3 * 64, num_sweeps=100, beta=1.0, seed=0)
    found = caught.value.result
    assert found.info["interrupted"] and len(found) == 64
    testing.assert_response_energies(found, bqm)


def test_dimod_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "dimod", None)
    monkeypatch.delitem(sys.modules, "herded.qubo.dimod_sampler")
    monkeypatch.delitem(vars(hd.qubo), "HerdedSampler", raising=False)
    with pytest.raises(HerdedError, match=r"pip install 'herded\[dimod\]'"):
        _ = hd.qubo.HerdedSampler
    assert "HerdedSampler" in dir(hd.qubo)
    everything: dict = {}
    exec("from herded import *; from herded.qubo import *", everything)
    assert "infer" in everything and "to_bqm" in everything


def test_the_page_says_what_happens():
    found = transcripts("qubo")
    assert len(found) == 3
    for said, printed in found:
        assert said == printed
