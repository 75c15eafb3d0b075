"""log Z of a learned model, with its uncertainty."""

from typing import NamedTuple

import numpy as np

from herded.learn.boltzmann.rbm_parameters import RBMParameters
from herded.methods.gibbs import Gibbs
from herded.methods.tempered import Tempered
from herded.models.factor_graph import FactorGraph
from herded.models.protocol import Model
from herded.run.diagnostics.intervals import t_quantile_95
from herded.run.infer import infer
from herded.run.interrupts import stop_all_runs_on_interrupt
from herded.run.recording.recorders import Samples
from herded.run.result import Result
from herded.system.numerics.exp_log import exp_array, log_array

LOG_Z_LADDER_RUNGS, LADDER_CHAINS, LADDER_HERD = 17, 4, 8
LOG_Z_HERDS, LOG_Z_MEMBERS = 16, 64


class LearnedLogZ(NamedTuple):
    """log Z, its interval (of 95 % by annealing, of 99 % by ladders), and whether it is exact."""

    value: float
    interval: tuple[float, float]
    is_exact: bool


def annealed_log_z(layers: RBMParameters, steps: int, seed: int) -> LearnedLogZ:
    """Estimate log Z by annealed importance sampling.

    (Neal 2001; Salakhutdinov and Murray 2008.) Herds go from independent visible units to the
    machine in `steps` temperatures, whose weights and hidden biases are multiples of the machine's.
    Each member's weight is a product of ratios along the way; its mean is the ratio of Z to that of
    the first model. The interval comes from the spread of independent herds.
    """
    logs = np.array([_log_weights_of_herd(layers, steps, seed, h) for h in range(LOG_Z_HERDS)])
    top = float(logs.max())
    means = exp_array(logs - top).mean(axis=1)
    mean = float(means.mean())
    error = float(means.std(ddof=1)) / mean / np.sqrt(LOG_Z_HERDS)
    value = layers.heated(0.0).independent_log_z() + top + float(log_array(np.array([mean]))[0])
    margin = t_quantile_95(LOG_Z_HERDS - 1) * error
    return LearnedLogZ(value, (value - margin, value + margin), False)


def _log_weights_of_herd(layers: RBMParameters, steps: int, seed: int, number: int) -> np.ndarray:
    """(members,) the log-weights of one herd."""
    own = seed * LOG_Z_HERDS + number
    x = np.zeros((len(layers.first) - 1, LOG_Z_MEMBERS), np.uint16)
    hotter = layers.heated(0.0)
    hotter.sweep(x, 0, 1, own)  # one sweep draws from the first model
    weights = np.zeros(LOG_Z_MEMBERS)
    for step in range(1, steps + 1):
        now = layers.heated(step / steps)
        weights += now.log_scores(x) - hotter.log_scores(x)
        now.sweep(x, step, 1, own)
        hotter = now
    return weights


@stop_all_runs_on_interrupt()  # partial runs are useless by themselves
def ladder_run(model: Model, sweeps: int, seed: int, every: int | None = None) -> Result:
    """Run ladders of temperatures, with joint draws across ladders; keep each `every`-th state."""
    method = Tempered(Gibbs(seed=seed, herd=LADDER_HERD), rungs=LOG_Z_LADDER_RUNGS, hottest_beta=0)
    burn_in = max(1, sweeps // 4)
    keep = [] if every is None else [Samples(every)]
    return infer(
        model,
        method,
        sweeps=sweeps,
        burn_in=burn_in,
        chains=LADDER_CHAINS,
        keep=keep,
        progress=False,
    )


def ladder_log_z(model: FactorGraph, sweeps: int, seed: int) -> LearnedLogZ:
    """Estimate log Z by bridges between the rungs of ladders of temperatures."""
    found = ladder_run(model, sweeps, seed)
    low, high = found.log_z_interval
    return LearnedLogZ(float(found.log_z), (float(low), float(high)), False)
