"""Read the tables of benchmarks/results/tables.md, which `python -m benchmarks` writes."""

import re

from docs.tools.page_files import RESULTS

TABLES = RESULTS / "tables.md"
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


def best_of_each(rows: list[Row], column: str) -> list[tuple[str, str]]:
    """The fastest row of each package in a column, fastest first; last those without a figure."""
    found: dict[str, str] = {}
    for row in rows:
        name = next(name for start, name in PACKAGES.items() if row["sampler"].startswith(start))
        old = found.get(name, "-")
        if old == "-" or number(row[column]) < number(old):
            found[name] = row[column]
    return sorted(found.items(), key=lambda item: (item[1] == "-", number(item[1])))
