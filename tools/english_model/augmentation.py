"""Other ways to write the same: what training texts of one publisher never show.

One newswire writes "Mr." and "U.S.", another "Mr" and "US"; most splitters keep "al-Qaida" whole,
others make three words of it. Every so many mentions are written in another way, in turn, so that a
model learns all of them from texts that have one.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from herded.ner.text.documents import Document, Sentence
from herded.ner.text.labels import OUTSIDE, from_spans, spans, split_label

# Each mention of the word takes the next of these.
WAYS = {
    "Mr.": (
        "Mr.",
        "Mr",
        "Mr.",
        "Mr",
        "Mr.",
        "Dr",
        "Mr.",
        "Mrs",
        "Dr.",
        "Mr",
        "Prof.",
        "Miss",
        "Sir",
    ),
    "Ms.": ("Ms.", "Ms", "Mrs.", "Mrs", "Ms", "Dr", "Miss"),
    "Dr.": ("Dr.", "Dr", "Prof."),
    "Mrs.": ("Mrs.", "Mrs"),
    "U.S.": ("U.S.", "US", "U.S.", "US", "U.S.", "UK", "U.S.", "US", "U.S.", "USA", "U.S.", "UAE"),
    "U.N.": ("U.N.", "UN"),
}
CUT_HYPHEN_DIVISOR = 3  # of so many words with a hyphen one is cut
_HYPHEN = re.compile(r"(?<=\w)(-)(?=\w)")


COPIES_PER_SENTENCE = 6  # of a sentence with a company, each with other companies in their places


def with_companies(documents: Iterable[Document], companies: Sequence[str]) -> list[Document]:
    """Copies of the sentences that name a company by itself, with others in its place.

    Few companies are in the news of one time. Each copy is a document by itself.
    """
    known = {tuple(name.split()) for name in companies}
    others = itertools.cycle(sorted(known))
    found = []
    for document in documents:
        for sentence in document.sentences:
            places = [
                (first, last)
                for first, last, kind in spans(sentence.labels or ())
                if kind == "ORGANIZATION" and sentence.words[first:last] in known
            ]
            for copy in range(COPIES_PER_SENTENCE if places else 0):
                swapped = _swap_company(sentence, places, others)
                found.append(Document(f"{document.name}:{copy}", (swapped,)))
    return found


def _swap_company(
    sentence: Sentence, places: list[tuple[int, int]], others: Iterator[tuple[str, ...]]
) -> Sentence:
    words, labels = list(sentence.words), list(sentence.labels or ())
    for first, last in reversed(places):
        name = next(others)
        words[first:last] = name
        labels[first:last] = from_spans([(0, len(name), "ORGANIZATION")], len(name))
    return replace(sentence, words=tuple(words), labels=tuple(labels))


def vary_spelling(documents: Iterable[Document]) -> list[Document]:
    """The same documents with some words written in another way."""
    turns = {word: itertools.cycle(ways) for word, ways in WAYS.items()}
    cuts = itertools.cycle(at == 0 for at in range(CUT_HYPHEN_DIVISOR))
    return [
        replace(
            document, sentences=tuple(_vary_words(part, turns, cuts) for part in document.sentences)
        )
        for document in documents
    ]


def _vary_words(
    sentence: Sentence, turns: Mapping[str, Iterator[str]], cuts: Iterator[bool]
) -> Sentence:
    words: list[str] = []
    labels: list[str] = []
    for word, label in zip(sentence.words, sentence.labels or (), strict=True):
        written = next(turns[word]) if word in turns else word
        parts = [part for part in _HYPHEN.split(written) if part]
        if len(parts) > 1 and not next(cuts):
            parts = [written]
        kind = split_label(label)[1]
        words += parts
        labels += [label] + [f"I-{kind}" if kind else OUTSIDE] * (len(parts) - 1)
    return replace(sentence, words=tuple(words), labels=tuple(labels))
