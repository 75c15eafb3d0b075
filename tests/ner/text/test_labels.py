"""Entities from labels as seqeval reads them, and labels from entities."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from herded import HerdedError
from herded.ner.text.documents import Document, Sentence
from herded.ner.text.labels import (
    ENTITY_CLASSES,
    from_spans,
    rename,
    spans,
    split_label,
    to_bio,
    to_io,
)

KINDS = ["PER", "ORG", "GEO-LOC"]
prefixed = st.lists(
    st.sampled_from(["O", "O", *(f"{prefix}-{kind}" for prefix in "BIES" for kind in KINDS)]),
    max_size=12,
)
plain = st.lists(st.sampled_from(["O", *KINDS]), max_size=12)
mixed = st.lists(
    st.sampled_from(["O", *KINDS, *(f"{prefix}-{kind}" for prefix in "BI" for kind in KINDS)]),
    max_size=12,
)


def by_seqeval(labels):
    return [(first, last + 1, kind) for kind, first, last in get_entities(list(labels))]


@given(prefixed)
def test_spans_are_those_of_seqeval(labels):
    assert spans(labels) == by_seqeval(labels)


@given(plain)
def test_plain_labels_are_runs(labels):
    inside = [label if label == "O" else f"I-{label}" for label in labels]
    assert spans(labels) == by_seqeval(inside)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("", []),
        ("O O", []),
        ("PER PER O ORG", [(0, 2, "PER"), (3, 4, "ORG")]),
        ("PER ORG ORG", [(0, 1, "PER"), (1, 3, "ORG")]),
        ("B-PER B-PER I-PER", [(0, 1, "PER"), (1, 3, "PER")]),
        ("I-PER I-PER B-PER", [(0, 2, "PER"), (2, 3, "PER")]),  # IOB1
        ("O I-PER I-ORG", [(1, 2, "PER"), (2, 3, "ORG")]),
        ("B-PER PER I-PER O PER", [(0, 3, "PER"), (4, 5, "PER")]),
    ],
)
def test_spans_of_a_few_sentences(labels, expected):
    assert spans(labels.split()) == expected


@given(mixed)
def test_bio_and_back(labels):
    bio = to_bio(labels)
    assert spans(bio) == spans(labels)
    assert bio == from_spans(spans(labels), len(labels)) == to_bio(bio)
    assert all(label == "O" or label[:2] in ("B-", "I-") for label in bio)


@given(mixed)
def test_io_keeps_every_words_kind(labels):
    io = to_io(labels)
    assert io == [split_label(label)[1] or "O" for label in labels]
    assert to_io(to_bio(labels)) == io == to_io(io)


@given(mixed)
def test_renaming_keeps_entities_apart(labels):
    mapping = {"PER": "THING", "ORG": "THING"}
    expected = [(first, last, "THING") for first, last, kind in spans(labels) if kind in mapping]
    assert spans(rename(labels, mapping)) == expected


@given(mixed)
def test_renaming_to_the_same_changes_nothing(labels):
    assert rename(labels, {kind: kind for kind in KINDS}) == labels


def test_common_names_of_the_three_kinds():
    labels = ["B-per", "I-per", "O", "ORG", "I-LOC", "B-GPE", "geo", "I-MISC", "B-Person", "DATE"]
    assert rename(labels) == [
        *("B-PERSON", "I-PERSON", "O", "ORGANIZATION", "I-LOCATION", "B-LOCATION"),
        *("B-LOCATION", "O", "B-PERSON", "O"),
    ]
    assert set(ENTITY_CLASSES.values()) == {"PERSON", "ORGANIZATION", "LOCATION"}


def test_seqeval_takes_our_labels_without_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_seqeval(to_bio(["PERSON", "O", "LOCATION"]))


def test_sentences_of_unequal_parts_are_refused():
    with pytest.raises(HerdedError, match=r"2 labels, one for each word, got 1"):
        Sentence(("a", "b"), ("O",))
    with pytest.raises(HerdedError, match=r"1 starts, one for each word, got 0"):
        Sentence(("a",), starts=())


def test_documents_count_their_words():
    parts = (Sentence(("a", "b"), ("O", "PERSON"), (0, 2)), Sentence(()), Sentence(("c",)))
    assert Document("d", parts).n_words == 3
