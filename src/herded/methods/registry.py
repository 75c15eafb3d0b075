"""Methods by the names that the command line calls them.

A package adds its own with an entry point of the group "herded.methods", such as
`tree = "trees:TreeGibbs"`: `herded infer --method tree` then finds it. Nothing is imported before a
method is asked for.
"""

import importlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from herded.errors import MethodError
from herded.system.suggestions import did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from herded.methods.protocol import Method

ENTRY_POINT_GROUP = "herded.methods"
DEFAULT_DAMPING = 0.5  # of belief propagation and mean field, which may not settle without


class MethodEntry(NamedTuple):
    """The class of a method, and its options on the command line."""

    home: str
    name: str
    options: Mapping[str, Any] = {}
    in_blocks: bool = False  # whether its moves are of blocks


BUILT_IN_METHODS = {
    "herded": MethodEntry("herded.methods.herded_gibbs", "HerdedGibbs"),
    "gibbs": MethodEntry("herded.methods.gibbs", "Gibbs"),
    "herd": MethodEntry("herded.methods.gibbs", "Gibbs", {"herd": 64}),
    "blocks": MethodEntry("herded.methods.gibbs", "Gibbs", in_blocks=True),
    "tempered": MethodEntry("herded.methods.tempered", "Tempered"),
    "mean-field": MethodEntry(
        "herded.methods.mean_field.solver", "MeanField", {"damping": DEFAULT_DAMPING}
    ),
    "bp": MethodEntry(
        "herded.methods.belief_propagation.solver",
        "BeliefPropagation",
        {"damping": DEFAULT_DAMPING},
    ),
    "exact": MethodEntry("herded.methods.exact.solver", "Exact"),
}


def method_names() -> tuple[str, ...]:
    """Return all names, those of other packages last."""
    return tuple(
        dict.fromkeys((*BUILT_IN_METHODS, *(point.name for point in _entry_point_methods())))
    )


def make_method(name: str, **options: Any) -> "Method":
    """Return the method called `name`, with its options on the command line and those given.

    Options that its class does not have, such as the seed of a solver, are left out.
    """
    if name in BUILT_IN_METHODS:
        entry = BUILT_IN_METHODS[name]
        made, fixed = getattr(importlib.import_module(entry.home), entry.name), entry.options
        if entry.in_blocks:
            from herded.moves.blocks.move import Blocks

            fixed = {**fixed, "moves": Blocks()}
    else:
        points = [point for point in _entry_point_methods() if point.name == name]
        if not points:
            raise MethodError(
                f"expected a method out of {', '.join(method_names())}, got {name!r:.80}"
                + did_you_mean(name, method_names())
            )
        made, fixed = points[0].load(), {}
    known = {field.name for field in fields(made)} if is_dataclass(made) else options
    given = {key: value for key, value in options.items() if key in known}
    found: Method = made(**{**fixed, **given})
    return found


def _entry_point_methods() -> "EntryPoints":
    """Return the methods of other packages."""
    from importlib.metadata import entry_points  # not before: it takes as long as 15 of our modules

    return entry_points(group=ENTRY_POINT_GROUP)
