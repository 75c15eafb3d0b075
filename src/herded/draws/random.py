"""A state drawn at random from a conditional in fixed point: Gibbs sampling."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from herded.draws.fixed_point import SCALAR_BITS, VECTOR_BITS
from herded.draws.protocol import CreatesWeights, SweepParameters
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

_33, _34 = np.uint64(64 - SCALAR_BITS), np.uint64(64 - VECTOR_BITS)


@dataclass(frozen=True)
class RandomDraw:
    """x ~ pi(x | rest). The draw of variable i in sweep t is a function of (seed, chain, t, i)."""

    seed: int

    weights: ClassVar[None] = None
    vector: ClassVar[bool] = False
    members: ClassVar[int] = 1

    def step(self, sweep: int, chain: int) -> SweepParameters:
        draws = stream_key(self.seed, chain, StreamPurpose.DRAWS)
        scans = stream_key(self.seed, chain, StreamPurpose.WEIGHTS_AND_SCANS)
        return SweepParameters(sweep, draws, scans, False, 0, 0)

    def start(self, layout: CreatesWeights, chain: int) -> dict[str, np.ndarray]:
        return {}


@jit
def draw_scalar(bits, p):
    """Return a random state of a binary variable, from 64 random bits."""
    return np.int64(bits >> _33) < np.int64(p)


@jit
def draw_vector(bits, p, p_at, states):
    """Return a random state of a variable whose conditional is p[p_at:]."""
    left = np.int64(bits >> _34)
    k = 0
    while left >= p[p_at + k]:
        left -= p[p_at + k]
        k += 1
    return k
