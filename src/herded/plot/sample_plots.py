"""Samples as plots: grids side by side, other models as stripes over sweeps."""

from typing import Any

import numpy as np

from herded.errors import NotKeptError
from herded.models.naming import variable_label
from herded.models.protocol import Model
from herded.plot.figure_helpers import (
    WIDTH_INCHES,
    PlottedResult,
    image,
    make_panels,
    middle_slice,
    plain_axis_label,
)
from herded.system.figures import subplots, with_plot_style

MAX_ROW_NAMES = 40
MAX_STRIPE_PIXELS = 1000  # along each side of a stripe plot


@with_plot_style
def samples(result: PlottedResult, most: int = 6) -> Any:
    """Plot samples of a run with `keep=[Samples(...)]`.

    For a grid, the last samples of some chains as images (with three or more dimensions, of the
    slice in the middle). For any other model all samples of the first chain, one column each.

    Parameters
    ----------
    result : Result
    most : int
        The number of images.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> model = hd.ising_grid(np.zeros((16, 16)), 0.4)
    >>> result = hd.infer(model, hd.Gibbs(herd=8), sweeps=50, keep=[hd.Samples(every=50)])
    >>> hd.plot.samples(result).savefig("samples.png")
    """
    model, kept = result.model, result.samples
    if not kept.shape[1]:
        raise NotKeptError(
            "expected samples to plot, but the run ended before the first one: use more sweeps, "
            "or a smaller Samples(every=)"
        )
    if len(model.shape) > 1:
        return _images(model, kept, most)
    figure, axis = subplots(1, 1, width=WIDTH_INCHES, height=1.2 + 0.2 * min(30, model.n_variables))
    stripes = kept[0].T
    across = -(-stripes.shape[1] // MAX_STRIPE_PIXELS)
    down = -(-stripes.shape[0] // MAX_STRIPE_PIXELS)
    sweeps = result.kept["sample_sweeps"]
    extent = (float(sweeps[0]), float(sweeps[-1]), model.n_variables - 0.5, -0.5)
    shown = axis.imshow(
        stripes[::down, ::across],
        aspect="auto",
        cmap="gray",
        interpolation="nearest",
        extent=extent,
    )
    axis.set_xlabel("sweeps after the burn-in")
    if model.n_variables <= MAX_ROW_NAMES:
        names = [plain_axis_label(variable_label(model, i)) for i in range(model.n_variables)]
        axis.set_yticks(range(model.n_variables), names)
    else:
        axis.set_ylabel("variable")
    axis.grid(visible=False)
    figure.colorbar(shown, ax=axis, label="state", shrink=0.8)
    return figure


def _images(model: Model, kept: np.ndarray, most: int) -> Any:
    """Draw the last samples of the chains, then earlier ones."""
    chains, draws = kept.shape[:2]
    places = [(c, draws - 1 - d) for d in range(draws) for c in range(chains)][: max(1, most)]
    figure, axes = make_panels(len(places), 2.6, 2.4)
    top = float(model.cardinalities.max() - 1)
    for axis, (chain, draw) in zip(axes, places, strict=True):
        picture, place = middle_slice(kept[chain, draw].reshape(model.shape))
        title = f"chain {chain}, draw {draw}{place}"
        image(figure, axis, picture, title, top, scale=top > 1)
    return figure
