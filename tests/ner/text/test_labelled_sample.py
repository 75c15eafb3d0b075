"""The labelled sample that comes with the package: well-formed, split as we split, and such that
the same word often comes again in a document, mostly but not always as the same kind of name."""

from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import pytest

import herded.ner
from herded.ner.text.corpus import format_of, read_conll
from herded.ner.text.labels import OUTSIDE, spans, split_label, to_io
from herded.ner.text.tokenizer import sentences

SAMPLE = Path(herded.ner.__file__).parent / "data/sample.conll"
KINDS = ("LOCATION", "ORGANIZATION", "PERSON")
STOPS = (".", "''")  # what sentences end with, and headlines do not
JOINED = ("'s", "n't")  # written without a blank before them
TITLES = {"Dr.", "Judge", "King", "Miss", "Mr.", "Mrs.", "Ms.", "Prof."}


@pytest.fixture(scope="module")
def documents():
    return list(read_conll(SAMPLE))


def is_headline(sentence):
    return sentence.words[-1] not in STOPS


def text_of(document):
    """Sentences as they are written, and headlines in paragraphs of their own."""
    parts = []
    for sentence in document.sentences:
        parts += [word if word in JOINED else f" {word}" for word in sentence.words]
        parts.append("\n\n" if is_headline(sentence) else "")
    return "".join(parts)


def mentions_of(document):
    """Words and kind of every entity, in order."""
    return [
        (sentence.words[first:last], kind)
        for sentence in document.sentences
        for first, last, kind in spans(sentence.labels)
    ]


def labels_by_word(document):
    """Kinds (or "O") of every capitalised word, as often as it occurs."""
    found = defaultdict(list)
    for sentence in document.sentences:
        for word, label in zip(sentence.words, to_io(sentence.labels), strict=True):
            if word[0].isupper():
                found[word].append(label)
    return found


# Form


def test_every_line_is_a_word_and_its_label_or_blank():
    lines = SAMPLE.read_text(encoding="utf-8").split("\n")
    allowed = {OUTSIDE, *(f"{prefix}-{kind}" for prefix in "BI" for kind in KINDS)}
    seen = set()
    for number, line in enumerate(lines):
        if line.startswith("-DOCSTART-"):
            assert line == "-DOCSTART-\tO" and lines[number + 1] == ""
            assert number == 0 or lines[number - 1] == ""
        elif line:
            word, label = line.split("\t")
            assert word and word == word.strip()
            seen.add(label)
    assert seen == allowed
    assert format_of(SAMPLE) == "conll"


def test_nothing_goes_on_that_has_not_begun(documents):
    for document in documents:
        for sentence in document.sentences:
            for before, label in zip((OUTSIDE, *sentence.labels), sentence.labels, strict=False):
                assert not label.startswith("I-") or split_label(before)[1] == split_label(label)[1]


def test_size(documents):
    assert len(documents) >= 24
    assert 4_500 <= sum(document.n_words for document in documents) <= 6_000
    for document in documents:
        assert 6 <= len(document.sentences) <= 10
        for sentence in document.sentences:
            assert len(sentence.words) <= 30
            assert is_headline(sentence) or len(sentence.words) >= 12
    kinds = Counter(kind for document in documents for _, kind in mentions_of(document))
    assert sorted(kinds) == list(KINDS) and min(kinds.values()) >= 150


def test_headlines_are_in_capitals_and_first(documents):
    found = [
        (document.sentences.index(sentence), " ".join(sentence.words))
        for document in documents
        for sentence in document.sentences
        if is_headline(sentence)
    ]
    assert len(found) >= 2
    assert all(at == 0 and text.isupper() for at, text in found)


def test_words_and_sentences_are_those_of_our_splitter(documents):
    for document in documents:
        text = text_of(document)
        again = [tuple(text[start:end] for start, end in spans_) for spans_ in sentences(text)]
        assert again == [sentence.words for sentence in document.sentences]


def test_titles_and_endings_are_no_part_of_names(documents):
    seen = Counter()
    for document in documents:
        for sentence in document.sentences:
            following = (*sentence.labels[1:], OUTSIDE)
            for word, label, after in zip(sentence.words, sentence.labels, following, strict=True):
                if word in JOINED or (word in TITLES and after == "B-PERSON"):
                    assert label == OUTSIDE, word
                    seen[word] += 1
    assert seen["'s"] >= 5 and seen["Mr."] >= 5 and seen["Dr."] and seen["Judge"]


# What links between the same words of a document have to work with


def test_names_come_again(documents):
    repeated = 0
    for document in documents:
        mentions = mentions_of(document)
        used = Counter(
            (word, kind) for words, kind in mentions for word in set(words) if word[0].isupper()
        )
        again = sum(any(used[word, kind] > 1 for word in words) for words, kind in mentions)
        assert again >= 8
        repeated += again
    assert repeated >= 450


def test_the_same_words_mostly_agree_but_not_always(documents):
    pairs = [
        pair
        for document in documents
        for labels in labels_by_word(document).values()
        for pair in combinations(labels, 2)
        if pair != (OUTSIDE, OUTSIDE)
    ]
    assert len(pairs) >= 500
    agreeing = sum(first == second for first, second in pairs)
    assert 0.85 * len(pairs) < agreeing < 0.95 * len(pairs)  # news: nine in ten


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        ("Baker", {"ORGANIZATION", "PERSON"}),
        ("Chad", {"LOCATION", "PERSON"}),
        ("Houston", {"LOCATION", "ORGANIZATION", "PERSON"}),
        ("Jordan", {"LOCATION", "PERSON"}),
        ("Lincoln", {"LOCATION", "ORGANIZATION", "PERSON"}),
        ("March", {"O", "PERSON"}),
        ("Paris", {"LOCATION", "PERSON"}),
        ("Rice", {"O", "PERSON"}),
        ("Santos", {"LOCATION", "PERSON"}),
        ("Virginia", {"LOCATION", "PERSON"}),
        ("Washington", {"LOCATION", "PERSON"}),
    ],
)
def test_only_the_document_tells_what_these_are(documents, word, kinds):
    found = [labels_by_word(document)[word] for document in documents]
    assert set().union(*found) == kinds
    assert any(max(Counter(labels).values()) >= 3 for labels in found if labels)


def test_some_names_are_common_words_elsewhere(documents):
    persons, small = set(), set()
    for document in documents:
        for sentence in document.sentences:
            small.update(word for word in sentence.words if word.islower())
            for word, kind in zip(sentence.words, to_io(sentence.labels), strict=True):
                if kind == "PERSON":
                    persons.add(word.lower())
    common = {"baker", "bell", "brooks", "frost", "green", "king", "rice", "stone", "winter"}
    assert common <= persons & small
