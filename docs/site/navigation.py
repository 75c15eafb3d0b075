"""Which pages the site has, in which order, under which headings.

A page that is not named here comes last among the pages of its folder, so that none is lost.
"""

from docs.tools.page_files import DOCS, NOTES, RESULTS, page_files

SECTIONS: dict[str, tuple[str, list[str]]] = {  # heading: folder, and its first pages
    "Start": ("start", ["tutorial", "choose", "gallery", "live"]),
    "How to": (
        "how-to",
        [
            "bayes-nets",
            "physics",
            "pictures",
            "ner",
            "qubo",
            "learn",
            "variable-selection",
            "mixtures",
            "hard-models",
            "blocks-and-tempering",
            "results",
            "scale",
            "custom-conditionals",
            "custom-sampler",
        ],
    ),
    "Explanation": ("explanation", ["theory", "herds", "precision", "paper-map"]),
    "Reference": ("reference", ["reference/index", "command-line", "file-formats"]),
    "Measured": ("measured", ["benchmarks"]),
    "Contributors": ("contributors", ["contributing", "architecture", "changelog"]),
    "Design notes": (
        NOTES,
        ["herd-orders", "herd-alternatives", "blocks-and-ladders", "arithmetic", "lattices"],
    ),
}
LABELS = {  # where the title of a page is long
    "scale": "Many models, machines and large lattices",
    "qubo": "Quadratic problems (QUBO)",
    "hard-models": "Hard models",
    "theory": "Theory",
    "precision": "Precision",
    "benchmarks": "Speed and accuracy",
    "architecture": "Architecture",
    "design/large-lattices": "Workers and tiles",
    "design/kernels/compilation": "Compilation",
    "design/runs": "Runs",
    "design/live": "The live page",
}
GENERATED = {"gallery", "reference/index", "contributing", "changelog"}  # not in docs/
RESULTS_SECTION = "Measured"  # has the tables of benchmarks/results, too


def sections() -> dict[str, list[str]]:
    """Return the pages under each heading, as paths within the site."""
    files = page_files()
    found = {}
    for title, (folder, names) in SECTIONS.items():
        paths = [path.relative_to(DOCS) for path in files.values()]
        there = {path.stem: path for path in paths if path.parts[0] == folder}
        ordered = [name for name in names if name in there or name in GENERATED]
        ordered += [name for name in there if name not in names]
        found[title] = [
            there[name].with_suffix("").as_posix() if name in there else name for name in ordered
        ]
    found[RESULTS_SECTION] += [f"results/{path.stem}" for path in sorted(RESULTS.glob("*.md"))]
    return found


def toctrees() -> str:
    """Return the contents of the whole site, for the end of its first page."""
    return "\n".join(
        f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n"
        + "\n".join(map(_entry, names))
        + "\n```\n"
        for title, names in sections().items()
        if names
    )


def _entry(page: str) -> str:
    """A line of a toctree, with a label where there is one."""
    name = page if page.startswith(NOTES) else page.rpartition("/")[2]
    return f"{LABELS[name]} <{page}>" if name in LABELS else page
