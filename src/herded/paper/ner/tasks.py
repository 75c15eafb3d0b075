"""The tasks of section 4.3: models of documents, and their true labels."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from herded.errors import CorpusError
from herded.methods.viterbi.solver import Viterbi
from herded.models.chain import chain_model as chain_model
from herded.models.constraints.start_states import start_state
from herded.models.factor_graph import FactorGraph
from herded.ner.crf.encoded_batch import encode
from herded.ner.crf.iterated_viterbi import iterate_viterbi
from herded.ner.crf.skip_chain import build_document_model
from herded.ner.entity_scoring import Interval, bootstrap, score
from herded.ner.recogniser import Recogniser
from herded.ner.text.corpus import read_corpus
from herded.ner.text.documents import Document
from herded.ner.text.sentence_inputs import sentences_and_labels
from herded.ner.text.word_atoms import Vocabulary
from herded.run.infer import infer
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

STANFORD_CLASSES = ("O", "ORGANIZATION", "PERSON", "LOCATION")  # the classes of the Stanford chains
INSTALL_COMMAND = '"pip install nltk && python -m nltk.downloader ieer"'


@dataclass(frozen=True)
class Task:
    """A model of many sentences, and how to score labellings of its words."""

    name: str
    model: FactorGraph
    names: tuple[str, ...]  # the names of the labels
    starts: np.ndarray  # (S + 1,) where sentences begin
    truth: list[list[Any]]  # labels by document, by sentence
    chain_best: np.ndarray  # (N,) Viterbi on the chains alone
    rounds: np.ndarray | None = None  # (N,) Viterbi in rounds, for skip-chains

    @property
    def n_words(self) -> int:
        return int(self.starts[-1])

    def random_start(self, seed: int) -> np.ndarray:
        """Draw a random state of the support; all methods start from the same ones."""
        return start_state(self.model, stream_key(seed, 0, StreamPurpose.START_STATES))

    def by_document(self, labels: np.ndarray) -> list[list[list[str]]]:
        """Arrange labels of words like the truth."""
        words = [self.names[k] for k in labels]
        sentences = (words[a:b] for a, b in pairwise(self.starts))
        return [[next(sentences) for _ in document] for document in self.truth]

    def f1(self, labels: np.ndarray) -> float:
        """Compute F1 over whole entities, in per cent."""
        return 100 * score(_flat(self.truth), _flat(self.by_document(labels))).f1

    def gain(self, labels: np.ndarray) -> Interval:
        """Compute F1 above the chain's Viterbi, with a bootstrap over documents, in per cent."""
        base, other = self.by_document(self.chain_best), self.by_document(labels)
        return bootstrap(self.truth, base, other)

    def hits(self, labels: np.ndarray) -> float:
        """Compute the per cent of sentences labelled as by Viterbi."""
        wrong = np.add.reduceat(labels != self.chain_best, self.starts[:-1])
        return 100 * float((wrong == 0).mean())


def _flat(documents: list[list[Any]]) -> list[Any]:
    return [labels for document in documents for labels in document]


def tasks(recogniser: Recogniser, documents: Sequence[Document], name: str) -> tuple[Task, Task]:
    """Build the chains and the skip-chains of documents for a recogniser."""
    documents = [_without_empty(document) for document in documents]
    words, given = sentences_and_labels(documents)
    rest = iter(given)
    truth = [[next(rest) for _ in document.sentences] for document in documents]
    batch = encode(words, Vocabulary(), recogniser.chain.lexicon)
    scores = recogniser.chain.scores(batch)
    chain, ties = recogniser.chain, recogniser.ties
    if ties is None:
        raise CorpusError("expected a model with ties for the comparison, got only a chain")
    best = chain.best(scores, batch.starts)
    common = (chain.labels, batch.starts, truth, best)
    return (
        Task(f"{name}: chains", build_document_model(chain, batch, scores), *common),
        Task(
            f"{name}: skip-chains",
            build_document_model(chain, batch, scores, ties),
            *common,
            rounds=iterate_viterbi(chain, batch, scores, ties),
        ),
    )


def _without_empty(document: Document) -> Document:
    kept = tuple(sentence for sentence in document.sentences if sentence.words)
    return Document(document.name, kept, document.text)


def stanford_task(path: str | os.PathLike[str]) -> Task:
    """Read chains evaluated by another recogniser, with log P(y_t | y_(t-1)) of each word.

    Arrays: lengths (sentences,), gold (words,), logcond (words, 4, 4), where the first word of a
    sentence uses the row of a previous O. Sentences count as documents.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            lengths, gold = file["lengths"].astype(np.int64), file["gold"].astype(np.int64)
            tables = file["logcond"].astype(np.float64)
    except Exception as error:
        raise CorpusError(
            f"expected a file with lengths, gold and logcond as {path}, got: {error!s:.80}"
        ) from error
    starts = np.concatenate([[0], np.cumsum(lengths)])
    unary = np.zeros(tables.shape[:2])
    unary[starts[:-1]] = tables[starts[:-1], 0]
    model = chain_model(unary, tables[1:], lengths=lengths)
    best = infer(model, Viterbi()).best.state
    names = [STANFORD_CLASSES[k] for k in gold]
    truth = [[names[a:b]] for a, b in pairwise(starts)]
    return Task(f"{Path(path).stem}: chains", model, STANFORD_CLASSES, starts, truth, best)


def sample_documents() -> list[Document]:
    """Read the corpus that comes with the package."""
    with as_file(files("herded.ner") / "data" / "sample.conll") as path:
        return list(read_corpus(path))


def find_ieer() -> Path | None:
    """Return where NLTK keeps the IE-ER corpus, if it is installed."""
    roots = [*os.environ.get("NLTK_DATA", "").split(os.pathsep), str(Path.home() / "nltk_data")]
    roots += ["/usr/share/nltk_data", "/usr/local/share/nltk_data", "/usr/lib/nltk_data"]
    places = (Path(root) / "corpora" / "ieer" for root in roots if root)
    return next((place for place in places if place.is_dir()), None)
