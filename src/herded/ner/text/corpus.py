"""Corpora on disk, read one document at a time: columns (CoNLL), IE-ER, and plain text.

Files are UTF-8, gzipped or not; bytes that are not UTF-8 are replaced.
"""

import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from herded.errors import CorpusError
from herded.ner.text.documents import Document, Sentence
from herded.ner.text.ieer import read_ieer
from herded.ner.text.labels import OUTSIDE, rename
from herded.ner.text.text_files import file_stem, files_of, open_text
from herded.ner.text.tokenizer import sentences
from herded.system.atomic_files import FilePath

CORPUS_FORMATS = ("conll", "ieer", "text")

_KIND = r"[A-Za-z](?:[\w.-]*\w)?"
_LABEL = re.compile(rf"(?:[BIES]-)?{_KIND}")
_SURE_LABEL = re.compile(rf"O|[BIES]-{_KIND}")  # would hardly end a remark or a line of prose
_BEGINNING = re.compile(r"-DOCSTART-(?!\S)|# docno\s+(\S*)|# newdoc\b(?:\s+id\s*=)?\s*(\S*)")
_BLANKS = re.compile(r"[ \t]+")
_DOCUMENT = re.compile(r"^[ \t]*<DOC>", re.MULTILINE)
_COLUMNED = frozenset({".conll", ".bio", ".iob", ".iob2"})
_SAMPLE = 1 << 16  # characters read to recognise a format


def read_conll(
    path: FilePath, *, column: int = -1, mapping: Mapping[str, str] | None = None
) -> Iterator[Document]:
    r"""Read a file with a word and its label per line, and a blank line after a sentence.

    "-DOCSTART-", "# docno NAME" and "# newdoc id = NAME" begin documents.

    Parameters
    ----------
    path : path-like
        UTF-8, gzipped or not. Columns are split by tabs or, in a line without any, by spaces.
    column : int
        The column of the label; the word is the first.
    mapping : mapping, optional
        New names for kinds, such as `herded.ner.text.labels.ENTITY_CLASSES`; kinds that it lacks
        become "O".

    Yields
    ------
    Document
        One at a time.

    Raises
    ------
    CorpusError
        If the file cannot be read, or a line has no label.

    Examples
    --------
    >>> with open("story.conll", "w") as file:
    ...     _ = file.write("Tim B-PER\nRoth I-PER\nlaughed O\n")
    >>> document = next(hd.ner.read_conll("story.conll", mapping={"PER": "PERSON"}))
    >>> document.sentences[0].labels
    ('B-PERSON', 'I-PERSON', 'O')
    """
    name, count = "", 1
    parts: list[Sentence] = []
    with open_text(path) as file:
        for beginning, words, labels in _labelled_sentences(file, path, column):
            if beginning is not None:
                if parts:
                    yield Document(name or f"{file_stem(path)}:{count}", tuple(parts))
                    parts.clear()
                    count += 1
                name = beginning
            kept = labels if mapping is None else rename(labels, mapping)
            parts.append(Sentence(tuple(words), tuple(map(sys.intern, kept))))
    if not parts:
        raise CorpusError(f"expected words and labels in {path}, got a file without any")
    yield Document(name or f"{file_stem(path)}:{count}", tuple(parts))


def _labelled_sentences(
    lines: Iterable[str], path: FilePath, column: int
) -> Iterator[tuple[str | None, list[str], list[str]]]:
    """Yield words and labels of each sentence, and the document's name ("" if it has none)."""
    beginning: str | None = None
    words: list[str] = []
    labels: list[str] = []
    width = 0  # columns of the last line
    for number, line in enumerate(itertools.chain(lines, ["\n"]), 1):
        mark = _BEGINNING.match(line) if line[0] in "-#" else None
        if mark or line.isspace():
            if words:
                yield beginning, words, labels
                beginning, words, labels = None, [], []
            if mark:
                beginning = mark[1] or mark[2] or ""
            continue
        columns = _columns(line)
        if line.startswith("# ") and _is_remark(columns, column, width):
            continue
        width = len(columns)
        word, label = _word_and_label(columns, column, f"line {number} of {path}")
        if word:  # tweets stripped of unprintable characters leave empty words
            words.append(sys.intern(word))
            labels.append(label)


def _columns(line: str) -> list[str]:
    if "\t" in line:
        return [part.strip() for part in line.split("\t")]
    return _BLANKS.split(line.strip())


def _is_remark(columns: list[str], column: int, width: int) -> bool:
    """Return whether "# ..." is a remark, and not the word "#" with its label."""
    if (width and len(columns) != width) or not -len(columns) <= column < len(columns):
        return True
    return len(columns) < 2 or not _SURE_LABEL.fullmatch(columns[column])


def _word_and_label(columns: list[str], column: int, where: str) -> tuple[str, str]:
    needed = max(2, column + 1, -column)
    if len(columns) < needed:
        raise CorpusError(
            f"expected a word and its label in at least {needed} columns, got {columns} in {where}"
        )
    label = columns[column]
    if not _LABEL.fullmatch(label):
        raise CorpusError(
            f'expected a label such as "{OUTSIDE}", "PERSON" or "B-PERSON", got "{label}" in '
            f"{where}: choose another column"
        )
    return columns[0], label


def read_text(path: FilePath) -> Iterator[Document]:
    """Read plain text, and split it into sentences and words.

    Parameters
    ----------
    path : path-like
        A file, or a folder of files.

    Yields
    ------
    Document
        One for each file, without labels.

    Examples
    --------
    >>> with open("story.txt", "w") as file:
    ...     _ = file.write("Tim Roth laughed. He left.")
    >>> [len(document.sentences) for document in hd.ner.read_text("story.txt")]
    [2]
    """
    for file in files_of(path):
        with open_text(file, newline="") as opened:  # offsets count the original line ends
            text = opened.read()
        yield document_of(text, file_stem(file))


def document_of(text: str, name: str = "text") -> Document:
    """Split a text into sentences and words.

    Parameters
    ----------
    text : str
    name : str
        The name of the document.

    Returns
    -------
    Document

    Examples
    --------
    >>> document = hd.ner.document_of("Mr. Roth didn't laugh. He left.")
    >>> [sentence.words for sentence in document.sentences]
    [('Mr.', 'Roth', 'did', "n't", 'laugh', '.'), ('He', 'left', '.')]
    """
    parts = [
        Sentence(
            tuple(text[start:end] for start, end in spans),
            starts=tuple(start for start, _ in spans),
        )
        for spans in sentences(text)
    ]
    return Document(name, tuple(parts), text)


def read_corpus(
    path: FilePath,
    format: str | None = None,
    *,
    column: int = -1,
    mapping: Mapping[str, str] | None = None,
) -> Iterator[Document]:
    r"""Read the documents of a file, or of all files in a folder.

    Parameters
    ----------
    path : path-like
    format : {"conll", "ieer", "text"}, optional
        By default it is recognised by the content of each file.
    column, mapping
        For "conll", as in `read_conll`.

    Yields
    ------
    Document
        One at a time.

    Raises
    ------
    CorpusError
        If a file cannot be read.

    Examples
    --------
    >>> with open("story.conll", "w") as file:
    ...     _ = file.write("Tim PERSON\nlaughed O\n")
    >>> [document.n_words for document in hd.ner.read_corpus("story.conll")]
    [2]
    """
    if format not in (None, *CORPUS_FORMATS):
        raise CorpusError(
            f"expected a format of {', '.join(CORPUS_FORMATS)} or None, got {format!r}"
        )
    for file in files_of(path):
        chosen = format or format_of(file, column)
        if chosen == "ieer":
            yield from read_ieer(file)
        elif chosen == "conll":
            yield from read_conll(file, column=column, mapping=mapping)
        else:
            yield from read_text(file)


def format_of(path: FilePath, column: int = -1) -> str:
    """Recognise "ieer" by <DOC> marks, "conll" by labels or the file's ending, else "text"."""
    with open_text(path) as file:
        sample = file.read(_SAMPLE)
    if _DOCUMENT.search(sample):
        return "ieer"
    if _COLUMNED.intersection(Path(path).suffixes):
        return "conll"
    whole = sample if len(sample) < _SAMPLE else sample.rpartition("\n")[0]
    lines = [line for line in whole.split("\n") if line and not line.isspace()]
    rows = [line for line in lines if not line.startswith(("# ", "-DOCSTART-"))]
    return "conll" if rows and all(_is_row(line, column) for line in rows) else "text"


def _is_row(line: str, column: int) -> bool:
    columns = _columns(line)
    if len(columns) < 2 or not -len(columns) <= column < len(columns):
        return False
    return bool((_LABEL if "\t" in line else _SURE_LABEL).fullmatch(columns[column]))
