"""w <- w + pi^(1/T)(X_i | x_N(i)) - x_i: herded Gibbs at a falling temperature T.

Weights stay while the conditionals change: a context's weight balances all its visits, hot and
cold. Algorithm 1 keeps a binary weight in (pi - 1, pi] of one pi; under another pi it is a phase
like any other, as the circular form of appendix A shows. A weight vector of K states that starts
within its bounds stays within (K - 1) / 2 of 0, whatever the conditionals are (`MOST_STATES`).
At T = 0 a visit takes the argmax and leaves its weight alone; of several best states herding takes
turns.
"""

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from herded.errors import MethodError
from herded.layouts.choose import Plan
from herded.layouts.state import State
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.schedule import Schedule, check_kind, check_schedule, inverse_temperatures

# Let c_j = j (K - j) / 2. No j weights of a vector ever sum to more than c_j. They gain only in a
# visit that takes another state x and may take a state k of the j; then k is at most 1 above x,
# which was the argmax, and with sums after the visit, 2 * (the j) = (the j without k) + (k - x) +
# (the j and x) <= c_(j-1) + 1 + c_(j+1) = 2 c_j: the last have not gained, for they had x. So a
# weight is within (K - 1) / 2 of 0, since all sum to 0, and before its state is taken 1 higher,
# which 32 bits at scale 2^24 hold up to this many states.
MOST_STATES = 254


@dataclass(frozen=True)
class AnnealedHerdedGibbs:
    """Herded Gibbs at a falling temperature, to find a state of high probability.

    schedule     the temperature of a sweep: "linear", or a function of (sweep, total)
    weights      which weight a visit uses: "lazy" (one per state of the neighbours) or "pooled"
    scan, phases, seed, max_weights    as for `HerdedGibbs`
    """

    schedule: Schedule = "linear"
    weights: str = "lazy"
    scan: Any = "auto"
    phases: str = "half"
    seed: int = 0
    max_weights: int = 2**22

    def __post_init__(self) -> None:
        check_schedule(self.schedule)
        if self.weights not in ("lazy", "pooled"):
            raise MethodError(
                f'expected weights="lazy" or "pooled" for annealed herding, got {self.weights!r}'
            )
        object.__setattr__(self, "scan", self._herded.scan)

    @property
    def _herded(self) -> HerdedGibbs:
        """The same at temperature 1."""
        return HerdedGibbs(
            weights=self.weights,
            scan=self.scan,
            phases=self.phases,
            seed=self.seed,
            max_weights=self.max_weights,
        )

    def compile(self, model: Any, *, kind: str | None = None, cap: float | None = None) -> Plan:
        check_kind(kind, "annealed herding")
        states = int(model.cardinalities[model.evidence < 0].max(initial=1))
        if states > MOST_STATES:
            raise MethodError(
                f"expected variables of at most {MOST_STATES} states for annealed herding, whose "
                f"weights would overflow, got {states}: use AnnealedGibbs"
            )
        return replace(self._herded.compile(model, kind="factor", cap=cap), made_for=self)

    def init(
        self, plan: Plan, x: np.ndarray, *, chain: int = 0, tally: bool = False, total: int = 0
    ) -> State:
        return self._herded.init(plan, x, chain=chain, tally=tally, total=total)

    def advance(
        self, plan: Plan, state: State, block: np.ndarray, pool: Executor | None = None
    ) -> None:
        betas = inverse_temperatures(self.schedule, state, len(block))
        self._herded.advance(plan, state, block, pool, betas=betas)
