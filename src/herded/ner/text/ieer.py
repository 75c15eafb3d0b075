"""The NIST IE-ER newswire, marked up in SGML: `<b_enamex type="PERSON">Moi<e_enamex>`.

Documents consist of the headline and the text, without marks. Words are split by our rules, and
also where an entity begins or ends; no sentence ends within an entity. So every marked entity is
kept.
"""

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise

from herded.errors import CorpusError
from herded.ner.text.documents import Document, Sentence
from herded.ner.text.labels import ENTITY_CLASSES, from_spans
from herded.ner.text.text_files import file_stem, files_of, open_text
from herded.ner.text.tokenizer import CharacterSpan, sentences
from herded.system.atomic_files import FilePath

# dates, amounts and times are marked too, and ignored
ENTITY_KINDS = frozenset(ENTITY_CLASSES.values())

_NAME = re.compile(r"<DOCNO>\s*([^\s<]+)")
_SECTION = re.compile(r"<(HEADLINE|TEXT)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_REMARK = re.compile(
    r"<ANNOTATION>.*?</ANNOTATION>", re.DOTALL
)  # by editors, not part of the story
_MARK = re.compile(r'<b_enamex\s+type="(\w+)"[^<>]*>|(<e_enamex>)|</?\w+[^<>]*>|&\w+;')

LabelledSpan = tuple[int, int, str]  # first character, end, kind


def read_ieer(path: FilePath) -> Iterator[Document]:
    """Read NIST IE-ER newswire, the corpus of the paper.

    Parameters
    ----------
    path : path-like
        A file, or a folder of them.

    Yields
    ------
    Document
        With BIO labels for persons, organizations and locations.

    Raises
    ------
    CorpusError
        If there are no IE-ER documents.

    Examples
    --------
    >>> with open("wire", "w") as file:
    ...     _ = file.write(
    ...         "<DOC><DOCNO> A1 </DOCNO><TEXT>"
    ...         '<b_enamex type="PERSON">Tim Roth<e_enamex> laughed.'
    ...         "</TEXT></DOC>"
    ...     )
    >>> document = next(hd.ner.read_ieer("wire"))
    >>> document.name, document.sentences[0].labels
    ('A1', ('B-PERSON', 'I-PERSON', 'O', 'O'))
    """
    empty = True
    for file in files_of(path):
        with open_text(file) as lines:
            for number, source in enumerate(_sources(lines), 1):
                empty = False
                yield _document(source, f"{file_stem(file)}:{number}")
    if empty:
        raise CorpusError(f"expected <DOC> marks of IE-ER documents in {path}, got none")


def _sources(lines: Iterable[str]) -> Iterator[str]:
    """Yield the text from one <DOC> to the next."""
    source: list[str] = []
    for line in lines:
        if "<DOC>" in line:
            if source:
                yield "".join(source)
            source = [line]
        elif source:
            source.append(line)
    if source:
        yield "".join(source)


def _document(source: str, default_name: str) -> Document:
    known = _NAME.search(source)
    name = known[1] if known else default_name
    text = ""
    entities: list[LabelledSpan] = []
    for section in _SECTION.finditer(source):
        plain, marked = _unmark(_REMARK.sub("", section[2]), name)
        shift = len(text) + 2 if text else 0
        text += f"\n\n{plain}" if text else plain
        entities += [(start + shift, end + shift, kind) for start, end, kind in marked]
    return Document(name, tuple(_label_sentence(text, entities)), text)


def _unmark(source: str, name: str) -> tuple[str, list[LabelledSpan]]:
    """Return the text without marks, and the marked entities; of nested ones the outer."""
    pieces: list[str] = []
    entities: list[LabelledSpan] = []
    opened: list[LabelledSpan] = []
    length = at = 0
    for mark in _MARK.finditer(source):
        piece = source[at : mark.start()]
        if mark[0].startswith("&"):
            piece += _character(mark[0])
        pieces.append(piece)
        length += len(piece)
        at = mark.end()
        if mark[1]:
            opened.append((length, length, mark[1]))
        elif mark[2]:
            if not opened:
                raise CorpusError(f"expected <b_enamex> before <e_enamex> in document {name}")
            start, _, kind = opened.pop()
            if not opened:
                entities.append((start, length, kind))
    if opened:
        raise CorpusError(f"expected <e_enamex> after every <b_enamex> in document {name}")
    text = "".join(pieces) + source[at:]
    return text, [_trim_entity(text, *entity) for entity in entities if entity[2] in ENTITY_KINDS]


def _trim_entity(text: str, start: int, end: int, kind: str) -> LabelledSpan:
    """Return the entity without blanks around it."""
    inside = text[start:end].lstrip()
    return end - len(inside), end - len(inside) + len(inside.rstrip()), kind


def _character(code: str) -> str:
    """Return the character for "&AMP;"; typesetting codes such as "&UR;" become nothing."""
    character = html.unescape(code)
    return "" if character == code else character


def _label_sentence(text: str, entities: list[LabelledSpan]) -> Iterator[Sentence]:
    edges = sorted(edge for start, end, _ in entities for edge in (start, end))
    low = 0  # first entity of the sentence
    for part in _merge_split_entities(sentences(text), entities):
        spans = _cut_at_edges(part, edges)
        starts = [start for start, _ in spans]
        high = bisect_left(entities, (spans[-1][1],), low)
        here = [
            (bisect_left(starts, start), bisect_left(starts, end), kind)
            for start, end, kind in entities[low:high]
        ]
        low = high
        words = tuple(text[start:end] for start, end in spans)
        yield Sentence(words, tuple(from_spans(here, len(spans))), tuple(starts))


def _merge_split_entities(
    parts: list[list[CharacterSpan]], entities: list[LabelledSpan]
) -> list[list[CharacterSpan]]:
    """Merge sentences that an entity spans."""
    joined: list[list[CharacterSpan]] = []
    for part in parts:
        start = part[0][0]
        last = bisect_left(entities, (start,)) - 1  # entity that begins before
        if joined and last >= 0 and entities[last][1] > start:
            joined[-1].extend(part)
        else:
            joined.append(part)
    return joined


def _cut_at_edges(spans: list[CharacterSpan], edges: list[int]) -> list[CharacterSpan]:
    """Split words at the edges, too."""
    pieces: list[CharacterSpan] = []
    for start, end in spans:
        inner = edges[bisect_right(edges, start) : bisect_left(edges, end)]
        pieces += pairwise([start, *dict.fromkeys(inner), end])
    return pieces
