"""Checks of options that several methods have."""

from collections.abc import Sequence
from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from herded.errors import MethodError
from herded.methods.serialization import to_json
from herded.system.argument_checks import is_whole_number

if TYPE_CHECKING:
    from herded.layouts.visit_order import Scan

MAX_HERD = 2**16  # of a herd
MAX_OPTION_CHARS = 60  # letters of an option that is shown


class Options:
    """The options of a method; its `repr` leaves out those with their defaults."""

    def __init_subclass__(cls) -> None:
        cls.__repr__ = Options.__repr__  # type: ignore[method-assign]  # or dataclass makes its own

    def __repr__(self) -> str:
        usual = {field.name: field.default for field in fields(cast(Any, self))}
        given = ((name, value) for name, value in self.options().items() if value != usual[name])
        parts = [f"{name}={short_option_repr(value)}" for name, value in given]
        return f"{type(self).__name__}({', '.join(parts)})"

    def options(self) -> dict[str, Any]:
        """Return all options by name."""
        values = vars(self)
        return {field.name: values[field.name] for field in fields(cast(Any, self))}

    def to_dict(self) -> dict[str, Any]:
        """Return the class and all options as JSON can write them.

        `herded.methods.serialization.method_from_dict` reads them again.

        Examples
        --------
        >>> hd.Gibbs(seed=1, moves=hd.Blocks()).to_dict()["moves"]
        {'type': 'Blocks', 'entries': 256, 'count': 16, 'blocks': None}
        """
        options = {name: to_json(value) for name, value in self.options().items()}
        return {"type": type(self).__name__, **options}

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"


def short_option_repr(value: object) -> str:
    """Return a value as it would be written, but for the middle of a long one."""
    text = repr(value)
    return (
        text if len(text) <= MAX_OPTION_CHARS else f"{text[: MAX_OPTION_CHARS - 10]}...{text[-7:]}"
    )


def check_seed(seed: object) -> None:
    """Refuse a seed that is not a whole number of 0 or more."""
    if not is_whole_number(seed, 0):
        raise MethodError(f"expected a whole number of 0 or more as seed, got {seed!r}")


def freeze_scan(scan: "Scan") -> "Scan":
    """Return a permutation as a tuple, which can be compared and has a full `repr`."""
    return tuple(scan.tolist() if hasattr(scan, "tolist") else scan) if _is_list(scan) else scan


def _is_list(scan: "Scan") -> TypeGuard[Sequence[int]]:
    return isinstance(scan, (list, range)) or getattr(scan, "ndim", 0) == 1


def check_herd(herd: int) -> None:
    """Refuse a herd of fewer than one member or too many."""
    if not is_whole_number(herd, 1) or herd > MAX_HERD:
        raise MethodError(
            f"expected a herd of 1 to {MAX_HERD} members, got {herd!r}: for more chains "
            "run several herds"
        )
