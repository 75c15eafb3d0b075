"""Quadratic problems in binary variables, sampled and minimised the way dimod expects it."""

from typing import TYPE_CHECKING

from herded.system.lazy import attach

_find, __dir__, _names = attach(
    "herded.qubo",
    {
        "herded.qubo.sampler": ["HerdedSampler"],
        "herded.models.convert.bqm": ["from_bqm", "to_bqm"],
    },
    extras=["HerdedSampler"],  # is a class of dimod
)

if not TYPE_CHECKING:  # which would take any name for one of ours
    __getattr__, __all__ = _find, _names
else:
    from herded.models.convert.bqm import from_bqm as from_bqm
    from herded.models.convert.bqm import to_bqm as to_bqm
    from herded.qubo.sampler import HerdedSampler as HerdedSampler
