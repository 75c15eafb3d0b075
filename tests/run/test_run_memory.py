"""`max_memory=` holds for all that grows: refused with numbers before the run, or within it."""

import re
import shutil
import tracemalloc

import numpy as np
import pytest

import herded as hd
from herded.errors import HerdedWarning, MemoryLimitError
from herded.run import build_result, execute
from herded.run.checkpoints.checkpoint_header import read_checkpoint_header
from herded.system.aligned_arrays import arrays_in
from herded.system.memory_limits import ALWAYS_ALLOWED_BYTES

GRID = hd.ising_grid(np.zeros((32, 32)), 0.3)
POTTS = hd.potts_grid(np.zeros((20, 20, 5)), 0.4)
RNG = np.random.default_rng(0)
EDGES = np.unique(np.sort(RNG.integers(0, 300, (900, 2)), axis=1), axis=0)
GRAPH = hd.pairwise_model(
    RNG.normal(size=(300, 3)), EDGES[EDGES[:, 0] < EDGES[:, 1]], 0.3 * RNG.normal(size=(3, 3))
)
SMALL = hd.chain_model(np.zeros((14, 2)), np.eye(2))
POINTS = np.arange(1, 10**6)
HERD = hd.Gibbs(herd=64)


def row(states):
    """Many numbers of each member."""
    return states.reshape(len(states), -1)[:, :50] * 1.0


# -- refused before the run -----------------------------------------------------------------------

REFUSED = {
    "samples": (GRID, hd.Gibbs(), {"sweeps": 10**6, "keep": [hd.Samples()]}, "samples take"),
    "samples of a herd": (GRID, HERD, {"sweeps": 10**5, "keep": [hd.Samples()]}, "samples take"),
    "some samples": (
        GRID,
        hd.Gibbs(),
        {"sweeps": 10**7, "keep": [hd.Samples(every=10)]},
        r"keep fewer with Samples\(every=\) \([\d.e+]+ times fewer fit\)",
    ),
    "series": (
        GRID,
        HERD,
        {"sweeps": 10**6, "keep": [hd.Observable(hd.energy)]},
        "the series of observables take .*every=, or keep no series with series=False",
    ),
    "pairs": (
        POTTS,
        hd.Gibbs(),
        {"chains": 300, "sweeps": 5, "keep": [hd.PairMarginals()]},
        "tables of pairs of states take .*: give fewer edges=",
    ),
    "joint": (
        hd.chain_model(np.zeros((20, 2)), np.eye(2)),
        hd.Gibbs(),
        {"chains": 4, "keep": [hd.Joint()], "sweeps": 10},
        "tables of all states take .*: keep PairMarginals instead",
    ),
    "best states": (
        GRAPH,
        hd.Gibbs(),
        {"chains": 2000, "sweeps": 5, "keep": [hd.BestState()]},
        "",
    ),
    "points of a curve": (
        SMALL,
        hd.Gibbs(),
        {"sweeps": 10**6, "keep": [hd.ErrorCurve(np.full((14, 2), 0.5), at=POINTS)]},
        "the error curve takes .*: give fewer points at=",
    ),
    "chains": (GRID, hd.Gibbs(), {"chains": 4000, "sweeps": 5}, "use fewer chains"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_before_anything_is_taken(case, monkeypatch):
    model, method, options, message = REFUSED[case]

    def taken(*_, **__):
        raise AssertionError("a state was made")

    monkeypatch.setattr(execute, "initial_states", taken)
    with pytest.raises(MemoryLimitError, match=message) as caught:
        hd.infer(model, method, max_memory="10M", **options)
    said = str(caught.value)
    assert "\n" not in said and said.endswith("or raise max_memory=")
    assert re.search(r"at most 10\.0 MiB, but it needs [\d.]+ (MiB|GiB)", said)


def test_the_rows_of_the_issue(monkeypatch):
    """3.3 GB of samples under "100M": a limit that is held."""
    monkeypatch.setattr(execute, "initial_states", None)  # not called
    with pytest.raises(
        MemoryLimitError,
        match=r"expected a run of at most 100\.0 MiB, but it needs 3\.\d GiB, where samples "
        r"take 3\.\d GiB: keep fewer with Samples\(every=\) \(3[\d.]+ times fewer fit\)",
    ):
        hd.infer(GRID, hd.Gibbs(), sweeps=3_400_000, keep=[hd.Samples()], max_memory="100M")


def test_series_of_many_numbers_are_refused_when_their_shape_is_known(monkeypatch):
    monkeypatch.setattr(execute, "run_until_done", None)  # not called
    keep = [hd.Observable(row)]
    with pytest.raises(MemoryLimitError, match="the series of observables take 24"):
        hd.infer(GRID, HERD, sweeps=10_000, keep=keep, max_memory="20M")


def test_as_many_samples_fit_as_the_error_says():
    options = {"sweeps": 200_000, "max_memory": "10M"}
    with pytest.raises(MemoryLimitError, match="times fewer fit") as caught:
        hd.infer(GRID, hd.Gibbs(), keep=[hd.Samples()], **options)
    fewer = re.search(r"([\d.]+) times fewer", str(caught.value))
    every = int(np.ceil(1.02 * float(fewer[1])))
    result = hd.infer(GRID, hd.Gibbs(), keep=[hd.Samples(every)], **options)
    assert result.samples.nbytes > 0.4 * 10 * 2**20
    assert result.provenance["memory_at_most"] <= 10 * 2**20


def test_a_little_beyond_the_tables_always_fits():
    need = hd.Gibbs().compile(GRID).memory
    assert hd.infer(GRID, hd.Gibbs(), sweeps=3, max_memory=need).sweeps == 3


# -- estimates against arrays ---------------------------------------------------------------------

RUNS = {
    "marginals": (GRID, hd.Gibbs(), {"chains": 3, "keep": [hd.Marginals(rao_blackwell=True)]}),
    "herds": (POTTS, HERD, {"chains": 2, "keep": [hd.Marginals(rao_blackwell=True)]}),
    "samples": (GRID, hd.HerdedGibbs(), {"chains": 2, "keep": [hd.Samples()], "sweeps": 2000}),
    "samples of herds": (GRID, HERD, {"chains": 2, "keep": [hd.Samples(2)], "sweeps": 100}),
    "samples of states": (GRAPH, HERD, {"chains": 2, "keep": [hd.Samples(2)], "sweeps": 400}),
    "series": (
        GRID,
        HERD,
        {"chains": 2, "keep": [hd.Observable(row), hd.Observable(hd.energy)], "sweeps": 200},
    ),
    "pairs": (GRAPH, hd.Gibbs(), {"chains": 4, "keep": [hd.PairMarginals()]}),
    "joint": (SMALL, hd.Gibbs(), {"chains": 4, "keep": [hd.Joint()]}),
    "best state": (GRAPH, hd.Gibbs(), {"chains": 4, "keep": [hd.BestState()]}),
    "ladder": (GRAPH, hd.Tempered(), {"chains": 2, "keep": [hd.Samples()], "sweeps": 300}),
}


@pytest.mark.parametrize("case", RUNS)
def test_the_estimate_covers_all_arrays(case, monkeypatch):
    model, method, options = RUNS[case]
    runs = []

    def spy(run, *more):
        runs.append(run)
        return build_result.build_sampler_result(run, *more)

    monkeypatch.setattr(execute, "build_sampler_result", spy)
    options = {"sweeps": 50, **options}
    result = hd.infer(model, method, **options)
    held = bytes_held(runs[0], result)
    estimate = runs[0].memory
    assert result.provenance["memory_at_most"] == estimate
    assert held <= estimate
    growing = sum(room.nbytes for room in runs[0].rooms.values())
    if growing > 2**20:  # what is sure, and not what a block or a table might take
        assert estimate < 2 * held + 2**24


def bytes_held(run, result):
    """Of all arrays of a run and its result, each counted once."""
    parts = [run.layout.arrays, run.blocks, list(run.rooms.values())]
    for chain in run.chains:
        parts += [
            chain.state.x,
            chain.state.conditional_sums,
            chain.state.state_counts,
            chain.state.method_arrays,
        ]
        parts += [recorder.arrays for recorder in chain.recorders.values()]
    parts += [result.kept]
    owners = {}
    for array in arrays_in(parts):
        while isinstance(array.base, np.ndarray):
            array = array.base
        owners[id(array)] = array.nbytes
    return sum(owners.values())


def test_samples_and_series_are_never_copied(monkeypatch):
    """They lie where they were recorded, as they do where the clock decides how many there are."""
    keep = [hd.Samples(3), hd.Observable(hd.energy), hd.Observable(row, every=2)]
    for method in (hd.Gibbs(), HERD):
        options = {"sweeps": 40, "chains": 3, "keep": keep}
        reserved = hd.infer(GRID, method, **options)
        with monkeypatch.context() as patch:
            patch.setattr("herded.run.memory.sampler_run_estimate.reserve_room", lambda run: None)
            piled = hd.infer(GRID, method, **options)
        pairs = [(reserved.samples, piled.samples)]
        for name in ("energy", "row"):
            one, other = reserved.observables[name], piled.observables[name]
            pairs.append((one.series, other.series))
            assert np.array_equal(one.mean, other.mean)
        for one, other in pairs:
            assert one.shape == other.shape and one.dtype == other.dtype
            assert one.strides == other.strides and (one == other).all()
            assert one.base is not None


# -- runs that the clock ends ---------------------------------------------------------------------


@pytest.mark.parametrize("sweeps", [None, 10**7])
@pytest.mark.parametrize("method", [hd.Gibbs(), HERD])
def test_a_run_by_the_clock_ends_at_the_limit(method, sweeps):
    with pytest.warns(HerdedWarning, match="the run ended after .* keep fewer of them with every="):
        result = hd.infer(
            GRID, method, seconds=1000, sweeps=sweeps, keep=[hd.Samples()], max_memory="12M"
        )
    assert [one.kind for one in result.diagnostics if one.severity == "warning"] == ["memory"]
    assert not result.provenance["interrupted"]
    assert result.samples.shape[1] == result.sweeps > 10
    assert 2 * result.samples.nbytes < 12 * 2**20
    assert 11 * 2**20 < result.provenance["memory_at_most"] <= 12 * 2**20


@pytest.mark.parametrize("method", [hd.Gibbs(), HERD])
def test_parts_of_a_run_by_the_clock_are_let_go_as_they_are_joined(method):
    options = {"chains": 4, "keep": [hd.Samples()], "seconds": 1000, "progress": False}
    hd.infer(GRID, method, **options, max_memory="40M")
    tracemalloc.start()
    try:
        result = hd.infer(GRID, method, **options, max_memory="40M")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.samples.nbytes > 10 * 2**20
    assert peak < 40 * 2**20 and peak < 2.5 * result.samples.nbytes


def test_a_run_by_the_clock_that_has_no_room_is_refused():
    with pytest.raises(MemoryLimitError, match="expected a run of at most 3"):
        hd.infer(GRID, hd.Gibbs(herd=1024), seconds=5, keep=[hd.Samples(20)], max_memory="3M")


def test_a_run_by_the_clock_that_keeps_nothing_that_grows_has_no_end():
    result = hd.infer(GRID, hd.Gibbs(), seconds=0.05, max_memory="10M")
    assert not [one for one in result.diagnostics if one.severity == "warning"]
    known = hd.infer(GRID, hd.Gibbs(), sweeps=5000).provenance["memory_at_most"]
    assert result.provenance["memory_at_most"] >= known


# -- resumed --------------------------------------------------------------------------------------


def test_a_resumed_run_is_held_to_the_limit(tmp_path):
    path, keep = tmp_path / "run.ckpt", [hd.Samples(), hd.Observable(hd.energy)]
    hd.infer(GRID, hd.Gibbs(), sweeps=1000, keep=keep, checkpoint=path)
    with pytest.raises(MemoryLimitError, match=r"expected a run of at most 10\.0 MiB"):
        hd.infer(GRID, hd.Gibbs(), sweeps=20_000, keep=keep, checkpoint=path, max_memory="10M")
    more = hd.infer(GRID, hd.Gibbs(), sweeps=1100, keep=keep).provenance["memory_at_most"]
    shutil.copy(path, tmp_path / "other.ckpt")
    other = {"checkpoint": tmp_path / "other.ckpt", "max_memory": more, "keep": keep}
    assert hd.infer(GRID, hd.Gibbs(), sweeps=1100, **other).samples.shape == (1, 1100, 1024)
    resumed = hd.infer(GRID, hd.Gibbs(), sweeps=2000, keep=keep, checkpoint=path, max_memory="10M")
    whole = hd.infer(GRID, hd.Gibbs(), sweeps=2000, keep=keep)
    assert (resumed.samples == whole.samples).all()
    energies = [result.observables["energy"] for result in (resumed, whole)]
    assert (energies[0].series == energies[1].series).all()
    assert energies[0].mean == energies[1].mean


RESUMED = {
    "chains": (GRID, hd.Gibbs(), {"chains": 3, "sweeps": 2500}),
    "herds": (GRID, HERD, {"chains": 2, "sweeps": 60}),
    "herded": (GRID, hd.HerdedGibbs(), {"chains": 2, "sweeps": 3000}),
}


@pytest.mark.parametrize("case", RESUMED)
@pytest.mark.parametrize("part", [0.7, 1.0])
def test_a_run_is_resumed_within_the_limit_that_it_began_with(case, part, tmp_path):
    model, method, options = RESUMED[case]
    keep = [hd.Marginals(True), hd.Samples(), hd.Observable(hd.energy)]
    options = {**options, "keep": keep, "progress": False}
    whole = hd.infer(model, method, **options)
    limit = whole.provenance["memory_at_most"]
    first = {**options, "sweeps": int(part * options["sweeps"])}
    options |= {"checkpoint": tmp_path / "run.ckpt", "max_memory": limit}
    hd.infer(model, method, **{**options, **first})
    tracemalloc.start()
    try:
        resumed = hd.infer(model, method, **options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (resumed.samples == whole.samples).all()
    assert (resumed.chain_marginals == whole.chain_marginals).all()
    energies = [result.observables["energy"] for result in (resumed, whole)]
    assert (energies[0].series == energies[1].series).all()
    assert resumed.samples.nbytes > 4 * 2**20 and peak < limit + ALWAYS_ALLOWED_BYTES


def test_the_plan_of_a_resumed_run_reads_no_samples(tmp_path, monkeypatch):
    path = tmp_path / "run.ckpt"
    hd.infer(GRID, hd.Gibbs(), sweeps=100, keep=[hd.Samples()], checkpoint=path)
    # not called
    monkeypatch.setattr("herded.run.checkpoints.checkpoint_file.read_checkpoint", None)
    begun = read_checkpoint_header(path)
    assert (begun.done, begun.chains) == (100, 1)


def test_a_checkpoint_with_more_samples_than_the_run_has_is_refused(tmp_path):
    from herded.run.checkpoints import checkpoint_file

    path, keep = tmp_path / "run.ckpt", [hd.Samples()]
    hd.infer(GRID, hd.Gibbs(), sweeps=20, keep=keep, checkpoint=path)
    header, arrays = checkpoint_file.read_checkpoint(path)
    name = "0/Samples/samples"
    arrays[name] = np.concatenate([arrays[name]] * 3)
    checkpoint_file.write_checkpoint(path, header, arrays)
    with pytest.raises(hd.CheckpointError, match="broken in samples"):
        hd.infer(GRID, hd.Gibbs(), sweeps=30, keep=keep, checkpoint=path)
