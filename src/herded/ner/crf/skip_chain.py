"""The skip-chain: a chain whose words are tied to other mentions of them in the document.

log pi(y) = trust * chain(y) + sum over links (i, j) of strength * S[kind(y_i), kind(y_j)] - log Z

(Sutton and McCallum 2004.) The graph has loops, so Viterbi does not apply. It is the library's
`skip_chain_model`, and the library's methods sample it.

Trust and S, a symmetric table, are fitted with the chain frozen, by a pseudo-likelihood whose unit
is a sentence: sum over sentences of log P(y_s | the chain's guesses for linked words). Given the
true labels of linked words instead, S would learn to rely on them, while in use they are guesses.
The chain must not have been trained on the sentences, or it would be trusted too much.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from herded.models.chain import chain_model as chain_model
from herded.models.chain import skip_chain_model
from herded.models.factor_graph import FactorGraph
from herded.ner.crf.chain_kernels import forward_backward
from herded.ner.crf.chain_weights import ChainWeights
from herded.ner.crf.encoded_batch import Batch
from herded.ner.crf.mention_links import LINK_RULES, MentionLinks
from herded.ner.crf.normal_equations import gram_matrix, solve_symmetric
from herded.ner.text.labels import split_label
from herded.run.training_helpers import subtract_l2_penalty
from herded.system.compilation.jit import jit

SKIP_PENALTY = 1.0  # on squared entries of S
MAX_FIT_STEPS = 100
MIN_INFORMATION = 1e-30  # smallest information on trust; there is none if all labels are certain
MIN_RELATIVE_GAIN = 1e-6  # relative gain of the objective below which the fit ends


@dataclass(frozen=True)
class TieWeights:
    """The parameters that a skip-chain adds to its chain."""

    table: np.ndarray  # (1 + kinds, 1 + kinds): S, outside first
    trust: float = 1.0
    rule: str = "next"

    def links(self, batch: Batch) -> MentionLinks:
        """Return the skip edges of the batch's documents."""
        return LINK_RULES[self.rule](batch)

    def potentials(self, chain: ChainWeights) -> np.ndarray:
        """Return S for each pair of labels, (K, K)."""
        kinds = label_kinds(chain)
        found: np.ndarray = self.table[np.ix_(kinds, kinds)]
        return found


def label_kinds(chain: ChainWeights) -> np.ndarray:
    """Return the kind of each label (K,): 0 outside, else 1 + its number in `chain.kinds`."""
    return np.array([("", *chain.kinds).index(split_label(label)[1]) for label in chain.labels])


def build_document_model(
    chain: ChainWeights, batch: Batch, scores: np.ndarray, ties: TieWeights | None = None
) -> FactorGraph:
    """Build the chain or skip-chain of several documents as a model of the library."""
    starts, transitions = batch.starts, chain.transitions
    lengths = np.diff(starts)
    trust = 1.0 if ties is None else ties.trust
    unary = trust * scores
    unary[starts[:-1][lengths > 0]] += trust * transitions[-1]
    sizes: Any = lengths[lengths > 0]
    if ties is None:
        return chain_model(unary, transitions[:-1], lengths=sizes)
    links = ties.links(batch)
    tables = links.strengths[:, None, None] * ties.potentials(chain)
    return skip_chain_model(unary, trust * transitions[:-1], links.edges, tables, lengths=sizes)


@dataclass(frozen=True)
class TrainingDocument:
    """Documents, the guesses of a chain not trained on them, and their true labels."""

    chain: ChainWeights
    batch: Batch
    labels: np.ndarray  # (N,)


def fit_ties(examples: Sequence[TrainingDocument], rule: str = "next") -> TieWeights:
    """Fit trust and S by maximising the pseudo-likelihood with Fisher scoring."""
    kinds = label_kinds(examples[0].chain)
    n = int(kinds.max()) + 1
    cases = [_case(example, rule, kinds) for example in examples]
    symmetric = _symmetric(n)
    parameters = np.zeros(symmetric.shape[1])
    parameters[0] = 1.0
    value, gradient, information = _objective(cases, kinds, symmetric, parameters)
    for _ in range(MAX_FIT_STEPS):
        step = solve_symmetric(information, gradient)
        gain, size = 0.0, 1.0
        while size > 1e-6 and not gain > 0:
            tried = parameters + size * step
            again = _objective(cases, kinds, symmetric, tried)
            gain = again[0] - value if tried[0] > 0 else 0.0
            size /= 2
        if not gain > MIN_RELATIVE_GAIN * abs(value):
            break
        parameters, (value, gradient, information) = tried, again
    full = symmetric @ parameters
    return TieWeights(full[1:].reshape(n, n), float(full[0]), rule)


def _case(example: TrainingDocument, rule: str, kinds: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return scores, transitions, starts, true labels, and each word's links to every kind."""
    chain, batch = example.chain, example.batch
    scores = chain.scores(batch)
    guess = kinds[chain.best(scores, batch.starts)]
    linked = np.zeros((len(scores), int(kinds.max()) + 1))
    (first, second), strengths = (links := LINK_RULES[rule](batch)).edges.T, links.strengths
    np.add.at(linked, (first, guess[second]), strengths)
    np.add.at(linked, (second, guess[first]), strengths)
    return scores, chain.transitions, batch.starts, example.labels, linked


def _symmetric(n: int) -> np.ndarray:
    """Map trust and the upper triangle of S to trust and all of S: (1 + n^2, 1 + n (n + 1) / 2)."""
    upper = [(a, b) for a in range(n) for b in range(a, n)]
    full = np.zeros((1 + n * n, 1 + len(upper)))
    full[0, 0] = 1.0
    for at, (a, b) in enumerate(upper):
        full[1 + a * n + b, 1 + at] = full[1 + b * n + a, 1 + at] = 1.0
    return full


def _objective(
    cases: list[tuple[np.ndarray, ...]],
    kinds: np.ndarray,
    symmetric: np.ndarray,
    parameters: np.ndarray,
) -> tuple[float, np.ndarray, np.ndarray]:
    """Compute the penalised log pseudo-likelihood, its gradient, and its parts' squared sum."""
    full = symmetric @ parameters
    n = int(kinds.max()) + 1
    weights = np.r_[0.0, np.full(len(parameters) - 1, SKIP_PENALTY)]  # trust is not penalised
    value, gradient = subtract_l2_penalty(0.0, np.zeros(len(parameters)), parameters, weights)
    information = np.diag(np.maximum(weights, MIN_INFORMATION))
    for scores, transitions, starts, labels, linked in cases:
        table = full[1:].reshape(n, n)
        parts = np.zeros((len(starts) - 1, len(full)))
        value += sentence_gradients(
            scores, transitions, starts, labels, linked, table, kinds, full[0], parts
        )
        parts = parts @ symmetric  # sums of one or two terms: the order does not matter
        gradient = gradient + parts.sum(axis=0)
        information = information + gram_matrix(parts)
    return value, gradient, information


@jit
def sentence_gradients(
    scores, transitions, starts, labels, linked, table, kinds, trust, parts
):  # fmt: skip
    """Sum log P of each sentence given the labels linked to it; parts[s] is its gradient."""
    width, n = scores.shape[1], len(table)
    total = 0.0
    forced = trust * transitions
    for j in range(width + 1):
        for k in range(width):
            if transitions[j, k] == -np.inf:
                forced[j, k] = -np.inf
    for s in range(len(starts) - 1):
        a, b = starts[s], starts[s + 1]
        if a == b:
            continue
        local, p = trust * scores[a:b], np.empty((b - a, width))
        pairs = np.zeros((width + 1, width))
        for i in range(b - a):
            for k in range(width):
                for other in range(n):
                    local[i, k] += linked[a + i, other] * table[kinds[k], other]
        total -= forward_backward(local, forced, p, pairs)
        before = width
        for i in range(b - a):
            y = labels[a + i]
            total += local[i, y] + forced[before, y]
            pairs[before, y] -= 1.0
            before = y
            for k in range(width):
                gap = (y == k) - p[i, k]
                parts[s, 0] += gap * scores[a + i, k]
                for other in range(n):
                    parts[s, 1 + kinds[k] * n + other] += gap * linked[a + i, other]
        for j in range(width + 1):
            for k in range(width):
                if transitions[j, k] > -np.inf:
                    parts[s, 0] -= pairs[j, k] * transitions[j, k]
    return total
