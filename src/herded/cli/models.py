"""The model of a command: read from its file, with the evidence that was given."""

import argparse
from typing import Any

import numpy as np

from herded.cli.printing import count, safe
from herded.errors import ModelError
from herded.io.models import read_model
from herded.io.uai_evidence import read_evidence


def read(options: argparse.Namespace) -> Any:
    """MODEL with --evidence and --given."""
    model = read_model(options.model, cap=options.cap)
    if options.evidence:
        model = model.given(read_evidence(options.evidence))
    return model.given(_pairs(model, options.given)) if options.given else model


def _pairs(model: Any, given: list[str]) -> dict[Any, Any]:
    evidence: dict[Any, Any] = {}
    for text in given:
        name, equals, state = text.rpartition("=")
        if not equals or not name:
            raise ModelError(f"expected --given NAME=STATE, got {text!r}")
        named = model.names is not None and name in model.names
        key = int(name) if not named and name.isdecimal() else name
        known = model.state_names and named and state in model.state_names[model.names.index(name)]
        value = int(state) if not known and state.isdecimal() else state
        if key in evidence:
            raise ModelError(f"expected --given {name} once, got it twice")
        evidence[key] = value
    return evidence


def describe(options: argparse.Namespace, model: Any) -> str:
    """One line on a model."""
    graph = model.as_factor_graph()
    observed = int((graph.evidence >= 0).sum())
    parts = [
        f"{count(graph.n_variables, 'variable')} of {states(graph)}",
        count(graph.n_factors, "factor"),
        *([f"{observed:,} observed"] if observed else []),
    ]
    return f"{safe(options.model, 200)}: {', '.join(parts)}"


def states(graph: Any) -> str:
    """`2 states`, `2 to 4 states`."""
    low, high = int(graph.cardinalities.min()), int(graph.cardinalities.max())
    return count(high, "state") if low == high else f"{low} to {high} states"


def variable_name(model: Any, i: int) -> str:
    """As the file calls it, or its number, or its place in a picture."""
    if model.names:
        return safe(model.names[i])
    if len(model.shape) > 1:
        return ",".join(str(int(p)) for p in np.unravel_index(i, model.shape))
    return str(i)


def state_name(model: Any, i: int, k: int) -> str:
    """As the file calls it, or its number."""
    return safe(model.state_names[i][k]) if model.state_names else str(k)
