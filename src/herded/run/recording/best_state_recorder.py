"""The best state by log-score, as `BestState()` in keep= asks for it.

Models of factors have a best state for each connected component; a model that is not made of
factors is scored as a whole, by its own log-score.
"""

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import numpy as np

from herded.layouts.base import Layout
from herded.layouts.state import State
from herded.models.factor_graph import has_factors, to_factor_graph
from herded.run.recording.count_kernels import sort_factors_by_component, update_best_states
from herded.run.recording.recorder_base import Recorder
from herded.system.threads import run_ranges

SAMPLES_PER_PASS = 1024  # samples that are scored


@dataclass(frozen=True)
class BestState:
    """The best state by log-score, kept per connected component: the best of each part.

    Examples
    --------
    >>> pair = hd.FactorGraph([2, 2], [((0, 1), [[1.0, 0.0], [0.0, 1.0]])])
    >>> hd.infer(pair, sweeps=100, keep=[hd.BestState()]).best.log_score
    1.0
    """

    def recorder(self, layout: Layout) -> Recorder:
        """Create the recorder of one chain."""
        if has_factors(layout.model):
            return BestRecorder(layout)
        return LogScoreBestRecorder(layout)


class BestRecorder(Recorder):
    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        graph = to_factor_graph(layout.model)
        free = graph.evidence < 0
        parts = layout.components()
        owner = np.zeros(graph.n_variables, np.int64) if parts is None else parts
        n_parts = int(owner.max(initial=-1)) + 2
        self.owner = np.where(free, owner, n_parts - 1)
        self.parts = sort_factors_by_component(graph, self.owner, n_parts)
        self.arrays = {
            "score": np.full(n_parts, -np.inf),
            "state": np.zeros(graph.n_variables, layout.state_type),
        }

    def add(self, block: np.ndarray, state: State, pool: Executor | None = None) -> None:
        first, best = self.parts.first_factor, (self.arrays["score"], self.arrays["state"])
        for samples in self.states_in(block, replicas=True):
            keep = partial(update_best_states, self.parts, samples, *best)
            work = len(samples) * np.diff(first)
            run_ranges(keep, len(first) - 1, partial(np.asarray, work), pool)


class LogScoreBestRecorder(Recorder):
    """A single component of all variables: the factorisation is unknown."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        n = layout.model.n_variables
        self.owner = np.zeros(n, np.int64)
        self.arrays = {"score": np.full(1, -np.inf), "state": np.zeros(n, layout.state_type)}

    def add(self, block: np.ndarray, state: State, pool: Executor | None = None) -> None:
        for samples in self.states_in(block, replicas=True):
            for first in range(0, len(samples), SAMPLES_PER_PASS):
                some = samples[first : first + SAMPLES_PER_PASS]
                scores = np.asarray(self.layout.model.log_score(some))
                best = int(scores.argmax())
                if scores[best] > self.arrays["score"][0]:
                    self.arrays["score"][0] = scores[best]
                    self.arrays["state"][:] = some[best]
