"""The protocol of draws: they turn a conditional into a value, and keep state between visits.

Kernels are compiled with the arithmetic of a draw inside. Their parameters at run time are
`SweepParameters`; which arithmetic they use is the mode that `weights` names
(`draws.weight_modes`).
"""

from typing import NamedTuple, Protocol

import numpy as np


class SweepParameters(NamedTuple):
    """The numbers of one call of a kernel: progress, streams and options."""

    sweep: int  # number of the first sweep of this call
    key: np.uint64  # of draws
    phase_key: np.uint64  # of starting phases, and of the order of visits
    random_phases: bool
    slack: int  # at scale 2^24; 0 is herding
    max_weights: int  # slots that all tables of hashed weights may have


class CreatesWeights(Protocol):
    """A layout, as draws use it."""

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        """Return the weights of one chain, by name."""


class Draw(Protocol):
    """A way to choose a new value."""

    @property
    def seed(self) -> int:
        """Names its streams of random numbers."""

    @property
    def weights(self) -> str | None:
        """Which weight a visit uses ("blanket", "pooled", ..), or None where there are none."""

    @property
    def vector(self) -> bool:
        """Whether binary variables need weight vectors too."""

    @property
    def members(self) -> int:
        """Chains that draw together; 1 where each draws alone."""

    def step(self, sweep: int, chain: int) -> SweepParameters:
        """Return the parameters of a kernel for the sweeps from number `sweep` on."""

    def start(self, layout: CreatesWeights, chain: int) -> dict[str, np.ndarray]:
        """Return the arrays that a chain keeps for this draw, at its start."""
