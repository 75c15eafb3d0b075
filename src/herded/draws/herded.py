"""Steps 3 and 4 of Algorithm 1 in fixed point: from a conditional p and a weight w to a state.

Scalar rule. With phase phi = w + 1 - pi in (0, 1], stored at scale 2^31 one quantum below, step 3
("x = 1 if w > 0") is the carry of phi + p and step 4 is what is left (the appendix's circular
form). Lemma 1 holds in integers at all times: |count of ones - sum of p / 2^31| <= 1.

Vector rule. w += p; x = argmax w over the possible states (the first of equals); w[x] -= 1.
With slack c > 0 ("bounded-error Gibbs") x is drawn from p, less the states that are overdrawn: that
were taken over c times more than was due. What is left keeps its proportions: contexts that share a
weight would be biased towards each other by an argmax, which forgets p, and of K states spread
evenly some weight is beyond any small c in nearly every visit.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from herded.draws.fixed_point import PHASE_MASK, WEIGHT_BITS
from herded.draws.protocol import CreatesWeights, SweepParameters
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

VECTOR_ONE_INT = 1 << WEIGHT_BITS
NEVER_CHOSEN = -(1 << 40)
MAX_OWED = 64 * VECTOR_ONE_INT  # beyond it the argmax rules: 32 bits hold twice as much
_40 = np.uint64(40)


@dataclass(frozen=True)
class HerdedDraw:
    """Herding in time, Algorithm 1: w <- w + pi - x, one weight for each context.

    `weights` says what a context is (`layouts.general.context_weights`); the options are those of
    `HerdedGibbs`.
    """

    weights: str
    slack: float
    phases: str
    seed: int
    max_weights: int

    members: ClassVar[int] = 1

    @property
    def vector(self) -> bool:
        """With slack a weight strays further than a phase can."""
        return self.slack > 0

    def step(self, sweep: int, chain: int) -> SweepParameters:
        return SweepParameters(
            sweep=sweep,
            key=stream_key(self.seed, chain, StreamPurpose.DRAWS),
            phase_key=stream_key(self.seed, chain, StreamPurpose.WEIGHTS_AND_SCANS),
            random_phases=self._are_random(chain),
            slack=round(self.slack * VECTOR_ONE_INT),
            max_weights=min(self.max_weights, 2**62),
        )

    def start(self, layout: CreatesWeights, chain: int) -> dict[str, np.ndarray]:
        key = stream_key(self.seed, chain, StreamPurpose.WEIGHTS_AND_SCANS)
        return layout.start_weights(self._are_random(chain), key)

    def _are_random(self, chain: int) -> bool:
        """Return whether phases are random: chains after the first must differ from it."""
        return self.phases == "random" or chain > 0


@jit
def herd_scalar(w, at, p):
    """Return the next state of a binary variable, with conditional p and phase w[at]."""
    phi = np.uint32(w[at] + p)
    w[at] = phi & PHASE_MASK
    return phi >> 31


@jit
def herd_vector(w, at, p, p_at, states):
    """Return the next state of a variable, with conditional p[p_at:] and weights w[at:].

    Written without branches: which state wins is what no predictor can guess.
    """
    best, top = 0, NEVER_CHOSEN
    for k in range(states):
        add = np.int64(p[p_at + k])
        weight = np.int64(w[at + k]) + add
        w[at + k] = weight
        weight = weight if add > 0 else NEVER_CHOSEN
        better = weight > top
        best = k if better else best
        top = weight if better else top
    w[at + best] -= VECTOR_ONE_INT
    return best


@jit
def slack_vector(w, at, p, p_at, states, slack, bits):
    """Return a random state, none overdrawn; as herd_vector where all are or where much is owed."""
    share, owed = np.int64(0), np.int64(0)
    for k in range(states):
        weight, chance = np.int64(w[at + k]), np.int64(p[p_at + k])
        share += chance if weight >= -slack else 0
        owed = weight if weight > owed and chance > 0 else owed
    if share == 0 or owed > MAX_OWED:
        return herd_vector(w, at, p, p_at, states)
    left = (np.int64(bits >> _40) * share) >> 24
    x = 0
    while w[at + x] < -slack or left >= p[p_at + x]:
        left -= p[p_at + x] if w[at + x] >= -slack else 0
        x += 1
    for k in range(states):
        w[at + k] += p[p_at + k]
    w[at + x] -= VECTOR_ONE_INT
    return x
