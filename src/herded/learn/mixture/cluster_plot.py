"""A plot of clusters: the points by cluster, and how probably pairs share one."""

from typing import Any

import numpy as np

from herded.system.figures import (
    GIBBS_COLOUR,
    HERDED_COLOUR,
    OTHER_COLOURS,
    SHARED_COLOUR,
    subplots,
    with_plot_style,
)

CLUSTER_COLOURS = (GIBBS_COLOUR, HERDED_COLOUR, SHARED_COLOUR, *OTHER_COLOURS)
MAX_PLOTTED_POINTS = 400  # points in the matrix of pairs


@with_plot_style
def cluster_figure(points: np.ndarray, labels: np.ndarray, pairs: np.ndarray) -> Any:
    """Plot points in their first two columns, and the matrix of pairs sorted by cluster."""
    figure, (left, right) = subplots(1, 2, width=7.6, height=3.6)
    across = points[:, 1] if points.shape[1] > 1 else np.zeros(len(points))
    colours = [CLUSTER_COLOURS[label % len(CLUSTER_COLOURS)] for label in labels]
    left.scatter(points[:, 0], across, c=colours, s=12)
    left.set_title("the most probable partition found")
    shown = right.imshow(pairs, cmap="Blues", vmin=0.0, vmax=1.0, interpolation="nearest")
    right.set_title("probability that two points share a cluster")
    right.grid(visible=False)
    figure.colorbar(shown, ax=right, shrink=0.8)
    return figure
