"""Helpers shared by the plots: sizes, images with a scale, names that fit."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from herded.models.protocol import Model
from herded.system.figures import subplots

WIDTH_INCHES = 6.4
MAX_NAME_CHARS = 24  # characters of a name


class PlottedResult(Protocol):
    """What plots read of a result, which is of a layer above this one."""

    @property
    def model(self) -> Model:
        """The model that it is a result for."""

    @property
    def kept(self) -> Mapping[str, Any]:
        """What the run kept, by name."""

    @property
    def interval(self) -> np.ndarray:
        """Intervals of the marginals."""

    @property
    def chain_marginals(self) -> np.ndarray:
        """The marginals of each chain."""

    @property
    def samples(self) -> np.ndarray:
        """The samples of each chain."""

    @property
    def curve(self) -> Any:
        """The errors along the run, of each chain."""

    @property
    def observables(self) -> Mapping[str, Any]:
        """The observables, by name."""


def plain_axis_label(label: object, longest: int = MAX_NAME_CHARS) -> str:
    """Shorten a name for use as an axis label, without letting matplotlib read formulas in it."""
    text = ",".join(map(str, label)) if isinstance(label, tuple) else str(label)
    text = "".join(c if c.isprintable() else "?" for c in text).replace("$", r"\$")
    return text if len(text) <= longest else text[: longest - 3] + "..."


def shared_state(model: Model, k: int) -> str:
    """Return the name of state `k` if all variables share it, or else its number."""
    names = model.state_names
    return (
        plain_axis_label(names[0][k], 12)
        if names and len({own[k] for own in names}) == 1
        else str(k)
    )


def middle_slice(values: np.ndarray) -> tuple[np.ndarray, str]:
    """Return values in two dimensions, and which slice of a larger array they are."""
    if values.ndim == 1:
        return values[None], ""
    place = [size // 2 for size in values.shape[:-2]]
    where = f" at {', '.join(map(str, place))}" if place else ""
    return values[tuple(place)], where


def make_panels(count: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """Create a figure with `count` axes, two or three per row."""
    columns = 2 if count in (2, 4) else min(3, count)
    rows = -(-count // columns)
    figure, axes = subplots(rows, columns, width=width * columns, height=height * rows)
    for axis in np.ravel(axes)[count:]:
        axis.set_visible(False)
    return figure, list(np.ravel(axes)[:count])


def image(
    figure: Any, axis: Any, values: np.ndarray, title: str, top: float, *, scale: bool = True
) -> None:
    """Draw values from 0 to `top` in greys, with a scale."""
    shown = axis.imshow(values, cmap="gray", vmin=0.0, vmax=top, interpolation="nearest")
    axis.set_title(title)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.spines[:].set_visible(False)
    if scale:
        figure.colorbar(shown, ax=axis, shrink=0.8)
