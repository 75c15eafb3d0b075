"""UAI models: what is read, what is written, and one sentence for whatever is wrong."""

import contextlib
import gzip
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.errors import FileError, HerdedError, ModelError
from herded.io.number_parser import exp_of, log_of
from herded.io.uai import read_uai, write_uai
from herded.system.numerics.exp_log import log, log_array
from tests.support.example_budget import ALL, examples
from tests.support.strategies import models
from tests.support.timeouts import ending

UAI = Path(__file__).parents[3] / "shared" / "data" / "uai"
NAMES = sorted(path.name for path in UAI.glob("*/")) if UAI.exists() else []

GRID = """MARKOV
3
2 2 3
3
1 0
2 0 1
2 1 2

2
 0.436 0.564

4
 0.128 0.872
 0.920 0.080

6
 0.210 0.333 0.457
 0.811 0.000 0.189
"""


def parse(tmp_path, text):
    path = tmp_path / "model.uai"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_uai(path)


def naive_uai(text):
    """The obvious reader: one word after another."""
    words = iter(text.split()[1:])
    cards = [int(next(words)) for _ in range(int(next(words)))]
    scopes = [[int(next(words)) for _ in range(int(next(words)))] for _ in range(int(next(words)))]
    factors = []
    for scope in scopes:
        values = [float(next(words)) for _ in range(int(next(words)))]
        logs = [log(v) for v in values]
        factors.append((scope, np.array(logs).reshape([cards[i] for i in scope])))
    return hd.FactorGraph(cards, factors)


def same(one, other):
    assert one.content_hash == other.content_hash
    assert one.log_tables.tobytes() == other.log_tables.tobytes()


# -- reading -----------------------------------------------------------------------------------


def test_reads_a_model(tmp_path):
    model = parse(tmp_path, GRID)
    assert model.cardinalities.tolist() == [2, 2, 3]
    assert [model.factor(f)[0].tolist() for f in range(3)] == [[0], [0, 1], [1, 2]]
    assert model.factor(1)[1].tolist() == log_array([[0.128, 0.872], [0.92, 0.08]]).tolist()
    assert model.factor(2)[1][1, 1] == -np.inf
    assert model.names is None and model.evidence.tolist() == [-1, -1, -1]
    same(model, naive_uai(GRID))


@pytest.mark.parametrize(
    "text",
    [
        GRID.replace("MARKOV", "BAYES"),
        GRID.replace("MARKOV", "markov"),
        GRID.replace("\n", "\r\n"),
        GRID.replace("\n", "\r"),
        GRID.replace("\n", "\r\n", 4).replace("1 0\n", "1 0\r"),
        " ".join(GRID.split()),
        "\n".join(GRID.split()) + "\n\n\n",
        "\t\v\f ".join(GRID.split()),
        "\ufeff" + GRID,
        GRID.replace("0.128", "1.28E-1").replace("0.08", "+.08").replace("0.000", "-0e5"),
        GRID.replace("\n3\n", "\n3.0\n"),
    ],
)
def test_any_white_space_and_any_way_to_write_a_number(tmp_path, text):
    same(parse(tmp_path, text), naive_uai(GRID))


def test_gzip(tmp_path):
    same(parse(tmp_path, gzip.compress(GRID.encode())), naive_uai(GRID))


def test_factors_without_variables_and_models_without_factors(tmp_path):
    model = parse(tmp_path, "MARKOV 2 2 3 3 0 1 1 0  1 0.5  3 1 2 3  1 4")
    assert model.n_factors == 3
    assert model.factor(0)[1] == log(0.5) and model.factor(2)[1] == log(4)
    none = parse(tmp_path, "MARKOV\n2\n2 3\n0\n")
    assert none.n_factors == 0 and none.cardinalities.tolist() == [2, 3]


@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_of_words(tmp_path, monkeypatch, block):
    monkeypatch.setattr("herded.io.number_parser.BLOCK_BYTES", block)
    same(parse(tmp_path, GRID), naive_uai(GRID))
    with pytest.raises(FileError, match=r"expected a number, got '0\.92O' in line 14 of "):
        parse(tmp_path, GRID.replace("0.920", "0.92O"))


@given(models(evidence=False))
def test_reads_as_the_naive_reader_does(tmp_path_factory, model):
    path = tmp_path_factory.mktemp("uai") / "model.uai"
    write_uai(model, path)
    same(read_uai(path), naive_uai(path.read_text()))


# -- writing -----------------------------------------------------------------------------------


@given(models(evidence=False))
def test_round_trip(tmp_path_factory, model):
    """Near to the bit the first time, to the bit ever after."""
    folder = tmp_path_factory.mktemp("uai")
    write_uai(model, folder / "one")
    first = read_uai(folder / "one")
    assert first.factor_variables.tolist() == model.factor_variables.tolist()
    np.testing.assert_allclose(first.log_tables, model.log_tables, rtol=2.3e-16, atol=2.3e-16)
    write_uai(first, folder / "two")
    same(read_uai(folder / "two"), first)
    assert (folder / "one").read_bytes() == (folder / "two").read_bytes()


potentials = st.floats(0, sys.float_info.max)


@examples(300)
@given(st.lists(potentials | st.floats(0, 2) | st.floats(0.999999, 1.000001), min_size=1))
def test_logarithms_of_floats_come_back_to_the_bit(values):
    logs = log_of(np.array(values))
    assert logs.tolist() == [log(v) for v in values]
    assert log_of(exp_of(logs)).tobytes() == logs.tobytes()


def test_the_ends_of_what_floats_hold(tmp_path):
    text = f"MARKOV 1 5 1 1 0 5 5e-324 2.3e-308 1 {sys.float_info.max!r} 0"
    model = parse(tmp_path, text)
    write_uai(model, tmp_path / "again.uai")
    same(read_uai(tmp_path / "again.uai"), model)


def test_what_floats_do_not_hold_is_scaled(tmp_path):
    path = tmp_path / "model.uai"
    for low, high in [(800.0, 1e4), (-5000.0, -4000.0), (-730.0, 600.0), (-900.0, 400.0)]:
        table = [low if high - low < 1400 else high - 1, high, -np.inf]
        other = [log(0.25), log(0.7)]
        model = hd.FactorGraph([3, 2], [((0,), table), ((1,), other)])
        write_uai(model, path)
        found = read_uai(path)
        assert np.isneginf(found.log_tables[2])
        assert found.log_tables[3:].tolist() == other
        np.testing.assert_allclose(np.diff(found.log_tables[:2]), table[1] - table[0], rtol=1e-13)


def test_what_no_scale_can_hold_is_refused(tmp_path):
    model = hd.FactorGraph([2, 2], [((0,), [0.0, 1.0]), ((1,), [-1000.0, 1000.0])])
    with pytest.raises(ModelError, match=r"got -1000 and 1000 in factor 1: use save_model"):
        write_uai(model, tmp_path / "model.uai")
    assert list(tmp_path.iterdir()) == []


def test_a_lattice_and_its_evidence(tmp_path):
    lattice = hd.ising_grid(np.ones((2, 3)), 0.5).given({(1, 1): 1, 0: 0})
    write_uai(lattice, tmp_path / "grid.uai")
    model = hd.io.read_uai(tmp_path / "grid.uai")
    assert (model.evidence == -1).all()
    model = model.given(hd.io.read_evidence(tmp_path / "grid.uai.evid"))
    assert model.evidence.tolist() == lattice.evidence.tolist()
    np.testing.assert_allclose(model.log_tables, lattice.as_factor_graph().log_tables, atol=2e-16)


def test_only_models_are_written(tmp_path):
    with pytest.raises(ModelError, match="expected a model, got 5: build one"):
        write_uai(5, tmp_path / "model.uai")


# -- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected MARKOV or BAYES at the beginning of PATH, got an empty file"),
        ("LIMID 3", "expected MARKOV or BAYES at the beginning of PATH, got 'LIMID'"),
        (
            "MARKOV\n2\n2 2\n1\n2 0 1\n3\n1 1 1",
            "in factor 0, one for each joint state of its variables, got '3' in line 6 of PATH",
        ),
        ("MARKOV", "the number of variables, 1 or more, got the end of the file in line 1 of PATH"),
        ("MARKOV\n\n0", "the number of variables, 1 or more, got '0' in line 3 of PATH"),
        ("MARKOV\n-3", "the number of variables, 1 or more, got '-3' in line 2 of PATH"),
        ("MARKOV\n2.5", "the number of variables, 1 or more, got '2.5' in line 2 of PATH"),
        ("MARKOV\nnan", "the number of variables, 1 or more, got 'nan' in line 2 of PATH"),
        (
            "MARKOV\n99999999999\n2 2",
            "than the numbers that follow (2), got '99999999999' in line 2 of PATH",
        ),
        ("MARKOV\n1e99\n2 2", "the number of variables, 1 or more, got '1e99' in line 2 of PATH"),
        ("MARKOV\n2\n2", "follow (1), got '2' in line 2 of PATH: the file is truncated"),
        ("MARKOV\n2\n2 0\n0", "cardinality of a variable, 1 or more, got '0' in line 3 of PATH"),
        ("MARKOV\n2\n2 x\n0", "expected a number, got 'x' in line 3 of PATH"),
        ("MARKOV\n2\n2 1_0\n0", "expected a number, got '1_0' in line 3 of PATH"),
        ("MARKOV\n1\n1000000000000\n1\n1 0\n2\n1 1", "expected 1000000000000 potentials in fac"),
        (
            "MARKOV\n2\n2 2",
            "the number of factors, 0 or more, got the end of the file in line 3 of PATH",
        ),
        ("MARKOV\n2\n2 2\n-1", "the number of factors, 0 or more, got '-1' in line 4 of PATH"),
        ("MARKOV\n2\n2 2\n999999999999", "that follow (0), got '999999999999' in line 4 of PATH"),
        (
            "MARKOV\n2\n2 2\n1\n3 0 1 2",
            "the number of variables of factor 0, from 0 to 2, got '3' in line 5",
        ),
        ("MARKOV\n2\n2 2\n1\n2 0", "that follow (1), got '2' in line 5 of PATH"),
        (
            "MARKOV\n2\n2 2\n1\n2 0 2\n4\n1 1 1 1",
            "a variable, from 0 to 1, got '2' in line 5 of PATH",
        ),
        (
            "MARKOV\n2\n2 2\n1\n2 0 -1\n4\n1 1 1 1",
            "a variable, from 0 to 1, got '-1' in line 5 of PATH",
        ),
        (
            "MARKOV\n2\n2 2\n1\n2 1 1\n4\n1 1 1 1",
            "expected each variable once in a factor, got '1' in line 5",
        ),
        ("MARKOV\n2\n2 2\n1\n2 1 0\n3\n1 1 1", "expected 4 potentials in factor 0, one for each"),
        (
            "MARKOV\n2\n2 2\n1\n2 1 0\n4\n1 1 1\n",
            "1 more numbers, beginning in factor 0, got the end of the file in line 7",
        ),
        (
            "MARKOV\n2\n2 2\n1\n2 1 0",
            "5 more numbers, beginning in factor 0, got the end of the file in line 5 of PATH",
        ),
        (
            "MARKOV\n1\n2\n1\n1 0\n2\n1 1\n7",
            "expected the end of the file after 1 tables, got '7' in line 8",
        ),
        ("MARKOV\n1\n2\n0\n7", "expected the end of the file after 0 tables, got '7' in line 5"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1 -1", "finite and 0 or more, got '-1' in line 7 of PATH"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1 inf", "finite and 0 or more, got 'inf' in line 7 of PATH"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1 NaN", "finite and 0 or more, got 'NaN' in line 7 of PATH"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1 1e999", "finite and 0 or more, got '1e999' in line 7 of PATH"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1 1e-999", "expected a number, got '1e-999' in line 7 of PATH"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n0 0", "factor 0 over variables (0,) is -inf everywhere"),
        ("MARKOV 1 2 2 1 0 1 0 2 1 0 2 0 1", "unary factors of variable 0 forbid all of its"),
        ("MARKOV\n1\n2\n0\n# a comment", "expected a number, got '#' in line 5 of PATH"),
        (
            b"MARKOV\r\n1\r\n2\r\n\xff\xfe\x00",
            "expected a number, got '\\\\xff\\\\xfe\\x00' in line 4 of PATH",
        ),
        ("MARKOV\n" + "9" * 500, "got '9999999999999999999999999999999999999999...'"),
        (
            " ".join(["MARKOV 40", "2 " * 40, "1 40", *map(str, range(40)), "1 1"]),
            "1099511627776 p",
        ),
        (" ".join(["MARKOV 99", "99 " * 99, "1 99", *map(str, range(99)), "1 1"]), "e+197 potent"),
    ],
)
def test_refused_in_one_sentence(tmp_path, text, message):
    with pytest.raises(FileError) as caught:
        parse(tmp_path, text)
    said = str(caught.value).replace(str(tmp_path / "model.uai"), "PATH")
    assert message in said
    assert said.startswith("expected ") and "\n" not in said and len(said) < 250


def test_absurd_counts_take_no_memory(tmp_path):
    texts = [
        "MARKOV\n99999999999\n2 2",
        "MARKOV\n1\n281474976710656\n0",
        "MARKOV\n2\n2 2\n200000000000\n1 0",
        "MARKOV\n1\n100000000000\n1\n1 0\n100000000000\n1 1",
    ]
    tracemalloc.start()
    for text in texts:
        with contextlib.suppress(HerdedError):
            parse(tmp_path, text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**21


# -- size --------------------------------------------------------------------------------------


def test_a_large_grid_is_read_and_written(tmp_path):
    rng = np.random.default_rng(0)
    right, down = rng.normal(size=(100, 99)), rng.normal(size=(99, 100))
    path = tmp_path / "grid.uai"
    write_uai(hd.ising_grid(rng.normal(size=(100, 100)), (right, down)), path)
    with ending():
        model = read_uai(path)
    assert model.n_variables == 10_000 and model.n_factors == 29_800


# -- the competition's models ------------------------------------------------------------------

# Exact takes long for these, or more than `MEMORY`.
MEMORY = 2**29
TOO_LARGE = {
    *("linkage_11", "linkage_16", "linkage_22"),
    *("Grids_15", "Grids_17", "ObjectDetection_12", "ObjectDetection_18"),
    *("Promedus_11", "Promedus_12"),
}


def one_of_each(names):
    """Of every family the first that elimination solves, or the first."""
    ordered = sorted(names, key=lambda name: (name in TOO_LARGE, name), reverse=True)
    return sorted({name.rpartition("_")[0]: name for name in ordered}.values())


@pytest.mark.skipif(not NAMES, reason="the shared data are not part of the repository")
@pytest.mark.parametrize("name", NAMES if ALL else one_of_each(NAMES))
def test_competition_models(tmp_path, name):
    path = UAI / name / f"{name}.uai"
    model = read_uai(path)
    same(model, naive_uai(path.read_text()))
    write_uai(model, tmp_path / "again.uai")
    same(read_uai(tmp_path / "again.uai"), model)
    evidence = hd.io.read_evidence(f"{path}.evid")
    given = model.given(evidence)
    answer = Path(f"{path}.MAR")
    if not answer.exists() or name in TOO_LARGE:
        return
    result = hd.infer(given, hd.Exact(), keep=[hd.Marginals()], max_memory=MEMORY)
    np.testing.assert_allclose(result.marginals, hd.io.read_mar(answer), atol=1e-5)
    hd.io.write_mar(result.marginals, tmp_path / "our.MAR", model.cardinalities)
    assert (hd.io.read_mar(tmp_path / "our.MAR") == result.marginals).all()
