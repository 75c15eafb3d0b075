"""The methods of section 4.2 with the paper's numbers, and our additional methods.

All scan row by row except mean field, which updates as its row says. The paper's 30 sweeps are 30
updates of every pixel. A herd of 15 does as many in two sweeps; in 30 sweeps it does as many as one
chain in 450.
"""

from collections.abc import Callable
from typing import Literal

from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.mean_field.solver import MeanField
from herded.methods.protocol import Method
from herded.system.figures import GIBBS_COLOUR, HERDED_COLOUR, OTHER_COLOURS, SHARED_COLOUR

DENOISING_SWEEPS = 30
HERD_MEMBERS = 15  # members; it divides DENOISING_SWEEPS

SCHEDULES: dict[str, Literal["sequential", "checkerboard", "parallel"]] = {
    "": "checkerboard",
    ", at once": "parallel",
    ", row by row": "sequential",
}
SHORT_HERD = f"Gibbs, herd of {HERD_MEMBERS}, {DENOISING_SWEEPS // HERD_MEMBERS} sweeps"
LONG_HERD = f"Gibbs, herd of {HERD_MEMBERS}, {DENOISING_SWEEPS} sweeps"
LONG_CHAIN = f"Gibbs, {DENOISING_SWEEPS * HERD_MEMBERS} sweeps"


def _mean_field(
    damping: float, updates: Literal["sequential", "checkerboard", "parallel"]
) -> Callable[[int], Method]:
    return lambda seed: MeanField(damping=damping, updates=updates, tolerance=0)


def _gibbs(seed: int) -> Gibbs:
    return Gibbs(scan="sequential", seed=seed)


def _herd(seed: int) -> Gibbs:
    return Gibbs(scan="sequential", seed=seed, herd=HERD_MEMBERS)


METHODS: dict[str, Callable[[int], Method]] = {
    "Herded Gibbs": lambda seed: HerdedGibbs(scan="sequential", phases="half", seed=seed),
    "Herded Gibbs, shared": lambda seed: HerdedGibbs(
        weights="shared", scan="sequential", phases="half", seed=seed
    ),
    "Gibbs": _gibbs,
    **{
        f"Mean field, D = {d:g}{suffix}": _mean_field(d, updates)
        for suffix, updates in SCHEDULES.items()
        for d in (0.5, 1.0)
    },
    SHORT_HERD: _herd,
    LONG_HERD: _herd,
    LONG_CHAIN: _gibbs,
}
PAPER_ERRORS = {  # table 2: mean (standard deviation) of the error x 1000
    "Herded Gibbs": ("21.58 (0.26)", "32.07 (0.98)", "47.52 (1.64)", "67.93 (2.78)"),
    "Herded Gibbs, shared": ("22.24 (0.29)", "31.40 (0.59)", "42.62 (1.98)", "58.49 (2.86)"),
    "Gibbs": ("21.63 (0.28)", "37.20 (1.23)", "63.78 (2.41)", "90.27 (3.48)"),
    "Mean field, D = 0.5": ("15.52 (0.30)", "41.76 (0.71)", "76.24 (1.65)", "104.08 (1.93)"),
    "Mean field, D = 1": ("17.67 (0.40)", "32.04 (0.76)", "51.19 (1.44)", "74.74 (2.21)"),
}
ROW_COLOURS = dict(
    zip(PAPER_ERRORS, (HERDED_COLOUR, SHARED_COLOUR, GIBBS_COLOUR, *OTHER_COLOURS), strict=True)
)


def sweeps_of(method: str) -> int:
    """Return the number of sweeps of a method."""
    return {
        SHORT_HERD: DENOISING_SWEEPS // HERD_MEMBERS,
        LONG_CHAIN: DENOISING_SWEEPS * HERD_MEMBERS,
    }.get(method, DENOISING_SWEEPS)
