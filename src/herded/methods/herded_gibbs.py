"""w <- w + pi(X_i = 1 | x_N(i)) - x_i: herded Gibbs, Algorithm 1 of Bornn et al. (2013).

    step                                 runs in
    1: x in the support of pi            models.constraints.start_states.dispersed_starts
    1: each weight in (pi - 1, pi]       draws.herded_weights.start_scalar
                                         draws.herded_weights.start_vector
    2: pick the next i of the scan       layouts.visit_order.compile_scan
    2: w = w_(i, x_N(i)), tabulated      layouts.general.table_arrays.row_of_bits
    2: w = w_(i, x_N(i)), hashed         draws.context_hashing.find_slot
    3, 4: x_i = 1 if w > 0 else 0,       draws.herded.herd_scalar
          w <- w + pi(X_i = 1 | .) - x_i draws.herded.herd_vector
    sweeps of a chain                    layouts.general.site_sweeps.scalar_sweeps
                                         layouts.general.site_sweeps.vector_sweeps
    sweeps of grids of two states        layouts.grid.sweeps.grid_sweeps
    all of it, in plain Python           theory.paper_algorithm.algorithm_1

Theorem 1 covers empty graphs whose probabilities are rationally independent, theorem 2 complete
graphs (error at most lambda / T after a burn-in). No proof for sparse graphs, where weights shared
by several full contexts leave a small bias; `slack` trades it for a little noise.

With a schedule pi is pi^(1/T), and T falls from sweep to sweep. Weights stay while the conditionals
change: a context's weight balances all its visits, hot and cold. Algorithm 1 keeps a binary weight
in (pi - 1, pi] of one pi; under another pi it is a phase like any other, as the circular form of
appendix A shows. A weight vector of K states that starts within its bounds stays within (K - 1) / 2
of 0, whatever the conditionals are (`MAX_ANNEALED_STATES`). At T = 0 a visit takes the argmax and
leaves its weight alone; of several best states herding takes turns.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from herded.draws.herded import HerdedDraw
from herded.draws.systematic import SystematicDraw
from herded.errors import MethodError
from herded.layouts.general.context_weights import check_weights
from herded.layouts.visit_order import Scan
from herded.methods.options import check_herd, check_seed, freeze_scan
from herded.methods.protocol import SamplerCapabilities
from herded.methods.schedule import Schedule, check_schedule
from herded.methods.site_sampler import SiteSampler
from herded.models.protocol import Model
from herded.moves.protocol import Move
from herded.system.argument_checks import is_number_between, is_whole_number
from herded.system.diagnostics.phrases import Phrase, Term

LAZY_OR_POOLED = Term('weights="lazy" or "pooled"', "{weights} lazy or pooled")

# Let c_j = j (K - j) / 2. No j weights of a vector ever sum to more than c_j. They gain only in a
# visit that takes another state x and may take a state k of the j; then k is at most 1 above x,
# which was the argmax, and with sums after the visit, 2 * (the j) = (the j without k) + (k - x) +
# (the j and x) <= c_(j-1) + 1 + c_(j+1) = 2 c_j: the last have not gained, for they had x. So a
# weight is within (K - 1) / 2 of 0, since all sum to 0, and before its state is taken 1 higher,
# which 32 bits at scale 2^24 hold up to this many states.
MAX_ANNEALED_STATES = 254  # of a variable under a schedule


@dataclass(frozen=True)
class HerdedGibbs(SiteSampler):
    """Deterministic Gibbs sampling that matches conditionals instead of drawing from them.

    Parameters
    ----------
    weights
        Which weight a visit uses: "blanket" (one for each state of the neighbours: Algorithm 1),
        "shared" (one for each distinct conditional of a variable), "pooled" (one for each bin of
        the conditional; memory is linear), "lazy" (as blanket, hashed when first met where
        conditionals are not tabulated) or "full" (one for each state of all other variables).
    slack
        0 is herding; c > 0 draws, but no state that was taken c times more than was due.
    scan
        The order of visits: "auto" (checkerboard on lattices, else sequential), "sequential",
        "checkerboard", "random", "jacobi", or a permutation of the variables.
    phases
        Where weights start: at "random" places, or "half" way (in the first chain; others start at
        random, so that they differ). Where many variables are alike, weights that start alike
        move in step, and spoil the marginals.
    seed
        Of random phases, draws and starts.
    max_weights
        Room for hashed contexts ("full", and "lazy" without tables); beyond it they share.
    schedule
        None, or the temperature of a sweep: "linear", or a function of (sweep, total), to find a
        state of high probability. Weights are then "blanket" (hashed, as "lazy") or "pooled".
    herd
        1 is herding in time. More are members of a herd that draw together, as in `Gibbs`, but
        with phases that are kept from sweep to sweep instead of drawn again: no weights then, and
        smaller errors in short runs, but a bias of its own in small herds. Take 64 or more.
    moves
        None for one variable at a time, or `Blocks()` for many at once. Blocks have an order and
        weights of their own, one for each block, variable and bin of the conditional: no `scan`, no
        `weights`, no `slack`.

    Examples
    --------
    >>> model = hd.ising_grid([[0.2, -0.1], [0.0, 0.3]], 0.5)
    >>> result = hd.infer(model, hd.HerdedGibbs(), sweeps=20_000)
    >>> exact = hd.infer(model, hd.Exact())
    >>> bool(abs(result.marginals - exact.marginals).max() < 0.02)
    True
    """

    weights: str = "blanket"
    slack: float = 0.0
    scan: Scan = "auto"
    phases: str = "random"
    seed: int = 0
    max_weights: int = 2**22
    schedule: Schedule | None = None
    herd: int = 1
    moves: Move | None = None

    def __post_init__(self) -> None:
        check_weights(self.weights)
        check_seed(self.seed)
        check_herd(self.herd)
        object.__setattr__(self, "scan", freeze_scan(self.scan))
        if not is_number_between(self.slack, 0, 64):
            raise MethodError(f"expected slack from 0 to 64, got {self.slack!r}")
        if self.phases not in ("half", "random"):
            raise MethodError(f'expected phases "half" or "random", got {self.phases!r}')
        if not is_whole_number(self.max_weights, 1):
            raise MethodError(f"expected max_weights of 1 or more, got {self.max_weights!r}")
        check_schedule(self.schedule)
        if self.schedule is not None and (
            self.weights not in ("blanket", "lazy", "pooled") or self.slack
        ):
            got = f"weights={self.weights!r}, slack={self.slack!r}"
            why = f" and no slack with a schedule, got {got}"
            raise MethodError(Phrase("expected ", LAZY_OR_POOLED, why))
        self.check_moves()
        if self.moves is not None and (self.weights, self.slack) != ("blanket", 0.0):
            raise MethodError(
                "expected no weights or slack with moves, which have weights of their own, got "
                f"weights={self.weights!r}, slack={self.slack!r}: drop them"
            )
        options = self.weights, self.slack, self.phases
        if self.herd > 1 and options != ("blanket", 0.0, "random"):
            raise MethodError(
                f"expected no weights, slack or phases for a herd of {self.herd}, which has one "
                "random phase for each variable, got others than the defaults: drop them"
            )

    @cached_property
    def capabilities(self) -> SamplerCapabilities:
        """What this method can do beyond the protocol."""
        return self.declare(
            herds_in_time=True, max_weights=self.max_weights, kernel_key=self.weights
        )

    @property
    def layout_key(self) -> tuple[Any, ...]:
        return *super().layout_key, self.weights, self.slack

    @cached_property
    def draw(self) -> HerdedDraw | SystematicDraw:
        """The draw: by weights, or together in a herd."""
        if self.herd > 1:
            return SystematicDraw(self.seed, self.herd, kept=True)
        # Under a schedule nothing is tabulated, so that the weights of Algorithm 1 are hashed.
        hashed = self.schedule is not None and self.weights == "blanket"
        return HerdedDraw(
            "lazy" if hashed else self.weights,
            self.slack,
            self.phases,
            self.seed,
            self.max_weights,
        )

    def check_annealed(self, model: Model) -> None:
        states = int(model.cardinalities[model.evidence < 0].max(initial=1))
        if self.herd == 1 and states > MAX_ANNEALED_STATES:
            raise MethodError(
                f"expected variables of at most {MAX_ANNEALED_STATES} states for annealed herding, "
                f"whose weights would overflow, got {states}: use Gibbs(schedule=...)"
            )
