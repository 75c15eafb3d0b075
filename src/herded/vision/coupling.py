"""The coupling of a noisy picture: stochastic EM with pseudo-likelihood (Besag 1975).

E  draw a picture x from the posterior at the current J, a few sweeps of herded Gibbs
M  maximise sum_i log p(x_i | its neighbours; J), a concave function of the one number J
"""

from collections.abc import Callable

import numpy as np

from herded.methods.herded_gibbs import HerdedGibbs
from herded.models.lattice import ISING, Lattice
from herded.run.infer import infer
from herded.run.keep import Samples
from herded.system.exp import exp_array

ROUNDS, SETTLED = 12, 6  # rounds of EM, and how many of the last are averaged
SWEEPS = 10
LARGEST = 3.0


def estimate_coupling(lattice_of: Callable[[float], Lattice], first: float = 0.5) -> float:
    """J of the picture whose posterior at coupling J is `lattice_of(J)`."""
    coupling, state, found = first, None, []
    for number in range(ROUNDS):
        model = lattice_of(coupling)
        weights = weights_for(model.log_unary.shape[2])
        method = HerdedGibbs(weights=weights, seed=number)
        keep = [Samples(every=SWEEPS)]
        result = infer(model, method, sweeps=SWEEPS, start=state, keep=keep, progress=False)
        state = result.samples[0, -1]
        coupling = pseudo_likelihood_coupling(model, state.reshape(model.shape))
        found.append(coupling)
    return float(np.mean(found[-SETTLED:]))


def weights_for(levels: int) -> str:
    """The paper's best for two levels; with K, tables of K^4 conditionals would be too large."""
    return "shared" if levels == 2 else "pooled"


def pseudo_likelihood_coupling(model: Lattice, picture: np.ndarray) -> float:
    """argmax_J sum_i log p(x_i | neighbours; J), without the data term, by bisection."""
    k = model.log_unary.shape[2]
    alike = np.zeros((*picture.shape, k))
    for state in range(k):
        here = picture == state
        alike[1:, :, state] += here[:-1]
        alike[:-1, :, state] += here[1:]
        alike[:, 1:, state] += here[:, :-1]
        alike[:, :-1, state] += here[:, 1:]
    if model.unlike == ISING:  # +1 where alike, -1 where not
        alike = 2.0 * alike - alike.sum(axis=2, keepdims=True)
    own = np.take_along_axis(alike, picture[..., None].astype(np.int64), axis=2)[..., 0]

    def slope(j: float) -> float:
        logits = j * alike
        weights = exp_array(logits - logits.max(axis=2, keepdims=True))
        expected = (weights * alike).sum(axis=2) / weights.sum(axis=2)
        return float((own - expected).sum())

    low, high = 0.0, LARGEST
    if slope(low) <= 0:
        return low
    if slope(high) >= 0:
        return high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return (low + high) / 2
