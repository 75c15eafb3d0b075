"""The training loop: step, score held-out rows, save and show, until nothing is left to gain."""

import time
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from herded.errors import CheckpointError
from herded.learn.assessment.fit_assessment import FitAssessor
from herded.learn.assessment.likelihood_gain import LikelihoodGain
from herded.run.checkpoints import checkpoint_file
from herded.run.training_helpers import EarlyStopping, progress_and_interrupt
from herded.system import atomic_files
from herded.system.atomic_files import FilePath
from herded.system.diagnostics.phrases import CHECKPOINT

HISTORY_COLUMNS = ("value", "slope", "held_out")


class Optimiser(Protocol):
    """An algorithm that takes steps."""

    start: np.ndarray  # the parameters before the first step

    @property
    def x(self) -> np.ndarray:
        """The parameters that it would return now."""

    @property
    def value(self) -> float:
        """The objective at the present parameters, or nan where it is not computed."""

    @property
    def slope(self) -> float:
        """The steepness at the present parameters."""

    @property
    def converged(self) -> bool:
        """Whether there is nothing left to gain."""

    def step(self) -> None:
        """Take a step."""

    def sentence(self, steps: int) -> str:
        """Describe the state after `steps` steps."""

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that change, by name."""

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Restore the state from `arrays`."""


class RowScore(Protocol):
    """A score of parameters on held-out rows."""

    def __call__(self, x: np.ndarray) -> float:
        """Return the mean over rows."""

    def gain(self, x: np.ndarray, start: np.ndarray) -> LikelihoodGain:
        """Return how much better `x` is than `start`, with an interval."""


@dataclass
class TrainingLoop:
    """An ascent that can be saved, resumed and ended early."""

    climber: Optimiser
    total: int
    until_flat: bool  # end when the ascent has converged
    score: RowScore | None  # of held-out rows
    score_every: int
    patience: EarlyStopping
    parts: dict[str, Any]  # other state, such as herds, with arrays() and restore()
    identity: dict[str, Any] = field(default_factory=dict)  # what must be equal to be resumed
    history: list[tuple[float, float, float]] = field(default_factory=list)
    best: np.ndarray | None = None
    interrupted: bool = False
    assessor: FitAssessor | None = None  # judges the end of noisy steps
    stopped: bool = False  # by Ctrl-C, possibly after the last step

    @property
    def done(self) -> int:
        return len(self.history)

    @property
    def is_finished(self) -> bool:
        flat = self.until_flat and self.climber.converged
        return self.done >= self.total or flat or self.patience.is_over

    @property
    def answer(self) -> np.ndarray:
        """Return the parameters of the best score, or the last ones if no rows are held out."""
        return self.climber.x if self.best is None else self.best

    def advance(self) -> None:
        """Take one step, and score when it is due."""
        self.climber.step()
        held = np.nan
        if self.score is not None and (self.done + 1) % self.score_every == 0:
            held = self._look()
        self.history.append((self.climber.value, self.climber.slope, held))

    def _look(self) -> float:
        """Score the present parameters on held-out rows; keep them if they are the best."""
        assert self.score is not None
        x = self.climber.x.copy()
        held = self.score(x)
        if self.patience.look(held) or self.best is None:
            self.best = x
        return held

    def run(self, checkpoint: FilePath | None, every: float, progress: bool | None) -> None:
        """Take the remaining steps; Ctrl-C ends them after the present one and is raised later."""
        saved = time.perf_counter()
        if self.score is not None and self.best is None:
            self._look()  # the start is the first candidate
        with progress_and_interrupt(progress, self.total, "fit", "steps") as (bar, stop):
            while not self.is_finished and not stop.is_set():
                self.advance()
                value, slope, held = self.history[-1]
                figures = {"value": value, "slope": slope, "held out": held}
                bar.update(
                    self.done,
                    " ".join(f"{k} {v:.5g}" for k, v in figures.items() if np.isfinite(v)),
                )
                if checkpoint is not None and time.perf_counter() - saved > every:
                    self.save(checkpoint)
                    saved = time.perf_counter()
            self.stopped = stop.is_set()
            self.interrupted = self.stopped and not self.is_finished
            if checkpoint is not None:
                self.save(checkpoint)

    def sentence(self) -> str:
        """Describe how the training ended."""
        if self.interrupted:
            return f"interrupted after {self.done} steps: resume with checkpoint="
        if self.patience.is_over:
            return (
                f"stopped after {self.done} steps, since the score of held-out rows did not "
                f"improve {self.patience.most} times in a row"
            )
        return self.climber.sentence(self.done)

    def columns(self) -> dict[str, np.ndarray]:
        """Return the history, by name."""
        table = np.array(self.history, np.float64).reshape(-1, len(HISTORY_COLUMNS))
        return {name: table[:, c].copy() for c, name in enumerate(HISTORY_COLUMNS)}

    # -- checkpoints ------------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that change, by name."""
        arrays = {f"climber/{name}": a for name, a in self.climber.arrays().items()}
        for part, held in self.parts.items():
            arrays |= {f"{part}/{name}": a for name, a in held.arrays().items()}
        table = np.array(self.history, np.float64).reshape(-1, len(HISTORY_COLUMNS))
        best = np.empty(0) if self.best is None else self.best
        scores = np.array([self.patience.best, float(self.patience.since)])
        return arrays | {"history": table, "best": best, "scores": scores}

    def save(self, path: FilePath) -> None:
        """Write the present state."""
        checkpoint_file.write_checkpoint(path, self.identity, self.arrays())

    def resume(self, path: FilePath) -> None:
        """Resume from the checkpoint, if there is one."""
        atomic_files.check_writable(path, CheckpointError, CHECKPOINT)
        found = checkpoint_file.read_checkpoint(path)
        if found is None:
            return
        header, arrays = found
        checkpoint_file.check_same_run(path, header, self.identity)
        self._check(path, arrays)
        self.climber.restore(_part("climber", arrays))
        for part, held in self.parts.items():
            held.restore(_part(part, arrays))
        self.history = [(float(a), float(b), float(c)) for a, b, c in arrays["history"]]
        self.best = arrays["best"] if len(arrays["best"]) else None
        score, since = arrays["scores"].tolist()
        self.patience.best, self.patience.since = score, int(since)

    def _check(self, path: FilePath, arrays: dict[str, np.ndarray]) -> None:
        """Raise unless every array is there, with the right type and a valid size."""
        grows = ("history", "best", "climber/moved", "climber/changed")
        parameters = self.climber.x.shape
        for name, fresh in self.arrays().items():
            found = arrays.get(name, np.empty(0, np.uint8))
            same = found.dtype == fresh.dtype and found.ndim == fresh.ndim
            same = same and found.shape[1:] == fresh.shape[1:]
            if name == "best":
                same = same and found.shape in ((0,), parameters)
            if not same or (name not in grows and found.shape != fresh.shape):
                raise CheckpointError(
                    f"expected a complete checkpoint at {path}, got one that is broken in {name}: "
                    "move it away to start again"
                )


def _part(name: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    prefix = f"{name}/"
    return {key[len(prefix) :]: a for key, a in arrays.items() if key.startswith(prefix)}
