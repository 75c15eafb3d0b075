"""Tables of the theory section: theorem 2 on random complete graphs, plateaus on sparse ones."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from herded.errors import MethodError
from herded.methods.exact.solver import Exact
from herded.methods.herded_gibbs import HerdedGibbs
from herded.models.protocol import Model
from herded.run.infer import infer
from herded.run.recording.recorders import ErrorCurve
from herded.theory.bounds import constants
from herded.theory.paper_checks import check_theorem2
from herded.theory.plateau_prediction import plateau_predictor
from herded.theory.random_graphs import random_complete_graph

MAX_T = 2_000_000  # sweeps


class Theorem2Row(NamedTuple):
    """One random complete graph, with columns of `Constants` and of `Check`."""

    N: int
    pi_min: float
    eta: float
    l: float  # noqa: E741 - the paper's name
    T_star: float
    T: int
    tau: int
    measured: float
    bound: float
    holds: bool


class PlateauRow(NamedTuple):
    """One sparse model, with columns of `Prediction` and of `MeasuredPlateau`."""

    model: str
    distance: float
    floor: float
    excess: float
    error: float
    plateau: float
    slope: float


class MeasuredPlateau(NamedTuple):
    """The error of herded Gibbs after many sweeps."""

    error: float  # mean absolute error of the marginals after all sweeps
    plateau: float  # b of the fit error = b + c / T over the last five doublings
    slope: float  # of log error against log T there: -1 is Theorem 2's rate, 0 a plateau


def theorem2_table(n_models: int, seed: int = 0, scale: float = 0.2) -> list[Theorem2Row]:
    """Check Theorem 2 on random complete graphs of 3, 4 and 5 binary variables.

    T is the least value that makes the bound 1/10. Models whose T would exceed two million sweeps
    are excluded before any run, since T follows from their constants. `scale` is the standard
    deviation of the log-potentials.
    """
    rng = np.random.default_rng(seed)
    rows: list[Theorem2Row] = []
    for _ in range(50 * n_models):
        if len(rows) == n_models:
            return rows
        model = random_complete_graph(rng, 3 + len(rows) % 3, scale)
        known = constants(model)
        if max(known.T_star, 10 * known.lambda_) > MAX_T:
            continue
        check = check_theorem2(model)
        rows.append(
            Theorem2Row(
                known.N,
                known.pi_min,
                known.eta,
                known.l,
                known.T_star,
                check.T,
                check.tau,
                check.measured,
                check.bound,
                check.holds,
            )
        )
    if len(rows) == n_models:
        return rows
    raise MethodError(
        f"expected couplings weak enough for a bound within {MAX_T} sweeps, got scale={scale}"
    )


def plateau_table(
    models: Mapping[str, Model], sweeps: int, herded_sweeps: int, seed: int = 0
) -> list[PlateauRow]:
    """Predict from `sweeps` of plain Gibbs and measure `herded_sweeps` of herded Gibbs."""
    rows = []
    for name, model in models.items():
        predicted = plateau_predictor(model, sweeps, seed)
        gaps = predicted.distance, predicted.floor, predicted.excess
        rows.append(PlateauRow(name, *gaps, *measured_plateau(model, herded_sweeps)))
    return rows


def measured_plateau(model: Model, sweeps: int) -> MeasuredPlateau:
    """Run Algorithm 1 for 64 sweeps or more and split the error of its marginals into b + c / T."""
    at = [sweeps // 2**k for k in range(6)]
    result = infer(
        model,
        HerdedGibbs(scan="sequential", phases="half"),
        sweeps=sweeps,
        keep=[ErrorCurve(infer(model, Exact()).marginals, at=at)],
        progress=False,
    )
    T, errors = result.curve.sweeps, np.maximum(result.curve.errors[0], 1e-300)
    # Least squares in relative errors, with b >= 0 and c >= 0.
    flat, falling = 1.0 / errors, 1.0 / (T * errors)
    (b, c), *_ = np.linalg.lstsq(np.stack([flat, falling], axis=1), np.ones(len(T)), rcond=None)
    if c < 0:
        b = flat.sum() / (flat**2).sum()
    slope = np.polyfit(np.log(T), np.log(errors), 1)[0]
    return MeasuredPlateau(float(errors[-1]), max(0.0, float(b)), float(slope))
