"""Every state of a small model by enumeration: scores, probabilities, log Z, the best state."""

import itertools
import math

import numpy as np


def naive_log_scores(model):
    """The log of the unnormalised probability of every state, shape = cardinalities."""
    graph = model.as_factor_graph()
    cards, evidence = graph.cardinalities.tolist(), graph.evidence.tolist()
    scores = np.full(cards, -np.inf)
    factors = [graph.factor(f) for f in range(graph.n_factors)]
    tables = [(scope, dict(np.ndenumerate(table))) for scope, table in factors]
    possible = [[v] if v >= 0 else range(k) for k, v in zip(cards, evidence, strict=True)]
    for x in itertools.product(*possible):
        scores[x] = math.fsum([table[tuple([x[i] for i in scope])] for scope, table in tables])
    return scores


def naive_joint(model):
    """pi(x) for every state, given the evidence, shape = cardinalities."""
    scores = naive_log_scores(model)
    return np.exp(scores - _log_sum(scores))


def naive_log_z(model):
    """log sum_x exp(log_score(x)) over the states that agree with the evidence."""
    return _log_sum(naive_log_scores(model))


def _log_sum(scores):
    top = scores.max()
    return top + math.log(math.fsum(np.exp(scores - top).ravel()))


def naive_viterbi(model):
    """The best state, the first in dictionary order if there are several, and its score."""
    scores = naive_log_scores(model)
    best = np.unravel_index(np.argmax(scores), scores.shape)
    return np.array(best), scores[best]
