"""x_i ~ pi(x_i | x_N(i)): Gibbs sampling, the baseline of Bornn et al. (2013).

Errors fall as 1 / sqrt(T). In a herd every member is such a chain, and they draw together
(`draws.systematic`): the error of their average is smaller, and an update takes less time.

    step                                 runs in
    start in the support of pi           models.constraints.start_states.dispersed_starts
    choose the arrays of the model       layouts.choose.propose_layout
    order of visits                      layouts.visit_order.compile_scan
    pi(x_i | x_N(i)), tabulated          layouts.general.table_arrays.row_of_bits
    pi(x_i | x_N(i)), from factors       layouts.factor_arrays.log_conditional
    draw x_i in a chain                  draws.random.draw_scalar
                                         draws.random.draw_vector
    draw x_i in all members of a herd    draws.systematic.draw_members
    sweeps of a chain                    layouts.general.site_sweeps.scalar_sweeps
                                         layouts.general.site_sweeps.vector_sweeps
    sweeps of a herd                     layouts.general.site_herd_sweeps.scalar_herd
                                         layouts.general.site_herd_sweeps.vector_herd
    sweeps of grids of two states        layouts.grid.sweeps.grid_sweeps
                                         layouts.grid.herd_sweeps.grid_herd_sweeps
    draw x_i in a strip of a grid        layouts.grid.sweeps.draw_strip_states
    sweeps of blocks                     layouts.blocks.sweeps.sweep_blocks_of_chain
                                         layouts.blocks.sweeps.sweep_blocks_of_herd
    falling temperature                  methods.schedule.inverse_temperatures

Other folders of `layouts` have sweeps of their own for the models that they name.
"""

from dataclasses import dataclass
from functools import cached_property

from herded.draws.random import RandomDraw
from herded.draws.systematic import SystematicDraw
from herded.layouts.visit_order import Scan
from herded.methods.options import check_herd, check_seed, freeze_scan
from herded.methods.schedule import Schedule, check_schedule
from herded.methods.site_sampler import SiteSampler
from herded.moves.protocol import Move


@dataclass(frozen=True)
class Gibbs(SiteSampler):
    """Gibbs sampling with a seeded, counter-based random stream.

    Parameters
    ----------
    seed
        Of draws and starts: the draw of variable i in sweep t is a function of (seed, chain, t, i).
    scan
        The order of visits: "auto" (checkerboard on lattices, else sequential), "sequential",
        "checkerboard", "random", "jacobi", or a permutation of the variables.
    schedule
        None, or the temperature T of a sweep: "linear", or a function of (sweep, total). Draws are
        then from pi^(1/T), to find a state of high probability.
    herd
        Members of a herd: chains that draw together, each of them exactly a Gibbs chain. A
        sweep moves all of them; what is recorded is their average. `infer(chains=4)` runs four
        independent herds.
    moves
        None for one variable at a time, or `Blocks()` for many at once, which hard zeros and strong
        couplings do not stop. Blocks have an order of their own, and no `scan`.

    Examples
    --------
    >>> model = hd.FactorGraph([2, 2], [((0, 1), [[1.0, 0.0], [0.0, 1.0]])])
    >>> result = hd.infer(model, hd.Gibbs(seed=1), sweeps=20_000)
    >>> result.marginals.round(1).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    >>> result = hd.infer(model, hd.Gibbs(herd=64), sweeps=400, chains=4)
    >>> result.marginals.round(2).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    seed: int = 0
    scan: Scan = "auto"
    schedule: Schedule | None = None
    herd: int = 1
    moves: Move | None = None

    def __post_init__(self) -> None:
        check_seed(self.seed)
        check_herd(self.herd)
        check_schedule(self.schedule)
        object.__setattr__(self, "scan", freeze_scan(self.scan))
        self.check_moves()

    @cached_property
    def draw(self) -> RandomDraw | SystematicDraw:
        """The draw: at random, or together in a herd."""
        if self.herd > 1:
            return SystematicDraw(self.seed, self.herd, kept=False)
        return RandomDraw(self.seed)
