"""Predictions of a pixel from all others: log p(y_i | the rest of the picture).

Given the states of its neighbours, a pixel x_i of the lattice depends on y_i alone. So with x drawn
from the posterior, s_i the sum of the neighbours' spins,

    1 / p(y_i | rest) = E [1 / p(y_i | s_i)],   p(y_i | s) = sum_x p(x | s) p(y_i | x),

and one herd predicts all pixels. Unlike a likelihood with the lattice's constant Z, predictions can
be compared between couplings, and unlike pseudo-likelihood they need no clean picture.
"""

import numpy as np

from herded.system.numerics.exp_log import exp_array, log_array

N_NEIGHBOURS = 4
NEIGHBOUR_SUMS = np.arange(-N_NEIGHBOURS, N_NEIGHBOURS + 1)
MIN_PROBABILITY = 1e-300  # keeps probabilities positive, for division


def neighbour_shares(members: np.ndarray) -> np.ndarray:
    """Count the share of members (M, H, W) by neighbours' sum -4 ... 4: (9, H, W)."""
    spins = (2 * members.astype(np.int8)) - np.int8(1)
    total = np.zeros_like(spins)
    total[:, 1:] += spins[:, :-1]
    total[:, :-1] += spins[:, 1:]
    total[:, :, 1:] += spins[:, :, :-1]
    total[:, :, :-1] += spins[:, :, 1:]
    count = np.min_scalar_type(
        len(members)
    )  # as narrow as possible, since many pixels are added at once
    equal = (total == value for value in NEIGHBOUR_SUMS.tolist())
    counts = [found.view(np.uint8).sum(axis=0, dtype=count) for found in equal]
    return np.stack(counts) / len(members)


def probability_given_sum(coupling: float) -> np.ndarray:
    """Compute P(x_i = 1 | neighbours' sum s), for s = -4 ... 4."""
    found: np.ndarray = 1.0 / (1.0 + exp_array(-2.0 * coupling * NEIGHBOUR_SUMS))
    return found


def leave_one_out_predictions(
    shares: np.ndarray, log_likelihoods: np.ndarray, coupling: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute log p(y_i | rest), P(x_i = 1 | rest) without y_i, and P(x_i = 1 | y)."""
    top = log_likelihoods.max(axis=0)
    dark, bright = exp_array(log_likelihoods - top)
    inverse, without, within = (np.zeros(top.shape) for _ in range(3))
    given = probability_given_sum(coupling)
    for share, p, q in zip(shares, given, given[::-1], strict=True):  # 1 - p would round to 0
        weight = share / np.maximum(p * bright + q * dark, MIN_PROBABILITY)
        inverse += weight
        without += weight * p
        within += weight * (p * bright)
    return top - log_array(inverse), without / inverse, within
