"""The trained weights of a chain CRF: what it learned, and what its file holds.

log P(y | x) = sum_i (scores[i, y_i] + transitions[y_(i-1), y_i]) - log Z(x)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from herded.errors import CorpusError
from herded.ner.crf.chain_kernels import score_sentences, sentence_marginals, viterbi_of_sentences
from herded.ner.crf.encoded_batch import Batch
from herded.ner.crf.features import compile_templates
from herded.ner.text.labels import OUTSIDE, split_label
from herded.ner.text.lexicon import Lexicon

MAX_QUANTISED_WEIGHT = 127


@dataclass(frozen=True)
class ChainWeights:
    """Weights of hashed features, and transitions; the last row of these starts a sentence."""

    labels: tuple[str, ...]
    weights: np.ndarray  # (2^bits, K) float32, or int8 when quantised
    transitions: np.ndarray  # (K + 1, K), -inf where forbidden
    scale: float = 1.0  # multiplies the weights
    lexicon: Lexicon | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of names, without the labels' "B-" and "I-"."""
        kinds = (split_label(label)[1] for label in self.labels if label != OUTSIDE)
        return tuple(dict.fromkeys(kinds))

    def scores(self, batch: Batch) -> np.ndarray:
        """Compute the sum of a word's weights for each label, (N, K)."""
        scores = np.empty((len(batch.types), len(self.labels)))
        bits = len(self.weights).bit_length() - 1
        words = (batch.types, batch.starts, batch.atoms, batch.places)
        score_sentences(self.weights, self.scale, *words, *compile_templates(), bits, scores)
        return scores

    def best(self, scores: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Find the best labelling of each sentence, (N,)."""
        labels = np.empty(len(scores), np.int64)
        viterbi_of_sentences(scores, self.transitions, starts, labels)
        return labels

    def marginals(self, scores: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Compute the probability of each label of each word, (N, K)."""
        marginals = np.empty_like(scores)
        sentence_marginals(scores, self.transitions, starts, marginals)
        return marginals

    def copy(self) -> "ChainWeights":
        """Return a chain that shares no weights with this one."""
        return replace(self, weights=self.weights.copy(), transitions=self.transitions.copy())

    def quantised(self, least: int = 1) -> "ChainWeights":
        """Return the chain with 8-bit weights, without rows that have none of size `least`.

        Only differences between labels matter, so the first label's weights become 0.
        """
        weights = self.weights * np.float32(self.scale)
        weights = weights - weights[:, :1]
        scale = float(np.abs(weights).max(initial=1e-30)) / MAX_QUANTISED_WEIGHT
        short = np.rint(weights / scale).astype(np.int8)
        short[np.abs(short).max(axis=1) < least] = 0
        return replace(self, weights=short, scale=scale)


def label_set(
    sentences: Iterable[Sequence[str]], scheme: str, more: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return labels for `more` and the kinds that occur, "O" first; in BIO two per kind."""
    kinds = {split_label(label)[1] for labels in sentences for label in labels}
    kinds = {*kinds, *more} - {"", OUTSIDE}
    for kind in kinds:
        if split_label(kind)[0]:
            raise CorpusError(
                f'expected kinds of names that do not begin with "{kind[:2]}", got "{kind}": it '
                "would be read as the mark for the beginning or end of a name"
            )
    if scheme == "io":
        return (OUTSIDE, *sorted(kinds))
    return (OUTSIDE, *(prefix + kind for kind in sorted(kinds) for prefix in ("B-", "I-")))


def first_transitions(labels: Sequence[str]) -> np.ndarray:
    """Return zeros (K + 1, K), with -inf where "I-" would not continue a name of its kind."""
    transitions = np.zeros((len(labels) + 1, len(labels)))
    for before, first in enumerate([*labels, OUTSIDE]):
        for after, second in enumerate(labels):
            prefix, kind = split_label(second)
            if prefix == "I" and split_label(first)[1] != kind:
                transitions[before, after] = -np.inf
    return transitions
