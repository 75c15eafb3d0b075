"""UAI evidence, marginals, normalising constants and best states: read, written, refused."""

import gzip
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.errors import FileError, HerdedError, ModelError


def file_with(tmp_path, text):
    path = tmp_path / "file"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(read, path, message):
    with pytest.raises(HerdedError) as caught:
        read(path)
    said = str(caught.value).replace(str(path), "PATH")
    assert message in said and said.startswith("expected ") and "\n" not in said


# -- evidence ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", [{}]),
        ("0\n", [{}]),
        ("2 0 1 7 0", [{0: 1, 7: 0}]),
        ("2\n0 1\n7 0\n", [{0: 1, 7: 0}]),
        ("2\r0\r1\r7\r0\r", [{0: 1, 7: 0}]),
        ("1 3 2", [{3: 2}]),
        ("1\n3 2", [{3: 2}]),
        ("1\n0", [{}]),
        ("1\n1 3 2\n", [{3: 2}]),
        ("1 2 0 1 7 0", [{0: 1, 7: 0}]),
        ("3\n0\n1 2 2\n2 0 1 1 0\n", [{}, {2: 2}, {0: 1, 1: 0}]),
        ("2 1 0 1 1 0 0", [{0: 1}, {0: 0}]),
        # five numbers that could be either: the lines tell
        ("2 0 1 3 1", [{0: 1, 3: 1}]),
        ("2\n0 1\n3 1", [{0: 1, 3: 1}]),
        ("2\n0\n1 3 1", [{}, {3: 1}]),
        ("2\n\n 0 \r\n1 3 1\n\n", [{}, {3: 1}]),
    ],
)
def test_reads_evidence(tmp_path, text, expected):
    path = file_with(tmp_path, text)
    assert hd.io.read_evidences(path) == expected
    if len(expected) == 1:
        assert hd.io.read_evidence(path) == expected[0]
    else:
        refused(
            hd.io.read_evidence, path, f"of one sample in PATH, got {len(expected)}: use read_ev"
        )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the number of observed variables and a pair"),
        ("\n \n", "got the end of the file"),
        ("2 0 1 7", "got 4 numbers in neither form"),
        ("1 0 1 7 0", "got 5 numbers in neither form"),
        ("999999999999", "got 1 numbers in neither form"),
        ("-1", "neither"),
        ("1.5 0 1", "neither"),
        ("nan", "neither"),
        ("2 0 1 0 1", "expected each variable once, got '0' in line 1 of PATH: drop the second"),
        ("1\n-3 1", "expected a variable or its value, 0 or more, got '-3' in line 2 of PATH"),
        ("1\n3 0.5", "expected a variable or its value, 0 or more, got '0.5' in line 2 of PATH"),
        ("MARKOV 1 2 0", "begins with a number, in PATH, got a UAI model: use a UAI .evid file"),
        ("Bayes\n1 2 0", "begins with a number, in PATH, got a UAI model: use a UAI .evid file"),
        ("network a {}", "begins with a number, in PATH, got a file that begins with 'network'"),
        ("1 three 1", "expected a number, got 'three' in line 1 of PATH"),
    ],
)
def test_refuses_evidence(tmp_path, text, message):
    refused(hd.io.read_evidences, file_with(tmp_path, text), message)


@given(st.dictionaries(st.integers(0, 2**40), st.integers(0, 2**40)))
def test_evidence_comes_back(tmp_path_factory, evidence):
    path = tmp_path_factory.mktemp("evidence") / "file"
    hd.io.write_evidence(evidence, path)
    assert hd.io.read_evidence(path) == evidence
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert hd.io.read_evidence(path) == evidence


@pytest.mark.parametrize("evidence", [[1], {"a": 1}, {-1: 0}, {0: 0.5}, None])
def test_wrong_evidence_is_not_written(tmp_path, evidence):
    with pytest.raises(ModelError, match="expected"):
        hd.io.write_evidence(evidence, tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


# -- marginals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "MAR\n3 2 0.1 0.9 2 0.3 0.7 3 0.2 0.2 0.6\n",
        "mar 3 2 0.1 0.9 2 0.3 0.7 3 0.2 0.2 0.6",
        "MAR\r\n1\r\n3 2 0.1 0.9 2 0.3 0.7 3 0.2 0.2 0.6\r\n",
        "MAR\n-BEGIN-\n1\n3 2 0.1 0.9 2 0.3 0.7 3 0.2 0.2 0.6",
        "MAR\n1 2 0.5 0.5\n-BEGIN-\nrubbish\n-BEGIN-\n3 2 0.1 0.9 2 0.3 0.7 3 0.2 0.2 0.6",
    ],
)
def test_reads_marginals(tmp_path, text):
    found = hd.io.read_mar(file_with(tmp_path, text))
    assert found.tolist() == [[0.1, 0.9, 0], [0.3, 0.7, 0], [0.2, 0.2, 0.6]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected MAR at the beginning of PATH, got an empty file"),
        ("MARKOV", "expected MAR at the beginning of PATH, got 'MARKOV'"),
        (
            "MAR",
            "number of variables and their marginals, got the end of the file in line 1 of PATH",
        ),
        ("MAR 2 2 0.1 0.9", "got 4 numbers in neither form"),
        ("MAR 1 2 0.1", "neither"),
        ("MAR 1 0", "neither"),
        ("MAR 1 2.5 0.1 0.9", "neither"),
        ("MAR 99999999999 2 0.1 0.9", "neither"),
        ("MAR 1 99999999999 0.1 0.9", "neither"),
        ("MAR 1 2 0.1 0.9 0.3", "neither"),
        ("MAR\n1 2\n0.1 -0.9", "expected a probability, got '-0.9' in line 3 of PATH"),
        ("MAR\n1 2\n0.1 nan", "expected a probability, got 'nan' in line 3 of PATH"),
        ("MAR\n1 2\n0.1 1.9", "expected a probability, got '1.9' in line 3 of PATH"),
        ("MAR\n2\n1 1 1\n1 1 1\n", "expected one sample in PATH, got 2"),
    ],
)
def test_refuses_marginals(tmp_path, text, message):
    refused(hd.io.read_mar, file_with(tmp_path, text), message)


def test_wide_marginals_take_no_more_than_memory_has(tmp_path, monkeypatch):
    monkeypatch.setattr("herded.system.memory_limits.free_memory_bytes", lambda: 2**28)
    rows = " ".join(["1 1"] * 10_000)
    path = file_with(tmp_path, f"MAR 10001 {rows} 9999 {' 0' * 9999}")
    refused(
        hd.io.read_mar, path, "expected the marginals of PATH of at most 128.0 MiB, but it needs"
    )


cards = st.lists(st.integers(1, 4), min_size=1, max_size=5)


@given(cards, st.integers(0, 2**32 - 1))
def test_marginals_come_back(tmp_path_factory, cards, seed):
    rng = np.random.default_rng(seed)
    path = tmp_path_factory.mktemp("mar") / "file"
    marginals = rng.random((len(cards), max(cards)))
    marginals[np.arange(max(cards)) >= np.array(cards)[:, None]] = 0
    hd.io.write_mar(marginals, path, cards)
    assert (hd.io.read_mar(path) == marginals).all()
    words = path.read_text().split()
    assert words[:2] == ["MAR", str(len(cards))] and len(words) == 2 + len(cards) + sum(cards)


def test_marginals_of_a_picture(tmp_path):
    result = hd.infer(hd.ising_grid(np.ones((2, 3)), 0.5), hd.Exact())
    hd.io.write_mar(result.marginals, tmp_path / "file")
    assert (hd.io.read_mar(tmp_path / "file") == result.marginals.reshape(6, 2)).all()


@pytest.mark.parametrize(
    ("marginals", "cardinalities"),
    [
        ([0.5, 0.5], None),
        ([[]], None),
        ([[0.5, np.nan]], None),
        ([[0.5, -0.5]], None),
        ([[0.5, 1.5]], None),
        ([["a", "b"]], None),
        ([[0.5, 0.5]], [3]),
        ([[0.5, 0.5]], [0]),
        ([[0.5, 0.5]], [2, 2]),
        ([[0.5, 0.5]], "ab"),
    ],
)
def test_wrong_marginals_are_not_written(tmp_path, marginals, cardinalities):
    with pytest.raises(ModelError, match="expected"):
        hd.io.write_mar(marginals, tmp_path / "file", cardinalities)
    assert list(tmp_path.iterdir()) == []


# -- the normalising constant ------------------------------------------------------------------


@pytest.mark.parametrize("text", ["PR\n-0.2008\n", "PR 1 -0.2008", "PR\n5\n-BEGIN-\n1\n-0.2008"])
def test_reads_log_z(tmp_path, text):
    found = hd.io.read_pr(file_with(tmp_path, text))
    assert found == pytest.approx(-0.2008 * math.log(10), rel=1e-15)


@given(st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False))
def test_log_z_comes_back_to_the_bit(tmp_path_factory, log_z):
    path = tmp_path_factory.mktemp("pr") / "file"
    hd.io.write_pr(log_z, path)
    assert hd.io.read_pr(path) == log_z
    assert float(path.read_text().split()[1]) == pytest.approx(log_z / math.log(10))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MAR 1", "expected PR at the beginning of PATH, got 'MAR'"),
        ("PR\n", "log10 of the normalising constant, got the end of the file in line 1 of PATH"),
        (
            "PR\n-inf",
            "expected a finite log10 of the normalising constant, got '-inf' in line 2 of PATH",
        ),
        (
            "PR\n1e308",
            "expected a finite log10 of the normalising constant, got '1e308' in line 2 of PATH",
        ),
        ("PR\nnan", "expected a finite log10"),
        ("PR\n2 3 4", "expected one sample in PATH, got 2"),
        ("PR\n3 4 5", "got 3 numbers in neither form"),
        ("PR\nabc", "expected a number, got 'abc' in line 2 of PATH"),
    ],
)
def test_refuses_log_z(tmp_path, text, message):
    refused(hd.io.read_pr, file_with(tmp_path, text), message)


@pytest.mark.parametrize("log_z", [math.inf, math.nan, "a", [1.0]])
def test_wrong_log_z_is_not_written(tmp_path, log_z):
    with pytest.raises(ModelError, match="expected"):
        hd.io.write_pr(log_z, tmp_path / "file")


# -- the best state ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["MPE\n3 0 1 2\n", "MPE 1 3 0 1 2", "MAP 3 0 1 2", "MPE\n1\n3 0 1 2\n", "mpe 3 0 1 2.0"],
)
def test_reads_states(tmp_path, text):
    found = hd.io.read_mpe(file_with(tmp_path, text))
    assert found.tolist() == [0, 1, 2] and found.dtype == np.int64


@given(st.lists(st.integers(0, 2**40), min_size=1))
def test_states_come_back(tmp_path_factory, state):
    path = tmp_path_factory.mktemp("mpe") / "file"
    hd.io.write_mpe(state, path)
    assert hd.io.read_mpe(path).tolist() == state


def test_state_of_a_picture(tmp_path):
    best = hd.infer(hd.ising_grid(np.ones((2, 3)), 0.5), hd.Exact()).best
    hd.io.write_mpe(best.state, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "MPE\n6 1 1 1 1 1 1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PR 1", "expected MPE or MAP at the beginning of PATH, got 'PR'"),
        (
            "MPE",
            "number of variables and a state for each, got the end of the file in line 1 of PATH",
        ),
        ("MPE 3 0 1", "got 3 numbers in neither form"),
        ("MPE\n2 0 -1", "expected a state, 0 or more, got '-1' in line 2 of PATH"),
        ("MPE\n2 0 0.5", "expected a state, 0 or more, got '0.5' in line 2 of PATH"),
        ("MPE 99999999999 0", "neither"),
        ("MPE 2 1 1 1 1", "expected one sample in PATH, got 2"),
    ],
)
def test_refuses_states(tmp_path, text, message):
    refused(hd.io.read_mpe, file_with(tmp_path, text), message)


@pytest.mark.parametrize("state", [[-1], [0.5], [], "abc"])
def test_wrong_states_are_not_written(tmp_path, state):
    with pytest.raises(ModelError, match="expected"):
        hd.io.write_mpe(state, tmp_path / "file")


def test_reading_is_refused_by_a_file_error(tmp_path):
    with pytest.raises(FileError, match="No such file"):
        hd.io.read_mar(tmp_path / "nothing")
