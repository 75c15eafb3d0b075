"""Descriptions of a model in one line or a few: for `repr`, notebooks and `herded info`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from herded.models.protocol import Model

if TYPE_CHECKING:
    from herded.models.factor_graph import FactorGraph
    from herded.models.lattice import Lattice

MAX_LISTED_KINDS = 8  # kinds of factors or variables that are listed


def count_text(n: int, what: str) -> str:
    """Format a count: `1 chain`, `10,000 sweeps`, `no factors`."""
    plural = what if n == 1 else what + "s"
    return f"{n:,} {plural}" if n else f"no {plural}"


def one_line_summary(model: Model, factors: int | None = None) -> str:
    """Describe a model: `37 variables of 2 to 4 states, 37 factors, 2 observed`."""
    low, high = int(model.cardinalities.min()), int(model.cardinalities.max())
    states = count_text(high, "state") if low == high else f"{low} to {high} states"
    sides = " x ".join(f"{size:,}" for size in model.shape)
    flat = count_text(model.n_variables, "variable")
    variables = f"{sides} variables" if len(model.shape) > 1 else flat
    observed = int((model.evidence >= 0).sum())
    parts = [f"{variables} of {states}"]
    parts += [] if factors is None else [count_text(factors, "factor")]
    parts += [f"{observed:,} observed"] if observed else []
    return ", ".join(parts)


def model_features(graph: "FactorGraph") -> dict[str, Any]:
    """Collect plain numbers that describe a model."""
    arity, degree = np.diff(graph.factor_start), np.diff(graph.adjacency[0])
    return {
        "variables": graph.n_variables,
        "observed": int((graph.evidence >= 0).sum()),
        "factors": graph.n_factors,
        "arities": {str(a): n for a, n in _counts(arity)},
        "entries": len(graph.log_tables),
        "cardinalities": {str(k): n for k, n in _counts(graph.cardinalities)},
        "degree": {"mean": float(degree.mean()), "max": int(degree.max())},
        "zeros": float(np.isneginf(graph.log_tables).mean()) if len(graph.log_tables) else 0.0,
        "named": graph.names is not None,
    }


def _counts(values: np.ndarray) -> Iterator[tuple[int, int]]:
    found, counts = np.unique(values, return_counts=True)
    return zip(found.tolist(), counts.tolist(), strict=True)


def summary_rows(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield features as rows of a name and a description."""
    arities = [f"{n:,} of {count_text(int(a), 'variable')}" for a, n in found["arities"].items()]
    yield "factors", _list_text(arities)
    zeros = f"{found['zeros']:.1%}" if found["zeros"] else "none"
    yield "entries", f"{found['entries']:,} in tables, {zeros} of them zero"
    yield "states", _list_text([f"{n:,} x {k}" for k, n in found["cardinalities"].items()])
    degree = found["degree"]
    yield "degree", f"{degree['mean']:.3g} on average, {degree['max']:,} at most"


def _list_text(texts: list[str]) -> str:
    more = (
        [f"{len(texts) - MAX_LISTED_KINDS:,} other kinds"] if len(texts) > MAX_LISTED_KINDS else []
    )
    return ", ".join([*texts[:MAX_LISTED_KINDS], *more]) or "none"


def lattice_rows(model: "Lattice") -> Iterator[tuple[str, str]]:
    """Yield the same rows for a lattice, whose factors need not be written out."""
    kind = "Ising: s_i s_j" if model.unlike else "Potts: [x_i = x_j]"
    yield "couplings", f"{number_range(model.all_couplings)} ({kind})"
    finite = model.log_unary[np.isfinite(model.log_unary)]
    yield "fields", f"{number_range(finite)} (log-potentials of single variables)"
    joined = ["joined" if one else "free" for one in reversed(model.is_periodic_by_axis)]
    yield "borders", joined[0] if len(set(joined)) == 1 else ", ".join(joined)


def number_range(values: np.ndarray) -> str:
    """Format the range of values: `0.5`, or `-1 to 1`."""
    if not values.size:
        return "none"
    low, high = float(values.min()), float(values.max())
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
