"""Viterbi for each sentence in turn, given the current labels of linked words.

A cheap baseline for skip-chains. Every step raises the score, and it ends when no change within one
sentence raises it further, which may be a local optimum. If two words of one sentence are linked,
the later one uses the earlier one's old label; the new labelling is kept only if its score is
higher.
"""

import numpy as np

from herded.ner.crf.chain_kernels import viterbi_of_sentences
from herded.ner.crf.chain_weights import ChainWeights
from herded.ner.crf.encoded_batch import Batch
from herded.ner.crf.skip_chain import TieWeights
from herded.system.compilation.jit import jit

MAX_VITERBI_ROUNDS = 100


def iterate_viterbi(
    chain: ChainWeights, batch: Batch, scores: np.ndarray, ties: TieWeights
) -> np.ndarray:
    """Improve the chain's own best labels (N,) by iterated Viterbi."""
    labels = chain.best(scores, batch.starts)
    (first, second), strengths = (links := ties.links(batch)).edges.T, links.strengths
    owner, other = np.concatenate([first, second]), np.concatenate([second, first])
    order = np.argsort(owner, kind="stable")
    start = np.searchsorted(owner[order], np.arange(len(scores) + 1))
    sentence_rounds(
        ties.trust * scores,
        ties.trust * chain.transitions,
        batch.starts,
        start,
        other[order],
        np.concatenate([strengths, strengths])[order],
        ties.potentials(chain),
        MAX_VITERBI_ROUNDS,
        labels,
    )
    return labels


@jit
def sentence_rounds(
    scores, transitions, starts, link_start, linked, strengths, table, rounds, labels
):  # fmt: skip
    """Improve `labels` by sentences until a round changes none; return the number of rounds."""
    width = scores.shape[1]
    ends = np.empty(2, np.int64)
    for r in range(rounds):
        changed = False
        for s in range(len(starts) - 1):
            a, b = starts[s], starts[s + 1]
            if link_start[a] == link_start[b]:
                continue
            local = scores[a:b].copy()
            for i in range(a, b):
                for e in range(link_start[i], link_start[i + 1]):
                    if linked[e] < i or linked[e] >= b:
                        for k in range(width):
                            local[i - a, k] += strengths[e] * table[k, labels[linked[e]]]
            ends[0], ends[1] = 0, b - a
            best = np.empty(b - a, np.int64)
            viterbi_of_sentences(local, transitions, ends, best)
            new = sentence_score(
                scores, transitions, a, best, link_start, linked, strengths, table, labels
            )
            old = sentence_score(
                scores, transitions, a, labels[a:b], link_start, linked, strengths, table, labels
            )
            if new > old:
                changed = True
                for i in range(a, b):
                    labels[i] = best[i - a]
        if not changed:
            return r
    return rounds


@jit
def sentence_score(scores, transitions, a, own, link_start, linked, strengths, table, labels):
    """Return the part of the score that depends on the sentence from word a, with labels `own`."""
    total, before, b = 0.0, scores.shape[1], a + len(own)
    for i in range(a, b):
        y = own[i - a]
        total += transitions[before, y] + scores[i, y]
        before = y
        for e in range(link_start[i], link_start[i + 1]):
            other = linked[e]
            if other < a or other >= b:
                total += strengths[e] * table[y, labels[other]]
            elif other < i:  # a link within the sentence counts once
                total += strengths[e] * table[y, own[other - a]]
    return total
