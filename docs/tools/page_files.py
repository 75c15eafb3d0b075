"""Find the pages of the documentation by name."""

from pathlib import Path

DOCS = Path(__file__).parents[1]
RESULTS = DOCS.parent / "benchmarks" / "results"
FOLDERS = ("start", "how-to", "explanation", "measured", "reference", "contributors")  # of docs/
NOTES = "design"  # a folder whose pages may be named as others are


def page_files() -> dict[str, Path]:
    """Return the file of every page by its name, such as `tutorial` or `design/herds`."""
    paths = [DOCS / "index.md"]
    for folder in FOLDERS:
        paths += sorted((DOCS / folder).glob("*.md"))
    files = {path.stem: path for path in paths}
    if len(files) < len(paths):
        raise ValueError("expected every page outside design/ to have a name of its own")
    notes = sorted((DOCS / NOTES).rglob("*.md"))
    return files | {path.relative_to(DOCS).with_suffix("").as_posix(): path for path in notes}
