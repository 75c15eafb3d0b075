"""log Z of a machine by annealing in both directions, with a bound that needs no sampling.

Annealed importance sampling misses modes that its herds do not reach: its log Z is then too small,
with a narrow interval. Here herds are annealed from independent units to the machine and from
states of the machine back to independent units (Crooks 1999; Burda, Grosse and Salakhutdinov 2015).
If the work of both directions overlaps, Bennett's acceptance ratio combines them. Otherwise the
forward estimate is used, and the interval extends to the estimates of the other direction. Half of
the returning herds started at rows of data and half at states of the training's herd. If chains mix
slowly, both halves differ, and the interval covers both.

The probabilities of any distinct states sum to at most 1, so log Z is at least the log of the sum
of exp(log score) over distinct rows: the mean log-probability of rows is at most minus their
entropy.
"""

import numpy as np

from herded.learn.assessment.bennett_ratio import LogRatio, PathDraws, log_ratios
from herded.learn.boltzmann.log_z import LOG_Z_HERDS, LearnedLogZ
from herded.learn.boltzmann.rbm_parameters import RBMParameters
from herded.run.diagnostics.intervals import t_quantile_95
from herded.system.numerics.exp_log import exp_array, log_array

FORWARD, BACKWARD = 2**29, 2**30  # added to seeds, so that both directions draw independently
MIN_RBM_OVERLAP = 0.1  # mean acceptance; below it, a few rare states decide Bennett's ratio
PASSES = 8  # through the weights per member and temperature, in both directions together


def log_z_bound(layers: RBMParameters, x: np.ndarray) -> float:
    """Return a lower bound of log Z by the distinct states in x (visible, members)."""
    scores = layers.log_scores(np.ascontiguousarray(np.unique(x, axis=1)))
    top = float(scores.max())
    return top + float(log_array(np.array([exp_array(scores - top).sum()]))[0])


def paired_log_z(
    layers: RBMParameters,
    herd: np.ndarray,
    rows: np.ndarray,
    *,
    temperatures: int,
    members: int,
    seed: int,
) -> LearnedLogZ:
    """Estimate log Z by `LOG_Z_HERDS` herds of `members` in each direction.

    `herd` (visible, any number) are states of the machine, `rows` those of the data. The interval
    is infinite if the bound contradicts the estimate.
    """
    forward = np.array(
        [_heat_down(layers, temperatures, members, seed, h) for h in range(LOG_Z_HERDS)]
    )
    backward = np.array(
        [
            _heat_up(layers, (herd, rows)[h % 2], temperatures, members, seed, h)
            for h in range(LOG_Z_HERDS)
        ]
    )
    backwards = (backward, backward[::2], backward[1::2])
    ratios = [_log_ratio(forward, some) for some in backwards]
    value, error = ratios[0]
    others = [one.value for one in ratios[1:]]
    if not np.isfinite(error):
        value, error = _forward_log_ratio(forward)
        others = [-_forward_log_ratio(-some).value for some in backwards[1:]]
    difference = max(abs(other - value) for other in others)
    margin = max(t_quantile_95(LOG_Z_HERDS - 1) * error, difference)
    value += layers.heated(0.0).independent_log_z()
    bound = log_z_bound(layers, np.concatenate([herd, rows], axis=1))
    if value + margin < bound:
        margin = np.inf
    value = max(value, bound)
    return LearnedLogZ(value, (value - margin, value + margin), False)


def _log_ratio(forward: np.ndarray, backward: np.ndarray) -> LogRatio:
    """Return Bennett's ratio; its error is infinite if both directions hardly overlap."""
    path = [PathDraws(forward, forward, 1.0), PathDraws(backward, backward, 1.0)]
    return log_ratios(path, len(backward), MIN_RBM_OVERLAP)[1]


def _forward_log_ratio(work: np.ndarray) -> LogRatio:
    """Return the log of the mean of exp(work), and its error from the spread of herds."""
    top = float(work.max())
    means = exp_array(work - top).mean(axis=1)
    mean = float(means.mean())
    error = float(means.std(ddof=1)) / mean / np.sqrt(len(means))
    return LogRatio(top + float(log_array(np.array([mean]))[0]), error)


def _heat_down(
    layers: RBMParameters, steps: int, members: int, seed: int, number: int
) -> np.ndarray:
    """(members,) work of one herd from independent units to the machine."""
    own = seed * LOG_Z_HERDS + number + FORWARD
    x = np.zeros((len(layers.first) - 1, members), np.uint16)
    hotter = layers.heated(0.0)
    hotter.sweep(x, 0, 1, own)  # one sweep draws from the first model
    work = np.zeros(members)
    for step in range(1, steps + 1):
        colder = layers.heated(step / steps)
        work += colder.log_scores(x) - hotter.log_scores(x)
        if step < steps:
            colder.sweep(x, step, 1, own)
        hotter = colder
    return work


def _heat_up(
    layers: RBMParameters, states: np.ndarray, steps: int, members: int, seed: int, number: int
) -> np.ndarray:
    """(members,) work of one herd from the machine to independent units, with the forward sign."""
    own = seed * LOG_Z_HERDS + number + BACKWARD
    # Herds begin at different states if there are enough of them.
    picked = (number // 2 * members + np.arange(members)) * max(1, states.shape[1] // members // 8)
    x = np.ascontiguousarray(states[:, picked % states.shape[1]])
    settle = 1 + steps // 2
    layers.sweep(x, 0, settle, own)
    work = np.zeros(members)
    for step in range(steps, 0, -1):
        colder, hotter = layers.heated(step / steps), layers.heated((step - 1) / steps)
        if step < steps:
            colder.sweep(x, settle + steps - step, 1, own)
        work += colder.log_scores(x) - hotter.log_scores(x)
    return work
