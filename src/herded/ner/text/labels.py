"""Labels of words and the entities they spell.

Three ways to write the same are read alike, even mixed: IO ("PERSON": neighbours of one kind are
one entity), BIO ("B-PERSON" begins, "I-PERSON" goes on) and IOB1 ("B-" only between neighbours of
one kind). An "I-" label after "O" or after another kind begins an entity. "E-" and "S-" end one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

OUTSIDE = "O"

ENTITY_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "PER": "PERSON",
        "PERSON": "PERSON",
        "ORG": "ORGANIZATION",
        "ORGANISATION": "ORGANIZATION",
        "ORGANIZATION": "ORGANIZATION",
        "CORPORATION": "ORGANIZATION",
        "LOC": "LOCATION",
        "LOCATION": "LOCATION",
        "GEO": "LOCATION",
        "GPE": "LOCATION",
    }
)  # names of the three kinds in common corpora; capitals stand for small letters too

WordSpan = tuple[int, int, str]  # first word, one past the last word, kind


def spans(labels: Iterable[str]) -> list[WordSpan]:
    """The entities that a sentence's labels spell.

    Parameters
    ----------
    labels : iterable of str
        IO, BIO or IOB1 labels, even mixed.

    Returns
    -------
    list of (int, int, str)
        First word, one past the last word, and kind of each entity, in order.

    Examples
    --------
    >>> hd.ner.spans(["PERSON", "PERSON", "O", "LOCATION"])
    [(0, 2, 'PERSON'), (3, 4, 'LOCATION')]
    >>> hd.ner.spans(["B-PERSON", "B-PERSON", "I-PERSON"])
    [(0, 1, 'PERSON'), (1, 3, 'PERSON')]
    """
    found: list[WordSpan] = []
    first, kind = 0, ""  # of the entity under way; no kind: there is none
    at = -1
    for at, (part, begins) in enumerate(_parts(labels)):
        if kind and (begins or part != kind):
            found.append((first, at, kind))
        if begins:
            first = at
        kind = part
    if kind:
        found.append((first, at + 1, kind))
    return found


def _parts(labels: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Of each label the kind ("" outside) and whether an entity begins here."""
    before, open_ = "", False  # kind of the last word, and whether its entity may go on
    for label in labels:
        prefix, kind = split_label(label)
        yield kind, bool(kind) and (prefix in ("B", "S") or kind != before or not open_)
        before, open_ = kind, prefix not in ("E", "S")


def split_label(label: str) -> tuple[str, str]:
    """Prefix and kind of a label: ("B", "PERSON"); ("", "PERSON") in IO, ("", "") outside."""
    if label == OUTSIDE:
        return "", ""
    if label[1:2] == "-" and label[0] in "BIES":
        return label[0], label[2:]
    return "", label


def to_io(labels: Iterable[str]) -> list[str]:
    """Kinds alone; entities of one kind that touch become one."""
    return [split_label(label)[1] or OUTSIDE for label in labels]


def to_bio(labels: Iterable[str]) -> list[str]:
    """Every entity begins with "B-"."""
    return [_label(kind, begins) for kind, begins in _parts(labels)]


def _label(kind: str, begins: bool) -> str:
    return f"{'B' if begins else 'I'}-{kind}" if kind else OUTSIDE


def from_spans(entities: Iterable[WordSpan], length: int) -> list[str]:
    """BIO labels of `length` words with these entities."""
    labels = [OUTSIDE] * length
    for first, last, kind in entities:
        for at in range(first, last):
            labels[at] = _label(kind, at == first)
    return labels


def rename(labels: Sequence[str], mapping: Mapping[str, str] = ENTITY_CLASSES) -> list[str]:
    """The same entities under other names, "O" where the mapping has none.

    A prefix changes only where two entities touch that now have one name: "B-" keeps them apart.
    """
    renamed = []
    before = ""
    for label, (kind, begins) in zip(labels, _parts(labels), strict=True):
        name = mapping.get(kind) or mapping.get(kind.upper()) or ""
        if not name:
            renamed.append(OUTSIDE)
        elif begins and name == before:
            renamed.append(f"B-{name}")
        else:
            renamed.append(label[: -len(kind)] + name)
        before = name
    return renamed
