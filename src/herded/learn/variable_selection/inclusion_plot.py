"""A plot of inclusion probabilities."""

from typing import TYPE_CHECKING, Any

import numpy as np

from herded.system.figures import GIBBS_COLOUR, subplots, with_plot_style

if TYPE_CHECKING:
    from herded.learn.variable_selection.result import Selection

MAX_PLOTTED_COLUMNS = 30  # columns in a plot


@with_plot_style
def inclusion_figure(found: "Selection") -> Any:
    """Plot the most probable columns, with 95 % intervals."""
    order = np.argsort(-found.inclusion, kind="stable")[:MAX_PLOTTED_COLUMNS][::-1]
    figure, axis = subplots(1, 1, width=6.4, height=0.8 + 0.22 * len(order))
    middle, ends = found.inclusion[order], found.interval[order]
    reach = np.maximum(np.stack([middle - ends[:, 0], ends[:, 1] - middle]), 0.0)
    axis.barh(np.arange(len(order)), middle, color=GIBBS_COLOUR, alpha=0.6, height=0.7)
    axis.errorbar(middle, np.arange(len(order)), xerr=reach, fmt="none", color="black", capsize=2)
    names = [found.names[j].replace("$", r"\$") for j in order]
    axis.set_yticks(np.arange(len(order)), names)
    axis.set_xlim(0.0, 1.05)
    axis.set_xlabel("posterior probability of being in the model")
    axis.grid(axis="y", visible=False)
    return figure
