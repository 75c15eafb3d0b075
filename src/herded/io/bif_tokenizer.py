"""The words, names and brackets of a BIF file, one after another."""

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from operator import not_

from herded.errors import FileError
from herded.io.number_parser import line_at, parse_floats, underflows
from herded.system.argument_checks import short_repr
from herded.system.atomic_files import FilePath

TOKEN_PATTERN = re.compile(
    r"""
      //[^\n\r]*                           # comments: an unclosed one runs to the end
    | /\*.*?(?:\*/|\Z)
    | "[^"]*(?:"|\Z)                       # names in quotes
    | property(?=[\s;])(?:[^;"]+|"[^"]*(?:"|\Z))*+(?:;|\Z)
    | [{}()\[\];]
    | [^\s{}()\[\];,|"/]++(?!/)            # most words, which have no slash: quicker than the next
    | (?:[^\s{}()\[\];,|"/]+|/(?![/*]))+   # other words: yes, <5, 12+, w/o, 0.25
    """,
    re.VERBOSE | re.DOTALL,
)
BRACKETS = frozenset("{}()[];")
# marks tokens that are not names, or names in quotes
NOT_A_NAME_PATTERN = re.compile(r'[{}()\[\];"]')


@dataclass(slots=True)
class TokenRow:
    """A row of numbers, and the index of the token, a semicolon, that ends it.

    A large net has a hundred thousand rows of a few numbers; NumPy's arrays would be slower.
    """

    values: "array[float]"
    end: int


class TokenReader:
    """The tokens of a file without comments, and the position of the reader."""

    def __init__(self, path: FilePath, text: bytes) -> None:
        try:
            self.text = text.decode()
        except UnicodeDecodeError as error:
            raise FileError(
                f"expected text in UTF-8, got other bytes in line {line_at(text, error.start)} of "
                f"{path}: convert the file"
            ) from error
        self.path = path
        self.at = 0
        self.tokens: list[str] = TOKEN_PATTERN.findall(self.text)
        if "//" in self.text or "/*" in self.text:
            self.tokens = [token for token in self.tokens if not _is_comment(token)]
        if self.tokens and _is_open(self.tokens[-1]):
            last = len(self.tokens) - 1
            raise self.wrong("an end of this comment, name or property", "close it", last)

    @property
    def left(self) -> bool:
        """Whether tokens are left."""
        return self.at < len(self.tokens)

    def wrong(self, expected: str, remedy: str, at: int | None = None) -> FileError:
        """Build the error for the last token, or token `at`, if it is not what was expected."""
        at = self.at - 1 if at is None else at
        got = short_repr(self.tokens[at]) if at < len(self.tokens) else "the end of the file"
        return FileError(
            f"expected {expected}, got {got} in line {self.line(at)} of {self.path}: {remedy}"
        )

    def line(self, at: int) -> int:
        """Return the line of token `at`."""
        matches = (m for m in TOKEN_PATTERN.finditer(self.text) if not _is_comment(m.group()))
        match = next(islice(matches, at, None), None)
        return line_at(self.text, match.start() if match else len(self.text.rstrip()))

    def next(self) -> str:
        """Read the next token; "" at the end."""
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def expect(self, *words: str) -> None:
        """Read tokens that must be these words."""
        for word in words:
            if self.next() != word:
                raise self.wrong(repr(word), "correct the file")

    def name(self, what: str) -> str:
        """Read the next token as a name, without its quotes."""
        token = self.next()
        if not token or token in BRACKETS or is_property(token):
            raise self.wrong(what, "name it")
        return token[1:-1] if token.startswith('"') else token

    def names(self, what: str, closing: str) -> list[str]:
        """Read names up to a bracket."""
        end = self._first(closing)
        plain = self.tokens[self.at : end]
        if end < len(self.tokens) and not NOT_A_NAME_PATTERN.search("".join(plain)):
            self.at = end + 1
            return plain
        found = []
        while self.left and self.tokens[self.at] != closing:
            found.append(self.name(what))
        self.expect(closing)
        return found

    def statements(self) -> Iterator[str]:
        """Yield the first word of each statement within braces; properties are skipped."""
        self.expect("{")
        while (word := self.next()) != "}":
            if not word:
                raise self.wrong("'}'", "close the block")
            if not is_property(word):
                yield word

    def numbers(self) -> "TokenRow":
        """Read the tokens up to the next semicolon as numbers."""
        begin, self.at = self.at, self._first(";")
        words = self.tokens[begin : self.at]
        values = _values(words)
        if values is None:
            bad = next(k for k, word in enumerate(words) if parse_floats(word.encode()) is None)
            raise self.wrong("a probability or ';'", "write a number such as 0.25", begin + bad)
        self.expect(";")
        return TokenRow(values, self.at - 1)

    def _first(self, token: str) -> int:
        """Return where a token comes next, or the end."""
        try:
            return self.tokens.index(token, self.at)
        except ValueError:
            return len(self.tokens)


def _values(words: Sequence[str]) -> "array[float] | None":
    """Return the words as numbers, or None if one of them is not a number."""
    text = "".join(words)
    if "_" in text or not text.isascii():  # Python alone takes 1_000, and digits of any script
        return None
    try:
        values = array("d", map(float, words))
    except ValueError:
        return None
    zeros = set(compress(words, map(not_, values)))
    return None if any(underflows(zero.encode()) for zero in zeros) else values


def is_property(token: str) -> bool:
    """Return whether a token is a whole property, up to its semicolon."""
    return token.startswith("property") and token.endswith(";")


def _is_comment(token: str) -> bool:
    return token.startswith(("//", "/*")) and not _is_open(token)


def _is_open(token: str) -> bool:
    """Return whether the file ends within a comment, a name in quotes or a property."""
    if token.startswith("/*"):
        return len(token) < 4 or not token.endswith("*/")
    if token.startswith('"'):
        return len(token) < 2 or not token.endswith('"')
    return token.startswith("property") and token[8:9].isspace() and not token.endswith(";")
