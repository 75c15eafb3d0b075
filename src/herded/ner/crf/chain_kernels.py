"""Kernels of the chain CRF: sums of weights, forward-backward, Viterbi.

log P(y | x) = sum_i (sum_f w[row(x, i, f), y_i] + transitions[y_(i-1), y_i]) - log Z(x)

(Lafferty, McCallum and Pereira 2001). The last row of `transitions` is the start of a sentence.
Sums run in float64 over weights stored in fewer bits.
"""

import numpy as np

from herded.ner.crf.features import feature_rows
from herded.system.compilation.jit import jit
from herded.system.numerics.exp_log import exp, log


@jit
def sum_weights(weights, rows, scores):
    """Compute scores[i, k] = sum over f of weights[rows[i, f], k]."""
    width = scores.shape[1]
    for i in range(len(rows)):
        for k in range(width):
            scores[i, k] = 0.0
        for f in range(rows.shape[1]):
            row = rows[i, f]
            for k in range(width):
                scores[i, k] += weights[row, k]


@jit
def score_sentences(weights, scale, types, starts, atoms, places, salts, table, bits, scores):
    """Compute the label scores of every word; `scale` undoes the quantisation."""
    longest = 0
    for s in range(len(starts) - 1):
        n = starts[s + 1] - starts[s]
        longest = n if n > longest else longest
    rows = np.empty((longest, len(salts)), np.uint32)
    for s in range(len(starts) - 1):
        a, b = starts[s], starts[s + 1]
        feature_rows(types[a:b], atoms, places[a:b], salts, table, bits, rows)
        sum_weights(weights, rows[: b - a], scores[a:b])
    for i in range(starts[-1]):
        for k in range(scores.shape[1]):
            scores[i, k] *= scale


@jit
def sentence_marginals(scores, transitions, starts, p):
    """Compute p[i, k] = P(y_i = k) of every word; return the sum of the sentences' log Z."""
    pairs, log_z = np.zeros_like(transitions), 0.0
    for s in range(len(starts) - 1):
        a, b = starts[s], starts[s + 1]
        if a < b:
            log_z += forward_backward(scores[a:b], transitions, p[a:b], pairs)
    return log_z


@jit
def forward_backward(scores, transitions, p, pairs):
    """Compute marginals p (n, K) of a sentence, add expected pairs to `pairs`, return log Z."""
    n, width = scores.shape
    e, local = np.empty(transitions.shape), np.empty((n, width))
    alpha, beta = np.empty((n, width)), np.empty((n, width))
    log_z = _messages(scores, transitions, e, local, alpha, beta, p)
    for k in range(width):
        pairs[width, k] += p[0, k]
    joint = np.empty((width, width))
    for i in range(1, n):
        total = 0.0
        for j in range(width):
            for k in range(width):
                joint[j, k] = alpha[i - 1, j] * e[j, k] * local[i, k] * beta[i, k]
                total += joint[j, k]
        for j in range(width):
            for k in range(width):
                pairs[j, k] += joint[j, k] / total
    return log_z


@jit
def _messages(scores, transitions, e, local, alpha, beta, p):
    """Compute messages and marginals p of one sentence; return log Z.

    Messages are scaled at each word, so that no sum overflows.
    """
    n, width = scores.shape
    log_z = _exponentials(scores, n * _shifted_exp(transitions, e), local)
    for i in range(n):
        total = 0.0
        for k in range(width):
            into = 0.0
            if i == 0:
                into = e[width, k]
            else:
                for j in range(width):
                    into += alpha[i - 1, j] * e[j, k]
            alpha[i, k] = into * local[i, k]
            total += alpha[i, k]
        log_z += log(total)
        for k in range(width):
            alpha[i, k] /= total
    _backward(e, local, beta)
    for i in range(n):
        total = 0.0
        for k in range(width):
            p[i, k] = alpha[i, k] * beta[i, k]
            total += p[i, k]
        for k in range(width):
            p[i, k] /= total
    return log_z


@jit
def _shifted_exp(transitions, e):
    """Compute e = exp(transitions - the largest), at most 1; return the largest."""
    top = transitions[0, 0]
    for j in range(e.shape[0]):
        for k in range(e.shape[1]):
            top = transitions[j, k] if transitions[j, k] > top else top
    for j in range(e.shape[0]):
        for k in range(e.shape[1]):
            e[j, k] = exp(transitions[j, k] - top)
    return top


@jit
def _exponentials(scores, total, local):
    """Compute local[i, k] = exp(scores[i, k] - the best of word i); return the total of these."""
    for i in range(len(scores)):
        top = scores[i, 0]
        for k in range(scores.shape[1]):
            top = scores[i, k] if scores[i, k] > top else top
        total += top
        for k in range(scores.shape[1]):
            local[i, k] = exp(scores[i, k] - top)
    return total


@jit
def _backward(e, local, beta):
    """Compute beta[i, j], the scaled sum over later words if the label of word i is j."""
    n, width = local.shape
    for k in range(width):
        beta[n - 1, k] = 1.0
    for i in range(n - 2, -1, -1):
        total = 0.0
        for j in range(width):
            out = 0.0
            for k in range(width):
                out += e[j, k] * local[i + 1, k] * beta[i + 1, k]
            beta[i, j] = out
            total += out
        for j in range(width):
            beta[i, j] /= total


@jit
def viterbi_of_sentences(scores, transitions, starts, best):
    """Find best[i], the label of word i in its sentence's best labelling; the lowest of ties."""
    width = scores.shape[1]
    longest = 0
    for s in range(len(starts) - 1):
        n = starts[s + 1] - starts[s]
        longest = n if n > longest else longest
    back = np.empty((longest, width), np.int16)
    value, fresh = np.empty(width), np.empty(width)
    for s in range(len(starts) - 1):
        a, n = starts[s], starts[s + 1] - starts[s]
        if n == 0:
            continue
        for k in range(width):
            value[k] = transitions[width, k] + scores[a, k]
        for i in range(1, n):
            for k in range(width):
                top, arg = value[0] + transitions[0, k], 0
                for j in range(1, width):
                    other = value[j] + transitions[j, k]
                    if other > top:
                        top, arg = other, j
                fresh[k] = top + scores[a + i, k]
                back[i, k] = arg
            value, fresh = fresh, value
        y = 0
        for k in range(width):
            y = k if value[k] > value[y] else y
        for i in range(n - 1, -1, -1):
            best[a + i] = y
            y = back[i, y]


@jit
def span_probabilities(scores, transitions, sentences, firsts, lasts, labels, found):
    """Compute found[e] = P(the words of span e have the labels in `labels`).

    A span is firsts[e] to lasts[e] - 1, in the sentence from sentences[e, 0] to sentences[e, 1].
    P(y_1 .. y_n) = P(y_1) P(y_2 | y_1) .. P(y_n | y_(n-1)): the messages of a sentence serve all
    of its spans, in order.
    """
    width = scores.shape[1]
    e = np.empty(transitions.shape)
    p = local = alpha = beta = np.empty((0, width))
    at = -1  # where the sentence of the present messages begins
    for s in range(len(found)):
        a, b = sentences[s, 0], sentences[s, 1]
        if a != at:
            p, local = np.empty((b - a, width)), np.empty((b - a, width))
            alpha, beta = np.empty((b - a, width)), np.empty((b - a, width))
            _messages(scores[a:b], transitions, e, local, alpha, beta, p)
            at = a
        before = labels[firsts[s]]
        chance = p[firsts[s] - a, before]
        for i in range(firsts[s] + 1, lasts[s]):
            if chance == 0.0:
                break
            total = 0.0
            for k in range(width):
                total += e[before, k] * local[i - a, k] * beta[i - a, k]
            y = labels[i]
            chance *= e[before, y] * local[i - a, y] * beta[i - a, y] / total
            before = y
        found[s] = chance
