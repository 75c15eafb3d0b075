"""Atoms of words: hashes of a word, its lower case, its shape, its beginnings and its ends.

A text has far fewer types of words than words, so atoms are computed once per type. Features are
combinations of atoms, made in `features`. Hashing follows FNV-1a over code points, 64 bits.
"""

import numpy as np

from herded.errors import CorpusError
from herded.system.compilation.jit import jit

ATOMS = ("word", "lower", "shape", "short shape", "head 1", "head 2", "head 3", "head 4", "tail 1",
         "tail 2", "tail 3", "tail 4", "kind")  # fmt: skip
WORD_ATOM, LOWER_ATOM, SHAPE_ATOM, SHORT_SHAPE_ATOM = range(4)
HEAD_ATOM, TAIL_ATOM, MAX_AFFIX_CHARS = 4, 8, 4  # head and tail of 1 to 4 characters
KIND_ATOM = 12  # of the first character
# the types of the padding words before and after a sentence
PADDING_BEFORE, PADDING_AFTER = 0, 1

OTHER_CHARACTER, UPPER_CASE, LOWER_CASE, DIGIT, LETTER = range(5)  # kinds of characters
UNKNOWN_KIND = 255
MAX_SHAPE_RUN = 3  # a shape distinguishes "XXX" from "X", and no more

FNV_OFFSET = np.uint64(0xCBF29CE484222325)
FNV_PRIME = np.uint64(0x100000001B3)


def _short_shape(*kinds: int) -> np.uint64:
    shape = int(FNV_OFFSET)
    for kind in kinds:
        shape = (shape ^ kind) * int(FNV_PRIME) % 2**64
    return np.uint64(shape)


SMALL_LETTERS = _short_shape(LOWER_CASE)  # the short shapes of "word", "Word" and "WORD"
CAPITALISED = _short_shape(UPPER_CASE, LOWER_CASE)
CAPITALS = _short_shape(UPPER_CASE)


class Vocabulary:
    """Numbers and atoms of the types of words; it is emptied at `limit` types."""

    def __init__(self, limit: int = 2**19) -> None:
        self.limit = limit
        self._kinds = np.full(0x110000, UNKNOWN_KIND, np.uint8)
        self._lower = np.arange(0x110000, dtype=np.uint32)
        self._forget()

    def _forget(self) -> None:
        self.numbers: dict[str, int] = {}
        self._atoms = np.zeros((1024, len(ATOMS)), np.uint64)
        self._atoms[PADDING_BEFORE], self._atoms[PADDING_AFTER] = 1, 2
        self._size = 2

    @property
    def atoms(self) -> np.ndarray:
        """The atoms of all types, (types, atoms)."""
        return self._atoms[: self._size]

    def encode(self, words: list[str]) -> np.ndarray:
        """Return the type of each word; new types get their atoms."""
        if self._size > self.limit:
            self._forget()
        numbers = self.numbers
        try:
            new = list(dict.fromkeys(word for word in words if word not in numbers))
        except TypeError:  # a word that cannot be a key is not a string
            new = words
        if new:
            self._add(new)
        return np.fromiter(map(numbers.__getitem__, words), np.int32, len(words))

    def _add(self, words: list[str]) -> None:
        for word in words:
            if not isinstance(word, str):
                raise CorpusError(f"expected words as strings, got {word!r:.80}")
        last = self._size + len(words)
        if last > len(self._atoms):
            larger = np.zeros((max(last, 2 * len(self._atoms)), len(ATOMS)), np.uint64)
            larger[: self._size] = self._atoms[: self._size]
            self._atoms = larger
        codes = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
        starts = np.zeros(len(words) + 1, np.int64)
        np.cumsum([len(word) for word in words], out=starts[1:])
        self._learn_characters(codes)
        lower, kinds = self._lower[codes], self._kinds[codes]
        word_atoms(codes, lower, kinds, starts, self._atoms[self._size : last])
        self.numbers.update(zip(words, range(self._size, last), strict=True))
        self._size = last

    def _learn_characters(self, codes: np.ndarray) -> None:
        for code in np.unique(codes[self._kinds[codes] == UNKNOWN_KIND]):
            character = chr(code)
            lower = character.lower()
            self._kinds[code] = _kind(character)
            self._lower[code] = ord(lower) if len(lower) == 1 else code


def _kind(character: str) -> int:
    if character.isdigit():
        return DIGIT
    if not character.isalpha():
        return OTHER_CHARACTER
    return UPPER_CASE if character.isupper() else LOWER_CASE if character.islower() else LETTER


@jit
def word_atoms(codes, lower, kinds, starts, atoms):
    """Fill `atoms` (words, 13) for words laid end to end."""
    for t in range(len(starts) - 1):
        first, last = starts[t], starts[t + 1]
        word = small = shape = short = FNV_OFFSET
        run, before = 0, np.uint64(0)
        for c in range(first, last):
            word = (word ^ np.uint64(codes[c])) * FNV_PRIME
            small = (small ^ _plain(lower[c], kinds[c])) * FNV_PRIME
            # A mark is its own shape; a letter or a digit has the shape of its kind.
            mark = np.uint64(kinds[c])
            if kinds[c] == OTHER_CHARACTER:
                mark = np.uint64(codes[c]) + np.uint64(8)
            run = run + 1 if mark == before else 1
            if run == 1:
                short = (short ^ mark) * FNV_PRIME
            if run <= MAX_SHAPE_RUN:
                shape = (shape ^ mark) * FNV_PRIME
            before = mark
        (
            atoms[t, WORD_ATOM],
            atoms[t, LOWER_ATOM],
            atoms[t, SHAPE_ATOM],
            atoms[t, SHORT_SHAPE_ATOM],
        ) = (
            word,
            small,
            shape,
            short,
        )
        atoms[t, KIND_ATOM] = kinds[first] if first < last else OTHER_CHARACTER
        head = tail = FNV_OFFSET
        for k in range(MAX_AFFIX_CHARS):
            if k < last - first:
                head = (head ^ _plain(lower[first + k], kinds[first + k])) * FNV_PRIME
                tail = (tail ^ _plain(lower[last - 1 - k], kinds[last - 1 - k])) * FNV_PRIME
            atoms[t, HEAD_ATOM + k], atoms[t, TAIL_ATOM + k] = head, tail


@jit
def _plain(lower, kind):
    """Convert a character to lower case, with all digits equal."""
    return np.uint64(48) if kind == DIGIT else np.uint64(lower)
