"""Training on the user's corpora for `herded ner train`: read, train, and save."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from herded.errors import CorpusError
from herded.ner.crf.linear_chain_crf import CRF
from herded.ner.crf.skip_chain_crf import SkipCRF
from herded.ner.recogniser import Recogniser
from herded.ner.text.corpus import read_corpus
from herded.ner.text.documents import Document
from herded.system import atomic_files

MIN_DOCUMENTS_TO_SKIP = 8  # fewer cannot show which words of a document agree


def train_and_save(
    paths: Sequence[str | os.PathLike[str]],
    *,
    out: str | os.PathLike[str],
    dev: str | os.PathLike[str] | None = None,
    column: int = -1,
    **options: Any,
) -> dict[str, Any]:
    """Train on labelled corpora and write the model; return the facts of the training.

    With enough documents, the model also gets ties for skip-chains.
    """
    atomic_files.check_writable(out, CorpusError, "--out")
    documents = [document for path in paths for document in _read_labelled(path, column)]
    development = None if dev is None else _read_labelled(dev, column)
    crf = CRF(**options)
    if len(documents) >= MIN_DOCUMENTS_TO_SKIP:
        skip = SkipCRF(crf).fit(documents, dev=development)
        recogniser, crf = skip.recogniser_, skip.crf_
    else:
        recogniser = Recogniser(crf.fit(documents, dev=development).chain_)
    small = Recogniser(recogniser.chain.quantised(), recogniser.ties)
    small.card = {
        "words": sum(document.n_words for document in documents),
        "corpora": [Path(path).name for path in paths],
        "history": crf.history_,
    }
    return write_model(small, out)


def _read_labelled(path: str | os.PathLike[str], column: int) -> list[Document]:
    documents = list(read_corpus(path, column=column))
    if any(part.labels is None for document in documents for part in document.sentences):
        raise CorpusError(f"expected labelled words in {path}, got plain text")
    return documents


def write_model(recogniser: Recogniser, out: str | os.PathLike[str]) -> dict[str, Any]:
    """Write a model; return the facts of its training."""
    recogniser.save(out)
    ties = recogniser.ties
    return {
        **recogniser.card,
        "labels": recogniser.chain.labels,
        "bytes": Path(out).stat().st_size,
        "trust": None if ties is None else ties.trust,
        "ties": None if ties is None else ties.table.tolist(),
    }


def training_summary(facts: dict[str, Any]) -> str:
    """Summarise the training."""
    lines = [f"{facts['words']} words, labels {' '.join(facts['labels'])}"]
    for number, epoch in enumerate(facts["history"], 1):
        numbers = ", ".join(f"{name} {value:.4f}" for name, value in epoch.items())
        lines.append(f"epoch {number}: {numbers}")
    if facts["ties"] is None:
        lines.append("too few documents for --skip: only a chain was trained")
    return "\n".join(lines)
