"""Reading models from files of any format that `herded` knows."""

import os
import re
from collections.abc import Callable

from herded import io
from herded.errors import FileError
from herded.io.number_parser import BOM
from herded.models.factor_graph import FactorGraph
from herded.models.lattice import Lattice
from herded.system.atomic_files import FileInMemory, FilePath, read_bytes
from herded.system.memory_limits import Size

FORMAT_READERS = {  # in `herded.io`, which imports each reader when it is first used
    "uai": "read_uai",
    "bif": "read_bif",
    "xmlbif": "read_xmlbif",
    "npz": "load_model",
    "safetensors": "load_model",
}
KNOWN_FORMATS_TEXT = "UAI, BIF, XMLBIF, .npz or .safetensors"
BIF_PATTERN = re.compile(  # after comments
    rb"(?:\s|//[^\n\r]*|/\*.*?\*/)*+(?:network|variable|probability)\b", re.DOTALL
)
SUFFIXES = {f".{name}": name for name in FORMAT_READERS} | {".xml": "xmlbif", ".bifxml": "xmlbif"}


def read_model(
    path: FilePath, format: str | None = None, *, max_memory: Size | None = None
) -> FactorGraph | Lattice:
    """Read a model from a file of any format that `herded` knows.

    Parameters
    ----------
    path : path-like
        A .uai, .bif, .xmlbif (also .xml and .bifxml), .npz or .safetensors file. The text formats
        may be gzipped (.gz). Other names, and pipes such as /dev/stdin, are recognised by their
        content.
    format : {"uai", "bif", "xmlbif", "npz", "safetensors"}, optional
        The format, if neither the name nor the content of the file shows it.
    max_memory : int, float or str, optional
        The most memory that reading may take, in bytes or as "2G"; by default half of what is free.

    Returns
    -------
    FactorGraph or Lattice
        A `BayesNet`, which is a factor graph, from BIF and XMLBIF files.

    Raises
    ------
    FileError
        If the file cannot be read; the message has the line where reading failed.
    MemoryLimitError
        If the file is too large.

    Examples
    --------
    >>> hd.io.write_uai(hd.ising_grid([[0.0, 1.0]], 0.5), "grid.uai")
    >>> model = hd.read_model("grid.uai")
    >>> model.cardinalities
    array([2, 2])
    """
    if format is not None and format not in FORMAT_READERS:
        known = ", ".join(map(repr, FORMAT_READERS))
        raise FileError(f"expected format= as one of {known}, got {format!r}")
    format = format or _format_of_name(path)
    if format is None:
        path = FileInMemory(path, read_bytes(path, max_memory, expansion=1))
        format = _format_of_content(path, path.content)
    read: Callable[..., FactorGraph | Lattice] = getattr(io, FORMAT_READERS[format])
    return read(path, max_memory=max_memory)


def _format_of_name(path: FilePath) -> str | None:
    name = os.fspath(path).lower() if isinstance(path, (str, os.PathLike)) else ""
    return SUFFIXES.get(os.path.splitext(str(name).removesuffix(".gz"))[1])


def _format_of_content(path: FilePath, data: bytes) -> str:
    """Return the format that the first bytes of a file indicate."""
    text = data.removeprefix(BOM)
    words = text[:2000].split(None, 1)
    if words and words[0].upper() in (b"MARKOV", b"BAYES"):
        return "uai"
    if data.startswith(b"PK"):
        return "npz"
    if data[8:9] == b"{" and data[7:8] == b"\0":  # the length of its header, and the header
        return "safetensors"
    if words and words[0].startswith(b"<"):
        return "xmlbif"
    if BIF_PATTERN.match(text):
        return "bif"
    raise FileError(
        f"expected a model ({KNOWN_FORMATS_TEXT}) in {path}, got a file of none of these formats: "
        "use another file, or one whose name shows the format, such as model.uai"
    )
