"""Models dropped on the page: read within limits, laid out as tables for its sampler."""

import base64
from typing import Any

import numpy as np

from herded.errors import MemoryLimitError, ModelError
from herded.io.model_files import read_model
from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.layout_cache import cached_layout
from herded.models.constraints.start_states import check_support, dispersed_starts
from herded.models.evidence import IndexEvidence
from herded.models.factor_graph import FactorGraph, to_factor_graph
from herded.models.naming import variable_text
from herded.system.atomic_files import FileInMemory
from herded.system.memory_limits import Size
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

MAX_PAGE_VARIABLES = 500
MAX_PAGE_STATES = 64
MAX_PAGE_MEMORY: Size = "256M"  # limit for reading and tables
MAX_PAGE_ENTRIES = 2**20  # of tables: six megabytes of text, twice


def read_dropped_model(name: str, content: bytes) -> FactorGraph:
    """Read the model in a dropped file: text formats only, and nothing large."""
    suffix = name.rpartition(".")[2].lower()
    if suffix not in ("uai", "bif", "xmlbif", "xml", "bifxml"):
        raise ModelError(f"expected a .uai, .bif or .xmlbif file, got {name!r:.80}")
    model = to_factor_graph(read_model(FileInMemory(name, content), max_memory=MAX_PAGE_MEMORY))
    if not 1 <= model.n_variables <= MAX_PAGE_VARIABLES:
        raise ModelError(
            f"expected at most {MAX_PAGE_VARIABLES} variables to draw, got {model.n_variables:,}: "
            "herded infer takes models of any size"
        )
    if model.cardinalities.max() > MAX_PAGE_STATES:
        raise ModelError(
            f"expected at most {MAX_PAGE_STATES} states of a variable to draw, got "
            f"{model.cardinalities.max()}: herded infer takes any number"
        )
    return model


def with_evidence(model: FactorGraph, text: str) -> FactorGraph:
    """Add evidence such as "0:1,4:0", numbers of variables and of their states, to a model."""
    evidence = IndexEvidence()
    for pair in filter(None, text.split(",")):
        variable, _, state = pair.partition(":")
        if not (variable.isdecimal() and state.isdecimal()):
            raise ModelError(f'expected evidence such as "0:1,4:0", got {text!r:.80}')
        evidence[int(variable)] = int(state)
    return model.given(evidence)


def describe_model(model: FactorGraph) -> dict[str, Any]:
    """Collect names, states and neighbours."""
    graph = [sorted(map(int, model.neighbours(i))) for i in range(model.n_variables)]
    states = [
        list(model.state_names[i]) if model.state_names else [str(k) for k in range(int(count))]
        for i, count in enumerate(model.cardinalities)
    ]
    names = [str(variable_text(model, i)).strip("'\"") for i in range(model.n_variables)]
    return {"names": names, "states": states, "neighbours": graph}


def page_chain_starts(model: FactorGraph, chains: int, seed: int) -> list[list[int]]:
    """Return where independent chains start, as `hd.infer` would let them."""
    check_support(model)
    keys = [stream_key(seed, chain, StreamPurpose.START_STATES) for chain in range(chains)]
    return [start.astype(np.int64).tolist() for start in dispersed_starts(model, keys)]


def conditional_tables(model: FactorGraph, starts: list[list[int]]) -> dict[str, Any]:
    """Return the conditionals of every variable, in layout "table", and where chains start.

    Herding in time has coarser ones where variables have several states (`draws.fixed_point`).
    """
    layout = cached_layout(model, Gibbs(), "table", MAX_PAGE_MEMORY)
    arrays: Any = layout.arrays
    if len(arrays.p) > MAX_PAGE_ENTRIES:
        raise MemoryLimitError(
            f"expected conditionals of at most {MAX_PAGE_ENTRIES:,} entries, got "
            f"{len(arrays.p):,}: "
            "observe a variable with many neighbours or take a shorter text, or use herded infer "
            "and herded ner"
        )
    scan: Any = layout.scan  # type: ignore[attr-defined]
    found = {
        "cardinalities": model.cardinalities.tolist(),
        "observed": model.evidence.tolist(),
        "order": scan.order.tolist(),
        "entryStart": arrays.entry_start.tolist(),
        "neighbourStart": arrays.neighbour_start.tolist(),
        "neighbour": arrays.neighbour.tolist(),
        "scalar": bool(layout.scalar),
        "p": _as_text(arrays.p),
        "starts": starts,
    }
    if not layout.scalar:
        herded: Any = cached_layout(model, HerdedGibbs(), "table", MAX_PAGE_MEMORY).arrays
        found["herdedP"] = _as_text(herded.p)
    return found


def _as_text(p: np.ndarray) -> str:
    """Conditionals as one text: a list of a million numbers would keep the page's thread long."""
    return base64.b64encode(p.astype("<u4").tobytes()).decode()
