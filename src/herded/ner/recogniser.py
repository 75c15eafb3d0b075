"""The recogniser: it splits a text into words, labels them, and collects the names."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import as_file, files
from typing import Any

import numpy as np

from herded.errors import CorpusError
from herded.ner.crf.chain_kernels import span_probabilities
from herded.ner.crf.chain_weights import ChainWeights
from herded.ner.crf.decoding import RANDOM_DECODERS, chosen_decoder, decode
from herded.ner.crf.encoded_batch import Batch, encode
from herded.ner.crf.mention_links import LINK_RULES
from herded.ner.crf.serialization import MAX_NUMBER, MIN_SCALE, read_recogniser, save_chain
from herded.ner.crf.skip_chain import TieWeights
from herded.ner.text.corpus import document_of
from herded.ner.text.documents import Document
from herded.ner.text.labels import spans, to_bio
from herded.ner.text.word_atoms import Vocabulary
from herded.system.argument_checks import is_number_between

WORDS_PER_BATCH = 2**15  # few enough for batches to take little memory


@dataclass(frozen=True)
class Entity:
    """A name in a text, as found by `Recogniser.tag`.

    Attributes
    ----------
    start, end : int
        Its position in characters: ``text[start:end]``.
    kind : str
    text : str
    probability : float
        The probability under the chain that its words have these labels.

    Examples
    --------
    >>> entity = hd.ner.load().tag("She lives in Amsterdam.")[0]
    >>> entity.start, entity.end, entity.kind, entity.text
    (13, 22, 'LOCATION', 'Amsterdam')
    """

    start: int  # character offsets: text[start:end]
    end: int
    kind: str
    text: str
    probability: float  # that its words have these labels, by the chain


class Recogniser:
    """A trained model that finds names in texts; `load` returns one.

    Parameters
    ----------
    chain : herded.ner.crf.chain_weights.ChainWeights
        The linear chain, such as `CRF().fit(...).chain_`.
    ties : herded.ner.crf.skip_chain.TieWeights, optional
        The ties between mentions of a word, for skip-chains.
    card : dict, optional
        The data, licences and scores of the model.

    Examples
    --------
    >>> recogniser = hd.ner.load()
    >>> recogniser.kinds
    ('LOCATION', 'ORGANIZATION', 'PERSON')
    >>> [entity.text for entity in recogniser.tag("Tim Roth met Amanda Plummer in Amsterdam.")]
    ['Tim Roth', 'Amanda Plummer', 'Amsterdam']
    """

    def __init__(
        self,
        chain: ChainWeights,
        ties: TieWeights | None = None,
        card: Mapping[str, Any] | None = None,
    ) -> None:
        self.chain, self.ties = chain, ties
        self.card = card or {}  # data, licences and figures, if the file has them

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of names that the model knows."""
        return self.chain.kinds

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary()

    def tag(
        self,
        text: str,
        *,
        decoder: str | None = None,
        skip: bool = False,
        sweeps: int = 400,
        seed: int = 0,
    ) -> list[Entity]:
        """Find the names in a text, in order.

        Parameters
        ----------
        text : str
        decoder : str, optional
            One of `DECODERS`; by default "viterbi", which is iterated with `skip`.
        skip : bool
            Whether to tie a name to its other mentions in the text; otherwise every sentence is
            labelled by itself.
        sweeps : int
            The sweeps of a sampler.
        seed : int
            The seed of a sampler.

        Returns
        -------
        list of Entity

        Raises
        ------
        CorpusError
            If `text` is not a string, or the model has no ties for `skip`.
        MethodError
            If there is no such decoder.

        Examples
        --------
        >>> [(e.text, e.kind) for e in hd.ner.load().tag("Tim Roth flew to Paris.")]
        [('Tim Roth', 'PERSON'), ('Paris', 'LOCATION')]
        """
        if not isinstance(text, str):
            raise CorpusError(f"expected a text, got {text!r:.80}")
        document = document_of(text)
        options = {"decoder": decoder, "skip": skip, "sweeps": sweeps, "seed": seed}
        return next(iter(self.find([document], **options)))

    def find(self, documents: Iterable[Document], **options: Any) -> Iterator[list[Entity]]:
        """Find the names in each of several documents, which must have their texts.

        The options are those of `tag`. Yields a list of `Entity` for each document.
        """
        for part, batch, scores, labels in self._batches(documents, **options):
            yield from self._entities(part, batch, scores, labels)

    def tag_documents(
        self, documents: Iterable[Document], **options: Any
    ) -> Iterator[list[tuple[str, ...]]]:
        """Label the words of each of several documents.

        The options are those of `tag`. Yields, for each document, a list with a tuple of BIO labels
        for each sentence. One batch of documents is in memory at a time.
        """
        for part, batch, _, labels in self._batches(documents, **options):
            words = [self.chain.labels[k] for k in labels]
            sentence = 0
            for document in part:
                found = []
                for _ in document.sentences:
                    first, last = batch.starts[sentence : sentence + 2]
                    found.append(tuple(to_bio(words[first:last])))
                    sentence += 1
                yield found

    def _batches(
        self,
        documents: Iterable[Document],
        *,
        decoder: str | None = None,
        skip: bool = False,
        sweeps: int = 400,
        seed: int = 0,
    ) -> Iterator[tuple[list[Document], Batch, np.ndarray, np.ndarray]]:
        """Yield documents of about `WORDS_PER_BATCH` words in all, with their scores and labels."""
        decoder = chosen_decoder(decoder)
        if skip and self.ties is None:
            raise CorpusError("expected a model with ties for skip-chains, got a chain alone")
        ties = self.ties if skip else None
        # Random draws for a word depend on its position, which must be the one in its document.
        for part in _parts(documents, 0 if decoder in RANDOM_DECODERS else WORDS_PER_BATCH):
            words = [[sentence.words for sentence in document.sentences] for document in part]
            batch = encode(words, self._vocabulary, self.chain.lexicon)
            scores = self.chain.scores(batch)
            labels = decode(
                self.chain, batch, scores, decoder=decoder, ties=ties, sweeps=sweeps, seed=seed
            )
            yield part, batch, scores, labels

    def _entities(
        self, documents: list[Document], batch: Batch, scores: np.ndarray, labels: np.ndarray
    ) -> Iterator[list[Entity]]:
        names = [self.chain.labels[k] for k in labels]
        places: list[tuple[int, int, int, int, str]] = []  # sentence, first, last, document, kind
        sentence = 0
        for at, document in enumerate(documents):
            for _ in document.sentences:
                a, b = (int(n) for n in batch.starts[sentence : sentence + 2])
                for first, last, kind in spans(names[a:b]):
                    places.append((sentence, a + first, a + last, at, kind))
                sentence += 1
        chances = self._chances(places, batch, scores, labels)
        found: list[list[Entity]] = [[] for _ in documents]
        for (sentence, first, last, at, kind), chance in zip(places, chances, strict=True):
            document, before = documents[at], int(batch.starts[sentence])
            which = sentence - int(batch.documents[at])
            found[at].append(_entity(document, which, first - before, last - before, kind, chance))
        yield from found

    def _chances(
        self, places: list[Any], batch: Batch, scores: np.ndarray, labels: np.ndarray
    ) -> np.ndarray:
        """Compute the probability of each span, calibrated by `trust`, fitted on unseen text."""
        trust = 1.0 if self.ties is None else self.ties.trust
        table = np.array([place[:3] for place in places], np.int64).reshape(-1, 3)
        ends = np.stack([batch.starts[table[:, 0]], batch.starts[table[:, 0] + 1]], axis=1)
        found = np.empty(len(places))
        transitions = trust * self.chain.transitions
        span_probabilities(
            trust * scores, transitions, ends, table[:, 1], table[:, 2], labels, found
        )
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file for `load`, which appears only when complete."""
        extra: dict[str, Any] = {"card": self.card}
        if self.ties is not None:
            extra |= {"ties": self.ties.table, "trust": self.ties.trust, "rule": self.ties.rule}
        save_chain(self.chain, path, **extra)


def load(path: str | os.PathLike[str] | None = None) -> Recogniser:
    """Load a recogniser.

    Parameters
    ----------
    path : path-like, optional
        A file that `Recogniser.save` wrote; by default the English model that comes with the
        package.

    Returns
    -------
    Recogniser

    Raises
    ------
    CorpusError
        If the file holds no such model.

    Examples
    --------
    >>> recogniser = hd.ner.load()
    >>> recogniser.save("english.npz")
    >>> hd.ner.load("english.npz").kinds == recogniser.kinds
    True
    """
    if path is None:
        with as_file(files("herded.ner") / "data" / "english.npz") as bundled:
            return _load(bundled)
    return _load(path)


def _load(path: str | os.PathLike[str]) -> Recogniser:
    chain, header, arrays = read_recogniser(path)
    ties, card = None, header.get("card", {})
    if "ties" in arrays:
        table: Any = arrays["ties"]
        trust: Any = header.get("trust")
        rule: Any = header.get("rule")
        n = 1 + len(chain.kinds)
        if table.shape != (n, n) or table.dtype != np.float64:
            raise CorpusError(
                f"expected ties of shape {(n, n)} in {path}, got {table.shape} {table.dtype}"
            )
        if not (np.isfinite(table).all() and (table == table.T).all()):
            raise CorpusError(f"expected symmetric ties in {path}, got {table.tolist()!r:.80}")
        if not is_number_between(trust, MIN_SCALE, MAX_NUMBER) or rule not in tuple(LINK_RULES):
            raise CorpusError(f"expected trust and a rule in {path}, got {trust!r} and {rule!r}")
        ties = TieWeights(table, float(trust), rule)
    return Recogniser(chain, ties, card if isinstance(card, dict) else {})


def _parts(documents: Iterable[Document], most: int) -> Iterator[list[Document]]:
    if not isinstance(documents, Iterable):
        raise CorpusError(f"expected documents, got {documents!r:.80}")
    part: list[Document] = []
    size = 0
    for document in documents:
        if not isinstance(document, Document):
            raise CorpusError(f"expected documents, got {document!r:.80}")
        part.append(document)
        size += document.n_words
        if size >= most:
            yield part
            part, size = [], 0
    if part:
        yield part


def _entity(
    document: Document, sentence: int, first: int, last: int, kind: str, chance: float
) -> Entity:
    words, starts = document.sentences[sentence].words, document.sentences[sentence].starts
    if document.text is None or starts is None:
        raise CorpusError(
            f"expected document {document.name!r} with its text and offsets, got only words: use "
            "tag_documents for labels"
        )
    start, end = starts[first], starts[last - 1] + len(words[last - 1])
    return Entity(start, end, kind, document.text[start:end], float(chance))
