"""A skip-chain CRF as an estimator: a chain, and ties fitted on documents it was not trained on."""

from collections.abc import Sequence

import numpy as np

from herded.errors import CorpusError, MethodError
from herded.ner.crf.decoding import check_decoder
from herded.ner.crf.encoded_batch import encode
from herded.ner.crf.linear_chain_crf import CRF, SCHEMES, Pair
from herded.ner.crf.mention_links import LINK_RULES
from herded.ner.crf.skip_chain import TrainingDocument, fit_ties
from herded.ner.entity_scoring import score
from herded.ner.recogniser import Recogniser
from herded.ner.text.documents import Document
from herded.ner.text.labels import to_io
from herded.ner.text.sentence_inputs import (
    SentenceLabels,
    TextInputs,
    are_documents,
    sentences_and_labels,
    sentences_of,
)
from herded.ner.text.word_atoms import Vocabulary
from herded.run.interrupts import stop_all_runs_on_interrupt
from herded.system.argument_checks import is_whole_number


class SkipCRF:
    """A skip-chain CRF, which ties words to their other mentions, as in section 4.3 of the paper.

    Parameters
    ----------
    crf : CRF, optional
        The estimator of the chain, not fitted yet.
    folds : int
        The number of parts of the documents. Each part is labelled by a chain trained on the
        others, and the ties are fitted to these labels.
    rule : "next" or "all"
        Which words are linked: a name and its next mention, or all mentions.
    decoder : str
        The decoder to label with, one of `DECODERS`.
    sweeps : int
        The sweeps of the decoder.

    Attributes
    ----------
    recogniser_ : Recogniser
        The recogniser, after `fit`.
    crf_ : CRF
        The chain, fitted on all documents.

    Examples
    --------
    >>> def story(name, words, labels):
    ...     return hd.ner.Document(name, (hd.ner.Sentence(words, labels),))
    >>> train = [
    ...     story("a", ("Tim", "met", "Tim"), ("PERSON", "O", "PERSON")),
    ...     story("b", ("Ann", "left", "Ann"), ("PERSON", "O", "PERSON")),
    ...     story("c", ("He", "met", "Tim"), ("O", "O", "PERSON")),
    ... ]
    >>> crf = hd.ner.SkipCRF(hd.ner.CRF(epochs=20, bits=12), decoder="viterbi").fit(train)
    >>> crf.predict(train[:1])
    [[('B-PERSON', 'O', 'B-PERSON')]]
    """

    def __init__(
        self,
        crf: CRF | None = None,
        *,
        folds: int = 2,
        rule: str = "next",
        decoder: str = "viterbi",
        sweeps: int = 400,
    ) -> None:
        self.crf = crf
        self.folds = folds
        self.rule = rule
        self.decoder = decoder
        self.sweeps = sweeps

    get_params, set_params = CRF.get_params, CRF.set_params

    @stop_all_runs_on_interrupt()  # partial runs are useless by themselves
    def fit(
        self,
        X: Sequence[Document],
        y: Sequence[SentenceLabels] | None = None,
        *,
        repeats: int = 1,
        extra: Sequence[Document] = (),
        dev: TextInputs | Pair | None = None,
    ) -> "SkipCRF":
        """Learn from labelled documents.

        Parameters
        ----------
        X : list of Document
        y : optional
            Labels for each sentence, if X has none.
        repeats : int
            How many times each document counts.
        extra : list of Document
            Documents that train the chain in every fold, but not the ties, such as short texts.
        dev : optional
            A development set, as in `CRF.fit`.

        Returns
        -------
        SkipCRF
            Itself, with `recogniser_` and `crf_`.
        """
        if not are_documents(X):
            raise CorpusError(f"expected a list of documents, got {X!r:.80}")
        self._check(len(X))
        if not is_whole_number(repeats, 1):
            raise MethodError(f"expected repeats of 1 or more, got {repeats!r}")
        kinds = sorted({kind for labels in sentences_and_labels(X, y)[1] for kind in to_io(labels)})
        examples = []
        for fold in range(self.folds):
            held = [document for at, document in enumerate(X) if at % self.folds == fold]
            rest = [document for at, document in enumerate(X) if at % self.folds != fold]
            crf = self._new().fit([*rest * repeats, *extra], dev=dev, kinds=kinds)
            examples.append(_example(crf, held))
        self.crf_ = self._new().fit([*list(X) * repeats, *extra], dev=dev)
        ties = fit_ties(examples, self.rule)
        self.recogniser_ = Recogniser(self.crf_.chain_, ties)
        return self

    def _check(self, n: int) -> None:
        if not (self.crf is None or isinstance(self.crf, CRF)):
            raise MethodError(f"expected a CRF or None, got {self.crf!r:.80}")
        if not is_whole_number(self.folds, 2) or self.folds > n:
            raise MethodError(f"expected folds from 2 to {n}, got {self.folds!r}")
        if self.rule not in tuple(LINK_RULES):
            raise MethodError(f"expected a rule of {', '.join(LINK_RULES)}, got {self.rule!r}")
        check_decoder(self.decoder)

    def _new(self) -> CRF:
        return CRF(**({} if self.crf is None else self.crf.get_params()))

    def predict(self, X: Sequence[Document]) -> list[list[tuple[str, ...]]]:
        """Return BIO labels for each document: a tuple for each sentence."""
        if not are_documents(X) and len(sentences_of(X)):
            raise CorpusError(f"expected a list of documents, got {X!r:.80}")
        if "recogniser_" not in vars(self):
            raise MethodError("expected a fitted SkipCRF, got a new one: call fit first")
        options = {"decoder": self.decoder, "sweeps": self.sweeps, "skip": True}
        return list(self.recogniser_.tag_documents(X, **options))

    def score(self, X: Sequence[Document], y: Sequence[SentenceLabels] | None = None) -> float:
        """Compute F1 over whole entities."""
        guess = [labels for document in self.predict(X) for labels in document]
        return score(sentences_and_labels(X, y)[1], guess).f1


def _example(crf: CRF, held: list[Document]) -> TrainingDocument:
    """Return a chain's guesses for documents it was not trained on, and the true labels."""
    chain = crf.chain_
    words, given = sentences_and_labels(held)
    numbers = {name: at for at, name in enumerate(chain.labels)}
    truth = [label for labels in given for label in SCHEMES[crf.scheme](labels)]
    batch = encode(words, Vocabulary(), chain.lexicon)
    return TrainingDocument(chain, batch, np.array([numbers[label] for label in truth], np.int64))
