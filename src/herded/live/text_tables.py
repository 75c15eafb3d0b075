"""Texts pasted into the page: a chain of labels, with ties of the slider's strength."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from herded.errors import MethodError
from herded.models.factor_graph import FactorGraph
from herded.ner.crf.encoded_batch import Batch, encode
from herded.ner.crf.skip_chain import TieWeights, build_document_model
from herded.ner.recogniser import Recogniser, load
from herded.ner.text.corpus import document_of
from herded.ner.text.documents import Document
from herded.ner.text.word_atoms import Vocabulary

MAX_TEXT_CHARS = 20_000
MAX_TIE_STRENGTH = 16.0


@dataclass(frozen=True)
class PastedText:
    """The words of a text, and the chain's scores of their labels."""

    document: Document
    batch: Batch
    scores: np.ndarray  # (N, K)


def parse_pasted_text(text: str) -> PastedText:
    """Split a text into words if it is short enough to be drawn."""
    if len(text) > MAX_TEXT_CHARS:
        raise MethodError(
            f"expected at most {MAX_TEXT_CHARS:,} characters, got {len(text):,}: herded ner tag "
            "takes texts of any length"
        )
    document, chain = document_of(text), english_recogniser().chain
    if not document.n_words:
        raise MethodError("expected a text with a word in it, got none")
    words = [sentence.words for sentence in document.sentences]
    batch = encode([words], Vocabulary(), chain.lexicon)
    return PastedText(document, batch, chain.scores(batch))


def text_model(text: PastedText, strength: float) -> FactorGraph:
    """Build a model with a label for each word and ties of `strength` times the learned one."""
    learnt = _ties()
    ties = replace(learnt, table=strength * learnt.table)
    return build_document_model(english_recogniser().chain, text.batch, text.scores, ties)


def described_text(text: PastedText) -> dict[str, Any]:
    """Describe words, sentences, kinds, ties, and the exact answer without ties."""
    chain, ties = english_recogniser().chain, _ties()
    sentences = text.document.sentences
    alone = replace(chain, transitions=ties.trust * chain.transitions)
    marginals = alone.marginals(ties.trust * text.scores, text.batch.starts)
    return {
        "starts": [start for sentence in sentences for start in sentence.starts or ()],
        "lengths": [len(word) for sentence in sentences for word in sentence.words],
        "sentences": text.batch.starts.tolist(),
        "kinds": list(chain.labels),
        "ties": ties.links(text.batch).edges.tolist(),
        "alone": np.round(marginals, 4).ravel().tolist(),
    }


@lru_cache(maxsize=1)
def english_recogniser() -> Recogniser:
    """Load the English model of the package, with one label for each kind, outside first."""
    return load()


def _ties() -> TieWeights:
    ties = english_recogniser().ties
    assert ties is not None  # the package's own model has them
    return ties
