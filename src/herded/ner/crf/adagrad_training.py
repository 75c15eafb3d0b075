"""Training the chain CRF: AdaGrad on the exact likelihood, one sentence at a time.

minimise  - sum_s log P(y_s | x_s) + l2 / 2 * |w|^2   (Lafferty et al. 2001; Duchi et al. 2011)

The L2 penalty of a row of weights is spread over the visits that an epoch makes to it, so that only
the rows of the current sentence are touched. Dropout omits each feature of each word at random, so
that training cannot rely on the words of the corpus alone and also learns shapes and contexts,
which other texts share.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from herded.ner.crf.chain_kernels import forward_backward
from herded.ner.crf.encoded_batch import Batch
from herded.ner.crf.features import compile_templates, feature_rows
from herded.run.training_helpers import random_permutation
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits, stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

# initial sums of squared gradients: larger ones would slow down the first steps
INITIAL_SQUARED_GRADIENT = 1.0
SENTENCES_PER_WATCH = 4096  # sentences between two calls of `watch`


@dataclass
class CRFTrainer:
    """A CRF in training: each call of `epoch` adds an epoch."""

    batch: Batch
    labels: np.ndarray  # (N,)
    transitions: np.ndarray  # (K + 1, K); -inf where a transition is forbidden
    rate: float
    l2: float
    dropout: float
    bits: int
    seed: int

    def __post_init__(self) -> None:
        width = self.transitions.shape[1]
        self.templates = compile_templates()
        self.counts = np.zeros(2**self.bits, np.uint32)
        # A row holds its weights and then its sums of squared gradients, which are used together.
        self.learned = np.zeros((2**self.bits, 2 * width), np.float32)
        self.learned[:, width:] = INITIAL_SQUARED_GRADIENT
        self.squares = np.full(self.transitions.shape, INITIAL_SQUARED_GRADIENT)
        self.done = 0
        count_row_uses(*self._words(), self.bits, self.counts)

    @property
    def weights(self) -> np.ndarray:
        """The trained weights, (rows, K)."""
        return self.learned[:, : self.transitions.shape[1]]

    def epoch(self, watch: Callable[[int], bool]) -> float | None:
        """Visit every sentence once; return the mean loss of a word, or None if stopped.

        `watch(sentences)` is called occasionally with the number of visits so far; training stops
        if it returns True.
        """
        n = len(self.batch.starts) - 1
        order = random_permutation(n, self.seed, self.done, StreamPurpose.TAGGER_SENTENCE_ORDER)
        loss = 0.0
        for first in range(0, n, SENTENCES_PER_WATCH):
            loss += train_sentences(
                order[first : first + SENTENCES_PER_WATCH],
                self.labels,
                *self._words(),
                self.bits,
                self.counts,
                self.rate,
                self.l2,
                self.dropout,
                stream_key(self.seed, self.done, StreamPurpose.TAGGER_DROPOUT),
                self.learned,
                self.transitions,
                self.squares,
            )
            if watch(self.done * n + min(first + SENTENCES_PER_WATCH, n)):
                return None
        self.done += 1
        return loss / max(1, len(self.labels))

    def _words(self) -> tuple[np.ndarray, ...]:
        batch = self.batch
        return (batch.types, batch.starts, batch.atoms, batch.places, *self.templates)


@jit
def count_row_uses(types, starts, atoms, places, salts, table, bits, counts):
    """Count in counts[r] how often an epoch uses row r."""
    for s in range(len(starts) - 1):
        a, b = starts[s], starts[s + 1]
        rows = np.empty((b - a, len(salts)), np.uint32)
        feature_rows(types[a:b], atoms, places[a:b], salts, table, bits, rows)
        for i in range(b - a):
            for f in range(len(salts)):
                counts[rows[i, f]] += 1


@jit
def train_sentences(
    order, labels, types, starts, atoms, places, salts, table, bits, counts,
    rate, l2, dropout, key, learned, transitions, squares,
):  # fmt: skip
    """Take a step on the likelihood of each sentence of `order`; return the sum of their losses."""
    width, n_features = transitions.shape[1], len(salts)
    chance = np.uint64(dropout * 2.0**64)
    grown = 1.0 / (1.0 - dropout)
    pairs, gradient = np.empty_like(transitions), np.empty(width)
    loss = 0.0
    for o in range(len(order)):
        a, b = starts[order[o]], starts[order[o] + 1]
        n = b - a
        if n == 0:
            continue
        rows = np.empty((n, n_features), np.uint32)
        used = np.empty((n, n_features), np.bool_)
        scores, p = np.zeros((n, width)), np.empty((n, width))
        feature_rows(types[a:b], atoms, places[a:b], salts, table, bits, rows)
        for i in range(n):
            for f in range(n_features):
                used[i, f] = random_bits(key, np.uint64((a + i) * n_features + f)) >= chance
                if used[i, f]:
                    for k in range(width):
                        scores[i, k] += learned[rows[i, f], k]
            for k in range(width):
                scores[i, k] *= grown
        pairs[:] = 0.0
        loss += forward_backward(scores, transitions, p, pairs)
        before = width  # the start of a sentence
        for i in range(n):
            y = labels[a + i]
            loss -= scores[i, y] + transitions[before, y]
            pairs[before, y] -= 1.0
            before = y
        for j in range(width + 1):
            for k in range(width):
                if transitions[j, k] > -np.inf:
                    step = pairs[j, k] + l2 * transitions[j, k] / (len(starts) - 1)
                    squares[j, k] += step * step
                    transitions[j, k] -= rate * step / np.sqrt(squares[j, k])
        for i in range(n):
            for k in range(width):
                gradient[k] = grown * (p[i, k] - (labels[a + i] == k))
            for f in range(n_features):
                if used[i, f]:
                    row = rows[i, f]
                    pull = l2 / counts[row]
                    for k in range(width):
                        step = gradient[k] + pull * learned[row, k]
                        learned[row, width + k] += step * step
                        learned[row, k] -= rate * step / np.sqrt(learned[row, width + k])
    return loss
