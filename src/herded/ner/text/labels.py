"""Labels of words, and the entities that they spell out.

Three notations are read in the same way, even mixed: IO ("PERSON"; adjacent words of one kind are
one entity), BIO ("B-PERSON" begins, "I-PERSON" continues) and IOB1 ("B-" only between adjacent
entities of one kind). An "I-" label after "O" or another kind begins an entity. "E-" and "S-" end
one.
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
)  # names of the three kinds in common corpora; case is ignored

WordSpan = tuple[int, int, str]  # first word, one past the last word, kind


def spans(labels: Iterable[str]) -> list[WordSpan]:
    """Find the entities that a sentence's labels spell out.

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
    first, kind = 0, ""  # of the current entity; an empty kind means none
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
    """Yield the kind of each label ("" outside) and whether an entity begins there."""
    before, open_ = "", False  # kind of the last word, and whether its entity may continue
    for label in labels:
        prefix, kind = split_label(label)
        yield kind, bool(kind) and (prefix in ("B", "S") or kind != before or not open_)
        before, open_ = kind, prefix not in ("E", "S")


def split_label(label: str) -> tuple[str, str]:
    """Split a label into prefix and kind: ("B", "PERSON"), ("", "PERSON") in IO, else ("", "")."""
    if label == OUTSIDE:
        return "", ""
    if label[1:2] == "-" and label[0] in "BIES":
        return label[0], label[2:]
    return "", label


def to_io(labels: Iterable[str]) -> list[str]:
    """Reduce labels to their kinds; adjacent entities of one kind become one."""
    return [split_label(label)[1] or OUTSIDE for label in labels]


def to_bio(labels: Iterable[str]) -> list[str]:
    """Begin every entity with "B-"."""
    return [_label(kind, begins) for kind, begins in _parts(labels)]


def _label(kind: str, begins: bool) -> str:
    return f"{'B' if begins else 'I'}-{kind}" if kind else OUTSIDE


def from_spans(entities: Iterable[WordSpan], length: int) -> list[str]:
    """Write the BIO labels of `length` words with these entities."""
    labels = [OUTSIDE] * length
    for first, last, kind in entities:
        for at in range(first, last):
            labels[at] = _label(kind, at == first)
    return labels


def rename(labels: Sequence[str], mapping: Mapping[str, str] = ENTITY_CLASSES) -> list[str]:
    """Rename the kinds of entities, with "O" for kinds missing from the mapping.

    A prefix changes only if two adjacent entities now share a name: "B-" keeps them apart.
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
