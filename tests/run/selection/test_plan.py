"""`hd.infer` without a method, or with the name of one: what the command line does."""

import numpy as np
import pytest

import herded as hd
from herded.errors import MethodError
from herded.methods.schedule import is_annealed
from herded.run.checkpoints.checkpoint_header import read_checkpoint_header
from tests.io.bayes_nets import shipped_nets
from tests.support.commands import found

RNG = np.random.default_rng(8)
GRID = hd.ising_grid(RNG.normal(size=(4, 5)), 0.4)
SMALL = 2**12  # bytes: too few for elimination


def test_exact_where_it_fits():
    result = hd.infer(GRID)
    assert result.method == hd.Exact() and "elimination fits" in result.reason
    np.testing.assert_array_equal(result.marginals, hd.infer(GRID, hd.Exact()).marginals)
    for options in ({"chains": 3}, {"sweeps": 50}, {"seconds": 60}, {"burn_in": 4}):
        assert hd.infer(GRID, "auto", **options).method == hd.Exact()


def test_a_method_that_was_given_has_no_reason():
    assert hd.infer(GRID, hd.Gibbs(), sweeps=5).reason == ""
    assert hd.infer(GRID, hd.Gibbs(seed=4), sweeps=5).method == hd.Gibbs(seed=4)
    assert hd.infer(GRID, "exact").reason == ""


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"keep": [hd.Samples()]}, "only samplers keep Samples"),
        ({"keep": [hd.ErrorCurve(np.full((20, 2), 0.5))]}, "only samplers keep ErrorCurve"),
        ({"keep": [hd.PairMarginals([(0, 19)])]}, "only samplers keep PairMarginals"),
        ({"start": np.zeros(20, int)}, "a start is for a sampler"),
    ],
)
def test_what_asks_for_a_sampler(options, why):
    result = hd.infer(GRID, sweeps=200, **options)
    assert isinstance(result.method, hd.Sampler) and result.reason.startswith(why)


@pytest.mark.parametrize(
    "keep", [hd.Marginals(), hd.BestState(), hd.Joint(), hd.PairMarginals([(1, 0), (0, 5)])]
)
def test_what_exact_inference_gives_too(keep):
    model = hd.ising_grid(np.zeros((2, 5)), 0.4)
    assert hd.infer(model, keep=[keep]).method == hd.Exact()


def test_what_recommend_says_where_it_does_not():
    result = hd.infer(GRID, keep=[hd.Marginals(rao_blackwell=True), hd.Samples(every=50)])
    said = hd.recommend(GRID)
    assert result.method == said.method and result.reason.endswith(said.reason)
    assert result.provenance["chains"] == said.chains
    assert (result.sweeps, result.provenance["burn_in"]) == (said.sweeps, said.burn_in)
    truth = hd.infer(GRID)
    np.testing.assert_allclose(result.marginals, truth.marginals, atol=0.02)
    np.testing.assert_array_equal(hd.infer(GRID, said).marginals, result.marginals)


def test_too_little_memory_is_a_reason():
    result = hd.infer(hd.ising_grid(np.zeros((18, 18)), 0.1), sweeps=40, max_memory=2**22)
    assert isinstance(result.method, hd.Sampler) and "4.0 MiB" in result.reason


@pytest.mark.parametrize("name", ["herded", "gibbs", "herd", "bp", "mean-field", "exact"])
def test_names_are_those_of_the_command_line(name, capsys, tmp_path):
    """The same method, sweeps and chains, and so the same bits."""
    file = tmp_path / "grid.uai"
    hd.io.write_uai(GRID.as_factor_graph(), file)
    sweeps = ("--sweeps", 60) if name != "exact" else ()
    answer = found(capsys, "infer", file, "--method", name, *sweeps)
    result = hd.infer(hd.read_model(file), name, sweeps=60)
    assert answer["marginals"] == result.marginals.reshape(20, 2).tolist()
    assert answer["sweeps"] == result.sweeps
    assert answer["chains"] == result.provenance.get("chains", 1)


def test_an_unknown_name_is_told_with_a_close_one():
    with pytest.raises(MethodError, match="got 'exakt': did you mean 'exact'\\?"):
        hd.infer(GRID, "exakt")
    with pytest.raises(MethodError, match=r"expected a method out of herded, .*, got 'zzz'$"):
        hd.infer(GRID, "zzz")


def test_the_best_state_is_searched_for():
    """By name, by the clock, and where elimination does not fit."""
    best = hd.infer(GRID, keep=[hd.BestState()]).best.log_score
    for name in ("herded", "gibbs"):
        result = hd.infer(GRID, name, sweeps=300, keep=[hd.BestState()])
        assert is_annealed(result.method) and result.best.log_score == pytest.approx(best)
    result = hd.infer(GRID, "gibbs", seconds=0.01, keep=[hd.BestState()])
    assert result.sweeps >= 1 and np.isfinite(result.best.log_score)
    with pytest.raises(MethodError, match="expected sweeps= with checkpoint="):
        hd.infer(GRID, "gibbs", seconds=1, keep=[hd.BestState()], checkpoint="none.ckpt")
    with pytest.raises(MethodError, match="no burn_in for the best state"):
        hd.infer(GRID, "gibbs", burn_in=3, keep=[hd.BestState()])


def test_solvers_by_name_refuse_what_they_cannot_do():
    for options in ({"chains": 2}, {"start": np.zeros(20, int)}, {"keep": [hd.Samples()]}):
        with pytest.raises(MethodError, match="which is not a sampler"):
            hd.infer(GRID, "bp", **options)


def test_a_run_that_has_begun_goes_on(tmp_path):
    """With the method of its checkpoint, whatever would be chosen now; exactly the same bits."""
    file = tmp_path / "run.ckpt"
    method = hd.Gibbs(herd=8, seed=0)
    whole = hd.infer(GRID, method, sweeps=60, burn_in=5, chains=2)
    hd.infer(GRID, method, sweeps=20, burn_in=5, chains=2, checkpoint=file)
    updates = 8 * (60 + 5)
    keep = [hd.Marginals()]
    result = hd.infer(GRID, sweeps=updates, chains=2, keep=keep, checkpoint=file)
    assert result.method == method and result.reason == "the run resumes from its checkpoint"
    assert result.sweeps == 60
    np.testing.assert_array_equal(result.marginals, whole.marginals)
    exact = tmp_path / "none.ckpt"
    assert hd.infer(GRID, checkpoint=exact).method == hd.Exact() and not exact.exists()


@pytest.mark.parametrize(
    "method",
    [hd.Gibbs(herd=73, seed=2), hd.Gibbs(), hd.HerdedGibbs("pooled", slack=4.0, seed=9)],
)
def test_methods_are_read_from_checkpoints(method, tmp_path):
    file = tmp_path / "run.ckpt"
    hd.infer(GRID, method, sweeps=3, checkpoint=file)
    begun = read_checkpoint_header(file)
    assert begun.method == method and begun.to_dict()["method"] == method.to_dict()


def cooling(sweep, total):
    return 1.0


def test_methods_that_no_file_can_tell_are_left_out(tmp_path):
    """The same method must then be given again."""
    file, method = tmp_path / "run.ckpt", hd.Gibbs(schedule=cooling)
    first = hd.infer(GRID, method, sweeps=3, checkpoint=file)
    assert read_checkpoint_header(file).method is None
    again = hd.infer(GRID, hd.Gibbs(schedule=cooling), sweeps=3, checkpoint=file)
    np.testing.assert_array_equal(first.marginals, again.marginals)
    with pytest.raises(hd.CheckpointError, match="expected a checkpoint with method"):
        hd.infer(GRID, hd.Gibbs(schedule="linear"), sweeps=3, checkpoint=file)


def test_bayes_nets_are_answered():
    """alarm.bif with two observations was off by 0.24, hailfinder.bif wanted 1,099 GiB."""
    nets = {path.name.split(".")[0]: path for path in shipped_nets()}
    if not nets:
        pytest.skip("pgmpy's networks are not installed")
    alarm = hd.read_model(nets["alarm"]).given({"HRBP": "HIGH", "CVP": "LOW"})
    hailfinder = hd.read_model(nets["hailfinder"])
    for model in (alarm, hailfinder):
        result = hd.infer(model)
        assert result.method == hd.Exact()
        np.testing.assert_allclose(result.marginals.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"sweeps": 500},
        {"sweeps": 10},
        {"sweeps": 10_000, "burn_in": 50},
        {"chains": 1, "sweeps": 500},
    ],
    ids=str,
)
def test_the_same_call_again_gives_the_same_run(tmp_path, asked):
    """Whatever was chosen: as many sweeps and chains, the same bits, reason and warnings."""
    keep = [hd.Marginals(), hd.Samples(every=10)]
    first = hd.infer(GRID, keep=keep, checkpoint=tmp_path / "run.ckpt", **asked)
    again = hd.infer(GRID, keep=keep, checkpoint=tmp_path / "run.ckpt", **asked)
    assert (again.sweeps, again.method, again.reason) == (first.sweeps, first.method, first.reason)
    assert again.warnings == first.warnings
    np.testing.assert_array_equal(again.marginals, first.marginals)


def test_a_start_without_a_method_is_one_state():
    found = hd.infer(GRID, start=np.zeros(20, int), sweeps=100)
    assert found.sweeps > 0
    for start in (found.state, np.zeros((4, 20), int)):
        with pytest.raises(MethodError, match=r"expected one state as start= without a method"):
            hd.infer(GRID, start=start, sweeps=100)
