"""fit: parameters of small models, hidden variables, penalties, resumed bits, and refusals."""

import re

import numpy as np
import pytest

import herded as hd
from benchmarks.learning.parameter_recovery import exact_rows
from herded.errors import CheckpointError, MethodError, ModelError
from herded.learn.fitting.fit_setup import RowBatches

RNG = np.random.default_rng(3)
GRID = hd.ising_grid(np.zeros((2, 3)), 0.0)
TRUTH = hd.ising_grid(
    [[0.2, -0.1, 0.3], [0.0, 0.1, -0.4]], ([[0.5, -0.3], [0.2, 0.4]], [[0.3] * 3])
)
SPINS = np.array([[1.0, -1.0], [-1.0, 1.0]])
HERD = {"method": "herd", "herd": 64, "sweeps": 2, "steps": 12}


def drawn(model, rows):
    """Rows in proportion to their probability, as nearly as whole numbers of them can be."""
    joint = hd.infer(model, hd.Exact()).joint
    counts = np.round(joint.ravel() * rows).astype(int)
    states = np.indices(joint.shape).reshape(joint.ndim, -1).T
    return np.repeat(states, counts, axis=0)


DATA = drawn(TRUTH, 20_000)
FEW = DATA[:: len(DATA) // 50]
HOLED = np.where(np.arange(6) < 2, -FEW, FEW)  # two columns of which some states are unknown


def couplings(fitted):
    return fitted.model.all_couplings


def test_likelihood_and_pseudo_likelihood_find_the_truth():
    for options in ({}, {"objective": "pseudo"}):
        fitted = hd.learn.fit(GRID, DATA, **options)
        assert fitted.converged and fitted.convergence.startswith("converged in ")
        assert isinstance(fitted.model, hd.Lattice)
        np.testing.assert_allclose(couplings(fitted), TRUTH.all_couplings, atol=0.01)
        np.testing.assert_allclose(
            fitted.model.log_unary[..., 1], TRUTH.log_unary[..., 1], atol=0.01
        )
    exact = hd.infer(hd.learn.fit(GRID, DATA).model, hd.Exact()).marginals[..., 1]
    np.testing.assert_allclose(exact, DATA.mean(axis=0).reshape(2, 3), atol=1e-5)


def test_herds_find_what_elimination_finds():
    exact = hd.learn.fit(GRID, DATA).parameters
    fitted = hd.learn.fit(GRID, DATA, method="herd", herd=512, steps=60, seed=1)
    assert fitted.converged and "standard errors" in fitted.convergence
    assert np.abs(fitted.parameters - exact).max() < 0.02
    assert np.isnan(fitted.history["value"]).all() and fitted.steps == 60


def test_tied_parameters_of_a_lattice_and_by_groups():
    truth = hd.ising_grid(np.full((2, 3), 0.2), 0.3)
    data = drawn(truth, 20_000)
    tied = hd.learn.fit(GRID, data, groups="tied")
    np.testing.assert_allclose(tied.parameters, [0.2, 0.3], atol=0.005)
    graph = GRID.as_factor_graph()
    groups = [[0, 0]] * 6 + [[[1, 1], [1, 1]]] * 7
    weights = [[-1, 1]] * 6 + [SPINS] * 7
    same = hd.learn.fit(graph, data, groups=groups, weights=weights)
    np.testing.assert_allclose(same.parameters, tied.parameters, atol=1e-6)
    spins = hd.learn.fit(graph, data, groups="ising")
    each = hd.learn.fit(GRID, data)
    np.testing.assert_allclose(spins.parameters, each.parameters, atol=1e-4)
    assert spins.groups.max() == 12 and isinstance(spins.model, hd.FactorGraph)


def test_any_factors_of_any_states():
    truth = hd.FactorGraph([3, 2, 2], [((0, 1, 2), RNG.normal(size=(3, 2, 2))), ((0,), [0, 0, 0])])
    data = drawn(truth, 20_000)
    zero = hd.FactorGraph([3, 2, 2], [((0, 1, 2), np.zeros((3, 2, 2))), ((0,), [0, 0, 0])])
    fitted = hd.learn.fit(zero, data)
    joint = [hd.infer(model, hd.Exact()).joint for model in (truth, fitted.model)]
    assert np.abs(joint[0] - joint[1]).max() < 1e-3
    potts = hd.potts_grid(RNG.normal(0, 0.3, (2, 2, 3)), 0.4)
    fitted = hd.learn.fit(hd.potts_grid(np.zeros((2, 2, 3)), 0.0), drawn(potts, 20_000))
    np.testing.assert_allclose(couplings(fitted), 0.4, atol=0.02)


@pytest.mark.parametrize("options", [{}, {"batch": 200, "steps": 60}, {**HERD, "steps": 60}])
def test_a_variable_that_nobody_saw(options):
    """A path of three spins whose middle is hidden: the ends' agreement tells its couplings."""
    path = hd.pairwise_model(np.zeros((3, 2)), [(0, 1), (1, 2)], 0.5 * SPINS)
    data = drawn(hd.pairwise_model(np.zeros((3, 2)), [(0, 1), (1, 2)], 0.8 * SPINS), 2000)
    data[:, 1] = -1
    groups = [[-1, -1]] * 3 + [[[0, 0], [0, 0]]] * 2
    weights = [[1, 1]] * 3 + [SPINS] * 2
    fitted = hd.learn.fit(path, data, groups=groups, weights=weights, **options)
    assert abs(fitted.parameters[0]) == pytest.approx(0.8, abs=0.01 if not options else 0.06)


def test_states_that_are_missing_here_and_there():
    data = DATA.copy()
    data[np.random.default_rng(0).random(DATA.shape) < 0.05] = -1
    fitted = hd.learn.fit(GRID, data[::10])
    assert fitted.converged
    np.testing.assert_allclose(couplings(fitted), TRUTH.all_couplings, atol=0.1)


def test_penalties_shrink_and_select():
    plain, ridge, sparse = (
        hd.learn.fit(GRID, DATA, **options) for options in ({}, {"l2": 0.5}, {"l1": 0.25})
    )
    assert (np.abs(couplings(ridge)) < np.abs(couplings(plain))).all()
    assert 0 < (couplings(sparse) == 0.0).sum() < 7
    noisy = hd.learn.fit(GRID, DATA, l1=0.25, method="herd", herd=128, steps=40)
    assert (couplings(noisy) == 0.0).any()
    assert np.abs(noisy.parameters - sparse.parameters).max() < 0.06
    one_by_one = hd.learn.fit(GRID, DATA, l2=np.full(13, 0.5))
    assert np.abs(one_by_one.parameters[:6]).max() < np.abs(ridge.parameters[:6]).max()


@pytest.mark.parametrize("options", [{}, HERD, {"batch": 20, "steps": 12}, {"objective": "pseudo"}])
def test_a_resumed_fit_has_the_bits_of_one_that_was_not_stopped(options, tmp_path, monkeypatch):
    data, options = FEW.copy(), {**options, "patience": 3, "seed": 5}
    if options.get("herd"):
        data[:5, 2] = -1
    else:
        options["held_out"] = 0.2
    whole = hd.learn.fit(GRID, data, **options)
    from herded.learn.fitting import training_loop

    advance, file = training_loop.TrainingLoop.advance, tmp_path / "fit.npz"

    def stops(run):
        if run.done >= 2:
            raise KeyboardInterrupt
        advance(run)
        run.save(file)

    monkeypatch.setattr(training_loop.TrainingLoop, "advance", stops)
    with pytest.raises(KeyboardInterrupt):
        hd.learn.fit(GRID, data, checkpoint=file, **options)
    monkeypatch.setattr(training_loop.TrainingLoop, "advance", advance)
    resumed = hd.learn.fit(GRID, data, checkpoint=file, **options)
    np.testing.assert_array_equal(resumed.parameters, whole.parameters)
    for name in whole.history:
        np.testing.assert_array_equal(resumed.history[name], whole.history[name])
    again = hd.learn.fit(GRID, data, checkpoint=file, **options)
    np.testing.assert_array_equal(again.parameters, whole.parameters)
    with pytest.raises(CheckpointError, match="expected a checkpoint with data"):
        hd.learn.fit(GRID, data[1:], checkpoint=file, **options)


def test_a_spoilt_checkpoint_is_a_sentence(tmp_path):
    file = tmp_path / "fit.npz"
    hd.learn.fit(GRID, FEW, checkpoint=file, **HERD)
    whole = dict(np.load(file))
    for name, spoilt in {
        "climber/last": whole["climber/last"][:-1],
        "herd/x": whole["herd/x"] + 1,
        "best": np.zeros(2),
        "history": whole["history"][:, :2],
        "scores": None,
    }.items():
        np.savez(file, **{k: v for k, v in {**whole, name: spoilt}.items() if v is not None})
        with pytest.raises(CheckpointError, match="broken in"):
            hd.learn.fit(GRID, FEW, checkpoint=file, **HERD)
    file.write_bytes(b"nothing")
    with pytest.raises(CheckpointError, match="an unreadable file"):
        hd.learn.fit(GRID, FEW, checkpoint=file, **HERD)


def test_exact_samples_of_the_benchmark_have_the_law_of_the_model():
    rows = exact_rows(TRUTH, 20_000, np.random.default_rng(0))
    exact = hd.infer(TRUTH, hd.Exact())
    assert np.abs(rows.mean(axis=0) - exact.marginals[..., 1].ravel()).max() < 0.015
    both = (rows[:, 0] & rows[:, 1]).mean()
    assert both == pytest.approx(exact.joint.sum(axis=(2, 3, 4, 5))[1, 1], abs=0.015)


def test_held_out_rows_end_it_early():
    model = hd.FactorGraph([2] * 6, [(range(6), np.zeros([2] * 6))])
    data = DATA[np.random.default_rng(0).choice(len(DATA), 400)]
    options = {"held_out": 0.3, "patience": 2, "l2": 1e-4}
    fitted = hd.learn.fit(model, data, objective="pseudo", **options)
    assert "the score of held-out rows did not improve 2 times in a row" in fitted.convergence
    held = fitted.history["held_out"]
    assert np.argmax(held) == len(held) - 3
    assert (fitted.chosen, fitted.criterion) == ("held-out", "held-out") and fitted.gain > 0
    likelihood = hd.learn.fit(model, data, **options)  # starts at the best score on the way
    assert likelihood.steps <= len(held) and likelihood.gain >= 0.0
    assert likelihood.chosen in ("start", "held-out") and likelihood.criterion == "held-out"
    other = hd.learn.fit(GRID, data[:200], held_out=data[200:])
    assert np.isfinite(other.history["held_out"]).all()


def test_batches_use_every_row_before_any_again():
    batches = RowBatches(10, 3, seed=1)
    seen = [batches.of(step) for step in range(8)]
    for epoch in (seen[:4], seen[4:]):
        assert sorted(np.concatenate(epoch).tolist()) == list(range(10))
    assert not all((a == b).all() for a, b in zip(seen[:4], seen[4:], strict=True))
    assert RowBatches(10, None, 0).of(3) is None


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([[0, 1, 0, 1, 0, 0]], "expected two rows of data or more, got 1"),
        (FEW[:, :5], r"expected data of shape \(rows, 6\), a column for each variable, got"),
        (FEW + 0.5, "expected whole numbers as data, got"),
        (np.where(FEW == 0, np.nan, FEW), "expected whole numbers in data, got NaN at"),
        (FEW + 1, r"expected states from 0 to 1 of variable .*, or -1 for an unknown one"),
        (FEW * [1, 1, 1, 0, 1, 1], r"expected data that vary, but .* factor 3 \(\(1, 0\)\) never"),
        (
            HOLED * [1, 1, 1, 0, 1, 1],
            r"expected data that vary, but .* factor 3 \(\(1, 0\)\) never",
        ),
        (np.empty((0, 6)), "expected rows in data, got none"),
        (np.full((9, 6), -1), "expected rows with some known states, got only -1"),
        ("spins", "expected numbers in data, got 'spins'"),
    ],
)
def test_data_that_cannot_be_learned_from_are_a_sentence(data, said):
    with pytest.raises(ModelError, match=said) as error:
        hd.learn.fit(GRID, data)
    assert str(error.value).startswith("expected ") and "\n" not in str(error.value)


def test_constant_columns_can_be_learned_with_a_penalty():
    constant = FEW * [1, 1, 1, 0, 1, 1]
    fitted = hd.learn.fit(GRID, constant, l2=np.full(13, 0.1))
    assert np.isfinite(fitted.parameters).all() and fitted.converged


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"objective": "both"}, 'expected objective="likelihood" or "pseudo"'),
        ({"method": "mcmc"}, 'expected method="auto", "exact" or "herd"'),
        ({"steps": 0}, "expected steps as a whole number from 1"),
        ({"batch": 2.5}, "expected batch as a whole number from 1"),
        ({"rate": -1}, "expected a rate above 0"),
        ({"herd": 0}, "expected a herd of 1 to"),
        ({"seed": -1}, "expected a whole number of 0 or more as seed"),
        ({"l1": -1}, "expected l1 of 0 or more"),
        ({"l2": [1.0, 2.0]}, "expected l2 as one number or one for each of 13 parameters"),
        ({"held_out": 1.5}, "expected held_out as a share between 0 and 1"),
        ({"groups": "all"}, 'expected groups as "tied", "ising" or arrays'),
        ({"groups": [0, 1]}, "expected groups for each of 40 table entries"),
        ({"groups": np.full(40, -1)}, "expected a parameter to learn"),
        ({"weights": np.ones(40)}, "expected groups as arrays together with weights"),
    ],
)
def test_options_that_make_no_sense_are_a_sentence(options, said):
    with pytest.raises(ValueError, match=rf"^{said}"):
        hd.learn.fit(GRID, FEW, **options)


def test_other_refusals():
    with pytest.raises(hd.MemoryLimitError, match="expected the states of data and herd of at"):
        hd.learn.fit(GRID, FEW, max_memory=10)
    wide = hd.ising_grid(np.zeros((12, 12)), 0.0)
    data = np.random.default_rng(0).integers(0, 2, (100, 12, 12))
    with pytest.raises(hd.MemoryLimitError, match="expected clusters of at most"):
        hd.learn.fit(wide, data, method="exact", herd=2, max_memory=200_000)
    with pytest.raises(ModelError, match="expected a model without evidence"):
        hd.learn.fit(GRID.given({0: 1}), FEW)
    hard = hd.FactorGraph([2, 2], [((0, 1), [[0.0, -np.inf], [0.0, 0.0]])])
    with pytest.raises(ModelError, match="the model forbids row 1 of data"):
        hd.learn.fit(hard, [[0, 0], [0, 1], [1, 1]])
    with pytest.raises(MethodError, match="without unknown states"):
        hd.learn.fit(GRID, np.where(np.indices(FEW.shape).sum(axis=0) == 0, -1, FEW),
                     objective="pseudo")  # fmt: skip
    with pytest.raises(ModelError, match="expected a variable of two states or more"):
        hd.learn.fit(hd.FactorGraph([1], [((0,), [0.0])]), [[0], [0]])
    with pytest.raises(ModelError, match="expected a model, got"):
        hd.learn.fit("model", FEW)


def test_rows_that_a_model_forbids_are_named_wherever_they_are():
    """Also those that are held out, and by the places that they came in."""
    never = hd.FactorGraph([2, 2], [((0, 1), [[0.0, 0.0], [0.0, -np.inf]])])
    rows = [[0, 0], [0, 1], [1, 0]] * 4
    with pytest.raises(ModelError, match="the model forbids row 1 of held_out"):
        hd.learn.fit(never, rows, held_out=[[0, 0], [1, 1]])
    for seed in range(3):
        with pytest.raises(ModelError, match="the model forbids row 12 of data"):
            hd.learn.fit(never, [*rows, [1, 1]], held_out=0.3, seed=seed)


@pytest.mark.parametrize(
    ("rows", "wrong"), [([[0, 0, -1], [0, 0, 1], [1, 1, -1]], 2), ([[0, -1, 0], [-1, 1, 0]], 1)]
)
def test_rows_that_are_impossible_whatever_is_unknown_of_them_are_named(rows, wrong):
    never = hd.FactorGraph(
        [2, 2, 2],
        [((0, 1), [[0.0, 0.0], [0.0, -np.inf]]), ((1, 2), [[0.0, 0.0], [-np.inf, -np.inf]])],
    )
    with pytest.raises(ModelError, match=f"the model forbids row {wrong} of data"):
        hd.learn.fit(never, rows)
    with pytest.raises(ModelError, match=f"the model forbids row {wrong} of held_out"):
        hd.learn.fit(never, [[0, 0, 0], [1, 0, 1]], held_out=rows, l2=0.1)


def test_a_parameter_on_its_way_to_infinity_has_not_converged():
    """Of hidden columns nothing may be known that would hold a coupling back; a penalty does."""
    data = DATA[np.random.default_rng(0).choice(len(DATA), 100)]
    data[:, [1, 4]] = -1
    fitted = hd.learn.fit(GRID, data)
    assert not fitted.converged and "set a penalty for it (l2=)" in fitted.convergence
    assert re.match(r"not converged in \d+ steps: a parameter of factor", fitted.convergence)
    held = hd.learn.fit(GRID, data, l2=np.full(13, 0.01))
    assert held.converged and np.abs(held.parameters).max() < 8


NAMED = hd.FactorGraph(
    [2, 2, 2],
    [((0,), [0.0, 0.0]), ((0, 1), np.zeros((2, 2))), ((1, 2), np.zeros((2, 2)))],
    names=["rain", "sprinkler", "wet"],
    state_names=[["no", "yes"]] * 3,
)


def test_columns_match_variables_by_name():
    rng = np.random.default_rng(4)
    rows = (rng.random((400, 3)) < [0.2, 0.5, 0.8]).astype(int)
    by_position = hd.learn.fit(NAMED, rows, l2=0.1)
    columns = {name: np.array(["no", "yes"])[rows[:, i]] for i, name in enumerate(NAMED.names)}
    turned = {name: columns[name] for name in ("wet", "rain", "sprinkler")}
    by_name = hd.learn.fit(NAMED, turned, l2=0.1)
    np.testing.assert_array_equal(by_name.parameters, by_position.parameters)
    np.testing.assert_array_equal(NAMED.log_score(turned), NAMED.log_score(rows))
    with pytest.warns(hd.HerdedWarning, match="columns 'id' of data are no variables"):
        hd.learn.fit(NAMED, {**turned, "id": np.arange(400)}, l2=0.1)
    with pytest.raises(ModelError, match="a state of every variable, got none of variable 1 in"):
        NAMED.log_score({"rain": ["no"], "wet": ["no"]})


def test_spins_are_refused():
    spins = np.where(np.random.default_rng(5).random((50, 9)) < 0.5, -1, 1)
    with pytest.raises(ModelError, match="only -1 and 1, which look like spins: pass"):
        hd.learn.fit(hd.ising_grid(np.zeros((3, 3)), 0.1), spins)
