"""The numbers in a text, and the line of each of them.

Most text files of models are one long row of numbers, separated by white space. They are read into
one array; lines are counted only when an error needs one.

Files hold potentials, models their logarithms. log and exp do not invert each other exactly.
Reading takes the logarithm of a file's potential, so writing looks for a potential whose logarithm
is exactly the model's: reading it back then gives the same bits.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from herded.errors import FileError, ModelError
from herded.models.factor_graph import FactorGraph
from herded.system.atomic_files import FilePath, read_bytes
from herded.system.memory_limits import Size
from herded.system.numerics.exp_log import exp_array, log_array

BLOCK_BYTES = 2**20  # bytes whose words are in memory at once
WORD_PATTERN = re.compile(rb"\S+")
SPACE_PATTERN = re.compile(rb"\s")
BOM = b"\xef\xbb\xbf"
MAX_COUNT = 2**48  # largest count accepted; far above it floats lose whole numbers
MAX_EXP_ARGUMENT = 709.0  # the exp of larger arguments overflows
FLOAT_EPSILON = 2.0**-52  # the distance from 1 to the next float
NEIGHBOUR_ULPS = (1, -1, 2, -2)  # floats next to exp(x), the nearest first


@dataclass(frozen=True)
class NumberReader:
    """The numbers in the `text` of a file, from byte `start` on."""

    path: FilePath
    text: bytes
    start: int
    values: np.ndarray

    @classmethod
    def parse(cls, path: FilePath, text: bytes, start: int = 0) -> "NumberReader":
        """Parse all words from byte `start` on as floats."""
        parts = [np.empty(0)]
        for block in _blocks(text, start):
            values = parse_floats(block)
            if values is None:
                words = enumerate(block.split(), start=sum(map(len, parts)))
                k = next(k for k, word in words if parse_floats(word) is None)
                raise cls(path, text, start, parts[0]).wrong(
                    k, "a number", "write one that a float can hold, such as 0.25 or 1e-6"
                )
            parts.append(values)
        return cls(path, text, start, np.concatenate(parts))

    def __len__(self) -> int:
        return len(self.values)

    def wrong(self, k: int, expected: str, remedy: str) -> FileError:
        """Build the error for number `k` if it is not what was expected."""
        position, got = len(self.text.rstrip()), "the end of the file"
        word = next(itertools.islice(WORD_PATTERN.finditer(self.text, self.start), k, None), None)
        if word:
            position, got = word.start(), shown_bytes(word.group())
        return FileError(
            f"expected {expected}, got {got} in line {line_at(self.text, position)} of "
            f"{self.path}: {remedy}"
        )

    def whole(self, k: int) -> int | None:
        """Return number `k` if it exists and is a whole number from 0 to MAX_COUNT."""
        value = self.values[k] if k < len(self) else np.nan
        return int(value) if 0 <= value <= MAX_COUNT and value == int(value) else None

    def count(self, k: int, what: str, *, least: int = 0, most: int = MAX_COUNT) -> int:
        """Return number `k` as a whole number from `least` to `most`."""
        value = self.whole(k)
        if value is None or not least <= value <= most:
            bounds = f"{least} or more" if most == MAX_COUNT else f"from {least} to {most}"
            raise self.wrong(k, f"{what}, {bounds}", "correct the file, or get a new copy")
        return value

    def counts(self, slots: np.ndarray, what: str, *, least: int, most: int) -> np.ndarray:
        """Return the numbers in `slots`, which exist, as whole numbers from `least` to `most`."""
        values = self.values[slots]
        with np.errstate(invalid="ignore"):  # NaN fails the checks like other wrong numbers
            bad = ~((values >= least) & (values <= most)) | (values != np.floor(values))
        if bad.any():
            self.count(int(slots[np.argmax(bad)]), what, least=least, most=most)
        found: np.ndarray = values.astype(np.int64)
        return found


def read_text_bytes(path: FilePath, max_memory: Size | None = None) -> bytes:
    """Read the text of a file, without the byte order mark that some editors leave."""
    return read_bytes(path, max_memory).removeprefix(BOM)


def after_header(path: FilePath, text: bytes, known: tuple[bytes, ...], remedy: str) -> int:
    """Return the position after the first word, which must be one of the `known`."""
    word = re.match(rb"\s*(\S*)", text)
    assert word is not None
    if word[1].upper() not in known:
        names = " or ".join(name.decode() for name in known)
        got = shown_bytes(word[1]) if word[1] else "an empty file"
        raise FileError(f"expected {names} at the beginning of {path}, got {got}: {remedy}")
    return word.end()


def line_at(text: bytes | str, position: int) -> int:
    """Return the line, from 1, of a position in a text with any kind of line ends."""
    part = text[:position]
    before = part.encode() if isinstance(part, str) else part
    ends = before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")
    return ends + 1


def shown_bytes(word: bytes) -> str:
    """Quote the beginning of a word, whatever bytes it has."""
    text = word[:40].decode("utf-8", "backslashreplace")
    return repr(text + ("..." if len(word) > 40 else ""))


def _blocks(text: bytes, start: int) -> Iterator[bytes]:
    """Yield parts of the text from `start` on without cutting words."""
    while start < len(text):
        space = SPACE_PATTERN.search(text, start + BLOCK_BYTES)
        end = space.start() if space else len(text)
        yield text[start:end]
        start = end


def parse_floats(block: bytes) -> np.ndarray | None:
    """Parse words as floats, or return None if a float cannot hold one of them."""
    if b"_" in block:  # Python alone takes 1_000
        return None
    words = block.split()
    try:
        values = np.fromiter(map(float, words), np.float64, len(words))
    except ValueError:
        return None
    zeros = {words[k] for k in np.flatnonzero(values == 0).tolist()}
    return None if any(map(underflows, zeros)) else values


def underflows(zero: bytes) -> bool:
    """Return whether a word that became 0 is 1e-400 or the like, a value not to be lost."""
    mantissa = zero.lower().partition(b"e")[0]
    return bool(mantissa.strip(b"+-0."))


def log_of(potentials: np.ndarray) -> np.ndarray:
    """Take the logarithms of potentials, the same on every machine; -inf for 0."""
    return log_array(potentials)


def exp_of(log_potentials: np.ndarray) -> np.ndarray:
    """Find floats whose logarithm, as `log_of` computes it, is exactly the one given.

    Such a float exists if the given logarithm is that of a float. Otherwise the nearest float is
    taken, whose logarithm has a relative error of at most FLOAT_EPSILON if exp does not overflow.
    """
    best = exp_array(log_potentials)
    missed = np.flatnonzero(log_of(best) != log_potentials)
    for steps in NEIGHBOUR_ULPS:
        neighbour = best[missed]
        for _ in range(abs(steps)):
            neighbour = np.nextafter(neighbour, math.copysign(math.inf, steps))
        found = log_of(neighbour) == log_potentials[missed]
        best[missed[found]] = neighbour[found]
        missed = missed[~found]
    return best


def table_potentials(model: FactorGraph) -> np.ndarray:
    """Compute the potentials of all factors, one after another.

    A factor with potentials above 1e308 or below 1e-308 is multiplied by a constant: the
    distribution stays the same, its normalising constant changes.
    """
    result = exp_of(model.log_tables)
    lost = np.flatnonzero(_lost(result, model.log_tables))
    for f in np.unique(np.searchsorted(model.table_start, lost, side="right") - 1).tolist():
        table = slice(model.table_start[f], model.table_start[f + 1])
        result[table] = _shift_log_table(model.log_tables[table], f)
    return result


def _shift_log_table(log_table: np.ndarray, f: int) -> np.ndarray:
    high = log_table.max()
    moved = log_table - (high - MAX_EXP_ARGUMENT)
    result = exp_of(moved)
    if _lost(result, moved).any():
        low = log_table[np.isfinite(log_table)].min()
        raise ModelError(
            f"expected log-potentials within 1400 of each other, so that floats hold their exp, "
            f"got {low:.6g} and {high:.6g} in factor {f}: use save_model, which keeps logarithms, "
            "or -inf for what is impossible"
        )
    return result


def _lost(potentials: np.ndarray, log_potentials: np.ndarray) -> np.ndarray:
    """Return where the logarithm of a potential is off by more than rounding."""
    finite = np.isfinite(log_potentials)
    back = log_of(potentials)
    with np.errstate(invalid="ignore"):  # -inf of hard zeros, which stay exact
        off = np.abs(back - log_potentials)
    found: np.ndarray = finite & ~(off <= FLOAT_EPSILON * np.maximum(1.0, np.abs(log_potentials)))
    return found


# -- files of one or more samples
#
# Such files of the UAI competitions (evidence, marginals, best states) are rows of numbers that
# imply their own lengths: either one row alone, or the number of rows and then the rows. Both are
# read. If a file could be either, its line ends decide.

LengthRule = Callable[[NumberReader, int], int | None]
"""The length of the row that begins at number k, or None if there is no such row."""


def split_samples(numbers: NumberReader, length: LengthRule, what: str) -> list[slice]:
    """Return the slice of each row."""
    if not len(numbers):
        raise numbers.wrong(0, what, "write it there")
    rows = _rows(numbers, length)
    alone = length(numbers, 0) == len(numbers)
    if alone and (rows is None or not _one_per_line(numbers, rows)):
        return [slice(0, len(numbers))]
    if rows is None:
        raise FileError(
            f"expected {what}, or the number of samples and such a row for each of them, in "
            f"{numbers.path}, got {len(numbers)} numbers in neither form: correct the file, or get "
            "a new copy"
        )
    return rows


def one_sample(numbers: NumberReader, length: LengthRule, what: str) -> slice:
    """Return the slice of the only row."""
    rows = split_samples(numbers, length, what)
    if len(rows) != 1:
        raise FileError(f"expected one sample in {numbers.path}, got {len(rows)}: write one")
    return rows[0]


def _rows(numbers: NumberReader, length: LengthRule) -> list[slice] | None:
    """Return the rows of a file that begins with their number, or None if it does not."""
    rows, at = [], 1
    while at < len(numbers):
        size = length(numbers, at)
        if size is None or size > len(numbers) - at:
            return None
        rows.append(slice(at, at + size))
        at += size
    return rows if rows and len(rows) == numbers.whole(0) else None


def _one_per_line(numbers: NumberReader, rows: list[slice]) -> bool:
    """Return whether the count and each row have a line of their own."""
    lines = [len(line.split()) for line in numbers.text[numbers.start :].splitlines()]
    return [count for count in lines if count] == [1, *(row.stop - row.start for row in rows)]
