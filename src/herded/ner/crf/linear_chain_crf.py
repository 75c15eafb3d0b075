"""A linear-chain CRF over hashed features, as an estimator with scikit-learn's conventions."""

import inspect
import os
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from herded.errors import CorpusError, Interrupted, MethodError
from herded.methods.options import check_seed
from herded.ner.crf.adagrad_training import CRFTrainer
from herded.ner.crf.chain_weights import ChainWeights, first_transitions, label_set
from herded.ner.crf.encoded_batch import Batch, encode
from herded.ner.crf.serialization import load_chain, save_chain
from herded.ner.entity_scoring import score
from herded.ner.text.labels import to_bio, to_io
from herded.ner.text.lexicon import Lexicon
from herded.ner.text.sentence_inputs import (
    SentenceLabels,
    TextInputs,
    are_documents,
    regroup_by_document,
    sentences_and_labels,
    sentences_of,
)
from herded.ner.text.word_atoms import Vocabulary
from herded.run.training_helpers import EarlyStopping, divergence_error, progress_and_interrupt
from herded.system.argument_checks import is_number_between, is_whole_number

Pair = tuple[TextInputs, Sequence[SentenceLabels]]
SCHEMES = {"io": to_io, "bio": to_bio}


class CRF:
    """A linear-chain CRF over hashed features that labels the words of sentences.

    It follows scikit-learn's conventions. X is a list of `Document`, whose sentences may have
    labels, or a list of sentences, each a list of words. With documents, a word's occurrences in
    other sentences count, too.

    Parameters
    ----------
    scheme : "io" or "bio"
        "io" has one label for each kind of name, as in the paper. "bio" has one for a name's first
        word and one for the others, so that adjacent names of one kind stay separate.
    epochs : int
        The most visits to each sentence; fewer if a development set stops improving.
    rate : float
        The learning rate of AdaGrad.
    l2 : float
        The weight of the penalty on squared weights.
    dropout : float
        The share of the features omitted at each visit.
    patience : int
        The number of epochs without a better F1 on the development set before training stops.
    bits : int
        The log2 of the number of rows of weights.
    lexicon : Lexicon, optional
        Lists of names.
    seed : int
        The seed of the order of sentences and of the dropout.
    progress : bool, optional
        Whether to show a progress bar on a terminal: only in long runs (None), or never (False).

    Attributes
    ----------
    chain_ : herded.ner.crf.chain_weights.ChainWeights
        The learned weights, after `fit`.
    history_ : list of dict
        The loss of each epoch, and the F1 on the development set.

    Examples
    --------
    >>> train = [["Tim", "met", "Amanda"], ["Amanda", "left"], ["He", "met", "Tim"]]
    >>> labels = [["PERSON", "O", "PERSON"], ["PERSON", "O"], ["O", "O", "PERSON"]]
    >>> crf = hd.ner.CRF(epochs=20, bits=12).fit(train, labels)
    >>> crf.predict([["Amanda", "met", "Tim"]])
    [('PERSON', 'O', 'PERSON')]
    """

    def __init__(
        self,
        *,
        scheme: str = "io",
        epochs: int = 4,
        rate: float = 0.1,
        l2: float = 0.1,
        dropout: float = 0.3,
        patience: int = 1,
        bits: int = 22,
        lexicon: Lexicon | None = None,
        seed: int = 0,
        progress: bool | None = None,
    ) -> None:
        self.scheme = scheme
        self.epochs = epochs
        self.rate = rate
        self.l2 = l2
        self.dropout = dropout
        self.patience = patience
        self.bits = bits
        self.lexicon = lexicon
        self.seed = seed
        self.progress = progress

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments of the constructor, for `sklearn.clone`."""
        return {name: vars(self)[name] for name in inspect.signature(type(self)).parameters}

    def set_params(self, **values: Any) -> "CRF":
        """Change arguments; they take effect at the next `fit`."""
        known = self.get_params()
        for name, value in values.items():
            if name not in known:
                raise MethodError(f"expected one of {', '.join(known)}, got {name!r}")
            setattr(self, name, value)
        return self

    def fit(
        self,
        X: TextInputs,
        y: Sequence[SentenceLabels] | None = None,
        *,
        dev: TextInputs | Pair | None = None,
        kinds: Sequence[str] = (),
    ) -> "CRF":
        """Learn from labelled sentences.

        Parameters
        ----------
        X : list of Document or of list of str
        y : list of sequence of str, optional
            Labels for each sentence, if X has none.
        dev : optional
            A development set, documents or a pair (X, y), which decides when to stop.
        kinds : sequence of str
            Kinds of names to know even if none occurs.

        Returns
        -------
        CRF
            Itself, with `chain_` and `history_`.

        Raises
        ------
        CorpusError
            If there are no words, or labels are missing.
        MethodError
            If an option is out of range, or training diverges.
        Interrupted
            After Ctrl-C: a KeyboardInterrupt whose `result` is this CRF after the last complete
            epoch, or None before that.
        """
        self._check()
        documents, given = sentences_and_labels(X, y)
        truth = [SCHEMES[self.scheme](labels) for labels in given]
        names = label_set(given, self.scheme, kinds)
        numbers = {name: at for at, name in enumerate(names)}
        flat = np.array([numbers[label] for labels in truth for label in labels], np.int64)
        if not len(flat):
            raise CorpusError("expected words to learn from, got none")
        vocabulary = Vocabulary()
        learner = CRFTrainer(
            batch=encode(documents, vocabulary, self.lexicon),
            labels=flat,
            transitions=first_transitions(names),
            rate=float(self.rate),
            l2=float(self.l2),
            dropout=float(self.dropout),
            bits=int(self.bits),
            seed=int(self.seed),
        )
        development = None
        if dev is not None:
            pair = isinstance(dev, tuple) and len(dev) == 2 and not are_documents(dev)
            held, right = (
                sentences_and_labels(*cast(Pair, dev))
                if pair
                else sentences_and_labels(cast(TextInputs, dev))
            )
            if not any(right):
                raise CorpusError("expected words in the development set, got none")
            development = encode(held, vocabulary, self.lexicon), right
        self._learn(learner, names, development)
        return self

    def _check(self) -> None:
        if self.scheme not in tuple(SCHEMES):
            raise MethodError(f'expected scheme "io" or "bio", got {self.scheme!r}')
        check_seed(self.seed)
        for name, least, most in (("epochs", 1, 10**6), ("patience", 1, 10**6), ("bits", 8, 28)):
            value = vars(self)[name]
            if not is_whole_number(value, least) or value > most:
                raise MethodError(f"expected {name} from {least} to {most}, got {value!r}")
        for name, high in (("rate", 1e3), ("l2", 1e9), ("dropout", 0.99)):
            value = vars(self)[name]
            if not is_number_between(value, 0, high):
                raise MethodError(f"expected {name} from 0 to {high:g}, got {value!r}")
        if not (self.lexicon is None or isinstance(self.lexicon, Lexicon)):
            raise MethodError(f"expected a Lexicon or None, got {self.lexicon!r:.80}")

    def _learn(
        self,
        learner: CRFTrainer,
        names: tuple[str, ...],
        development: tuple[Batch, list[SentenceLabels]] | None,
    ) -> None:
        """Train until all epochs are done, the development set stops improving, or Ctrl-C."""
        self.history_: list[dict[str, float]] = []
        patience = EarlyStopping(self.patience)
        total = self.epochs * (len(learner.batch.starts) - 1)
        with progress_and_interrupt(self.progress, total, "CRF", "sentences") as (bar, stop):

            def watch(sentences: int) -> bool:
                facts = self.history_[-1] if self.history_ else {}
                bar.update(sentences, " ".join(f"{key} {facts[key]:.4f}" for key in facts))
                return stop.is_set()

            loss: float | None = 0.0
            while learner.done < self.epochs and not patience.is_over:
                loss = learner.epoch(watch)
                if loss is None:
                    break
                if not np.isfinite(loss):
                    raise divergence_error(self.rate)
                chain = ChainWeights(names, learner.weights, learner.transitions, 1.0, self.lexicon)
                self.history_.append({"loss": loss})
                if development is not None:
                    f1 = _f1(chain, *development)
                    self.history_[-1]["f1"] = f1
                    patience.look(f1)
                if patience.since == 0:
                    self.chain_ = chain.copy()
            if loss is None or stop.is_set():
                epochs = len(self.history_)
                found = self if epochs else None
                raise Interrupted(f"interrupted after {epochs} of {self.epochs} epochs", found)

    def predict(self, X: TextInputs) -> list[Any]:
        """Find the best labels: a tuple per sentence, or for documents lists of tuples."""
        chain, batch = self._encode(X)
        best = chain.best(chain.scores(batch), batch.starts)
        return regroup_by_document(X, batch.starts, [chain.labels[k] for k in best])

    def predict_marginals(self, X: TextInputs) -> list[Any]:
        """Compute label probabilities (words, labels) per sentence; for documents, lists of these.

        The columns are the labels of `chain_.labels`.
        """
        chain, batch = self._encode(X)
        return regroup_by_document(
            X, batch.starts, chain.marginals(chain.scores(batch), batch.starts)
        )

    def score(self, X: TextInputs, y: Sequence[SentenceLabels] | None = None) -> float:
        """Compute F1 over whole entities."""
        chain, batch = self._encode(X)
        return _f1(chain, batch, sentences_and_labels(X, y)[1])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learned weights to a file for `CRF.load`, which appears only when complete."""
        save_chain(self._chain(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "CRF":
        """Load a fitted CRF from a file; the arguments of its training are not stored."""
        chain = load_chain(path)
        scheme = "bio" if any(label.startswith("B-") for label in chain.labels) else "io"
        crf = cls(scheme=scheme, lexicon=chain.lexicon, bits=len(chain.weights).bit_length() - 1)
        crf.chain_, crf.history_ = chain, []
        return crf

    def _chain(self) -> ChainWeights:
        if "chain_" not in vars(self):
            raise MethodError("expected a fitted CRF, got a new one: call fit or CRF.load first")
        return self.chain_

    def _encode(self, X: TextInputs) -> tuple[ChainWeights, Batch]:
        chain = self._chain()
        return chain, encode(sentences_of(X), Vocabulary(), chain.lexicon)


def _f1(chain: ChainWeights, batch: Batch, truth: list[SentenceLabels]) -> float:
    best = chain.best(chain.scores(batch), batch.starts)
    words = [chain.labels[k] for k in best]
    starts = batch.starts
    guess = [words[starts[s] : starts[s + 1]] for s in range(len(starts) - 1)]
    return score(truth, guess).f1
