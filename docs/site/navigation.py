"""Which pages the site has, in which order, under which headings.

A page of docs/ that is not named here goes to the end of the how-to pages: nothing is lost.
"""

from pathlib import Path

DOCS = Path(__file__).parents[1]

SECTIONS: dict[str, list[str]] = {
    "Start": ["tutorial", "live", "choose", "gallery", "overview"],
    "How to": [
        "bayes-nets",
        "physics",
        "pictures",
        "ner",
        "english-model",
        "qubo",
        "hard-models",
        "blocks",
        "tempering",
        "own-conditionals",
        "learn",
        "variable-selection",
        "mixtures",
        "scale",
        "own-sampler",
        "results",
        "infer",
        "files",
    ],
    "Theory": ["theory", "herds", "precision", "paper-map"],
    "Measured": ["benchmarks", "which-method", "models", "tables"],
    "Reference": ["reference/index", "architecture", "kernels", "contributing", "changelog"],
}
LABELS = {  # where the title of a page is long
    "scale": "Many machines, many models, large lattices",
    "qubo": "Quadratic problems (QUBO)",
    "hard-models": "Hard models",
    "blocks": "Blocks",
    "tempering": "Tempering and log Z",
    "infer": "The command line",
    "files": "Files",
    "theory": "Theory",
    "herds": "Herds",
    "precision": "Precision",
    "benchmarks": "Speed and accuracy",
    "tables": "All tables",
    "architecture": "Architecture",
    "kernels": "Kernels",
}
MADE = {"gallery", "reference/index", "contributing", "changelog"}  # not in docs/
FIRST = "index"


def sections() -> dict[str, list[str]]:
    """The pages that there are, each under its heading."""
    there = {path.stem for path in DOCS.glob("*.md")} - {FIRST}
    found = {
        title: [name for name in names if name in there | MADE] for title, names in SECTIONS.items()
    }
    named = {name for names in found.values() for name in names}
    found["How to"] += sorted(there - named)
    return found


def toctrees() -> str:
    """The contents of the whole site, for the end of its first page."""
    return "\n".join(
        f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n"
        + "\n".join(map(_entry, names))
        + "\n```\n"
        for title, names in sections().items()
    )


def _entry(name: str) -> str:
    return f"{LABELS[name]} <{name}>" if name in LABELS else name
