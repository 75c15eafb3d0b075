"""Quadratic problems in binary variables, sampled and minimised the way dimod expects it."""

from typing import TYPE_CHECKING

from herded.system.lazy import attach

__getattr__, __dir__, __all__ = attach(
    "herded.qubo",
    {
        "herded.qubo.sampler": ["HerdedSampler"],
        "herded.models.convert.bqm": ["from_bqm", "to_bqm"],
    },
    extras=["HerdedSampler"],  # is a class of dimod
)

if TYPE_CHECKING:
    from herded.models.convert.bqm import from_bqm, to_bqm
    from herded.qubo.sampler import HerdedSampler
