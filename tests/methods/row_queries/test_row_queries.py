"""Exact answers for rows of evidence, against one run of `Exact` for each row."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.models.evidence import IndexEvidence
from tests.conformance.twins.enumerated_joint import naive_joint
from tests.support.example_budget import examples
from tests.support.strategies import models

INF = np.inf
SPRINKLER = hd.FactorGraph(
    [2, 2, 2],
    [
        ((0,), np.log([0.8, 0.2])),
        ((0, 1), np.log([[0.6, 0.4], [0.99, 0.01]])),
        ((0, 1, 2), np.log([[[1.0, 1e-300], [0.1, 0.9]], [[0.2, 0.8], [0.01, 0.99]]])),
    ],
    names=["rain", "sprinkler", "grass"],
    state_names=[["no", "yes"], ["off", "on"], ["dry", "wet"]],
)


def conditional(joint, known, target):
    """P(target | known) from the joint distribution; None where the evidence is impossible."""
    for i, state in known.items():
        mask = np.zeros(joint.shape[i])
        mask[state] = 1.0
        joint = joint * mask.reshape([-1 if a == i else 1 for a in range(joint.ndim)])
    total = joint.sum()
    rest = tuple(a for a in range(joint.ndim) if a not in target)
    table = joint.sum(axis=rest)
    kept = sorted(target)
    return total, table.transpose([kept.index(i) for i in target]) / total if total else None


@examples(60)
@given(models(), st.data())
def test_every_row_is_conditional_of_the_joint(model, data):
    model = hd.infer(model, hd.Exact()).model  # refuses the infeasible, as below
    n = model.n_variables
    joint = naive_joint(model)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    rows = rng.integers(-1, model.cardinalities, size=(rng.integers(1, 90), n))
    rows[:, rng.random(n) < 0.3] = -1
    rows = np.where(model.evidence >= 0, -1, rows)
    targets = [(int(i),) for i in rng.permutation(n)[:2]]
    if n > 1:
        targets.append(tuple(int(i) for i in rng.permutation(n)[:2]))
    columns = {i: rows[:, i].tolist() for i in range(n)}
    columns = {i: [None if k < 0 else k for k in column] for i, column in columns.items()}
    if model.names is not None:
        columns = {model.names[i]: column for i, column in columns.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hd.HerdedWarning)
        found = hd.query(model, columns, [*targets, "log_probability", "map"])
    tables = list(found.probabilities.values())
    for r, row in enumerate(rows.tolist()):
        known = {i: k for i, k in enumerate(row) if k >= 0}
        total, _ = conditional(joint, known, (0,))
        for target, table in zip(dict.fromkeys(targets), tables, strict=False):
            expected = conditional(joint, known, target)[1]
            if expected is None:
                assert np.isnan(table[r]).all()
            else:
                np.testing.assert_allclose(table[r], expected, atol=1e-10)
        if total == 0:
            assert r in found.impossible_rows and (found.best_states[r] == -1).all()
        else:
            best = joint[tuple(found.best_states[r])]
            assert all(found.best_states[r][i] == k for i, k in known.items())
            index = tuple(known.get(i, slice(None)) for i in range(n))
            np.testing.assert_allclose(best, joint[index].max(), rtol=1e-9)


def test_log_probability_and_joint_by_name():
    frame = pd.DataFrame({"grass": ["wet", "dry", None], "rain": ["yes", np.nan, pd.NA]})
    found = hd.query(SPRINKLER, frame, [("sprinkler", "rain"), "log_probability"])
    for r, known in enumerate(({"grass": "wet", "rain": "yes"}, {"grass": "dry"}, {})):
        exact = hd.infer(SPRINKLER.given(known), hd.Exact())
        np.testing.assert_allclose(found.log_probability[r], exact.log_z, atol=1e-12)
    pairs = found["sprinkler", "rain"]
    assert pairs.shape == (3, 2, 2)
    np.testing.assert_allclose(pairs[0, :, 0], 0.0)
    np.testing.assert_allclose(pairs.sum(axis=(1, 2)), 1.0)
    table = found.to_pandas()
    assert table.columns.names == ["target", "state"]
    assert table["sprinkler, rain", "on, yes"][0] == pairs[0, 1, 1]


def test_evidence_far_below_the_smallest_float_is_exact():
    """A chain whose evidence has probability 1e-1200, and answers that it decides."""
    n = 40
    step = np.array([[0.0, -30.0], [-60.0, 0.0]])
    factors = [((i, i + 1), step) for i in range(n)] + [((0,), [0.0, -1400.0])]
    model = hd.FactorGraph([2] * (n + 1), factors)
    column = {n: [0, 1], n - 1: [1, 0], 3: [None, 1]}
    found = hd.query(model, column, [0, "log_probability"])
    for r in range(2):
        known = {i: states[r] for i, states in column.items() if states[r] is not None}
        exact = hd.infer(model.given(known), hd.Exact())
        np.testing.assert_allclose(found.log_probability[r], exact.log_z, rtol=1e-12)
        np.testing.assert_allclose(found[0][r], exact.marginals[0], rtol=1e-9, atol=1e-300)


def test_states_that_underflow_count_where_zeros_forbid_the_others():
    """Probabilities of e^-900 beside 1 are lost in floats; a later zero makes them matter."""
    model = hd.FactorGraph(
        [3, 2, 3],
        [
            ((0,), [0.0, -900.0, -901.0]),
            ((0, 1), [[0.0, -INF], [-1.0, 0.0], [0.0, -1.0]]),
            ((0, 2), np.zeros((3, 3))),
        ],
    )
    found = hd.query(model, {1: [1, 0]}, [0, 2, "log_probability"])
    expected = np.exp([0.0, -2.0]) / np.exp([0.0, -2.0]).sum()
    np.testing.assert_allclose(found[0][0], [0.0, *expected], atol=1e-12)
    np.testing.assert_allclose(found[2], 1 / 3)
    total = np.log(3) - 900.0 + np.log1p(np.exp(-2.0))
    np.testing.assert_allclose(found.log_probability[0], total)


def test_impossible_rows_are_named():
    must = np.array([[0.0, -INF], [-INF, 0.0]])
    model = hd.FactorGraph([2, 2], [((0, 1), must)], names=["a", "b"])
    rows = {"a": [0, 0, 1], "b": [0, 1, 1]}
    with pytest.warns(hd.HerdedWarning, match="the evidence of row 1 has probability 0"):
        found = hd.query(model, rows, ["a"])
    assert found.impossible_rows.tolist() == [1]
    assert np.isnan(found["a"][1]).all() and (found["a"][0] == [1, 0]).all()
    frame = pd.DataFrame(rows, index=["x", "y", "z"])
    with pytest.raises(hd.InfeasibleError, match="row y has probability 0"):
        hd.query(model, frame, "a", errors="raise")


def test_soft_evidence_is_a_factor():
    likelihood = {"wet": 0.9, "dry": 0.3}
    found = hd.query(SPRINKLER, {"grass": likelihood}, "rain")["rain"]
    factors = [SPRINKLER.factor(f) for f in range(3)] + [((2,), np.log([0.3, 0.9]))]
    expected = hd.infer(hd.FactorGraph([2] * 3, factors), hd.Exact()).marginals[0]
    np.testing.assert_allclose(found, [expected], atol=1e-12)
    rows = {"grass": np.array([[0.3, 0.9], [1.0, 0.0], [0.0, 2.0]]), "rain": [None, None, "no"]}
    found = hd.query(SPRINKLER, rows, "sprinkler")["sprinkler"]
    dry = hd.query(SPRINKLER, {"grass": ["dry", "wet"], "rain": [None, "no"]}, "sprinkler")
    np.testing.assert_allclose(found[1:], dry["sprinkler"], atol=1e-12)
    with pytest.raises(hd.ModelError, match="soft evidence of 2 rows in given, got 3"):
        hd.query(SPRINKLER, {"grass": rows["grass"], "rain": ["no", "yes"]}, "sprinkler")
    with pytest.raises(hd.ModelError, match="likelihoods of 'grass' as numbers of 0 or more"):
        hd.query(SPRINKLER, {"grass": {"wet": -1.0}}, "rain")


def test_the_evidence_of_the_model_counts_and_may_not_be_contradicted():
    seen = SPRINKLER.given({"grass": "wet"})
    found = hd.query(seen, {"rain": ["yes", "no"]}, ["sprinkler", "grass"])
    for r, state in enumerate(("yes", "no")):
        exact = hd.infer(seen.given({"rain": state}), hd.Exact()).marginals
        np.testing.assert_allclose(found["sprinkler"][r], exact[1], atol=1e-12)
    assert (found["grass"] == [0, 1]).all()
    with pytest.raises(hd.ModelError, match="'grass' as the model's evidence has it, 'wet', got"):
        hd.query(seen, {"grass": ["wet", "dry"]}, "rain")


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("threads", [1, 3])
def test_chunks_and_threads_change_nothing(threads, missing):
    rng = np.random.default_rng(3)
    model = hd.ising_grid(rng.normal(size=(4, 5)), 0.7)
    graph = hd.FactorGraph.from_arrays(
        model.cardinalities,
        *(getattr(model.as_factor_graph(), name) for name in ("factor_start", "factor_variables")),
        model.as_factor_graph().log_tables,
        names=[f"v{i}" for i in range(20)],
    )
    rows = rng.integers(0, 2, size=(700, 8))
    frame = pd.DataFrame(rows, columns=[f"v{2 * i}" for i in range(8)]).astype(object)
    frame = frame.mask(rng.random(frame.shape) < missing)
    found = hd.query(graph, frame, ["v1", "v19", ("v3", "v4")], threads=threads)
    small = hd.query(graph, frame, ["v1", "v19", ("v3", "v4")], threads=1, max_memory="1M")
    np.testing.assert_allclose(found.to_numpy(), small.to_numpy(), atol=1e-12)
    again = hd.query(graph, frame, ["v1", "v19", ("v3", "v4")], threads=1)
    assert (found.to_numpy() == again.to_numpy()).all()
    for r in (0, 350, 699):
        known = {n: k for n, k in frame.iloc[r].items() if k == k}
        exact = hd.infer(graph.given(known), hd.Exact()).marginals
        np.testing.assert_allclose(found["v1"][r], exact[1], atol=1e-10)


def test_all_free_variables_by_default():
    found = hd.query(SPRINKLER, {"grass": ["wet", "dry"]})
    assert list(found.probabilities) == ["rain", "sprinkler"]
    alone = hd.query(SPRINKLER)
    assert len(alone) == 1 and list(alone.probabilities) == ["rain", "sprinkler", "grass"]
    np.testing.assert_allclose(alone["rain"], [[0.8, 0.2]], atol=1e-12)


def test_one_state_by_index_where_names_could_mean_another():
    net = hd.FactorGraph([2, 2], [((0, 1), np.log([[0.9, 0.1], [0.2, 0.8]]))], names=["a", "b"],
                         state_names=[["TRUE", "FALSE"]] * 2)  # fmt: skip
    truth = hd.query(net, {"a": [True, False]}, "b")["b"]
    np.testing.assert_allclose(truth, [[0.9, 0.1], [0.2, 0.8]], atol=1e-12)
    assert net.given({"a": True}).evidence.tolist() == [0, -1]
    assert net.given(IndexEvidence({0: 1})).evidence.tolist() == [1, -1]
    with pytest.raises(hd.ModelError, match=r"one of \('TRUE', 'FALSE'\) for variable 'a', got 1"):
        net.given({"a": 1})


@pytest.mark.parametrize(
    ("match", "given", "targets", "options"),
    [
        ("named after variables", {"rian": ["no"]}, "grass", {}),
        ("did you mean 'rain'", {"rian": ["no"]}, "grass", {}),
        ("expected .*'no', 'yes'.*got 'maybe' at row 1 in column 'rain'",
         {"rain": ["no", "maybe"]}, "grass", {}),
        ("name of a variable", {"rain": ["no"]}, "gras", {}),
        ("distinct variables", {"rain": ["no"]}, [("grass", "grass")], {}),
        ("columns of one length", {"rain": ["no"], "grass": ["wet", "dry"]}, "sprinkler", {}),
        ("a column for each variable", {"rain": ["no"], "grass": "wet"}, "sprinkler", {}),
        ('errors="nan"', {}, "grass", {"errors": "ignore"}),
        ("threads", {}, "grass", {"threads": 0}),
        ("max_memory", {}, "grass", {"max_memory": -1}),
        ("matched with the variables by position", [[0, 1]], "grass", {}),
    ],
)  # fmt: skip
def test_refused(match, given, targets, options):
    with pytest.raises(hd.HerdedError, match=match):
        hd.query(SPRINKLER, given, targets, **options)


def test_answers_that_do_not_fit_are_refused_before_they_are_computed():
    with pytest.raises(hd.MemoryLimitError, match="rows of them need"):
        hd.query(SPRINKLER, {"rain": ["no"] * 100_000}, max_memory=10_000)


@pytest.mark.parametrize(
    ("error", "steps", "first"),
    [(1e-140, 8, 3), (1e-30, 30, 11), (1e-3, 250, 120), (0.1, 800, 360)],
)
def test_evidence_that_turns_round_is_repeated_with_logarithms(error, steps, first):
    """Sensors first say "a" so often that the products for "b" underflow, and then "b"."""
    sensor, stay = (
        np.log([[1 - error, error], [error, 1 - error]]),
        np.array([[0, -INF], [-INF, 0]]),
    )
    factors = [((0,), np.log([0.5, 0.5]))]
    factors += [((i, i + 1), stay) for i in range(steps - 1)]
    factors += [((i, steps + i), sensor) for i in range(steps)]
    model = hd.FactorGraph([2] * (2 * steps), factors)
    known = {steps + i: int(i >= first) for i in range(steps)}
    found = hd.query(model, known, [0, steps - 1])
    a, b = first * np.log1p(-error), (steps - first) * np.log1p(-error)
    scores = np.array([a + (steps - first) * np.log(error), b + first * np.log(error)])
    total = np.logaddexp(*scores)
    np.testing.assert_allclose(found.log_probability, total + np.log(0.5), rtol=1e-9)
    for end in (0, steps - 1):
        np.testing.assert_allclose(found[end][0], np.exp(scores - total), atol=1e-9)


def test_variables_without_factors_count_their_states():
    model = hd.FactorGraph(
        [2, 2, 3], [((0, 1), np.log([[0.9, 0.1], [0.2, 0.8]])), ((2,), np.log([0.5, 0.25, 0.25]))]
    )
    for targets in ("log_probability", None, [1], [(0, 2)]):
        found = hd.query(model, None, targets).log_probability
        np.testing.assert_allclose(found, hd.infer(model, hd.Exact()).log_z, atol=1e-12)


def test_soft_evidence_of_a_known_variable_weighs_its_state():
    seen = SPRINKLER.given({"rain": "yes"})
    found = hd.query(seen, {"rain": {"yes": 0.5, "no": 1.0}}, ["grass"])
    exact = hd.infer(seen, hd.Exact())
    np.testing.assert_allclose(found["grass"], exact.marginals[2:], atol=1e-12)
    np.testing.assert_allclose(found.log_probability, exact.log_z + np.log(0.5), atol=1e-12)
    single = hd.FactorGraph([1, 2], [((0, 1), np.log([[0.3, 0.7]]))])
    found = hd.query(single, {0: {0: 0.5}}, 1)
    np.testing.assert_allclose(found.log_probability, np.log(0.5), atol=1e-12)


def test_evidence_by_index():
    model = hd.FactorGraph(
        [3, 2], [((0, 1), np.log([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]))],
        state_names=[["1", "2", "3"], ["x", "y"]],
    )  # fmt: skip
    by_index = IndexEvidence({0: 1})
    for evidence in (by_index, by_index.copy(), by_index | {}):
        np.testing.assert_allclose(hd.query(model, evidence, 1)[1], [[0.5, 0.5]])
    np.testing.assert_allclose(hd.query(model, {0: 1}, 1)[1], [[0.9, 0.1]])


def test_joints_and_best_states_of_pixels():
    grid = hd.ising_grid(np.array([[0.4, -0.2], [0.1, 0.3]]), 0.5)
    found = hd.query(grid, None, [((0, 0), (0, 1)), (1, 1), "map"])
    joint = naive_joint(grid)
    np.testing.assert_allclose(found[(0, 0), (0, 1)][0], joint.sum(axis=(2, 3)), atol=1e-12)
    np.testing.assert_allclose(found[1, 1][0], joint.sum(axis=(0, 1, 2)), atol=1e-12)
    assert found.to_pandas().shape == (1, 4 + 2 + 4)
    single = hd.query(SPRINKLER, None, [("rain",)])
    assert single.to_pandas().shape == (1, 2)


def test_memory_stays_within_its_limit():
    steps, rows = 100, 4000
    step = np.log([[0.9, 0.1], [0.2, 0.8]])
    factors = [((0,), np.log([0.5, 0.5]))] + [((i, i + 1), step) for i in range(steps - 1)]
    factors += [((i, steps + i), step) for i in range(steps)]
    model = hd.FactorGraph([2] * (2 * steps), factors)
    rng = np.random.default_rng(0)
    seen = {steps + i: rng.integers(0, 2, rows) for i in range(steps)}
    hd.query(model, {n: column[:2] for n, column in seen.items()}, [0])
    limit = 8 * 2**20
    tracemalloc.start()
    found = hd.query(model, seen, [0], max_memory=limit)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    evidence = rows * steps * 8  # the rows that were read
    assert peak < limit + 2 * evidence
    np.testing.assert_allclose(hd.query(model, seen, [0])[0], found[0], atol=1e-12)
