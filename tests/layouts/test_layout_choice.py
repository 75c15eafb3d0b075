"""Layouts: which is chosen, what it may cost, and that it never changes."""

import pickle

import numpy as np
import pytest
from hypothesis import given

import herded as hd
from herded.errors import MemoryLimitError, MethodError
from herded.layouts.factor_arrays import compile_factors
from herded.layouts.general import table_arrays
from herded.system import memory_limits
from herded.system.aligned_arrays import arrays_in
from tests.conformance.twins.factors import naive_factors
from tests.support.example_budget import examples
from tests.support.strategies import models

RNG = np.random.default_rng(0)
GRID = hd.ising_grid(RNG.normal(size=(4, 5)), 0.4)
UNEVEN = hd.ising_grid(RNG.normal(size=(3, 3)), (RNG.normal(size=(3, 2)), RNG.normal(size=(2, 3))))
POTTS = hd.potts_grid(RNG.normal(size=(3, 3, 3)), 0.4)
CHAIN = hd.chain_model(RNG.normal(size=(6, 3)), RNG.normal(size=(3, 3)))


def star(rays=59, **options):
    """One variable with many neighbours, as in UAI's Alchemy_11."""
    edges = [(0, j) for j in range(1, rays + 1)]
    unary = np.linspace(-1, 1, 2 * (rays + 1)).reshape(-1, 2)
    return hd.pairwise_model(unary, edges, [[0.3, -0.1], [0.0, 0.2]], **options)


# -- choosing and forcing ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "model", "kind"),
    [
        (hd.HerdedGibbs(), GRID, "grid"),
        (hd.HerdedGibbs(weights="shared"), GRID, "grid"),
        (hd.Gibbs(), GRID, "grid"),
        (hd.Gibbs(scan="checkerboard"), GRID, "grid"),
        (hd.HerdedGibbs(scan="sequential"), GRID, "table"),
        (hd.HerdedGibbs(slack=1.0), GRID, "table"),
        (hd.HerdedGibbs(weights="pooled"), GRID, "table"),
        (hd.HerdedGibbs(), UNEVEN, "grid"),
        (hd.HerdedGibbs(weights="shared"), UNEVEN, "table"),
        (hd.HerdedGibbs(), hd.ising_grid(np.zeros((3, 3)), periodic=True), "table"),
        (hd.HerdedGibbs(), hd.ising_grid(np.zeros((4, 4)), periodic=True), "grid"),
        (hd.HerdedGibbs(), POTTS, "table"),
        (hd.HerdedGibbs(weights="pooled"), POTTS, "grid"),
        (hd.Gibbs(), POTTS, "grid"),
        (hd.HerdedGibbs(), CHAIN, "table"),
        (hd.HerdedGibbs(), GRID.as_factor_graph(), "table"),
        (hd.Gibbs(), star(), "field"),
        (hd.HerdedGibbs(weights="pooled"), star(), "field"),
        (hd.HerdedGibbs(weights="lazy"), star(), "factor"),
        (hd.HerdedGibbs(weights="full"), star(), "factor"),
        (hd.Gibbs(schedule="linear"), GRID, "factor"),
        (hd.HerdedGibbs(schedule="linear"), GRID, "factor"),
        (hd.MeanField(), GRID, "factor"),
        (hd.Exact(), GRID, "factor"),
    ],
)
def test_which_layout(method, model, kind):
    assert method.compile(model).kind == kind


@pytest.mark.parametrize("kind", ["grid", "table", "field", "factor"])
def test_forcing(kind):
    result = hd.infer(GRID, hd.Gibbs(), sweeps=5, layout=kind)
    assert result.provenance["layout"] == kind and result.marginals.shape == (4, 5, 2)


@pytest.mark.parametrize(
    ("reason", "model", "method"),
    [
        ("not a lattice", CHAIN, hd.Gibbs()),
        ("more than two states", POTTS, hd.HerdedGibbs()),
        ("periodic", hd.ising_grid(np.zeros((3, 3)), periodic=True), hd.Gibbs()),
        ("slack", GRID, hd.HerdedGibbs(slack=1)),
        ("pooled", GRID, hd.HerdedGibbs(weights="pooled")),
        ("more than the number of neighbours", UNEVEN, hd.HerdedGibbs(weights="shared")),
        ("checkerboard", GRID, hd.Gibbs(scan="random")),
    ],
)
def test_no_lattice_layout_for(reason, model, method):
    with pytest.raises(MethodError, match=f"{reason}.*drop layout="):
        method.compile(model, kind="grid")


@pytest.mark.parametrize("kind", ["lattice", "own", 5, ["table"]])
def test_no_such_layout(kind):
    with pytest.raises(MethodError, match="expected a layout"):
        hd.Gibbs().compile(GRID, kind=kind)


@pytest.mark.parametrize("weights", ["blanket", "shared"])
def test_tabulated_weights_need_tables(weights):
    with pytest.raises(MethodError, match="factor layout"):
        hd.HerdedGibbs(weights=weights).compile(GRID, kind="factor")


# -- memory -----------------------------------------------------------------------------------


def test_high_degree_is_refused_before_anything_is_taken():
    with pytest.raises(MemoryLimitError, match=r"variable 0 has 59 neighbours.*weights=\"pooled\""):
        hd.infer(star(), hd.HerdedGibbs())
    names = [f"v{i}" for i in range(60)]
    with pytest.raises(
        MemoryLimitError, match=r"variable 'v0' has 59 neighbours.*\"lazy\".*max_memory="
    ):
        hd.infer(star(names=names), hd.HerdedGibbs(weights="shared"))
    with pytest.raises(MemoryError):
        hd.infer(star(), hd.HerdedGibbs())


def test_the_way_out_of_a_forced_table_is_to_drop_it():
    with pytest.raises(MemoryLimitError, match='Drop layout="table"'):
        hd.infer(star(), hd.Gibbs(), layout="table")


@pytest.mark.parametrize("rays", [59, 590])
def test_pooled_takes_linear_memory(rays):
    method = hd.HerdedGibbs(weights="pooled", slack=1.5)
    layout = method.compile(star(rays))
    assert layout.memory <= 1000 * (rays + 1)
    result = hd.infer(layout.model, method, sweeps=20, layout=layout)
    np.testing.assert_allclose(result.marginals.sum(axis=1), 1.0)


def test_evidence_lowers_the_degree():
    clamped = star().given(dict.fromkeys(range(1, 58), 1))
    assert hd.HerdedGibbs().compile(clamped).memory < 1000


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (CHAIN, hd.HerdedGibbs()),
        (GRID, hd.HerdedGibbs()),
        (GRID, hd.HerdedGibbs(weights="pooled")),
        (star(), hd.HerdedGibbs(weights="lazy")),
        (CHAIN, hd.BeliefPropagation()),
        (CHAIN, hd.Viterbi()),
        (GRID, hd.Exact()),
    ],
)
def test_max_memory(model, method):
    with pytest.raises(MemoryLimitError, match=r"expected .* of at most 16 bytes.* max_memory="):
        hd.infer(model, method, max_memory=16)
    need = method.compile(model).memory
    assert hd.infer(model, method, sweeps=2, max_memory=need).provenance["memory"] == need


@pytest.mark.parametrize("max_memory", [0, -5, "much", np.nan, True, [1]])
@pytest.mark.parametrize("method", [hd.Gibbs(), hd.Exact(), hd.Viterbi(), hd.BeliefPropagation()])
def test_max_memory_refused(max_memory, method):
    with pytest.raises(MethodError, match="number of bytes"):
        hd.infer(CHAIN, method, max_memory=max_memory)


def tables_and_weights(layout, method):
    """Bytes of the fixed-point tables, of where weights are, and of the weights of a chain."""
    x = np.zeros(layout.model.n_variables, np.int64)
    own = method.init(layout, x, chain=1, tally=False, total=1).method_arrays
    places = layout.contexts.shared.nbytes if hasattr(layout, "contexts") else 0
    return places + sum(array.nbytes for array in (*layout.tables(), *own.values()))


METHODS = [
    *(hd.HerdedGibbs(weights=w) for w in ("blanket", "shared", "pooled", "lazy", "full")),
    *(hd.HerdedGibbs(weights=w, slack=1) for w in ("blanket", "shared", "pooled", "lazy", "full")),
    hd.Gibbs(),
]
WIDE = hd.chain_model(RNG.normal(size=(4, 40)), RNG.normal(size=(40, 40)))
NARROW = hd.ising_grid(RNG.normal(size=(513, 1)), 0.3)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("model", [GRID, UNEVEN, POTTS, CHAIN, WIDE, NARROW])
def test_the_estimate_covers_what_is_taken(model, method):
    layout = method.compile(model)
    assert tables_and_weights(layout, method) <= layout.memory


@examples(30)
@given(models(max_variables=4, max_states=3))
def test_the_estimate_covers_what_is_taken_by_any_model(model):
    for method in METHODS:
        layout = method.compile(model)
        assert tables_and_weights(layout, method) <= layout.memory
    for weights in ("pooled", "lazy", "full"):
        method = hd.HerdedGibbs(weights=weights)
        layout = method.compile(model, kind="factor")
        assert tables_and_weights(layout, method) <= layout.memory


def test_nobody_asks_the_system_about_little(monkeypatch):
    monkeypatch.setattr("herded.system.memory_limits.free_memory_bytes", lambda: 2 * 2**30)
    assert memory_limits.fits_in_memory(2**30, None) and not memory_limits.fits_in_memory(
        2**30 + 1, None
    )
    assert memory_limits.fits_in_memory(100, 100) and not memory_limits.fits_in_memory(100, 99)
    with pytest.raises(MemoryLimitError, match=r"at most 1\.0 GiB"):
        memory_limits.check_memory(2**31, None, "it")
    monkeypatch.delattr("herded.system.memory_limits.free_memory_bytes")
    assert memory_limits.fits_in_memory(memory_limits.ALWAYS_ALLOWED_BYTES, None)
    assert hd.infer(CHAIN, hd.HerdedGibbs(), sweeps=5, chains=2).sweeps == 5


@pytest.mark.parametrize("model", [GRID, CHAIN], ids=["two states", "more"])
def test_tables_are_filled_in_pieces_of_any_size(model, monkeypatch):
    """Between two of them Ctrl-C is heard."""
    whole = hd.HerdedGibbs().compile(model, kind="table").arrays.p
    monkeypatch.setattr(table_arrays, "ROWS_PER_CHUNK", 3)
    assert (hd.HerdedGibbs().compile(model, kind="table").arrays.p == whole).all()


def test_tables_that_take_long_are_told_of_first(monkeypatch):
    monkeypatch.setattr(table_arrays, "SLOW_FILL_VALUES", 1)
    with pytest.warns(UserWarning, match=r"tables of .* rows are filled before the first sweep"):
        hd.HerdedGibbs().compile(GRID, kind="table")


@examples(100)
@given(models(max_variables=6))
def test_factors_variable_by_variable(model):
    found, expected = compile_factors(model), naive_factors(model)
    for name, values in expected.items():
        assert getattr(found, name).tolist() == values, name
    assert not any(array.flags.writeable for array in found)


# -- layouts never change -----------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("model", [GRID, CHAIN])
def test_arrays_are_read_only(method, model):
    layout = method.compile(model)
    seen = 0
    for name in ("arrays", "factors", "scan", "contexts"):
        for array in getattr(layout, name, ()):
            if isinstance(array, np.ndarray):
                assert not array.flags.writeable
                seen += 1
    assert seen


def test_a_layout_belongs_to_its_model_and_method():
    layout = hd.Gibbs().compile(CHAIN)
    assert hd.infer(CHAIN, hd.Gibbs(seed=3), sweeps=2, layout=layout).sweeps == 2
    with pytest.raises(MethodError, match="compiled for this model"):
        hd.infer(GRID, hd.Gibbs(), layout=layout)
    others = [
        hd.HerdedGibbs(),
        hd.Gibbs(scan="random"),
        hd.Gibbs(schedule="linear"),
        hd.HerdedGibbs(schedule="linear"),
        hd.MeanField(),
        hd.Exact(),
        hd.Viterbi(),
    ]
    for method in others:
        with pytest.raises(MethodError, match="expected a layout from compile"):
            hd.infer(CHAIN, method, layout=layout)
    blanket = hd.HerdedGibbs().compile(CHAIN)
    for method in (
        hd.HerdedGibbs(weights="pooled"),
        hd.HerdedGibbs(slack=1),
        hd.HerdedGibbs(schedule="linear"),
    ):
        with pytest.raises(MethodError, match="expected a layout from compile"):
            hd.infer(CHAIN, method, layout=blanket)


@pytest.mark.parametrize(
    ("method", "model", "kind"),
    [
        (hd.HerdedGibbs(), GRID, "grid"),
        (hd.HerdedGibbs(weights="pooled"), POTTS, "grid"),
        (hd.HerdedGibbs(weights="pooled"), CHAIN, "table"),
        (hd.Gibbs(), star(), "field"),
        (hd.HerdedGibbs(weights="pooled"), CHAIN, "pairs"),
        (hd.Gibbs(schedule="linear"), GRID, "factor"),
        (hd.MeanField(), CHAIN, "factor"),
        (hd.BeliefPropagation(), CHAIN, "factor"),
        (hd.Viterbi(), CHAIN, "factor"),
    ],
)
def test_a_layout_that_was_sent_has_the_types_of_the_first(method, model, kind):
    """Else kernels would be compiled once more on every worker."""
    layout = method.compile(model, kind=kind)
    sent = pickle.loads(pickle.dumps(layout))
    assert type(sent) is type(layout) and sent.kind == kind and sent.hash == layout.hash
    assert vars(sent).keys() - {"hash"} == vars(layout).keys() - {"hash"}
    pairs = list(zip(arrays_in(vars(layout)), arrays_in(vars(sent)), strict=True))
    assert pairs
    for one, other in pairs:
        assert one.dtype == other.dtype and one.flags.c_contiguous == other.flags.c_contiguous
        assert not one.flags.writeable and not other.flags.writeable
        np.testing.assert_array_equal(one, other)


def test_a_layout_of_ones_own_is_sent_too():
    own = hd.Layout(model=CHAIN, arrays={"order": [np.arange(3), (np.zeros(2),)]})
    assert own.bytes == 3 * 8 + 2 * 8
    sent = pickle.loads(pickle.dumps(own))
    assert [array.flags.writeable for array in arrays_in(sent.arrays)] == [False, False]
    assert (sent.kind, sent.hash, sent.n_parallel_parts, sent.has_growing_memory) == (
        "own",
        "none",
        1,
        False,
    )


def test_a_layout_of_ones_own_answers_all_that_a_run_asks():
    own = hd.Layout(model=CHAIN)
    assert (own.min_block_sweeps, own.visits, own.n_parallel_parts) == (1, 1, 1)
    assert not (own.counts_states or own.is_herd or own.estimates_log_z or own.crosses_hard_zeros)
    assert own.bit_places is own.variable_blocks is own.components() is None
    assert (own.n_replicas, own.report([]), own.diagnostics([])) == (1, {}, [])
    state = hd.State(own.store(np.zeros(CHAIN.n_variables, int)))
    block = np.ones((2, own.sample_size), own.sample_type)
    own.fill(block, state)
    assert not block.any()
    for states in (own.replicas_of(block), own.some_members_of(block, 0, 1)):
        assert states.shape == (2, 1, CHAIN.n_variables)
    assert own.replicas(state).shape == own.some_values(state, 0, 1).shape == (1, CHAIN.n_variables)


def test_a_later_layout_does_not_hide_the_reason_of_an_earlier_one():
    """Of two states: `PottsLayout`, which is asked last, has nothing better to say."""
    with pytest.raises(
        hd.MethodError, match="weights='pooled' does not run on lattices of 2 dimensions"
    ):
        hd.HerdedGibbs("pooled").compile(hd.ising_grid(np.zeros((4, 4)), 0.3), kind="grid")
