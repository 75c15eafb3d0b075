"""Evidence in the format of the UAI inference competitions: a count, then pairs of numbers.

    2  0 1  7 0

means that variable 0 is 1 and variable 7 is 0. Files with several samples begin with their number.
"""

from collections.abc import Mapping

import numpy as np

from herded.errors import FileError, ModelError
from herded.io.number_parser import (
    MAX_COUNT,
    NumberReader,
    parse_floats,
    read_text_bytes,
    shown_bytes,
    split_samples,
)
from herded.models.evidence import IndexEvidence
from herded.system.argument_checks import as_integer, short_repr
from herded.system.atomic_files import FilePath, write_bytes

MODEL_KEYWORDS = (b"MARKOV", b"BAYES")  # the first words of model files
EVIDENCE_ROW_TEXT = "the number of observed variables and a pair of variable and value for each"


def read_evidence(path: FilePath) -> dict[int, int]:
    """Read the evidence in a UAI .evid file, for `model.given`.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    dict
        From variables to their states.

    Raises
    ------
    FileError
        If the file cannot be read, or has several samples (use `read_evidences`).

    Examples
    --------
    >>> with open("model.evid", "w") as file:
    ...     _ = file.write("2  0 1  7 0")
    >>> hd.io.read_evidence("model.evid")
    {0: 1, 7: 0}
    """
    samples = read_evidences(path)
    if len(samples) != 1:
        raise FileError(
            f"expected the evidence of one sample in {path}, got {len(samples)}: use "
            "read_evidences, which reads all of them"
        )
    return samples[0]


def read_evidences(path: FilePath) -> list[dict[int, int]]:
    r"""Read the evidence of every sample in a UAI .evid file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    list of dict
        From variables to their states, for each sample.

    Raises
    ------
    FileError
        If the file cannot be read.

    Examples
    --------
    >>> with open("model.evid", "w") as file:
    ...     _ = file.write("2\n1 0 1\n2 0 0 3 1")
    >>> hd.io.read_evidences("model.evid")
    [{0: 1}, {0: 0, 3: 1}]
    """
    text = read_text_bytes(path)
    _check_begin(path, text)
    numbers = NumberReader.parse(path, text)
    rows = split_samples(numbers, _length, EVIDENCE_ROW_TEXT)
    return [_read_pairs(numbers, row.start) for row in rows]


def _check_begin(path: FilePath, text: bytes) -> None:
    """Raise if the file is something else, such as a model, with a message that says so."""
    word = (text.split(None, 1) or [b"0"])[0]
    if parse_floats(word) is None:
        got = (
            "a UAI model"
            if word.upper() in MODEL_KEYWORDS
            else f"a file that begins with {shown_bytes(word)}"
        )
        raise FileError(
            f"expected evidence, which begins with a number, in {path}, got {got}: use a UAI "
            ".evid file"
        )


def write_evidence(evidence: Mapping[int, int], path: FilePath) -> None:
    r"""Write evidence as a UAI .evid file of one line.

    Parameters
    ----------
    evidence : mapping
        From variables (indices) to their states.
    path : path-like

    Raises
    ------
    ModelError
        If a variable or a state is not a whole number of 0 or more.
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> hd.io.write_evidence({0: 1, 7: 0}, "model.evid")
    >>> from pathlib import Path
    >>> Path("model.evid").read_text()
    '2 0 1 7 0\n'
    """
    if not isinstance(evidence, Mapping):
        raise ModelError(f"expected evidence as {{variable: value}}, got {short_repr(evidence)}")
    pairs = [(_index("a variable", i), _index("a value", v)) for i, v in evidence.items()]
    words = [len(pairs), *(word for pair in pairs for word in pair)]
    write_bytes(path, [" ".join(map(str, words)).encode() + b"\n"])


def _index(what: str, value: object) -> int:
    number = as_integer(what, value)
    if number < 0:
        raise ModelError(f"expected {what} as 0 or more, got {number}")
    return number


def _length(numbers: NumberReader, at: int) -> int | None:
    count = numbers.whole(at)
    return None if count is None else 1 + 2 * count


def _read_pairs(numbers: NumberReader, at: int) -> dict[int, int]:
    """Read the pairs after number `at`, which is their checked count."""
    found = IndexEvidence()
    slots = at + 1 + np.arange(2 * int(numbers.values[at]))
    words = numbers.counts(slots, "a variable or its value", least=0, most=MAX_COUNT).tolist()
    for slot, i, value in zip(slots[::2].tolist(), words[::2], words[1::2], strict=True):
        if i in found:
            raise numbers.wrong(slot, "each variable once", "drop the second")
        found[i] = value
    return found
