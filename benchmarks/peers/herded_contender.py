"""`herded` itself, through its one verb, so that what is timed is what a user calls."""

import warnings
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

import herded as hd
from benchmarks.peers.protocol import AVERAGES, LAST, Run, one_hot
from benchmarks.support.workloads import Work

ROOM = 6e9  # bytes of tables and weights, and
ROOM_EACH = 2**14  # for one variable: larger tables take longer to fill than the run


def room(work: Work) -> float:
    """Most bytes that a method may take."""
    return min(ROOM, ROOM_EACH * work.n_variables)


@lru_cache(maxsize=4)
def compiled(method: Any, work: Work) -> Any:
    """The layout, kept: an obstacle shows only when it is made, and each work is done twice."""
    return method.compile(work.model, max_memory=room(work))


class Ours:
    """A method of this package, for at most `largest` variables."""

    def __init__(self, name: str, method: Any, largest: float = np.inf) -> None:
        self.name, self.method, self.largest = f"herded, {name}", method, largest

    def obstacle(self, work: Work, keep: str) -> str | None:
        if work.n_variables > self.largest:
            return f"laid out for at most {self.largest:,} variables here"
        try:
            compiled(self.method, work)
        except hd.HerdedError as problem:
            return str(problem)
        return None

    def prepare(self, work: Work, keep: str) -> Run:
        model, layout = work.model, compiled(self.method, work)

        def run(sweeps: int, seed: int) -> np.ndarray:
            kept = [] if keep == LAST else [hd.Marginals(rao_blackwell=keep == AVERAGES)]
            method = replace(self.method, seed=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", hd.HerdedWarning)
                found = hd.infer(
                    model,
                    method,
                    sweeps=sweeps,
                    keep=kept,
                    layout=layout,
                    threads=1,
                    progress=False,
                )
            if keep == LAST:
                return one_hot(layout.values(found.state[0]), work.n_states)
            return np.asarray(found.marginals).reshape(-1, work.n_states)

        return run


# Phases are random: started alike, weights of equal conditionals move in step, and on a model with
# one field for all the marginals are then wrong.
METHODS = (
    Ours("shared", hd.HerdedGibbs(weights="shared", phases="random")),
    Ours("blanket", hd.HerdedGibbs(phases="random"), largest=2**22),
    Ours("pooled", hd.HerdedGibbs(weights="pooled", phases="random"), largest=2**20),
    Ours("Gibbs", hd.Gibbs()),
)
