"""Complete graphs with random potentials, for checks of theorem 2."""

import numpy as np

from herded.models.factor_graph import FactorGraph
from herded.models.pairwise import pairwise_model


def random_complete_graph(
    rng: np.random.Generator, n: int, scale: float = 0.2, states: int = 2
) -> FactorGraph:
    """Draw a complete graph with normal log-potentials on every variable and every pair.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int
        The number of variables.
    scale : float
        The standard deviation of the log-potentials.
    states : int
        The number of states of every variable.

    Returns
    -------
    FactorGraph

    Examples
    --------
    >>> model = hd.theory.random_complete_graph(np.random.default_rng(0), 4)
    >>> model.n_variables, model.n_factors
    (4, 10)
    """
    edges = [(i, j) for i in range(n) for j in range(i + 1, n)]
    unary = scale * rng.normal(size=(n, states))
    return pairwise_model(unary, edges, scale * rng.normal(size=(len(edges), states, states)))
