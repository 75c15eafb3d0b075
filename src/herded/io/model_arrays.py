"""Models as arrays in one .npz or .safetensors file, saved and loaded bit for bit.

There is no pickle: a file holds numbers and a JSON header, and reading it runs no code. The sizes
that a file declares are checked against its content before memory is allocated.
"""

import io
import json
import math
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from herded.errors import FileError, HerdedError, ModelError
from herded.models.evidence import IndexEvidence
from herded.models.factor_graph import FactorGraph
from herded.models.lattice import Lattice
from herded.models.lattice_builders import potts_grid
from herded.models.protocol import Model
from herded.system import atomic_files, memory_limits
from herded.system.argument_checks import as_float, as_integer_array
from herded.system.atomic_files import FilePath, read_bytes, too_large
from herded.system.memory_limits import Size
from herded.system.npz_reader import read_arrays

MODEL_FORMAT = 1
READING_EXPANSION = 8  # bytes of memory per byte of an array, while it is read and checked
GRAPH: tuple[str, ...] = (
    "cardinalities",
    "factor_start",
    "factor_variables",
    "log_tables",
    "evidence",
)
COUPLING_KEYS = ("right", "down")  # along the last axes of a lattice; further ones have numbers
ArraysByName = dict[str, np.ndarray]
Read = TypeVar("Read", FactorGraph, Lattice)


def save_model(model: FactorGraph | Lattice, path: FilePath) -> None:
    """Save a model, its evidence and its names as arrays.

    Parameters
    ----------
    model : FactorGraph or Lattice
    path : path-like
        Its suffix decides the format: .npz or .safetensors (which needs safetensors). The file
        appears only when it is complete.

    Raises
    ------
    FileError
        If the suffix is another one, or the file cannot be written.

    Examples
    --------
    >>> model = hd.ising_grid(np.zeros((2, 2)), 0.5).given({(0, 0): 1})
    >>> hd.save_model(model, "model.npz")
    >>> hd.load_model("model.npz").content_hash == model.content_hash
    True
    """
    suffix = atomic_files.target_path(path, FileError, "the path").suffix
    if suffix not in (".npz", ".safetensors"):
        raise FileError(f"expected a file named .npz or .safetensors to save to, got {path}")
    arrays = _arrays_of(model)
    packed = b"" if suffix == ".npz" else _safetensors().save(arrays)
    with atomic_files.atomic_replacement(path, FileError, "the path") as file:
        if packed:
            file.write(packed)
        else:
            np.savez(file, **arrays)  # type: ignore[arg-type]


def load_model(path: FilePath, *, max_memory: Size | None = None) -> FactorGraph | Lattice:
    """Load a model that `save_model` wrote, bit for bit.

    Parameters
    ----------
    path : path-like
        A .npz or .safetensors file. Reading it runs no code from it.
    max_memory : int, float or str, optional
        The most memory that reading may take, in bytes or as "2G"; by default half of what is free.

    Returns
    -------
    FactorGraph or Lattice

    Raises
    ------
    FileError
        If the file cannot be read, or holds something else.
    MemoryLimitError
        If the file is too large.

    Examples
    --------
    >>> hd.save_model(hd.chain_model(np.zeros((3, 2)), np.eye(2)), "chain.npz")
    >>> hd.load_model("chain.npz").n_variables
    3
    """
    data = read_bytes(path, max_memory, READING_EXPANSION)
    try:
        return _model_of(_check_unpacked_size(path, data, max_memory))
    except ModelError as error:
        raise FileError(f"{error} (in {path})") from error
    except HerdedError:
        raise
    except Exception as error:  # zip, JSON and numpy raise errors of many kinds
        raise FileError(
            f"expected a model that save_model wrote at {path}, got something unreadable "
            f"({type(error).__name__}): use another file, or use read_model"
        ) from error


# -- models as arrays --------------------------------------------------------------------------


def _arrays_of(model: Model) -> ArraysByName:
    header: dict[str, Any] = {"format": MODEL_FORMAT}
    if isinstance(model, Lattice):
        periodic = (
            model.is_periodic_by_axis[0]
            if len(set(model.is_periodic_by_axis)) == 1
            else model.is_periodic_by_axis
        )
        header |= {"model": "lattice", "unlike": model.unlike, "periodic": periodic}
        arrays = {"log_unary": model.log_unary, "clamped": model.clamped}
        arrays |= zip(_coupling_names(len(model.shape)), model.couplings, strict=True)
    elif isinstance(model, FactorGraph):
        header |= {"model": "factor graph", "names": model.names, "shape": model.shape}
        header |= {"state_names": model.state_names}
        arrays = {name: vars(model)[name] for name in GRAPH}
    else:
        raise ModelError(f"expected a FactorGraph or a Lattice, got {type(model).__name__}")
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    return {"header": text, **arrays}


def _coupling_names(dims: int) -> tuple[str, ...]:
    """Return the names of the couplings along each axis, the last axis first."""
    return (*COUPLING_KEYS, *(f"coupling_{n}" for n in range(len(COUPLING_KEYS), dims)))[:dims]


def _model_of(arrays: ArraysByName) -> FactorGraph | Lattice:
    header = json.loads(arrays["header"].tobytes())
    if header["format"] != MODEL_FORMAT:
        raise ModelError(
            f"expected a model of format {MODEL_FORMAT}, got {header['format']!r:.40}: use a "
            "version of herded that can read it"
        )
    if header["model"] == "lattice":
        return _lattice(header, arrays)
    if header["model"] == "factor graph":
        return _graph(header, *(arrays[name] for name in GRAPH))
    raise ModelError(f"expected a factor graph or a lattice, got {header['model']!r:.40}")


def _graph(
    header: dict[str, Any],
    cardinalities: np.ndarray,
    factor_start: np.ndarray,
    factor_variables: np.ndarray,
    log_tables: np.ndarray,
    evidence: np.ndarray,
) -> FactorGraph:
    flat = (cardinalities, factor_start, factor_variables, log_tables, evidence)
    within = (factor_start >= 0) & (factor_start <= len(factor_variables))
    shape = tuple(as_integer_array("the shape", header["shape"]).reshape(-1).tolist())
    if any(array.ndim != 1 for array in flat) or not within.all():
        raise ModelError("expected flat arrays, and factors that begin within them, got other ones")
    if min(shape, default=0) < 1 or math.prod(shape) != len(cardinalities):
        raise ModelError(f"expected a shape of {len(cardinalities)} variables, got {shape!r:.60}")
    graph = FactorGraph.from_arrays(
        cardinalities,
        factor_start,
        factor_variables,
        log_tables,
        names=header["names"],
        state_names=header["state_names"],
        shape=shape,
    )
    return _with_evidence(graph, evidence)


def _lattice(header: dict[str, Any], arrays: ArraysByName) -> Lattice:
    log_unary, clamped = arrays["log_unary"], arrays["clamped"]
    couplings = tuple(arrays[name] for name in _coupling_names(log_unary.ndim - 1))
    unlike, periodic = as_float("unlike", header["unlike"]), header["periodic"]
    if not math.isfinite(unlike):
        raise ModelError(f"expected a finite number as unlike, got {unlike}")
    grid = replace(potts_grid(log_unary, couplings, periodic=periodic), unlike=unlike)
    if clamped.shape != grid.shape:
        raise ModelError(f"expected evidence of shape {grid.shape}, got {clamped.shape}")
    return _with_evidence(grid, clamped.reshape(-1))


def _with_evidence(model: Read, evidence: np.ndarray) -> Read:
    """Return the model with its evidence, which is -1 where there is none."""
    if len(evidence) != model.n_variables or (evidence < -1).any():
        raise ModelError(f"expected evidence of {model.n_variables} variables, got another number")
    clamped = np.flatnonzero(evidence >= 0).tolist()
    return model.given(IndexEvidence({i: evidence[i] for i in clamped})) if clamped else model


# -- arrays as bytes ---------------------------------------------------------------------------


def _check_unpacked_size(path: FilePath, data: bytes, max_memory: Size | None) -> ArraysByName:
    if data[:2] != b"PK":
        if data[8:9] != b"{":
            raise ValueError("neither a zip nor safetensors")
        found: ArraysByName = _safetensors().load(data)
        return found
    most = int(memory_limits.memory_limit(max_memory) / READING_EXPANSION)

    def check_size(size: int) -> None:
        if size > most:
            raise too_large(path, most, READING_EXPANSION)

    return read_arrays(io.BytesIO(data), check_size)


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError as error:
        raise FileError(
            "expected safetensors for this file format, but it is not installed: "
            "pip install 'herded[io]', or save as .npz"
        ) from error
    return safetensors.numpy
