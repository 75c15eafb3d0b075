"""Results for other libraries: marginals as a pandas table, samples and more as an xarray tree.

The tree has the groups and the dimensions that ArviZ looks for. Its ESS and R-hat mean nothing for
herded chains, whose states are not random.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsFloat

import numpy as np

from herded.errors import MethodError, NotKeptError, missing_extra_error
from herded.models.protocol import Model

if TYPE_CHECKING:
    from herded.run.result import Result

MAX_ATTRIBUTE_CHARS = 2000  # of an attribute: HDF5 has no room for more than 64 KiB of all of them
NODE_DIMENSION = "node"  # not "variable": ArviZ makes a dimension of that name itself
ENTRIES_PER_SCORING = 2**20  # entries of samples, which scoring widens to 64 bits

DatasetParts = dict[str, tuple[tuple[str, ...], Any]]  # name -> (dimensions, values)


def import_pandas() -> Any:
    """Return the library, or an error that says how to install it."""
    try:
        import pandas
    except ImportError as error:
        raise missing_extra_error("pandas", "to_pandas", "xarray") from error
    return pandas


def to_pandas(result: "Result") -> Any:
    """Return a table with one row for each state of each variable."""
    pandas = import_pandas()
    tables, model = result.chain_marginals, result.model
    variable, state = np.nonzero(np.arange(tables.shape[2]) < model.cardinalities[:, None])
    columns: dict[str, Any] = {}
    labels = _axes(result)
    for place, (name, values) in zip(
        np.unravel_index(variable, result.shape), labels.items(), strict=True
    ):
        columns["variable" if name == NODE_DIMENSION else name] = values[place]
    columns["state"] = state
    if model.state_names is not None:
        pairs = zip(variable.tolist(), state.tolist(), strict=True)
        columns["state"] = _texts([model.state_names[i][k] for i, k in pairs])
    mean, errors = tables.mean(axis=0)[variable, state], _standard_error(result)
    columns["probability"] = mean
    if errors is not None:
        columns["standard_error"] = errors[variable, state]
        reach = result.half_widths()[variable, state]
        reach = np.where(np.isnan(columns["standard_error"]), np.nan, reach)
        columns |= {"low": np.clip(mean - reach, 0, 1), "high": np.clip(mean + reach, 0, 1)}
    return pandas.DataFrame(columns)


def to_xarray(result: "Result", *, log_score: bool = True) -> Any:
    """Return a DataTree of what was kept: posterior, sample_stats, marginals and best."""
    try:
        import xarray
    except ImportError as error:
        raise missing_extra_error("xarray", "to_xarray", "xarray") from error
    if not hasattr(xarray, "DataTree"):
        raise missing_extra_error("xarray 2024.10 or later", "to_xarray", "xarray")
    tree = xarray.DataTree(xarray.Dataset(attrs=_attributes(result)))
    for name, parts, coordinates in _groups(result, log_score):
        used = {dim for dims, _ in parts.values() for dim in dims}
        labels = {
            name: values
            for name, values in coordinates.items()
            if (values[0] if isinstance(values, tuple) else name) in used
        }
        tree[name] = xarray.DataTree(xarray.Dataset(parts, labels))
    if not tree.children:
        raise NotKeptError(
            "expected kept samples, marginals or a best state for to_xarray, got none: pass "
            "keep=[Marginals(), Samples(every=10)]"
        )
    return tree


def _groups(
    result: "Result", log_score: bool
) -> Iterator[tuple[str, DatasetParts, dict[str, Any]]]:
    """Name, arrays and coordinates of each group there is something for."""
    axes, kept = _axes(result), result.kept
    dims, shape = tuple(axes), result.shape
    if kept.get("samples") is not None:
        samples = kept["samples"]
        chains, draws = samples.shape[:2]
        runs: dict[str, Any] = {"chain": np.arange(chains), "draw": np.arange(draws)}
        members = result.provenance.get("members", 1)
        if members > 1:  # which herd each chain is of, and which member of it
            herd, member = np.divmod(np.arange(chains), members)
            runs |= {"herd": ("chain", herd), "member": ("chain", member)}
        states = samples.reshape(chains, draws, *shape)
        yield "posterior", {"x": (("chain", "draw", *dims), states)}, {**runs, **axes}
        stats: DatasetParts = {"sweep": (("draw",), kept["sample_sweeps"])}
        if log_score:
            stats["log_score"] = (("chain", "draw"), _log_scores(result.model, samples))
        yield "sample_stats", stats, runs
    if kept.get("chain_marginals") is not None:
        yield _marginals(result, axes)
    if kept.get("observables"):
        yield _observables(kept["observables"])
    if kept.get("best") is not None:
        best = result.best
        yield "best", {"x": (dims, best.state), "log_score": ((), best.log_score)}, axes


def _marginals(result: "Result", axes: dict[str, Any]) -> tuple[str, DatasetParts, dict[str, Any]]:
    model, dims, shape = result.model, (*axes, "state"), result.shape
    chains = _mask_unknown_states(result, result.chain_marginals)
    parts: DatasetParts = {"marginal": (dims, chains.mean(axis=0).reshape(*shape, -1))}
    errors = _standard_error(result)
    if errors is not None:
        parts["standard_error"] = (dims, errors.reshape(*shape, -1))
        parts["chain_marginal"] = (("chain", *dims), chains.reshape(len(chains), *shape, -1))
    states = _states(result)
    if model.state_names is not None and isinstance(states[0], int):
        names = [[*own, *[""] * (len(states) - len(own))] for own in model.state_names]
        parts["state_name"] = (dims, _texts(names).reshape(*shape, -1))
    return "marginals", parts, {"chain": np.arange(len(chains)), **axes, "state": _labels(states)}


def _observables(found: Any) -> tuple[str, DatasetParts, dict[str, Any]]:
    """Return the series of each, or the means of chains where none was kept."""
    parts: DatasetParts = {}
    often = min(observed.every for observed in found.values())
    for name, observed in found.items():
        draw = "draw" if observed.every == often else f"draw_of_{observed.every}"
        is_series = observed.values is not None
        values = observed.values if is_series else observed.chain_means
        first = ("chain", draw) if is_series else ("herd",)
        more = tuple(f"{name}_axis_{a}" for a in range(values.ndim - len(first)))
        parts[name] = ((*first, *more), values)
    return "observables", parts, {}


def _axes(result: "Result") -> dict[str, Any]:
    """Return the dimensions of the variables, with their labels."""
    names, shape = result.model.names, result.shape
    if len(shape) == 1:
        return {NODE_DIMENSION: np.arange(*shape) if names is None else _texts(names)}
    dims = ["row", "column"] if len(shape) == 2 else [f"axis_{a}" for a in range(len(shape))]
    return {dim: np.arange(size) for dim, size in zip(dims, shape, strict=True)}


def _states(result: "Result") -> list[Any]:
    """Return the labels of the states: names that all variables share, or numbers."""
    names, width = result.model.state_names, result.chain_marginals.shape[-1]
    shared = names is not None and len(set(names)) == 1
    return list(names[0]) if shared else list(range(width))


def _labels(states: list[Any]) -> np.ndarray:
    return np.array(states) if isinstance(states[0], int) else _texts(states)


def _texts(names: Sequence[Any]) -> np.ndarray:
    """Return texts as objects: Zarr has no agreed form for arrays of texts of fixed length."""
    return np.array(names, dtype=object)


def _mask_unknown_states(result: "Result", tables: np.ndarray) -> np.ndarray:
    """Replace entries of (..., N, K) tables for states that do not exist by NaN."""
    real = np.arange(tables.shape[-1]) < result.model.cardinalities[:, None]
    return np.where(real, tables, np.nan)


def _standard_error(result: "Result") -> np.ndarray | None:
    """Return (N, K); None for one chain, NaN where the chains do not differ."""
    tables = result.chain_marginals
    if len(tables) == 1:
        return None
    try:
        return _mask_unknown_states(result, result.standard_error.reshape(tables.shape[1:]))
    except MethodError:
        return np.full(tables.shape[1:], np.nan)


def _log_scores(model: Model, samples: np.ndarray) -> np.ndarray:
    chains, draws, n = samples.shape
    scores, step = np.empty((chains, draws)), max(1, ENTRIES_PER_SCORING // n)
    for chain in range(chains):
        for first in range(0, draws, step):
            part = slice(first, first + step)
            scores[chain, part] = model.log_score(samples[chain, part])
    return scores


def _attributes(result: "Result") -> dict[str, str | int | float]:
    """Return where the result came from, in numbers and texts: files hold nothing else."""
    facts = {**result.provenance, "converged": result.converged, "log_z": result.kept.get("log_z")}
    versions = facts.pop("versions")
    facts |= {f"{library}_version": version for library, version in versions.items()}
    facts |= {"inference_library": "herded", "inference_library_version": versions["herded"]}
    return {name: _plain(value) for name, value in facts.items() if value is not None}


def _plain(value: str | SupportsFloat | list[Any]) -> str | int | float:
    if isinstance(value, list):  # a figure for each ladder, say
        value = repr(value)
    if isinstance(value, str):
        return value if len(value) <= MAX_ATTRIBUTE_CHARS else f"{value[:MAX_ATTRIBUTE_CHARS]}..."
    return int(value) if isinstance(value, (int, np.integer, np.bool_)) else float(value)
