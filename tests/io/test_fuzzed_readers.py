"""Mutated files: every reader gives a model or one of our errors, within bounds of memory."""

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.io.fuzz_readers import check, mutate, mutate_bytes, mutate_words, seeds
from tests.support.example_budget import examples

FILES = seeds()
READERS = pytest.mark.parametrize("reader", FILES)


@READERS
def test_valid_files_are_read(tmp_path, reader):
    for data in FILES[reader]:
        (tmp_path / "file").write_bytes(data)
        if reader != "read_model" or data.startswith((b"PK", b"MARKOV", b"BAYES", b"<?xml")):
            assert check(reader, tmp_path / "file")


@READERS
@examples(200)
@given(st.data(), st.integers(0, 2**32 - 1))
def test_mutated_files(tmp_path_factory, reader, data, seed):
    path = tmp_path_factory.getbasetemp() / "mutated"
    path.write_bytes(mutate(data.draw(st.sampled_from(FILES[reader])), random.Random(seed)))
    tracemalloc.start()
    try:
        check(reader, path)
        assert tracemalloc.get_traced_memory()[1] < 2**27
    finally:
        tracemalloc.stop()


@READERS
@examples(100)
@given(
    st.binary(max_size=200)
    | st.text(max_size=100).map(lambda text: text.encode("utf-8", "replace"))
)
def test_garbage(tmp_path_factory, reader, data):
    path = tmp_path_factory.getbasetemp() / "garbage"
    path.write_bytes(data)
    check(reader, path)


@READERS
def test_every_truncation(tmp_path, reader):
    path = tmp_path / "file"
    for data in FILES[reader][:2]:
        for end in range(0, len(data), max(1, len(data) // 200)):
            path.write_bytes(data[:end])
            check(reader, path)


def test_mutations_change_files_and_depend_on_the_seed_alone():
    data = FILES["read_bif"][0]
    for change in (mutate, mutate_words, mutate_bytes):
        results = [change(data, random.Random(seed)) for seed in range(20)]
        assert results == [change(data, random.Random(seed)) for seed in range(20)]
        assert len(set(results)) > 15
