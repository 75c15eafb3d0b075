"""Conversion of the recogniser's inputs: documents, or bare sentences."""

from collections.abc import Sequence
from typing import Any, TypeGuard, cast

import numpy as np

from herded.errors import CorpusError
from herded.ner.text.documents import Document

SentenceLabels = Sequence[str]
TextInputs = Sequence[Document] | Sequence[Sequence[str]]


def are_documents(X: object) -> TypeGuard[Sequence[Document]]:
    """Return whether X is a list of documents, not a list of sentences."""
    return isinstance(X, Sequence) and len(X) > 0 and all(isinstance(x, Document) for x in X)


def sentences_of(X: TextInputs) -> list[list[Sequence[str]]]:
    """Return the sentences of each document; each bare sentence is a document of its own."""
    if isinstance(X, (str, Document)) or not isinstance(X, Sequence):
        raise CorpusError(f"expected a list of documents or of sentences, got {X!r:.80}")
    if are_documents(X):
        return [[sentence.words for sentence in document.sentences] for document in X]
    for sentence in X:
        if isinstance(sentence, str) or not isinstance(sentence, Sequence):
            raise CorpusError(
                f"expected sentences as lists of words, got {sentence!r:.80}: split a text with "
                "ner.document_of first"
            )
        if not _are_strings(sentence):
            raise CorpusError(f"expected words as strings, got {sentence!r:.80}")
    return [[sentence] for sentence in cast(Sequence[Sequence[str]], X)]


def sentences_and_labels(
    X: TextInputs, y: Sequence[SentenceLabels | None] | None = None
) -> tuple[list[list[Sequence[str]]], list[SentenceLabels]]:
    """Return the sentences by document, and the labels of each sentence."""
    documents = sentences_of(X)
    if y is None:
        if not are_documents(X):
            raise CorpusError("expected labels y for bare sentences, got none")
        y = [sentence.labels for document in X for sentence in document.sentences]
    elif are_documents(X):
        raise CorpusError("expected no y with documents: their sentences carry the labels")
    elif isinstance(y, str) or not isinstance(y, Sequence):
        raise CorpusError(f"expected a list of labels for each sentence as y, got {y!r:.80}")
    flat = [sentence for document in documents for sentence in document]
    if len(flat) != len(y):
        raise CorpusError(f"expected labels for {len(flat)} sentences, got {len(y)}")
    for at, (words, labels) in enumerate(zip(flat, y, strict=True)):
        if labels is None:
            raise CorpusError(f"expected {len(words)} labels for sentence {at}, got none")
        if isinstance(labels, str) or not isinstance(labels, Sequence) or not _are_strings(labels):
            raise CorpusError(f"expected strings as labels of sentence {at}, got {labels!r:.80}")
        if len(labels) != len(words):
            raise CorpusError(f"expected {len(words)} labels for sentence {at}, got {len(labels)}")
    return documents, cast(list[SentenceLabels], list(y))


def _are_strings(items: Sequence[Any]) -> bool:
    return all(isinstance(item, str) for item in items)


def regroup_by_document(
    X: TextInputs, starts: np.ndarray, values: list[str] | np.ndarray
) -> list[Any]:
    """Group values of words as tuples (or arrays) by sentence, and in lists by document."""
    pack = tuple if isinstance(values, list) else np.asarray
    parts = [pack(values[starts[s] : starts[s + 1]]) for s in range(len(starts) - 1)]
    if not are_documents(X):
        return parts
    rest = iter(parts)
    return [[next(rest) for _ in document.sentences] for document in X]
