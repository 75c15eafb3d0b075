"""Every state of a small model by enumeration: scores, probabilities, log Z, the best state."""

import itertools
import math

import numpy as np


def naive_log_scores(model):
    """The log of the unnormalised probability of every state, shape = cardinalities."""
    graph = model.as_factor_graph()
    scores = np.full(tuple(graph.cardinalities), -np.inf)
    factors = [graph.factor(f) for f in range(graph.n_factors)]
    for x in itertools.product(*(range(k) for k in graph.cardinalities)):
        if all(value in (-1, x[i]) for i, value in enumerate(graph.evidence)):
            scores[x] = math.fsum(table[tuple(x[i] for i in scope)] for scope, table in factors)
    return scores


def naive_joint(model):
    """pi(x) for every state, given the evidence, shape = cardinalities."""
    return np.exp(naive_log_scores(model) - naive_log_z(model))


def naive_log_z(model):
    """log sum_x exp(log_score(x)) over the states that agree with the evidence."""
    scores = naive_log_scores(model)
    top = scores.max()
    return top + math.log(math.fsum(np.exp(scores - top).ravel()))


def naive_viterbi(model):
    """The best state, the first in dictionary order if there are several, and its score."""
    scores = naive_log_scores(model)
    best = np.unravel_index(np.argmax(scores), scores.shape)
    return np.array(best), scores[best]
