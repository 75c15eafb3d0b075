"""Read the tables of benchmarks/results/tables.md, which `python -m benchmarks` writes."""

import re
from collections.abc import Iterator

from docs.tools.page_files import RESULTS

TABLES = RESULTS / "tables.md"
REACH = ("Ising 10x10, J and h to 0.3", "Ising 10x10, J and h to 1", "Ising 30x30, J and h to 0.3")
GOALS = ("0.01", "0.003", "0.001")
PACKAGES = {  # the beginning of a row, and what it is called here
    "herded, Gibbs": "herded: Gibbs",
    "herded,": "herded: herded Gibbs",
    "expert Numba": "Gibbs by hand (Numba)",
    "dwave-samplers": "dwave-samplers",
    "openjij": "openjij",
    "thrml": "thrml (JAX)",
    "hamon": "hamon",
    "pymc": "PyMC",
    "mcising": "mcising",
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


def goal(cell: str) -> float:
    """The ratio that a goal asks for, such as 0.2 of "1/5 of the error"; "no slower" is 1."""
    found = re.search(r"(\d+)/(\d+)", cell)
    return int(found[1]) / int(found[2]) if found else 1.0 if cell == "no slower" else number(cell)


def best_of_each(rows: list[Row], column: str) -> list[tuple[str, str]]:
    """The fastest row of each package in a column, fastest first; last those without a figure."""
    found: dict[str, str] = {}
    for row in rows:
        name = next(name for start, name in PACKAGES.items() if row["sampler"].startswith(start))
        old = found.get(name, "-")
        if old == "-" or number(row[column]) < number(old):
            found[name] = row[column]
    return sorted(found.items(), key=lambda item: (item[1] == "-", number(item[1])))


def boards(text: str) -> Iterator[str]:
    """The leaderboard: packages by the time that they take to an accuracy; the first is open."""
    for work in REACH:
        [rows] = tables(text, f"{work}, to accuracy")
        folded = work != REACH[0]
        yield f"\n<details><summary>{work}</summary>\n" if folded else f"\n**{work}**\n"
        yield "| | package | error 0.01 | error 0.003 | error 0.001 |\n|---|---|---|---|---|"
        times = {reached: dict(best_of_each(rows, reached)) for reached in GOALS}
        order = sorted(times[GOALS[0]], key=lambda name: _finish(times, name))
        for place, name in enumerate(order, start=1):
            cells = " | ".join(_milliseconds(times[reached][name]) for reached in GOALS)
            yield f"| {place} | {name} | {cells} |"
        if folded:
            yield "\n</details>"


def _finish(times: dict[str, dict[str, str]], name: str) -> list[float]:
    """Who reaches the hardest goal first leads; infinity stands for never."""
    cells = [times[reached][name] for reached in reversed(GOALS)]
    return [float("inf") if cell == "-" else number(cell) for cell in cells]


def _milliseconds(cell: str) -> str:
    return "not in 2 s" if cell == "-" else f"{number(cell):g} ms"
