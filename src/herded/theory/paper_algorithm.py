"""Algorithm 1 of Bornn et al. (2013), line by line in plain Python.

`HerdedGibbs` takes the same steps in compiled kernels. Both round conditionals to fixed point, so
that weights are exact sums and both visit the same states.
"""

import numpy as np
from numpy.typing import ArrayLike

from herded.draws.fixed_point import SCALAR_BITS, WEIGHT_BITS
from herded.errors import MethodError
from herded.models.constraints.start_states import check_start
from herded.models.protocol import Model
from herded.system.argument_checks import is_whole_number
from herded.system.numerics.exp_log import exp_array
from herded.theory.update_path import starting_state


def algorithm_1(model: Model, T: int, state: ArrayLike | None = None) -> np.ndarray:
    """Run herded Gibbs sampling as in the paper, one update after another.

    A variable of K states has a vector of K weights, as the paper suggests (end of section 2), and
    takes the state with the largest weight. The weights of two states are -w and w, which gives the
    first rule of step 3, w > 0.

    Parameters
    ----------
    model : FactorGraph, Lattice or ConditionalModel
        The model. Variables with evidence keep their states and do not count in N.
    T : int
        The number of updates of single variables; N of them are a sweep.
    state : array_like of int, shape (n_variables,), optional
        X^(0); by default the start of `infer`.

    Returns
    -------
    ndarray of int, shape (T, n_variables)
        x^(1), .., x^(T). The ends of sweeps are the samples of `infer` with
        ``HerdedGibbs(scan="sequential", phases="half")``.

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> hd.theory.algorithm_1(model, T=6, state=[0, 0]).tolist()
    [[1, 0], [1, 0], [0, 0], [0, 0], [1, 0], [1, 1]]

    After 10,000 sweeps the frequencies of states are close to pi:

    >>> x = hd.theory.algorithm_1(model, T=20_000)
    >>> P = hd.theory.empirical(x[1::2], model.cardinalities)
    >>> hd.theory.total_variation(P, hd.theory.target(model)) < 0.001
    True
    """
    if not is_whole_number(T, 0):
        raise MethodError(f"expected T of 0 or more updates, got {T!r}")
    V = np.flatnonzero(model.evidence < 0)
    # Step 1: t = 0, X^(0) in the support of pi; a weight is set when it is first used
    x = (starting_state(model) if state is None else check_start(model, state)).astype(np.int64)
    pi, w = dict[tuple[int, ...], np.ndarray](), dict[tuple[int, ...], np.ndarray]()
    samples = np.empty((T, len(x)), np.int64)
    for t in range(1, T + 1):
        # Step 2: pick node i in a fixed order; its weight is the one for its neighbours' states
        i = V[(t - 1) % len(V)]
        x_N = (i, *x[model.neighbours(i)])
        if x_N not in w:
            pi[x_N] = rounded_conditional(model, i, x)
            w[x_N] = pi[x_N] - 0.5  # between pi - 1 and pi
        # Step 3: x_i = 1 if w > 0, otherwise 0
        x[i] = np.argmax(w[x_N])
        # Step 4: w = w + pi(X_i | x_N(i)) - x_i
        w[x_N] += pi[x_N]
        w[x_N][x[i]] -= 1.0
        # Step 5: all other nodes and weights keep their values
        samples[t - 1] = x
    return samples


def rounded_conditional(model: Model, i: int, x: np.ndarray) -> np.ndarray:
    """Return pi(X_i = . | x_N(i)), rounded to fixed point as in the kernels."""
    states = np.repeat(x[None], model.cardinalities[i], axis=0)
    states[:, i] = np.arange(len(states))
    scores = np.asarray(model.log_score(states))
    cumulated = np.cumsum(exp_array(scores - scores.max()))
    is_binary = model.cardinalities[model.evidence < 0].max() == 2
    one = 2.0 ** (SCALAR_BITS if is_binary else WEIGHT_BITS)
    rounded: np.ndarray = np.floor(cumulated / cumulated[-1] * one + 0.5) / one
    return np.diff(rounded, prepend=0.0)
