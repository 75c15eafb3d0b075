"""Line plots: the error during a run, and the values of observables."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from herded.errors import NotKeptError
from herded.plot.figure_helpers import WIDTH_INCHES, PlottedResult, plain_axis_label
from herded.system.figures import (
    GIBBS_COLOUR,
    HERDED_COLOUR,
    OTHER_COLOURS,
    SHARED_COLOUR,
    subplots,
    with_plot_style,
)

LINE_COLOURS = (GIBBS_COLOUR, HERDED_COLOUR, SHARED_COLOUR, *OTHER_COLOURS)
MAX_CHAIN_LINES = 8  # chains drawn as lines of their own
MAX_LINE_POINTS = 2000  # points of a line


@with_plot_style
def curve(results: PlottedResult | Mapping[str, PlottedResult]) -> Any:
    """Plot the error of marginals against sweeps, for runs with `keep=[ErrorCurve(reference)]`.

    Parameters
    ----------
    results : Result or dict
        One result, or several by the names to show. Thin lines are single chains.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> model = hd.ising_grid(np.zeros((3, 3)), 0.3)
    >>> keep = [hd.ErrorCurve(np.full((9, 2), 0.5))]
    >>> runs = {"Gibbs": hd.infer(model, hd.Gibbs(), sweeps=100, chains=2, keep=keep)}
    >>> hd.plot.curve(runs).savefig("curve.png")
    """
    named = results if isinstance(results, Mapping) else {"": results}
    figure, axis = subplots(1, 1, width=WIDTH_INCHES, height=3.6)
    for n, (name, result) in enumerate(named.items()):
        colour, found = LINE_COLOURS[n % len(LINE_COLOURS)], result.curve
        errors = np.maximum(found.errors, np.finfo(float).tiny)
        if len(errors) > 1:
            axis.plot(found.sweeps, errors.T, color=colour, alpha=0.3, linewidth=0.7)
        axis.plot(found.sweeps, errors.mean(axis=0), color=colour, label=plain_axis_label(name, 40))
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("sweeps")
    axis.set_ylabel("mean absolute error of marginals")
    if any(named):
        axis.legend()
    return figure


@with_plot_style
def series(result: PlottedResult, name: str | None = None) -> Any:
    """Plot the values of observables against sweeps; thin lines are chains, or members of herds.

    Parameters
    ----------
    result : Result
    name : str, optional
        The observable to plot; by default all of them.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> model, keep = hd.ising_grid(np.zeros((8, 8)), 0.3), [hd.Observable(hd.energy)]
    >>> result = hd.infer(model, hd.Gibbs(), sweeps=100, chains=4, keep=keep)
    >>> hd.plot.series(result, "energy").savefig("energy.png")
    """
    found = list(result.observables.values()) if name is None else [result.observables[name]]
    if not found:
        raise NotKeptError(
            "expected observables to plot, but the run ended before the first value: use "
            "more sweeps, or a smaller Observable(every=)"
        )
    figure, axes = subplots(len(found), 1, width=WIDTH_INCHES, height=0.6 + 2.0 * len(found))
    for axis, observed in zip(np.ravel(axes), found, strict=True):
        values = observed.series.reshape(*observed.series.shape[:2], -1)
        step = -(-values.shape[1] // MAX_LINE_POINTS)
        sweeps = observed.every * np.arange(1, values.shape[1] + 1)[::step]
        for chain in values[:: -(-len(values) // MAX_CHAIN_LINES), ::step, 0]:
            axis.plot(sweeps, chain, color=GIBBS_COLOUR, alpha=0.3, linewidth=0.6)
        mean = float(np.ravel(observed.mean)[0])
        axis.axhline(mean, color=HERDED_COLOUR, linewidth=1.2)
        first = " (its first component)" if values.shape[2] > 1 else ""
        axis.set_ylabel(plain_axis_label(observed.name))
        axis.set_title(f"{plain_axis_label(observed.name)}{first}: mean {mean:.5g}", fontsize=9)
    np.ravel(axes)[-1].set_xlabel("sweeps after the burn-in")
    return figure
