"""Read what a class declares that it can do, or the defaults where it declares nothing."""

from dataclasses import dataclass
from typing import TypeVar

from herded.errors import MethodError
from herded.system.argument_checks import describe_value

C = TypeVar("C", bound="Capabilities")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model or a method can do beyond its protocol; see the classes that derive from it."""


def declared_capabilities(owner: object, defaults: C) -> C:
    """Return `owner.capabilities`, or `defaults` if it declares none of this kind.

    Raises
    ------
    MethodError
        If `owner` declares something else under this name.
    """
    declared: object = getattr(owner, "capabilities", defaults)
    if isinstance(declared, type(defaults)):
        return declared
    if not isinstance(declared, Capabilities):
        raise MethodError(
            f"expected capabilities of {type(owner).__name__} such as "
            f"hd.{type(defaults).__name__}(), got {describe_value(declared)}"
        )
    return defaults  # of a solver that is asked as a sampler, or the other way round
