"""Estimates of log Z by a ladder whose hottest rung is uniform: records, estimate and interval.

The states of two neighbouring rungs give the ratio of their normalising constants
(`run.recording.log_z_kernels`); the first is the number of states. A 99 % interval comes from
batches of the run. Ladders that have not burnt in agree and are wrong, so a run is also held
against itself: its first half against its second, and the estimate from each rung's hotter
neighbour against that from its colder one. `python -m benchmarks.accuracy.calibration log-z` prints
how often intervals hold.
"""

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from herded.layouts.state import State
from herded.moves.tempering.ladder_layouts import LadderLayout
from herded.run.diagnostics.intervals import t_quantile_99
from herded.run.recording.log_z_kernels import log_mean_exp, score_replicas, solve_bridge_log_ratio
from herded.run.recording.recorder_base import Recorder
from herded.run.result import LogZEstimate
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.diagnostics.phrases import MORE_RUNGS, MORE_SWEEPS, Phrase, Remedy
from herded.system.numerics.exp_log import log_array

MAX_KEPT_SWEEPS = 2**16  # sweeps whose scores are kept; of longer runs every second, fourth, ...
BATCHES_PER_LADDER = 32  # of a ladder's sweeps
BATCH_COUNTS = (32, 16, 8)  # batches of all ladders together, whose spread makes an interval
MIN_ROUND_TRIPS = 20.0  # from the hottest rung to the coldest, of a variable, on average
MANY_ROUND_TRIPS = 100.0  # from which on the shorter batches are long enough


@dataclass(frozen=True)
class KeepLogZ:
    """A request to record what log Z needs; every ladder from beta = 0 does."""

    def recorder(self, layout: LadderLayout) -> "LogZRecorder":
        return LogZRecorder(layout)


class LogZRecorder(Recorder):
    """The scores of all replicas, and whether those above the coldest touch hard zeros."""

    piles: ClassVar[str] = "series"
    layout: LadderLayout

    def __init__(self, layout: LadderLayout) -> None:
        super().__init__(layout)
        self.arrays = {
            "series scores": np.empty((0, layout.lanes)),
            "series solid": np.empty((0, layout.members), np.uint8),
            "series sweeps": np.empty(0, np.int64),
            "seen": np.zeros(1, np.int64),
            "every": np.ones(1, np.int64),
        }

    def add(self, block: np.ndarray, state: State, pool: Executor | None = None) -> None:
        # Sweeps number every, 2 every, ... of those seen, counted from 1.
        layout, seen, every = self.layout, int(self.arrays["seen"][0]), int(self.arrays["every"][0])
        first = -(seen + 1) % every
        rows = block[first::every]
        lanes, members = layout.lanes, layout.members
        scores = np.empty((len(rows), lanes))
        solid = np.empty((len(rows), members), np.uint8)
        last = lanes - members
        score_replicas(layout.components_of, rows, lanes, last, members, scores, solid)
        self.pile("series scores", scores)
        self.pile("series solid", solid)
        self.pile("series sweeps", seen + 1 + first + every * np.arange(len(rows)))
        self.arrays["seen"] += len(block)
        if self.arrays["seen"][0] > MAX_KEPT_SWEEPS * every:
            self.gather()

    def gather(self) -> None:
        """Put together what was piled up, and leave out every other sweep where it is too much.

        How often that is done depends on the number of sweeps alone.
        """
        super().gather()
        every = self.arrays["every"]
        while self.arrays["seen"][0] > MAX_KEPT_SWEEPS * every[0]:
            every *= 2
        left = self.arrays["series sweeps"] % every[0] == 0
        if not left.all():
            for name in ("series scores", "series solid", "series sweeps"):
                self.arrays[name] = self.arrays[name][left]


class LadderEstimate(NamedTuple):
    """The estimate of one ladder."""

    log_z: float
    upwards: float
    downwards: float
    batches: np.ndarray  # how far each batch is from the whole


def estimate_log_z(
    layout: LadderLayout, ladders: list[tuple[State, LogZRecorder]]
) -> LogZEstimate | None:
    """Estimate log Z from all ladders; None if they have too few sweeps."""
    for _, recorder in ladders:
        recorder.gather()
    if (
        min(len(recorder.arrays["series sweeps"]) for _, recorder in ladders)
        < 2 * BATCHES_PER_LADDER
    ):
        return None
    found = [_estimate_of_ladder(layout, state, recorder) for state, recorder in ladders]
    log_z = np.array([one.log_z for one in found])
    middle = float(log_z.mean())
    apart = np.array([one.log_z - middle + one.batches for one in found])  # (ladders, batches)
    if not np.isfinite(middle):
        apart = np.zeros_like(apart)
    trips = sum(layout.report([state for state, _ in ladders])["round_trips"])
    margin = _half_width(apart, BATCH_COUNTS if trips < MANY_ROUND_TRIPS else BATCH_COUNTS[:2])
    half = BATCHES_PER_LADDER // 2
    halves = middle + apart[:, :half].mean(), middle + apart[:, half:].mean()
    return LogZEstimate(
        middle,
        float(margin),
        float(np.mean([one.upwards for one in found])),
        float(np.mean([one.downwards for one in found])),
        (float(halves[0]), float(halves[1])),
    )


def _half_width(apart: np.ndarray, levels: tuple[int, ...]) -> float:
    """Return the half-width for the mean of all ladders, from the spread of their batches.

    Batches that are shorter than a ladder remembers are too much alike: few and long ones tell, but
    are too few to be sure of. So several numbers of them are looked at, and the widest is taken.
    Ladders that differ as a whole are batches that differ.
    """
    ladders, found = len(apart), [0.0]
    for level in levels:
        each = BATCHES_PER_LADDER
        while each > 1 and ladders * each > level:
            each //= 2
        longer = apart.reshape(ladders * each, -1).mean(axis=1)
        if len(longer) > 1:
            error = longer.std(ddof=1) / np.sqrt(len(longer))
            found.append(t_quantile_99(len(longer)) * float(error))
    return max(found)


def _estimate_of_ladder(
    layout: LadderLayout, state: State, recorder: LogZRecorder
) -> LadderEstimate:
    """Estimate log Z by one ladder: bridges from the number of states to the model."""
    scores, solid = recorder.arrays["series scores"], recorder.arrays["series solid"]
    members, betas = layout.members, state.method_arrays["betas"]
    model = layout.model
    states = log_array(model.cardinalities[model.evidence < 0].astype(np.float64))
    log_z = upwards = downwards = float(np.add.accumulate([0.0, *states])[-1])
    length = len(scores) // BATCHES_PER_LADDER * BATCHES_PER_LADDER
    batches, up, down = (
        np.zeros(BATCHES_PER_LADDER),
        np.empty(BATCHES_PER_LADDER),
        np.empty(BATCHES_PER_LADDER),
    )
    for r in range(len(betas) - 1 - layout.softens_zeros):
        gap = betas[r + 1] - betas[r]
        rungs = scores[-length:].reshape(length, -1, members)
        here, there = (np.ascontiguousarray(gap * rungs[:, k]).reshape(-1) for k in (r, r + 1))
        log_z += solve_bridge_log_ratio(here, there, BATCHES_PER_LADDER, up, down)
        upwards += log_mean_exp(here)
        downwards -= log_mean_exp(-there)
        batches += up - down
    if layout.softens_zeros:
        rate = solid[-length:].reshape(BATCHES_PER_LADDER, -1).mean(axis=1)
        whole = rate.mean()
        last = float(log_array([whole])[0])
        log_z, upwards, downwards = log_z + last, upwards + last, downwards + last
        batches += rate / whole - 1.0 if whole > 0 else 0.0
    return LadderEstimate(log_z, upwards, downwards, batches)


def log_z_diagnostics(found: LogZEstimate, round_trips: list[float]) -> list[Diagnostic]:
    """Return the diagnostics of an estimate by ladders with these round trips."""
    diagnostics = []

    def warn(kind: DiagnosticKind, remedy: Remedy, **figures: float) -> None:
        diagnostics.append(Diagnostic(kind, "warning", (), figures, remedy))

    if min(round_trips) < MIN_ROUND_TRIPS:
        remedy = Remedy(MORE_SWEEPS, verb="use")
        warn(DiagnosticKind.LOG_Z_ROUND_TRIPS, remedy, round_trips=min(round_trips))
    first, second = found.halves
    if not np.isfinite(found.log_z):
        remedy = Remedy(Phrase(MORE_SWEEPS, " or ", MORE_RUNGS), verb="use")
        warn(DiagnosticKind.LOG_Z_UNKNOWN, remedy)
    elif abs(first - second) > max(2 * found.margin, 0.02):
        warn(DiagnosticKind.LOG_Z_HALVES, Remedy(), first_half=first, second_half=second)
    if abs(found.upwards - found.downwards) > max(1.0, 4 * found.margin):
        remedy = Remedy(Phrase(MORE_RUNGS, " or ", MORE_SWEEPS), verb="use")
        warn(
            DiagnosticKind.LOG_Z_DIRECTIONS,
            remedy,
            upwards=found.upwards,
            downwards=found.downwards,
        )
    return diagnostics
