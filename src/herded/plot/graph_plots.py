"""Graphs of models: which variables share a factor, and what is known about each."""

from typing import Any

import numpy as np

from herded.models.factor_graph import to_factor_graph
from herded.models.naming import variable_label
from herded.models.protocol import Model
from herded.plot.figure_helpers import PlottedResult, plain_axis_label, shared_state
from herded.system.figures import HERDED_COLOUR, subplots, with_plot_style

MAX_NODE_NAMES = 60
MAX_FORCE_VARIABLES = 400  # variables for which spring forces are computed
MAX_DRAWN_EDGES = 20_000  # edges that are drawn
SPRING_ROUNDS = 120


@with_plot_style
def graph(of: Model | PlottedResult) -> Any:
    """Plot the variables of a model and which of them share a factor.

    For a result with two states the colour is P(x = 1), with more it is the probability of the most
    probable state. Observed variables have a red ring. Grids keep their shape; other graphs are
    laid out as springs would pull them.

    Parameters
    ----------
    of : Model or Result

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> model = hd.chain_model(np.zeros((6, 2)), np.eye(2))
    >>> hd.plot.graph(model).savefig("graph.png")
    """
    model, kept = (of, {}) if isinstance(of, Model) else (of.model, of.kept)
    chains = kept.get("chain_marginals")
    table = None if chains is None else chains.mean(axis=0)
    edges = _edges(model)
    places = _places(model, edges)
    n = model.n_variables
    figure, axis = subplots(1, 1, width=6.4, height=5.6)
    step = -(-len(edges) // MAX_DRAWN_EDGES) or 1
    lines = places[edges[::step]]
    gaps = np.full((len(lines), 1, 2), np.nan)
    flat = np.concatenate([lines, gaps], axis=1).reshape(-1, 2)
    axis.plot(flat[:, 0], flat[:, 1], color="#9ca3af", linewidth=0.8 if n <= 400 else 0.3, zorder=1)
    size = float(np.clip(12_000 / max(n, 1), 3.0, 260.0))
    binary = bool((model.cardinalities <= 2).all()) and model.cardinalities.max() == 2
    values = "#dbe7f5" if table is None else table[:, 1] if binary else table.max(axis=1)
    dots = axis.scatter(
        places[:, 0],
        places[:, 1],
        s=size,
        c=values,
        cmap=None if table is None else "Blues",
        vmin=None if table is None else 0.0,
        vmax=None if table is None else 1.0,
        edgecolors=np.where(model.evidence >= 0, HERDED_COLOUR, "#374151").tolist(),
        linewidths=np.where(model.evidence >= 0, 1.8, 0.5 if n <= 1000 else 0.0),
        zorder=2,
        clip_on=False,
    )
    if table is not None:
        label = (
            f"P({shared_state(model, 1)})" if binary else "probability of the most probable state"
        )
        figure.colorbar(dots, ax=axis, label=label, shrink=0.8)
    for i in range(n) if n <= MAX_NODE_NAMES else ():
        name = plain_axis_label(variable_label(model, i), 16)
        axis.annotate(
            name, places[i], xytext=(0, 9), textcoords="offset points", ha="center", fontsize=7
        )
    axis.set_axis_off()
    axis.set_aspect("equal")
    axis.margins(0.08)
    return figure


def _edges(model: Model) -> np.ndarray:
    """Return the pairs i < j (E, 2) that share a factor."""
    start, members = to_factor_graph(model).adjacency
    owner = np.repeat(np.arange(model.n_variables), np.diff(start))
    return np.stack([owner, members], axis=1)[owner < members]


def _places(model: Model, edges: np.ndarray) -> np.ndarray:
    """Return the positions (N, 2) at which variables are drawn."""
    n, shape = model.n_variables, model.shape
    if len(shape) > 1:
        index = np.stack(np.unravel_index(np.arange(n), shape), axis=1).astype(float)
        # Further dimensions are drawn shifted to the right and up, a little apart.
        lean = index[:, :-2] @ np.array([[0.35, 0.28]] * (len(shape) - 2)).reshape(-1, 2)
        return np.stack([index[:, -1] + lean[:, 0], -index[:, -2] + lean[:, 1]], axis=1)
    places = _spectral_layout(n, edges)
    return _spring_layout(places, edges) if n <= MAX_FORCE_VARIABLES else places


def _spectral_layout(n: int, edges: np.ndarray) -> np.ndarray:
    """Place neighbours near each other by the slowest modes of averaging over neighbours."""
    rng = np.random.default_rng(0)
    x, ends = rng.normal(size=(n, 2)), np.concatenate([edges, edges[:, ::-1]])
    degree = np.bincount(ends[:, 0], minlength=n) + 1.0
    weight = degree / degree.sum()
    for _ in range(SPRING_ROUNDS):
        total = x.copy()
        for d in range(2):
            total[:, d] += np.bincount(ends[:, 0], x[ends[:, 1], d], minlength=n)
        x = total / degree[:, None]
        x -= weight @ x
        x[:, 1] -= x[:, 0] * (weight @ (x[:, 0] * x[:, 1])) / max(1e-300, weight @ x[:, 0] ** 2)
        x /= np.maximum(1e-300, np.sqrt(weight @ x**2))
    return x + 1e-3 * rng.normal(size=x.shape)


def _spring_layout(x: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Pull neighbours together and push all others apart, over shrinking distances."""
    n = len(x)
    length = 1.0 / np.sqrt(n)
    x = x / max(1e-300, np.abs(x).max())
    for step in np.linspace(0.12, 0.005, SPRING_ROUNDS):
        gaps = [
            side[:, None] - side for side in x.T.copy()
        ]  # one dimension at a time, since rows are summed
        push = length**2 / np.maximum(gaps[0] * gaps[0] + gaps[1] * gaps[1], 1e-6)
        force = np.stack([(gap * push).sum(axis=1) for gap in gaps], axis=1) - 0.02 * x
        pull = x[edges[:, 0]] - x[edges[:, 1]]
        pull *= np.sqrt((pull**2).sum(axis=1, keepdims=True)) / length
        for d in range(2):
            force[:, d] -= np.bincount(edges[:, 0], pull[:, d], minlength=n)
            force[:, d] += np.bincount(edges[:, 1], pull[:, d], minlength=n)
        size = np.sqrt((force**2).sum(axis=1, keepdims=True))
        x = x + force / np.maximum(size, 1e-9) * np.minimum(size, step)
    return x
