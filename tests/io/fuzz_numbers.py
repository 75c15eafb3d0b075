"""Files whose numbers were changed and that still parse: inference gives an answer or one sentence.

    python -m tests.io.fuzz_numbers --count 5000 --seed 1

Numbers of valid files are replaced by others, tiny, huge, zero or equal; the structure stays. So
many that are still read as a model are answered, each by one of several methods: no traceback, no
NaN, no probability outside of 0 to 1, and nothing that takes long.
"""

import argparse
import collections
import random
import re
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

import herded as hd
from tests.io.fuzz_readers import BIF, UAI, XMLBIF

NUMBERS = [
    *(
        b"0",
        b"1",
        b"0.5",
        b"1e-300",
        b"1e-320",
        b"5e-324",
        b"1e-999",
        b"1e300",
        b"1.7e308",
        b"1e16",
    ),
    *(b"2", b"3", b"0.1", b"1e-9", b"0.9999999999999999", b"1e9", b"123456789", b"7e-5", b"1e308"),
]
NUMBER = re.compile(rb"(?<![\w.<-])(\d*\.?\d+(?:e-?\d+)?)(?![\w.+>-])")
LOOP = b"""MARKOV
4
2 3 2 2
5
2 0 1
2 1 2
2 2 3
2 3 0
1 2

6
 1 .5 2 .25 1 3
6
 0 1 2 1 4 1e-3
4
 1 0 0.5 1
4
 2 1 1 2
2
 .3 .7
"""
FILES = [(".uai", UAI), (".uai", LOOP), (".bif", BIF), (".xmlbif", XMLBIF)]
WEIGHTS = (9, 9, 1, 1)  # most other numbers in tables of Bayes nets do not sum to 1: refused
METHODS = ("auto", "exact", "bp", "mean-field", "gibbs", "herd", "herded")
SLOW = 20.0  # CPU seconds of one answer, compilers included


def mutated(text: bytes, dice: random.Random) -> bytes:
    """Some numbers of a file replaced, mostly late ones: tables come after the structure."""
    places = [m.span(1) for m in NUMBER.finditer(text)]
    changed = text
    for start, end in sorted(dice.sample(places, dice.randint(1, 6)), reverse=True):
        if start > len(text) * 0.35 or dice.random() < 0.05:
            changed = changed[:start] + dice.choice(NUMBERS) + changed[end:]
    return changed


def read(path: Path) -> hd.FactorGraph | None:
    """A model, or None where there is none in the file."""
    try:
        return hd.read_model(path)
    except hd.HerdedError:
        return None


def answered(model: hd.FactorGraph, method: str) -> str:
    """What came of it: "answered" or the name of one of our errors; others are raised."""
    try:
        sweeps = {} if method in ("auto", "exact") else {"sweeps": 20}
        result = hd.infer(model, method, max_memory=2**26, progress=False, **sweeps)
    except hd.HerdedError as error:
        return type(error).__name__
    marginals = result.marginals
    assert np.isfinite(marginals).all(), "NaN"
    assert marginals.min() >= 0 and marginals.max() <= 1 + 1e-9, "no probability"
    np.testing.assert_allclose(marginals.sum(axis=-1), 1.0, atol=1e-6)
    assert not np.isnan(result.kept.get("log_z") or 0.0), "log Z"
    return "answered"


def fuzz(count: int, seed: int, folder: Path) -> collections.Counter:
    """What came of so many files that are models, and how many are none ("refused").

    Raises at the first that breaks something, which stays there.
    """
    dice = random.Random(seed)
    found: collections.Counter = collections.Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", hd.HerdedWarning)
        while found.total() - found["refused"] < count:
            ((suffix, text),) = dice.choices(FILES, WEIGHTS)
            path = folder / f"changed{suffix}"
            path.write_bytes(mutated(text, dice))
            method = dice.choice(METHODS)
            began = time.process_time()
            model = read(path)
            found["refused" if model is None else answered(model, method)] += 1
            assert time.process_time() - began < SLOW, f"{path} took long by {method}"
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.io.fuzz_numbers")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        print(dict(fuzz(options.count, options.seed, folder)))
    except Exception:
        traceback.print_exc()
        print(f"the file is in {folder}")
        raise SystemExit(1) from None
