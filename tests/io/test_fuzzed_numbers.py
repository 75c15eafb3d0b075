"""Files whose numbers were changed: an answer or one sentence, never a NaN."""

from tests.io.fuzz_numbers import fuzz


def test_changed_numbers(tmp_path):
    found = fuzz(100, 3, tmp_path)
    assert found["answered"] > 50
