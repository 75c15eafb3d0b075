"""The page of what was measured, in pictures: drawn from the tables of docs/benchmarks.md."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from herded.system.plot import GIBBS, HERDED, OTHERS, SHARED, in_style, subplots, svg

BENCHMARKS = Path(__file__).parents[1] / "benchmarks.md"
REACH = ("Ising 10x10, J and h to 0.3", "Ising 10x10, J and h to 1", "Ising 30x30, J and h to 0.3")
PACKAGES = {  # the beginning of a row, and what it is called here
    "herded, Gibbs": "herded: Gibbs",
    "herded,": "herded: herded Gibbs",
    "expert Numba": "Gibbs by hand (Numba)",
    "dwave-samplers": "dwave-samplers",
    "openjij": "openjij",
    "thrml": "thrml (JAX)",
    "hamon": "hamon",
    "pymc": "PyMC",
}
Row = dict[str, str]


def tables(text: str, heading: str) -> list[list[Row]]:
    """The tables under a heading, as rows by column; columns of one name get a number."""
    [section] = re.findall(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.M | re.S)
    found: list[list[Row]] = []
    head: list[str] = []
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            head = []
        elif not head:
            head = [f"{cell}{cells[:n].count(cell) or ''}" for n, cell in enumerate(cells)]
            found.append([])
        elif not set(line) <= set("|-: "):
            found[-1].append(dict(zip(head, cells, strict=True)))
    return found


def number(cell: str) -> float:
    """The first number of a cell, such as 0.94 of "0.94 (384)"; a dash is nan."""
    found = re.search(r"[\d.]+(e-?\d+)?", cell.replace(",", ""))
    return float(found[0]) if found else float("nan")


def best_of_each(rows: list[Row], goal: str) -> list[tuple[str, str]]:
    """The fastest row of each package to reach a goal, fastest first, and those that did not."""
    found: dict[str, str] = {}
    for row in rows:
        name = next(name for start, name in PACKAGES.items() if row["sampler"].startswith(start))
        old = found.get(name, "-")
        if old == "-" or number(row[goal]) < number(old):
            found[name] = row[goal]
    return sorted(found.items(), key=lambda item: (item[1] == "-", number(item[1])))


def write(folder: Path) -> None:
    """The page and its pictures, into `folder`."""
    text = BENCHMARKS.read_text(encoding="utf-8")
    pictures = {
        "reach": _draw_reach(text),
        "speed": _draw_speed(text),
        "accuracy": _draw_accuracy(text),
        "denoising": _draw_denoising(text),
        "cuts": _draw_cuts(text),
    }
    (folder / "measured").mkdir()
    for name, picture in pictures.items():
        (folder / "measured" / f"{name}.svg").write_text(picture, encoding="utf-8")
    (folder / "leaderboard.md").write_text(_page(text), encoding="utf-8")


def _page(text: str) -> str:
    page = (Path(__file__).parent / "leaderboard.md").read_text(encoding="utf-8")
    return page.replace("<!-- leaderboard -->", "\n".join(_boards(text)))


def _boards(text: str) -> Iterator[str]:
    for work in REACH:
        [rows] = tables(text, f"{work}, to accuracy")
        yield f"\n**{work}**\n\n| | package | error 0.01 | error 0.003 | error 0.001 |"
        yield "|---|---|---|---|---|"
        goals = {goal: dict(best_of_each(rows, goal)) for goal in ("0.01", "0.003", "0.001")}
        order = sorted(goals["0.01"], key=lambda name: _finish(goals, name))
        for place, name in enumerate(order, start=1):
            cells = " | ".join(_milliseconds(goals[goal][name]) for goal in goals)
            yield f"| {place} | {name} | {cells} |"


def _finish(goals: dict[str, dict[str, str]], name: str) -> list[float]:
    """Who reaches the hardest goal first leads; infinity stands for never."""
    times = [goals[goal][name] for goal in ("0.001", "0.003", "0.01")]
    return [float("inf") if time == "-" else number(time) for time in times]


def _milliseconds(cell: str) -> str:
    return "not in 2 s" if cell == "-" else f"{number(cell):g} ms"


@in_style
def _draw_reach(text: str) -> str:
    figure, axes = subplots(3, 1, width=5.2, height=6.4)
    for axis, work in zip(axes, REACH, strict=True):
        [rows] = tables(text, f"{work}, to accuracy")
        board = [(name, number(time)) for name, time in best_of_each(rows, "0.01") if time != "-"]
        names, times = zip(*reversed(board), strict=True)
        axis.barh(names, times, color=[_colour(name) for name in names])
        axis.set(xscale="log", title=work, xlim=(0.2, 500))
        axis.grid(axis="y", visible=False)
    axes[-1].set_xlabel("CPU ms until the error stays below 0.01")
    return svg(figure)


def _colour(name: str) -> str:
    return HERDED if name == "herded: herded Gibbs" else GIBBS if "Gibbs" in name else OTHERS[0]


@in_style
def _draw_speed(text: str) -> str:
    [rows] = tables(text, "With AVX2 only")
    rows = [row for row in rows if row["ours"].endswith("ns")]
    figure, axis = subplots(1, 1, width=5.2, height=3)
    places = range(len(rows))
    bars: list[tuple[str, str, Any]] = [
        ("ours", "a herd of 64", HERDED),
        ("peer", "by hand", GIBBS),
    ]
    for offset, (column, label, colour) in zip((0.2, -0.2), bars, strict=True):
        times = [number(row[column]) for row in rows]
        at = [place + offset for place in places]
        axis.barh(at, times, 0.38, color=colour, label=label)
        for where, time in zip(at, times, strict=True):
            axis.annotate(f" {time:g} ns", (time, where), va="center", fontsize=8)
    axis.set_yticks(list(places), [row["work"] for row in rows])
    axis.set(xscale="log", xlabel="CPU ns for an update of one variable", xlim=(0.04, 100))
    axis.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=2)
    return svg(figure)


@in_style
def _draw_accuracy(text: str) -> str:
    [rows] = tables(text, "Accuracy on sparse graphs")
    figure, axes = subplots(1, 2, width=5.4, height=2.9)
    reaches = list(dict.fromkeys(row["J, h uniform on"] for row in rows))
    colours = {"Gibbs": GIBBS, "herded, blanket": HERDED, "herded, pooled": SHARED}
    for axis, reach in zip(axes, reaches, strict=True):
        for row in rows:
            if row["J, h uniform on"] == reach and row["method"] in colours:
                errors = [number(row["1,000 sweeps"]), number(row["10,000 sweeps"])]
                method = row["method"]
                axis.loglog([1000, 10_000], errors, "o-", color=colours[method], label=method)
        axis.set(title=f"J and h in {reach}", xlabel="sweeps", ylabel="mean error")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return svg(figure)


@in_style
def _draw_denoising(text: str) -> str:
    [rows] = tables(text, "Denoising")
    rows = sorted(rows, key=lambda row: -number(row["sigma 4"]))
    figure, axis = subplots(1, 1, width=5.4, height=3.6)
    names = [row["method"] for row in rows]
    colours = [
        HERDED if n.startswith("herded") else GIBBS if "Gibbs" in n else OTHERS[0] for n in names
    ]
    axis.barh(names, [number(row["sigma 4"]) for row in rows], color=colours)
    for place, row in enumerate(rows):
        axis.annotate(
            f" {row['seconds']} s", (number(row["sigma 4"]), place), va="center", fontsize=8
        )
    axis.set(xlabel="wrong pixels in %, sigma = 4 (seconds)", xlim=(0, 22))
    axis.grid(axis="y", visible=False)
    return svg(figure)


@in_style
def _draw_cuts(text: str) -> str:
    [rows, *_] = tables(text, "Minima of quadratic models")
    graphs = list(dict.fromkeys(row["graph"] for row in rows))
    figure, axes = subplots(2, 2, width=5.2, height=4.4)
    solvers = (("HerdedSampler", "", HERDED), ("dwave-samplers", "1", GIBBS))
    for axis, graph in zip(axes.flat, graphs, strict=True):
        mine = [row for row in rows if row["graph"] == graph]
        top = max(number(row[f"best{k}"]) for row in mine for k in ("", "1", "2"))
        for solver, suffix, colour in solvers:
            seconds = [number(row[f"{solver}: CPU s"]) for row in mine]
            gaps = [100 * (1 - number(row[f"best{suffix}"]) / top) for row in mine]
            axis.semilogx(seconds, gaps, "o", color=colour, label=solver)
        axis.set(title=graph, xlabel="CPU seconds", xlim=(0.005, 3))
    for axis in axes[:, 0]:
        axis.set_ylabel("% below the best known")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return svg(figure)
