"""What pictures share: sizes, images with a scale, names that fit."""

from typing import Any

import numpy as np

from herded.models.protocol import Model
from herded.system.figures import subplots

WIDTH_INCHES = 6.4  # inches
MAX_NAME_CHARS = 24  # letters of a name


def plain_axis_label(label: Any, longest: int = MAX_NAME_CHARS) -> str:
    """A name as it may stand beside an axis: matplotlib reads no formula into it."""
    text = ",".join(map(str, label)) if isinstance(label, tuple) else str(label)
    text = "".join(c if c.isprintable() else "?" for c in text).replace("$", r"\$")
    return text if len(text) <= longest else text[: longest - 3] + "..."


def shared_state(model: Model, k: int) -> str:
    """What state `k` is called, where all variables call it so, or its number."""
    names = model.state_names
    return (
        plain_axis_label(names[0][k], 12)
        if names and len({own[k] for own in names}) == 1
        else str(k)
    )


def middle_slice(values: np.ndarray) -> tuple[np.ndarray, str]:
    """Values in two dimensions, and where they were taken from those in more."""
    if values.ndim == 1:
        return values[None], ""
    place = [size // 2 for size in values.shape[:-2]]
    where = f" at {', '.join(map(str, place))}" if place else ""
    return values[tuple(place)], where


def make_panels(count: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """A figure of so many axes, two or three beside each other."""
    columns = 2 if count in (2, 4) else min(3, count)
    rows = -(-count // columns)
    figure, axes = subplots(rows, columns, width=width * columns, height=height * rows)
    for axis in np.ravel(axes)[count:]:
        axis.set_visible(False)
    return figure, list(np.ravel(axes)[:count])


def image(
    figure: Any, axis: Any, values: np.ndarray, title: str, top: float, *, scale: bool = True
) -> None:
    """Values from 0 to `top` as greys, with a scale."""
    shown = axis.imshow(values, cmap="gray", vmin=0.0, vmax=top, interpolation="nearest")
    axis.set_title(title)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.spines[:].set_visible(False)
    if scale:
        figure.colorbar(shown, ax=axis, shrink=0.8)
