"""Common functions of states: energy, magnetisation, correlations of pairs.

`Observable(energy)` averages one over a run; with a model at hand they can also be called on
samples.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import MethodError, ModelError
from herded.models.lattice import Lattice
from herded.models.protocol import Model
from herded.models.validation import check_states
from herded.system.argument_checks import as_integer_array, edge_array, short_repr


def energy(states: ArrayLike, model: Model) -> Any:
    """Return minus the log of the unnormalised probability: pi(x) = exp(-energy(x)) / Z.

    Of an Ising model that is -sum_i h_i s_i - sum_(i~j) J_ij s_i s_j.

    Parameters
    ----------
    states
        (..., N), or (..., H, W) of a lattice.
    model
        Whose energy; `Observable(energy)` takes that of the run.

    Returns
    -------
    float or ndarray of shape (...)

    Examples
    --------
    >>> hd.energy([[1, 1], [1, 0]], hd.pairwise_model(np.zeros((2, 2)), [(0, 1)], np.eye(2)))
    array([-1.,  0.])
    """
    return 0.0 - model.log_score(states)


def magnetisation(states: ArrayLike, model: Model) -> Any:
    """Return the mean spin, where states 0 and 1 are spins -1 and +1.

    Of more than two states it is Potts's order parameter, (K m - 1) / (K - 1) with m the share of
    the state that most variables are in: 1 where all are in one, 0 where all states have as many.

    Parameters
    ----------
    states
        (..., N), or (..., H, W) of a lattice.
    model
        `Observable(magnetisation)` takes that of the run.

    Returns
    -------
    float or ndarray of shape (...)

    Examples
    --------
    >>> model = hd.ising_grid(np.zeros((2, 2)))
    >>> hd.magnetisation([[1, 1], [1, 0]], model)
    0.5
    """
    x, k = check_states(model, states), common_cardinality(model)
    higher = [(x == state).sum(axis=-1) for state in range(2, k)]
    ones = (x == 1).sum(axis=-1) if higher else x.sum(axis=-1)
    counts = np.stack([x.shape[-1] - ones - sum(higher), ones, *higher], axis=-1)
    found = order_parameter(counts / x.shape[-1])
    return found if found.ndim else float(found)


def order_parameter(shares: np.ndarray) -> np.ndarray:
    """Return the magnetisation of states in which variables have these shares (..., K)."""
    k = shares.shape[-1]
    if k == 2:
        return np.asarray(shares[..., 1] - shares[..., 0])
    return np.asarray((k * shares.max(axis=-1) - 1.0) / (k - 1.0))


@dataclass(frozen=True, eq=False)
class Correlations:
    """The similarity of variables in pairs: s_i s_j of spins.

    Of K states it is (K [x_i = x_j] - 1) / (K - 1), which for two is the product of the spins: 1
    for variables that are always alike, 0 on average for independent ones without fields. What two
    variables have by their own means is not taken off.

    Parameters
    ----------
    at
        Distances on a lattice, each averaged over all pairs of variables that lie so far apart
        along an axis; or pairs (E, 2) of variables of any model, by number. By default distance 1.

    Examples
    --------
    >>> model = hd.ising_grid(np.zeros((8, 8)), 0.3, periodic=True)
    >>> keep = [hd.Observable(hd.Correlations([1, 3]))]
    >>> result = hd.infer(model, hd.Gibbs(herd=64), sweeps=100, burn_in=20, chains=4, keep=keep)
    >>> result.observables["correlations"].mean.round(1)
    array([0.4, 0.1])
    """

    at: ArrayLike = (1,)

    def __call__(self, states: ArrayLike, model: Model) -> np.ndarray:
        x, k = check_states(model, states), common_cardinality(model)
        where = as_integer_array("the distances or pairs of Correlations", self.at)
        alike = self._of_pairs(x, model) if where.ndim == 2 else self._along(x, where, model)
        return np.asarray((k * alike - 1.0) / (k - 1.0))

    def _of_pairs(self, x: np.ndarray, model: Model) -> np.ndarray:
        """Return whether pairs are alike, (..., E)."""
        pairs, n = edge_array("the pairs of Correlations", self.at), model.n_variables
        if ((pairs < 0) | (pairs >= n)).any():
            raise ModelError(f"expected pairs of variables 0 to {n - 1}, got {short_repr(self.at)}")
        return np.asarray(x[..., pairs[:, 0]] == x[..., pairs[:, 1]], np.float64)

    def _along(self, x: np.ndarray, distances: np.ndarray, model: Model) -> np.ndarray:
        """Return the fraction of pairs that are alike, over all axes: (..., distances)."""
        shape = model.shape
        if not isinstance(model, Lattice) and len(shape) < 2:
            raise MethodError(
                f"expected pairs (E, 2) for Correlations on a model that is not a lattice, got "
                f"{short_repr(self.at)}"
            )
        if not len(distances) or distances.min() < 1 or distances.max() >= max(shape):
            raise MethodError(
                f"expected distances from 1 to {max(shape) - 1} for Correlations on a lattice of "
                f"{' x '.join(map(str, shape))}, got {short_repr(self.at)}"
            )
        pictures = x.reshape(*x.shape[:-1], *shape)
        found = [
            _alike_share_at_distance(pictures, int(d), shape, periodic_axes(model))
            for d in distances.reshape(-1)
        ]
        return np.stack(found, axis=-1)


def _alike_share_at_distance(
    pictures: np.ndarray, distance: int, shape: tuple[int, ...], joined: tuple[bool, ...]
) -> np.ndarray:
    """Return the fraction of equal pairs at a distance along an axis."""
    axes, total, count = tuple(range(-len(shape), 0)), 0.0, 0
    for axis, size, is_joined in zip(axes, shape, joined, strict=True):
        if distance >= size:
            continue
        whole = np.moveaxis(pictures, axis, -1)
        kept = size if is_joined and 2 * distance != size else size - distance  # each pair once
        round_it = kept == size
        apart = np.roll(whole, -distance, axis=-1) if round_it else whole[..., distance:]
        alike = whole[..., :kept] == apart
        total = total + alike.sum(axis=axes)
        count += alike[(0,) * (alike.ndim - len(shape))].size
    return np.asarray(total / count)


def periodic_axes(model: Model) -> tuple[bool, ...]:
    """Return whether the borders of a lattice are joined, for each axis."""
    if isinstance(model, Lattice):
        return tuple(model.is_periodic_by_axis)[::-1]
    return (False,) * len(model.shape)


def common_cardinality(model: Model) -> int:
    """Return how many states every variable has."""
    low, high = int(model.cardinalities.min()), int(model.cardinalities.max())
    if low != high or high < 2:
        raise MethodError(
            f"expected variables of equally many states, two or more, got {low} to {high}: "
            "write a function for this model"
        )
    return high
