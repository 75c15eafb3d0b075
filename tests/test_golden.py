"""The bits of every layout and method are those on file."""

import json

import golden
import pytest

CASES = dict(golden.cases())
EXPECTED = json.loads(golden.FILE.read_text())


def test_every_run_is_on_file():
    assert list(CASES) == list(EXPECTED)


@pytest.mark.parametrize("label", CASES)
def test_bits(label):
    """If they changed, and rightly so: python -m tests.golden --write"""
    assert CASES[label]() == EXPECTED[label]
