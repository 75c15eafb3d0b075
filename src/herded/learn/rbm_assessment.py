"""What training an RBM returns: the best of its start, average and end, and how sure that is.

The likelihood of the training rows decides: exactly where one layer is small enough to enumerate,
else with log Z by annealed importance sampling. Later layers are returned only where the whole
interval of their gain over the start (independent units) is above zero. Then the herd runs on at
the returned layers, beside a second one that starts from independent units: they measure the
gradient, and show whether chains mix.
"""

import threading
from typing import NamedTuple

import numpy as np

from herded.errors import Interrupted
from herded.learn.gradient_test import GradientTest, check_gradient, critical_value
from herded.learn.layered import Layers
from herded.learn.likelihood_gain import Gain, gain_quantile
from herded.learn.log_z import HERDS, LogZ, annealed_log_z
from herded.learn.mixing import MAX_SHARE, MAX_STUCK, MemberAverages, Mixing, variance_inflation
from herded.run.intervals import t_quantile

ANNEALING_STEPS = 100  # temperatures where log Z cannot be enumerated
START_STEPS = 10  # temperatures for the start, whose units are nearly independent
BATCHES = 16  # of the gradient test
MIN_LOOKS, MAX_LOOKS = 32, 160  # of each herd; a quarter of training's steps between these
MIN_MEMORY = 10.0  # sweeps: shorter memories are never called slow
MAX_ROWS = 2_000  # of the data, for the variances of their statistics
NAMES = ("start", "average", "end")
ANNEALINGS = START_STEPS, ANNEALING_STEPS, ANNEALING_STEPS
HERD_OFFSET = 2**31  # added to a seed: draws of the second herd are its own


class RBMReport(NamedTuple):
    """How training an RBM ended.

    Attributes
    ----------
    chosen : {"start", "average", "end"}
        Which parameters the machine has.
    criterion : {"exact", "annealing"}
        How log Z was found, by which they were chosen.
    gain : float
        By how much the penalised log-likelihood of the rows is higher than at the start, in nats
        per row.
    gain_half_width : float
        Half the width of its 99 % interval; 0 where it is exact.
    converged : bool
        Whether `gradient_test` has passed and chains mix.
    gradient_test : GradientTest
    mixing : Mixing
    warnings : tuple of str
        Also issued as `HerdedWarning`.

    Examples
    --------
    >>> rows = [[0, 0, 1, 1], [1, 1, 0, 0]] * 20
    >>> report = hd.learn.RBM(hidden=1, epochs=200, batch=40, l2=0.01).fit(rows).report_
    >>> report.criterion, report.gain > 1.0, report.mixing.sweeps
    ('exact', True, 50)
    """

    chosen: str
    criterion: str
    gain: float
    gain_half_width: float
    converged: bool
    gradient_test: GradientTest
    mixing: Mixing
    warnings: tuple[str, ...]


class Assessed(NamedTuple):
    """The layers to keep, their log Z, and the report."""

    layers: Layers
    log_z: LogZ
    report: RBMReport


def assess(
    candidates: tuple[Layers, Layers, Layers],
    x: np.ndarray,
    herd: np.ndarray,
    *,
    stop: threading.Event,
    l2: float,
    steps: int,
    sweeps: int,
    seed: int,
) -> Assessed:
    """Choose among start, average and end of a training of `steps` steps, and test the choice.

    `x` (visible, rows) are the rows, `herd` (visible, members) the states of the herd. Raises
    `Interrupted` once `stop` is set.
    """
    log_zs = []
    for layers, annealing in zip(candidates, ANNEALINGS, strict=True):
        if stop.is_set():
            raise Interrupted
        log_zs.append(_log_z(layers, annealing, seed))
    gains = _gains(candidates, log_zs, x, l2)
    better = [i for i, gain in enumerate(gains) if gain.is_positive]
    chosen = max(better, key=lambda i: gains[i].value, default=0)
    layers = candidates[chosen]
    if stop.is_set():
        raise Interrupted
    test, mixing = _test(layers, x, herd, l2, steps, sweeps, seed)
    report = RBMReport(
        chosen=NAMES[chosen],
        criterion="exact" if log_zs[chosen].is_exact else "annealing",
        gain=gains[chosen].value,
        gain_half_width=gains[chosen].half_width,
        # Independent units are a saddle: the gradient is nearly zero there whatever the rows.
        converged=chosen > 0 and test.passed and not mixing.is_slow,
        gradient_test=test,
        mixing=mixing,
        warnings=_warnings(chosen == 0, mixing),
    )
    return Assessed(layers, log_zs[chosen], report)


def _log_z(layers: Layers, annealing: int, seed: int) -> LogZ:
    exact = layers.enumerated_log_z()
    if exact is None:
        return annealed_log_z(layers, annealing, seed)
    return LogZ(exact, (exact, exact), True)


def _gains(
    candidates: tuple[Layers, ...], log_zs: list[LogZ], x: np.ndarray, l2: float
) -> list[Gain]:
    """Compare the penalised log-likelihood of each with that of the first."""
    values = [
        float(layers.log_scores(x).mean())
        - log_z.value
        - l2 / 2.0 * float((layers.weights * layers.weights).sum())
        for layers, log_z in zip(candidates, log_zs, strict=True)
    ]
    # Annealing gives 95 % intervals.
    wider = gain_quantile(HERDS) / t_quantile(HERDS - 1)
    half_widths = [wider * (z.interval[1] - z.interval[0]) / 2.0 for z in log_zs]
    gains = [
        Gain(v - values[0], float(np.hypot(w, half_widths[0])))
        for v, w in zip(values, half_widths, strict=True)
    ]
    return [Gain(0.0, 0.0), *gains[1:]]


class _Measured(NamedTuple):
    statistics: np.ndarray  # (batches, P) means of visible units, hidden units and products
    members: MemberAverages


def _test(
    layers: Layers, x: np.ndarray, herd: np.ndarray, l2: float, steps: int, sweeps: int, seed: int
) -> tuple[GradientTest, Mixing]:
    """Test the gradient, and whether two herds mix."""
    looks = min(max(steps // 4, MIN_LOOKS), MAX_LOOKS)
    first = _measure(layers, herd.copy(), steps * sweeps, looks, sweeps, seed)
    fresh = np.zeros_like(herd)
    layers.heated(0.0).sweep(fresh, 0, 1, seed + HERD_OFFSET)
    layers.sweep(fresh, 1, looks * sweeps, seed + HERD_OFFSET)  # as long as it is measured
    second = _measure(layers, fresh, 1 + looks * sweeps, looks, sweeps, seed + HERD_OFFSET)
    unit = _data_errors(layers, x)
    means = [found.statistics.mean(axis=0) for found in (first, second)]
    memory = float(np.fmax(first.members.memory(), second.members.memory()))
    inflation = variance_inflation(memory, looks, BATCHES)
    errors = [
        np.sqrt(inflation * found.statistics.var(axis=0, ddof=1) / BATCHES)
        for found in (first, second)
    ]
    limit = np.maximum(critical_value(len(unit), BATCHES) * np.hypot(*errors), unit)
    disagreement = float((np.abs(means[0] - means[1]) / limit).max())
    is_slow = disagreement > 1.0 or (
        memory * sweeps > max(MIN_MEMORY, MAX_SHARE * steps * sweeps) or memory > MAX_STUCK * looks
    )
    mixing = Mixing(is_slow, memory * sweeps, looks * sweeps, disagreement)
    both = np.concatenate([first.statistics, second.statistics])
    gradient = _flat(*layers.statistics(x)) - both.mean(axis=0)
    gradient[len(gradient) - layers.weights.size :] -= l2 * layers.weights.ravel()
    error = np.sqrt(inflation * both.var(axis=0, ddof=1) / len(both))
    return check_gradient(gradient, error, unit, len(both)), mixing


def _measure(
    layers: Layers, herd: np.ndarray, done: int, looks: int, sweeps: int, seed: int
) -> _Measured:
    """Run a herd on, and collect its statistics in batches."""
    size = len(layers.visible_bias) + len(layers.hidden_bias) + layers.weights.size
    statistics, members = np.zeros((BATCHES, size)), MemberAverages()
    batch = np.arange(looks) * BATCHES // looks
    for look in range(looks):
        layers.sweep(herd, done + look * sweeps, sweeps, seed)
        statistics[batch[look]] += _flat(*layers.statistics(herd))
        members.add(np.concatenate([herd, layers.log_scores(herd)[None]]).T)
    return _Measured(statistics / np.bincount(batch, minlength=BATCHES)[:, None], members)


def _data_errors(layers: Layers, x: np.ndarray) -> np.ndarray:
    """(P,) the standard errors of the statistics of all rows."""
    rows = x.shape[1]
    some = np.ascontiguousarray(x[:, :: -(-rows // MAX_ROWS)])
    hidden = layers.hidden_means(some)
    columns = [some[i] == k for i, n in enumerate(np.diff(layers.first)) for k in range(1, n + 1)]
    visible = np.stack(columns, axis=1).astype(np.float64)
    squares = np.einsum("ri,rj->ij", visible, hidden * hidden) / len(hidden)
    both = np.einsum("ri,rj->ij", visible, hidden) / len(hidden)
    variance = _flat(visible.var(axis=0), hidden.var(axis=0), squares - both * both)
    return np.asarray(np.sqrt((np.maximum(variance, 0.0) + 1.0 / rows) / rows))


def _flat(visible: np.ndarray, hidden: np.ndarray, both: np.ndarray) -> np.ndarray:
    return np.concatenate([visible, hidden, both.ravel()])


def _warnings(is_start: bool, mixing: Mixing) -> tuple[str, ...]:
    """Say what speaks against the machine."""
    found = []
    if is_start:
        found.append(
            "training has found nothing that is certainly better than independent units, so these "
            "are returned. Give a smaller rate= or more epochs="
        )
    if mixing.is_slow:
        found.append(
            f"the machine mixes slowly: {mixing}, so its gradients are unreliable. Give more "
            "sweeps= or epochs=, or a penalty (l2=)"
        )
    return tuple(found)
