"""What is shown beside the bar while a run goes on: how good the answer is by now."""

import sys
import time

import numpy as np

from herded.cli.reference import Reference
from herded.models.protocol import Model
from herded.run.progress import Snapshot

EVERY = 0.5  # seconds: looking costs time too


class Watcher:
    """The standard error of the moment, and the true one where a reference is known."""

    def __init__(self, model: Model, reference: Reference | None) -> None:
        self.free = model.evidence.reshape(-1) < 0
        self.reference = reference
        self.looked, self.note = -np.inf, ""

    def __call__(self, snapshot: Snapshot) -> str:
        now = time.perf_counter()
        if now - self.looked >= EVERY:
            self.looked, self.note = now, self._look(snapshot)
        return self.note

    def _look(self, snapshot: Snapshot) -> str:
        best = snapshot.best()
        if best is not None:
            return f"best log-score {best:.6g}"
        chains = snapshot.chain_marginals()
        if chains is None:
            return "burn-in"
        notes = []
        if len(chains) > 1 and self.free.any():
            spread = chains[:, self.free].std(axis=0, ddof=1) / np.sqrt(len(chains))
            notes.append(f"standard error {spread.mean():.2g}")
        if self.reference is not None:
            errors = self.reference.errors(chains.mean(axis=0))
            notes.append(f"error {errors.mean_absolute:.2g}, Hellinger {errors.hellinger:.2g}")
        return ", ".join(notes)


def watcher(model: Model, reference: Reference | None) -> Watcher | None:
    """One where somebody looks: on a terminal."""
    return Watcher(model, reference) if sys.stderr.isatty() else None
