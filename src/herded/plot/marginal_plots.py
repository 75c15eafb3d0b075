"""Marginals as plots: images of grids, bars of a few variables, a curve of many."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from herded.errors import MethodError
from herded.models.naming import state_label, variable_index, variable_label
from herded.models.protocol import Model
from herded.plot.figure_helpers import (
    WIDTH_INCHES,
    PlottedResult,
    image,
    make_panels,
    middle_slice,
    plain_axis_label,
    shared_state,
)
from herded.system.figures import GIBBS_COLOUR, GREY, HERDED_COLOUR, subplots, with_plot_style

MAX_BAR_ROWS = 40  # variables with a bar and a name each
MAX_STATE_PANELS = 6  # states of a grid with an image each
ROW_INCHES = 0.24  # height of a bar
BEST_STATE_TITLE = "most probable state"


@with_plot_style
def marginals(result: PlottedResult, variables: Iterable[Hashable] | None = None) -> Any:
    """Plot the marginals P(x_i = k).

    Grids become images; with three or more dimensions, of the slice in the middle. Up to 40
    variables get a bar each, with 95 % intervals if several chains provide them. For more variables
    the probabilities are plotted in order of size.

    Parameters
    ----------
    result : Result
    variables : sequence, optional
        The variables to show, by name, number or pixel; by default all.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> result = hd.infer(hd.ising_grid(np.zeros((8, 8)), 0.3), hd.Gibbs(), sweeps=100)
    >>> hd.plot.marginals(result).savefig("marginals.png")
    """
    model, tables = result.model, result.chain_marginals
    if variables is None and len(model.shape) > 1:
        return _images(model, tables.mean(axis=0))
    picked = np.arange(model.n_variables)
    if variables is not None:
        picked = np.array([variable_index(model, key) for key in variables], np.int64)
    if len(picked) > MAX_BAR_ROWS:
        return _draw_ranked(model, tables.mean(axis=0), picked)
    return _bars(result, tables.mean(axis=0), picked)


def _images(model: Model, table: np.ndarray) -> Any:
    """Draw grids: P(x = 1) for two states, one panel per state for a few, the best for many."""
    k = table.shape[1]
    shown = [(f"P({plain_axis_label(state_label(model, 0, s))})", table[:, s]) for s in range(k)]
    if k == 2:
        shown = shown[1:]
    elif k > MAX_STATE_PANELS:
        shown = [(BEST_STATE_TITLE, table.argmax(axis=1)), ("its probability", table.max(axis=1))]
    figure, axes = make_panels(len(shown), 3.4, 3.0)
    for axis, (title, values) in zip(axes, shown, strict=True):
        picture, place = middle_slice(values.reshape(model.shape))
        top = float(k - 1) if title == BEST_STATE_TITLE else 1.0
        image(figure, axis, picture, title + place, top)
    return figure


def _bars(result: PlottedResult, table: np.ndarray, picked: np.ndarray) -> Any:
    """Draw a row for each variable, its states side by side, and intervals if known."""
    model = result.model
    figure, axis = subplots(1, 1, width=WIDTH_INCHES, height=1.0 + ROW_INCHES * max(4, len(picked)))
    spans = _intervals(result)
    binary = bool((model.cardinalities[picked] <= 2).all())
    for row, i in enumerate(picked):
        known, left = model.evidence[i] >= 0, 0.0
        states = range(int(model.cardinalities[i]))
        for k in [1] if binary and len(states) == 2 else states:
            width = float(table[i, k])
            colour = GREY if known else GIBBS_COLOUR if binary else _shade(k, len(states))
            axis.barh(row, width, left=left, height=0.72, color=colour, edgecolor="white")
            if not binary and width > 0.12:
                text = plain_axis_label(state_label(model, i, k), 14)
                axis.text(left + width / 2, row, text, ha="center", va="center", fontsize=7)
            left += width
        if spans is not None and binary and len(states) == 2 and not known:
            low, high = spans[i, 1]
            axis.plot(
                [low, high], [row, row], color=HERDED_COLOUR, linewidth=2, solid_capstyle="butt"
            )
    names = [_row_name(model, int(i), binary) for i in picked]
    axis.set_yticks(range(len(picked)), names)
    axis.set_ylim(len(picked) - 0.5, -0.5)
    axis.set_xlim(0.0, 1.0)
    axis.grid(visible=False, axis="y")
    axis.set_axisbelow(True)
    axis.set_xlabel(
        "probability" + (", red: 95 % interval" if spans is not None and binary else "")
    )
    return figure


def _row_name(model: Model, i: int, binary: bool) -> str:
    name = plain_axis_label(variable_label(model, i))
    if not binary or int(model.cardinalities[i]) < 2:
        return name
    return f"{name} = {plain_axis_label(state_label(model, i, 1), 12)}"


def _shade(k: int, count: int) -> tuple[float, float, float, float]:
    """Return a light to a darker blue, on which text is readable."""
    share = k / max(1, count - 1)
    return (0.86 - 0.42 * share, 0.91 - 0.28 * share, 0.97 - 0.10 * share, 1.0)


def _intervals(result: PlottedResult) -> np.ndarray | None:
    try:
        return np.asarray(result.interval).reshape(result.model.n_variables, -1, 2)
    except MethodError:  # a single chain, or identical ones
        return None


def _draw_ranked(model: Model, table: np.ndarray, picked: np.ndarray) -> Any:
    """Plot the probabilities of many variables in order of size."""
    figure, axis = subplots(1, 1, width=WIDTH_INCHES, height=3.4)
    free = picked[model.evidence[picked] < 0]
    binary = bool((model.cardinalities[free] == 2).all())
    values = np.sort(table[free, 1] if binary else table[free].max(axis=1))
    axis.plot(np.arange(1, len(values) + 1), values, color=GIBBS_COLOUR, linewidth=1.5)
    axis.fill_between(np.arange(1, len(values) + 1), values, color=GIBBS_COLOUR, alpha=0.15)
    one = f"P({shared_state(model, 1)})"
    axis.set_ylabel(one if binary else "probability of the most probable state")
    axis.set_xlabel(f"{len(values):,} variables in this order")
    axis.set_ylim(0.0, 1.02)
    axis.set_xlim(1, max(2, len(values)))
    return figure
