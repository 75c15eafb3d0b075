"""The result of training an RBM: the best of its start, average and end, with its uncertainty.

The likelihood of the training rows decides: exactly if one layer is small enough to enumerate, else
with log Z by annealing in both directions (`paired_annealing`), with more temperatures as long as
both disagree. Later layers are returned only if the whole interval of their gain over the start
(independent units) is above zero. Then the herd continues at the returned layers, together with a
second one that starts from independent units: they measure the gradient, and show whether chains
mix.

The work of both is counted in products of states and weights. It is at most half of that of the
training, but at least `MIN_WORK`.
"""

import threading
from typing import NamedTuple

import numpy as np

from herded.errors import Interrupted
from herded.learn.assessment.fit_assessment import CANDIDATE_NAMES
from herded.learn.assessment.gradient_test import GradientTest, check_gradient, critical_value
from herded.learn.assessment.likelihood_gain import LikelihoodGain, gain_quantile
from herded.learn.assessment.mixing import (
    MAX_SHARE,
    MAX_STUCK,
    MemberAverages,
    MixingReport,
    variance_inflation,
)
from herded.learn.boltzmann.log_z import LOG_Z_HERDS, LOG_Z_MEMBERS, LearnedLogZ, annealed_log_z
from herded.learn.boltzmann.paired_annealing import PASSES, paired_log_z
from herded.learn.boltzmann.rbm_parameters import RBMParameters
from herded.run.diagnostics.intervals import t_quantile_95

TEMPERATURES = (100, 300, 1_000)  # if log Z cannot be enumerated, until the comparison is decided
STAGE_SHARES = (0.2, 0.3, 0.5)  # of the work of annealing
MIN_TEMPERATURES, MIN_ANNEALED_MEMBERS = 10, 4  # of annealing with little work to spend
START_TEMPERATURES = 10  # temperatures for the start, whose units are nearly independent
MIN_WORK = 1e9  # products of the assessment: about a CPU second
MAX_SHARE_OF_TRAINING = 0.5
GRADIENT_TEST_BATCHES = 16  # of the gradient test
# of each herd; a quarter of training's steps between these
MIN_HERD_LOOKS, MAX_HERD_LOOKS = 32, 160
MIN_MEMORY = 10.0  # sweeps: shorter memories are never called slow
MAX_VARIANCE_ROWS = 2_000  # rows of data used for the variances of statistics
HERD_OFFSET = 2**31  # added to a seed, so that the second herd draws independently


class RBMReport(NamedTuple):
    """A report on the training of an RBM.

    Attributes
    ----------
    chosen : {"start", "average", "end"}
        The parameters that were chosen.
    criterion : {"exact", "annealing"}
        The log Z by which they were chosen. Annealing misses modes that neither its herds nor the
        data reach, so the choice is unreliable if `mixing.is_slow`.
    gain : float
        How much higher the penalised log-likelihood of the rows is than at the start, in nats per
        row.
    gain_half_width : float
        Half the width of its 99 % interval; 0 if it is exact. It is infinite, which excludes a
        candidate, if annealing in both directions disagrees.
    converged : bool
        Whether `gradient_test` has passed and chains mix.
    gradient_test : GradientTest
    mixing : Mixing
    warnings : tuple of str
        The texts of the `HerdedWarning`s that were issued.

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
    mixing: MixingReport
    warnings: tuple[str, ...]


class AssessedMachine(NamedTuple):
    """The layers to keep, their log Z, and the report."""

    layers: RBMParameters
    log_z: LearnedLogZ
    report: RBMReport


def assess_machine(
    candidates: tuple[RBMParameters, RBMParameters, RBMParameters],
    x: np.ndarray,
    herd: np.ndarray,
    *,
    stop: threading.Event,
    l2: float,
    steps: int,
    batch: int,
    sweeps: int,
    seed: int,
) -> AssessedMachine:
    """Choose among the start, average and end of `steps` training steps, and test the choice.

    A step took `batch` rows.

    `x` (visible, rows) are the rows, `herd` (visible, members) the states of the herd. Raises
    `Interrupted` once `stop` is set.
    """
    work = _Work(layers=candidates[0], steps=steps, batch=batch, herd=herd.shape[1], sweeps=sweeps)
    gains, log_zs = _gains(candidates, x, herd, l2=l2, work=work, seed=seed, stop=stop)
    better = [i for i, gain in enumerate(gains) if gain.is_positive]
    chosen = max(better, key=lambda i: gains[i].value, default=0)
    layers = candidates[chosen]
    if stop.is_set():
        raise Interrupted
    test, mixing = _test(layers, x, herd, l2, steps, sweeps, work.looks, seed)
    is_exact = log_zs[chosen].is_exact
    if chosen and mixing.is_slow and not is_exact:
        # Returning herds share the modes of their starts: their spread is that of one herd, not of
        # half of them.
        wider = np.sqrt(LOG_Z_HERDS / 2.0)
        gains = [gain._replace(half_width=wider * gain.half_width) for gain in gains]
        if not gains[chosen].is_positive:
            chosen, layers = 0, candidates[0]
            test, _ = _test(layers, x, herd, l2, steps, sweeps, work.looks, seed)
    report = RBMReport(
        chosen=CANDIDATE_NAMES[chosen],
        criterion="exact" if is_exact else "annealing",
        gain=gains[chosen].value,
        gain_half_width=gains[chosen].half_width,
        # Independent units are a saddle: the gradient is nearly zero there for any rows.
        converged=chosen > 0 and test.passed and not mixing.is_slow,
        gradient_test=test,
        mixing=mixing,
        warnings=_warnings(gains, chosen, mixing, is_exact),
    )
    return AssessedMachine(layers, log_zs[chosen], report)


class _Work(NamedTuple):
    """The work that training took, and that its assessment may take."""

    layers: RBMParameters
    steps: int
    batch: int
    herd: int
    sweeps: int

    @property
    def budget(self) -> float:
        """The passes of a member through the weights that the assessment may take."""
        training = float(self.steps) * (self.batch + self.herd * (1 + 2 * self.sweeps))
        return max(MIN_WORK / self.layers.weights.size, MAX_SHARE_OF_TRAINING * training)

    @property
    def looks(self) -> int:
        """The number of looks at each herd of the test: a quarter of the work."""
        usual = min(max(self.steps // 4, MIN_HERD_LOOKS), MAX_HERD_LOOKS)
        of_look = self.herd * (4 + 6 * self.sweeps)  # of both herds
        return max(GRADIENT_TEST_BATCHES, min(usual, int(self.budget / 4.0 / of_look)))

    def annealings(self) -> list[tuple[int, int]]:
        """Return the temperatures and members of each herd of one candidate, for all stages.

        The shortest annealing is always possible.
        """
        pairs = 0.75 * self.budget / 2.0 / PASSES / LOG_Z_HERDS  # temperatures times members
        sizes = [
            (n, min(int(share * pairs / n), LOG_Z_MEMBERS))
            for n, share in zip(TEMPERATURES, STAGE_SHARES, strict=True)
        ]
        if sizes[0][1] >= MIN_ANNEALED_MEMBERS:
            return [size for size in sizes if size[1] >= MIN_ANNEALED_MEMBERS]
        members = min(max(int(pairs / TEMPERATURES[0]), MIN_ANNEALED_MEMBERS), LOG_Z_MEMBERS)
        return [(min(max(int(pairs / members), MIN_TEMPERATURES), TEMPERATURES[0]), members)]


def _gains(
    candidates: tuple[RBMParameters, ...],
    x: np.ndarray,
    herd: np.ndarray,
    *,
    l2: float,
    work: _Work,
    seed: int,
    stop: threading.Event,
) -> tuple[list[LikelihoodGain], list[LearnedLogZ]]:
    """Compare the penalised log-likelihood of each candidate with the first; also log Z of each."""
    scores = [
        float(layers.log_scores(x).mean())
        - l2 / 2.0 * float((layers.weights * layers.weights).sum())
        for layers in candidates
    ]
    log_zs = []
    for layers in candidates:
        if stop.is_set():
            raise Interrupted
        exact = layers.enumerated_log_z()
        if exact is not None:
            log_zs.append(LearnedLogZ(exact, (exact, exact), True))
    if len(log_zs) == len(candidates):
        return _differences(scores, log_zs), log_zs
    log_zs = [annealed_log_z(candidates[0], START_TEMPERATURES, seed)]
    unknown = LearnedLogZ(np.inf, (-np.inf, np.inf), False)
    log_zs += [unknown] * (len(candidates) - 1)
    for temperatures, members in work.annealings():
        for i, layers in enumerate(candidates[1:], 1):
            if stop.is_set():
                raise Interrupted
            log_zs[i] = paired_log_z(
                layers, herd, x, temperatures=temperatures, members=members, seed=seed
            )
        gains = _differences(scores, log_zs)
        if all(abs(gain.value) > gain.half_width for gain in gains[1:]):
            break
    return gains, log_zs


def _differences(scores: list[float], log_zs: list[LearnedLogZ]) -> list[LikelihoodGain]:
    values = [score - log_z.value for score, log_z in zip(scores, log_zs, strict=True)]
    # Annealing gives 95 % intervals.
    wider = gain_quantile(LOG_Z_HERDS, len(TEMPERATURES)) / t_quantile_95(LOG_Z_HERDS - 1)
    half_widths = [
        0.0 if z.is_exact else wider * (z.interval[1] - z.interval[0]) / 2.0 for z in log_zs
    ]
    gains = [
        LikelihoodGain(v - values[0], float(np.hypot(w, half_widths[0])))
        for v, w in zip(values, half_widths, strict=True)
    ]
    return [LikelihoodGain(0.0, 0.0), *gains[1:]]


class _Measured(NamedTuple):
    statistics: np.ndarray  # (batches, P) means of visible units, hidden units and products
    members: MemberAverages


def _test(
    layers: RBMParameters,
    x: np.ndarray,
    herd: np.ndarray,
    l2: float,
    steps: int,
    sweeps: int,
    looks: int,
    seed: int,
) -> tuple[GradientTest, MixingReport]:
    """Test the gradient, and whether two herds mix, in `looks` looks."""
    first = _measure(layers, herd.copy(), steps * sweeps, looks, sweeps, seed)
    fresh = np.zeros_like(herd)
    layers.heated(0.0).sweep(fresh, 0, 1, seed + HERD_OFFSET)
    layers.sweep(fresh, 1, looks * sweeps, seed + HERD_OFFSET)  # as long as it is measured
    second = _measure(layers, fresh, 1 + looks * sweeps, looks, sweeps, seed + HERD_OFFSET)
    unit = _data_errors(layers, x)
    means = [found.statistics.mean(axis=0) for found in (first, second)]
    memory = float(np.fmax(first.members.memory(), second.members.memory()))
    inflation = variance_inflation(memory, looks, GRADIENT_TEST_BATCHES)
    errors = [
        np.sqrt(inflation * found.statistics.var(axis=0, ddof=1) / GRADIENT_TEST_BATCHES)
        for found in (first, second)
    ]
    limit = np.maximum(critical_value(len(unit), GRADIENT_TEST_BATCHES) * np.hypot(*errors), unit)
    disagreement = float((np.abs(means[0] - means[1]) / limit).max())
    is_slow = disagreement > 1.0 or (
        memory * sweeps > max(MIN_MEMORY, MAX_SHARE * steps * sweeps) or memory > MAX_STUCK * looks
    )
    mixing = MixingReport(is_slow, memory * sweeps, looks * sweeps, disagreement)
    both = np.concatenate([first.statistics, second.statistics])
    gradient = _flat(*layers.statistics(x)) - both.mean(axis=0)
    gradient[len(gradient) - layers.weights.size :] -= l2 * layers.weights.ravel()
    error = np.sqrt(inflation * both.var(axis=0, ddof=1) / len(both))
    return check_gradient(gradient, error, unit, len(both)), mixing


def _measure(
    layers: RBMParameters, herd: np.ndarray, done: int, looks: int, sweeps: int, seed: int
) -> _Measured:
    """Continue a herd, and collect its statistics in batches."""
    size = len(layers.visible_bias) + len(layers.hidden_bias) + layers.weights.size
    statistics, members = np.zeros((GRADIENT_TEST_BATCHES, size)), MemberAverages()
    batch = np.arange(looks) * GRADIENT_TEST_BATCHES // looks
    for look in range(looks):
        layers.sweep(herd, done + look * sweeps, sweeps, seed)
        statistics[batch[look]] += _flat(*layers.statistics(herd))
        members.add(np.concatenate([herd, layers.log_scores(herd)[None]]).T)
    return _Measured(
        statistics / np.bincount(batch, minlength=GRADIENT_TEST_BATCHES)[:, None], members
    )


def _data_errors(layers: RBMParameters, x: np.ndarray) -> np.ndarray:
    """(P,) the standard errors of the statistics of all rows."""
    rows = x.shape[1]
    some = np.ascontiguousarray(x[:, :: -(-rows // MAX_VARIANCE_ROWS)])
    hidden = layers.hidden_means(some)
    columns = [some[i] == k for i, n in enumerate(np.diff(layers.first)) for k in range(1, n + 1)]
    visible = np.stack(columns, axis=1).astype(np.float64)
    squares = np.einsum("ri,rj->ij", visible, hidden * hidden) / len(hidden)
    both = np.einsum("ri,rj->ij", visible, hidden) / len(hidden)
    variance = _flat(visible.var(axis=0), hidden.var(axis=0), squares - both * both)
    return np.asarray(np.sqrt((np.maximum(variance, 0.0) + 1.0 / rows) / rows))


def _flat(visible: np.ndarray, hidden: np.ndarray, both: np.ndarray) -> np.ndarray:
    return np.concatenate([visible, hidden, both.ravel()])


def _warnings(
    gains: list[LikelihoodGain], chosen: int, mixing: MixingReport, is_exact: bool
) -> tuple[str, ...]:
    """Return the reasons to doubt the machine, as sentences."""
    found = []
    if chosen == 0:
        is_unknown = any(gain.value + gain.half_width > 0.0 for gain in gains[1:])
        reason = (
            "annealing could not tell whether the learned parameters are better than independent "
            "units, so the latter were kept. Use a smaller rate=, more epochs= or fewer hidden="
            if is_unknown
            else "training found nothing that is certainly better than independent units, so "
            "these were kept. Use a smaller rate= or more epochs="
        )
        found.append(reason)
    if mixing.is_slow:
        choice = "" if is_exact else ", and so is the choice of its parameters by annealing"
        found.append(
            f"the machine mixes slowly: {mixing}, so its gradients are unreliable{choice}. Use "
            "more sweeps= or epochs=, or a penalty (l2=)"
        )
    return tuple(found)
