"""The files of the page: their paths and types, and a copy of them for any web server."""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from herded.errors import FileError
from herded.system import atomic_files

CONTENT_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
# The page loads nothing from elsewhere; styles set by scripts are its own.
SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' blob: data:; base-uri 'none'; form-action 'none'"
)


def page_files(folder: Traversable | None = None, before: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield every file of the page by its path, such as "sampler/exp.js"."""
    for entry in (files("herded.live") / "page" if folder is None else folder).iterdir():
        if entry.is_dir():
            yield from page_files(entry, f"{before}{entry.name}/")
        elif entry.name.rpartition(".")[2] in CONTENT_TYPES:
            yield before + entry.name, entry.read_bytes()


def type_of(path: str) -> str:
    """Return the media type of a file of the page."""
    return CONTENT_TYPES[path.rpartition(".")[2]]


def write_page(out: Path) -> int:
    """Copy the page into a folder; return the number of its files."""
    count = 0
    for name, content in page_files():
        target = out / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(
                f"could not create the folder {target.parent}: {error.strerror or error}"
            ) from error
        with atomic_files.atomic_replacement(target, FileError, "--out") as file:
            file.write(content)
        count += 1
    return count
