"""The plots of measurements, each drawn from tables of a page of results."""

from collections.abc import Callable
from typing import Any

from docs.tools.benchmark_plots.tables import REACH, Row, best_of_each, number, tables
from docs.tools.page_files import RESULTS
from herded.system.figures import (
    GIBBS_COLOUR,
    HERDED_COLOUR,
    OTHER_COLOURS,
    SHARED_COLOUR,
    subplots,
    svg,
    with_plot_style,
)

WIDTH = 5.4  # inches, of all pictures
Tables = list[list[Row]]


def _colour(name: str) -> str:
    if name.startswith(("herded,", "herded: herded")):
        return HERDED_COLOUR
    return GIBBS_COLOUR if "Gibbs" in name else OTHER_COLOURS[0]


def _bars(axis: Any, board: list[tuple[str, float]], unit: str) -> None:
    """The first on top, each with its figure."""
    names, values = zip(*reversed(board), strict=True)
    axis.barh(names, values, color=[_colour(name) for name in names])
    for place, value in enumerate(values):
        axis.annotate(f" {value:g} {unit}", (value, place), va="center", fontsize=8)
    axis.grid(axis="y", visible=False)


def _below(figure: Any, axis: Any) -> None:
    """One legend for all axes, below them."""
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=3)


def reach(found: Tables) -> Any:
    figure, axes = subplots(3, 1, width=WIDTH, height=6.8)
    for axis, work, rows in zip(axes, REACH, found, strict=True):
        board = [(name, number(time)) for name, time in best_of_each(rows, "0.01") if time != "-"]
        _bars(axis, board, "ms")
        axis.set(xscale="log", title=work, xlim=(0.2, 2000))
    axes[-1].set_xlabel("CPU ms until the error stays below 0.01")
    return figure


def speed(found: Tables) -> Any:
    rows = [row for row in found[0] if row["ours"].endswith("ns")]
    figure, axis = subplots(1, 1, width=WIDTH, height=3)
    bars: list[tuple[str, str, Any]] = [
        ("ours", "a herd of 64", HERDED_COLOUR),
        ("peer", "by hand", GIBBS_COLOUR),
    ]
    for offset, (column, label, colour) in zip((0.2, -0.2), bars, strict=True):
        times = [number(row[column]) for row in rows]
        at = [place + offset for place in range(len(rows))]
        axis.barh(at, times, 0.38, color=colour, label=label)
        for where, time in zip(at, times, strict=True):
            axis.annotate(f" {time:g} ns", (time, where), va="center", fontsize=8)
    axis.set_yticks(range(len(rows)), [row["work"] for row in rows])
    axis.set(xscale="log", xlabel="CPU ns for an update of one variable", xlim=(0.04, 200))
    axis.grid(axis="y", visible=False)
    _below(figure, axis)
    return figure


def accuracy(found: Tables) -> Any:
    [rows] = found
    figure, axes = subplots(1, 2, width=WIDTH, height=2.9)
    reaches = list(dict.fromkeys(row["J, h uniform on"] for row in rows))
    colours = {
        "Gibbs": GIBBS_COLOUR,
        "herded, blanket": HERDED_COLOUR,
        "herded, pooled": SHARED_COLOUR,
    }
    for axis, uniform in zip(axes, reaches, strict=True):
        for row in rows:
            if row["J, h uniform on"] == uniform and row["method"] in colours:
                errors = [number(row["1,000 sweeps"]), number(row["10,000 sweeps"])]
                method = row["method"]
                axis.loglog([1000, 10_000], errors, "o-", color=colours[method], label=method)
        axis.set(title=f"J and h in {uniform}", xlabel="sweeps", ylabel="mean error")
    _below(figure, axes[0])
    return figure


def weights(found: Tables) -> Any:
    [rows] = found
    figure, axis = subplots(1, 1, width=WIDTH, height=3.4)
    rows = sorted(rows, key=lambda row: -number(row["ratio"]))
    names = [row["model"] for row in rows]
    axis.plot([number(row["ratio"]) for row in rows], names, "o", color=HERDED_COLOUR)
    axis.axvline(1, color=GIBBS_COLOUR)
    axis.set(xlabel="error over that of Gibbs sampling (the line)", xlim=(0, 1.1))
    return figure


def orders(found: Tables) -> Any:
    rows = found[0]
    figure, axis = subplots(1, 1, width=WIDTH, height=3.8)
    names = [f"{row['model']}, J, h = {row['J, h']}, {row['members']} members" for row in rows]
    for order, colour in (
        ("shuffled", GIBBS_COLOUR),
        ("sorted", SHARED_COLOUR),
        ("two phases", HERDED_COLOUR),
    ):
        ratios = [number(row[f"{order}: energy"]) for row in rows]
        axis.plot(ratios, names, "o", color=colour, label=order)
    axis.axvline(1, color="#1d2127", linewidth=1)
    axis.invert_yaxis()
    axis.set(xlabel="variance of the energy over independent chains'")
    _below(figure, axis)
    return figure


def methods(found: Tables) -> Any:
    _, *both = found
    figure, axis = subplots(1, 1, width=WIDTH, height=3.2)
    for rows, label, colour in zip(
        both, ("10,000", "100,000"), (SHARED_COLOUR, HERDED_COLOUR), strict=True
    ):
        ratios, names = [number(row["ratio"]) for row in rows], [row[""] for row in rows]
        axis.plot(ratios, names, "o", color=colour, label=f"{label} updates")
    axis.axvline(1, color=GIBBS_COLOUR)
    axis.invert_yaxis()
    axis.set(xlabel="error over that of Gibbs sampling (the line)", xlim=(0, 1.15))
    _below(figure, axis)
    return figure


# Of each picture the page and the headings of its tables, and how it is drawn.
PLOTS: dict[str, tuple[str, tuple[str, ...], Callable[[Tables], Any]]] = {
    "reach": ("tables", tuple(f"{work}, to accuracy" for work in REACH), reach),
    "speed": ("tables", ("With AVX2 only",), speed),
    "accuracy": ("tables", ("Accuracy on sparse graphs",), accuracy),
    "weights": ("tables", ("Which weights",), weights),
    "orders": ("herds", ("The order of members",), orders),
    "methods": ("herds", ("Herds of one size, and other ways",), methods),
}


def data(name: str) -> Tables:
    """The tables that a picture is drawn from."""
    page, headings, _ = PLOTS[name]
    text = (RESULTS / f"{page}.md").read_text(encoding="utf-8")
    return [rows for heading in headings for rows in tables(text, heading)]


@with_plot_style
def drawn(name: str) -> str:
    """The picture as SVG."""
    return svg(PLOTS[name][2](data(name)))
