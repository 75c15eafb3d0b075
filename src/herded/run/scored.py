"""The best state of a model that is not made of factors, by its own log-score."""

from concurrent.futures import Executor

import numpy as np

from herded.layouts.base import Layout
from herded.layouts.state import State
from herded.run.recording.recorder_base import Recorder

AT_ONCE = 1024  # samples that are scored


class ScoredRecorder(Recorder):
    """One part, of all variables: nobody knows which of them go together."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        n = layout.model.n_variables
        self.owner = np.zeros(n, np.int64)
        self.arrays = {"score": np.full(1, -np.inf), "state": np.zeros(n, layout.state_type)}

    def add(self, block: np.ndarray, state: State, pool: Executor | None = None) -> None:
        for samples in self.states_in(block, replicas=True):
            for first in range(0, len(samples), AT_ONCE):
                some = samples[first : first + AT_ONCE]
                scores = np.asarray(self.layout.model.log_score(some))
                best = int(scores.argmax())
                if scores[best] > self.arrays["score"][0]:
                    self.arrays["score"][0] = scores[best]
                    self.arrays["state"][:] = some[best]
