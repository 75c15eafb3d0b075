"""x_i ~ pi(x_i | x_N(i)): Gibbs sampling, the baseline of Bornn et al. (2013).

Errors fall as 1 / sqrt(T).
"""

from dataclasses import dataclass
from functools import cached_property

from herded.draws.random import RandomDraw
from herded.layouts.scan import Scan
from herded.methods.options import check_seed, frozen_scan
from herded.methods.schedule import Schedule, check_schedule
from herded.methods.site_sampler import SiteSampler
from herded.moves.sites import Sites


@dataclass(frozen=True)
class Gibbs(SiteSampler):
    """Gibbs sampling with a seeded, counter-based stream.

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

    Examples
    --------
    >>> model = hd.FactorGraph([2, 2], [((0, 1), [[1.0, 0.0], [0.0, 1.0]])])
    >>> result = hd.infer(model, hd.Gibbs(seed=1), sweeps=20_000)
    >>> result.marginals.round(1).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    seed: int = 0
    scan: Scan = "auto"
    schedule: Schedule | None = None

    def __post_init__(self) -> None:
        check_seed(self.seed)
        check_schedule(self.schedule)
        object.__setattr__(self, "scan", frozen_scan(self.scan))

    @cached_property
    def move(self) -> Sites:
        return Sites(self.scan)

    @cached_property
    def draw(self) -> RandomDraw:
        return RandomDraw(self.seed)
