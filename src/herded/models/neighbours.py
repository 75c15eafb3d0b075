"""Which variables of a model are neighbours, whatever the model is made of."""

import numpy as np

from herded.models.factor_graph import as_graph, has_factors
from herded.models.protocol import Model


def neighbour_pairs(model: Model) -> np.ndarray:
    """(E, 2) all pairs i < j of variables whose conditionals depend on each other."""
    if has_factors(model):
        start, members = as_graph(model).adjacency
        owner = np.repeat(np.arange(model.n_variables), np.diff(start))
        return np.stack([owner, members], axis=1)[owner < members]
    lists = [model.neighbours(i) for i in range(model.n_variables)]
    owner = np.repeat(np.arange(len(lists)), list(map(len, lists)))
    pairs = np.sort(np.stack([owner, np.concatenate(lists)]), axis=0)
    return np.unique(pairs, axis=1).T
