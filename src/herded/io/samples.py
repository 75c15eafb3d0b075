"""Files of one or more samples, each a row of numbers from which its length follows.

Such files of the UAI competitions (evidence, marginals, best states) come in two forms: one row
alone, or the number of rows and then the rows. Both are read. Where a file could be either, its
line ends decide.
"""

from collections.abc import Callable

from herded.errors import FileError
from herded.io.numbers import Numbers

Length = Callable[[Numbers, int], int | None]
"""How many numbers the row that begins at number k has, or None if there is no such row."""


def split_samples(numbers: Numbers, length: Length, what: str) -> list[slice]:
    """Where each row stands."""
    if not len(numbers):
        raise numbers.wrong(0, what, "write it there")
    rows = _rows(numbers, length)
    alone = length(numbers, 0) == len(numbers)
    if alone and (rows is None or not _one_per_line(numbers, rows)):
        return [slice(0, len(numbers))]
    if rows is None:
        raise FileError(
            f"expected {what}, or the number of samples and such a row for each, in "
            f"{numbers.path}, got {len(numbers)} numbers that are neither: correct the file, or "
            "get it again"
        )
    return rows


def one_sample(numbers: Numbers, length: Length, what: str) -> slice:
    """Where the only row stands."""
    rows = split_samples(numbers, length, what)
    if len(rows) != 1:
        raise FileError(f"expected one sample in {numbers.path}, got {len(rows)}: write one")
    return rows[0]


def _rows(numbers: Numbers, length: Length) -> list[slice] | None:
    """The rows of a file that begins with their number, or None if it does not."""
    rows, at = [], 1
    while at < len(numbers):
        size = length(numbers, at)
        if size is None or size > len(numbers) - at:
            return None
        rows.append(slice(at, at + size))
        at += size
    return rows if rows and len(rows) == numbers.whole(0) else None


def _one_per_line(numbers: Numbers, rows: list[slice]) -> bool:
    """Whether the count and each row have a line of their own."""
    lines = [len(line.split()) for line in numbers.text[numbers.start :].splitlines()]
    return [count for count in lines if count] == [1, *(row.stop - row.start for row in rows)]
