"""Variable selection by herds: runs, and averages over the models visited."""

from typing import Any

import numpy as np

from herded.draws.fixed_point import SCALAR_ONE
from herded.draws.systematic import member_orders
from herded.errors import Interrupted
from herded.learn.resumable_herd_run import HerdRun
from herded.learn.variable_selection.column_moves import NOT_IN_MODEL, RegressionHerd, empty_herd
from herded.learn.variable_selection.regression_problem import RegressionProblem
from herded.learn.variable_selection.result import SelectionAverages
from herded.learn.variable_selection.sweeps import (
    SelectionSums,
    empty_sums,
    start_models,
    sweep_columns,
)
from herded.run.diagnostics.intervals import half_widths
from herded.run.result import MIN_SAMPLES
from herded.system.atomic_files import FilePath
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

MAX_INTERVAL_WIDTH, MAX_DRIFT = 0.1, 1e-6  # larger intervals or rounding errors give a warning


def sample_models(
    problem: RegressionProblem,
    identity: dict[str, Any],
    progress: bool | None,
    checkpoint: FilePath | None,
    *,
    sweeps: int,
    burn_in: int,
    herd: int,
    in_time: bool,
    chains: int,
    largest: int,
    best: int,
    seed: int,
) -> SelectionAverages:
    """Average over the models that herds of Gibbs chains visit."""
    p, table = len(problem.with_y), member_orders(herd)
    herds = [(empty_herd(herd, p, largest, in_time), empty_sums(p, best)) for _ in range(chains)]
    keys = [_stream_keys(seed, c) for c in range(chains)]
    for c, (members, _) in enumerate(herds):
        key = stream_key(seed, c, StreamPurpose.SELECTION_STARTS)
        start_models(members, problem, key, keys[c][0])

    def advance(c: int, first: int, step: int) -> None:
        members, sums = herds[c]
        sweep_columns(
            members, problem, sums, table.ravel(), len(table), keys[c], first, step, burn_in
        )

    limits = {"place": (NOT_IN_MODEL, largest - 1), "column": (0, p - 1), "size": (0, largest)}
    run = HerdRun("selecting variables", herds, advance, burn_in + sweeps)
    run.run(identity=identity, limits=limits, progress=progress, checkpoint=checkpoint)
    if run.done <= burn_in:
        raise Interrupted("interrupted before the burn-in was over")
    recorded, method = run.done - burn_in, "herded" if in_time else "herd"
    return _average_over_herds(herds, method, recorded, run.interrupted)._replace(
        stopped=run.stopped
    )


def _stream_keys(seed: int, chain: int) -> np.ndarray:
    """(3,) the streams of phases, of orders and of exchanges."""
    return np.array(
        [
            stream_key(seed, chain, StreamPurpose.HERD_PHASES),
            stream_key(seed, chain, StreamPurpose.MEMBER_ORDERS),
            stream_key(seed, chain, StreamPurpose.SELECTION_EXCHANGES),
        ],
        np.uint64,
    )


def _average_over_herds(
    herds: list[tuple[RegressionHerd, SelectionSums]], method: str, recorded: int, interrupted: bool
) -> SelectionAverages:
    """Average over herds, with the half-widths of 95 % intervals."""
    visits = len(herds[0][0].size) * recorded
    included = np.array([sums.included / SCALAR_ONE / visits for _, sums in herds])
    has_interval = len(herds) > 1 and visits >= MIN_SAMPLES
    margin = half_widths(included) if has_interval else np.full(included.shape[1], np.nan)
    mean = np.mean([sums.mean / visits for _, sums in herds], axis=0)
    square = np.mean([sums.square / visits for _, sums in herds], axis=0)
    warnings = []
    if np.nanmax(margin, initial=0.0) > MAX_INTERVAL_WIDTH:
        warnings.append(
            f"herds differ so much that an interval extends {np.nanmax(margin):.2f} to each side: "
            "use more sweeps"
        )
    drift = max(float(sums.drift[0]) for _, sums in herds)
    if drift > MAX_DRIFT:
        warnings.append(
            f"updates had drifted by {drift:.0e} when the factorisation was recomputed: columns "
            "may be almost linear combinations of each other"
        )
    p = included.shape[1]
    if herds[0][0].column.shape[1] < p and any(sums.full[0] for _, sums in herds):
        warnings.append("models reached the largest size allowed: raise largest=")
    return SelectionAverages(
        included.mean(axis=0),
        margin,
        mean,
        square,
        _merge_best_models(herds),
        method,
        recorded,
        tuple(warnings),
        interrupted,
    )


def _merge_best_models(
    herds: list[tuple[RegressionHerd, SelectionSums]],
) -> list[tuple[float, np.ndarray]]:
    """Merge the best models of all herds, without duplicates."""
    ranked: dict[bytes, tuple[float, np.ndarray]] = {}
    for _, sums in herds:
        for score, model in zip(sums.scores.tolist(), sums.models, strict=True):
            if score > -np.inf:
                ranked.setdefault(model.tobytes(), (score, model))
    best = len(herds[0][1].scores)
    return sorted(ranked.values(), key=lambda one: -one[0])[:best]
