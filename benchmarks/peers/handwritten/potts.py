"""Gibbs sampling of a Potts grid as an expert would write it in Numba.

The unaries' exponentials are tabulated; each equal neighbour multiplies its state's by exp(J).
"""

import numpy as np

from benchmarks.peers.protocol import AVERAGES, LAST, Run, one_hot
from benchmarks.support.workloads import PottsGrid, Work
from herded.system.compilation.jit import jit


class Potts:
    name = "expert Numba Gibbs, Potts"

    def obstacle(self, work: Work, keep: str) -> str | None:
        if not isinstance(work, PottsGrid):
            return "written for a Potts grid"
        return "keeps visits only" if keep == AVERAGES else None

    def prepare(self, work: Work, keep: str) -> Run:
        assert isinstance(work, PottsGrid)
        unary = np.exp(work.log_unary - work.log_unary.max(axis=2, keepdims=True))
        unary, gain = unary.astype(np.float32), np.float32(np.exp(work.coupling))
        height, width, states = unary.shape

        def run(sweeps: int, seed: int) -> np.ndarray:
            rng = np.random.default_rng(seed)
            # A border in a state of its own, beyond the others, which no pixel can take.
            x = np.full((height + 2, width + 2), states, np.uint8)
            x[1:-1, 1:-1] = rng.integers(0, states, (height, width))
            visits = None if keep == LAST else np.zeros(unary.shape, np.uint32)
            sweep_potts(x, unary, gain, np.uint64(rng.integers(1, 2**63)), sweeps, visits)
            if visits is None:
                return one_hot(x[1:-1, 1:-1], states)
            return visits.reshape(-1, states) / sweeps

        return run


@jit
def sweep_potts(x, unary, gain, draw, sweeps, visits):
    """Sweep row by row, drawing each state from its cumulated weights."""
    height, width, states = unary.shape
    weights = np.zeros(states + 1, np.float32)
    for _ in range(sweeps):
        for r in range(height):
            for c in range(width):
                for k in range(states):
                    weights[k] = unary[r, c, k]
                weights[x[r, c + 1]] *= gain
                weights[x[r + 2, c + 1]] *= gain
                weights[x[r + 1, c]] *= gain
                weights[x[r + 1, c + 2]] *= gain
                total = np.float32(0)
                for k in range(states):
                    total += weights[k]
                    weights[k] = total
                draw ^= draw << np.uint64(13)
                draw ^= draw >> np.uint64(7)
                draw ^= draw << np.uint64(17)
                goal = total * np.float32(draw >> np.uint64(40)) * np.float32(2.0**-24)
                state = 0
                for k in range(states - 1):
                    state += weights[k] <= goal  # counted without a branch: no state is likely
                x[r + 1, c + 1] = state
                if visits is not None:
                    visits[r, c, state] += 1
