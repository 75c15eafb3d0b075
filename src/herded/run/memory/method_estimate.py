"""Estimate the memory of a run, beyond its model, before any of it is allocated.

`Layout.memory` is tables and weights; a run also has the factors laid out, its chains' samples and
counts, and its result. The estimate is meant to be an upper bound, to be shown and compared with a
limit; hashed weights, which grow as contexts are met, count with their largest size.
"""

from typing import Any, cast

import numpy as np

from herded.errors import HerdedError
from herded.layouts.proposal import Proposal
from herded.methods.belief_propagation.solver import BeliefPropagation
from herded.methods.exact.solver import BYTES_PER_OBJECT, Exact
from herded.methods.gibbs import Gibbs
from herded.methods.protocol import Method, Sampler, sampler_capabilities
from herded.models.factor_graph import FactorGraph, to_factor_graph
from herded.models.protocol import Model
from herded.run.diagnostics.cross_check import SOLVER_CHECK_HERDS, SOLVER_CHECK_MEMBERS
from herded.run.memory.sampler_run_estimate import BYTES_PER_NUMBER
from herded.run.sampler_run import BLOCK_ENTRIES, MAX_WARM_UP_BYTES
from herded.system.memory_limits import Size

FIXED_OVERHEAD_BYTES = 2.0**20


def estimate_run_memory(
    model: Model,
    method: Method,
    *,
    chains: int = 1,
    max_memory: Size | None = None,
    proposal: Proposal | None = None,
    by_clock: bool = False,
) -> float:
    """Estimate the bytes that `infer(model, method, chains=chains)` takes at most.

    `proposal` is what the method's `propose` gave, if somebody has asked already; a run `by_clock`
    copies its chains to compile with. For `Exact` this
    finds an order of elimination, and raises `MemoryLimitError` where none fits.
    """
    if isinstance(method, Exact):
        return method.compile(model, max_memory=max_memory).memory
    graph = to_factor_graph(model)
    table, fixed = _table(graph), FIXED_OVERHEAD_BYTES + _expanded_factor_bytes(model, graph)
    if isinstance(method, Sampler):
        found = proposal or cast(Any, method).propose(model, max_memory=max_memory)
        weights, block = _weights(model, method, chains, found), _block(found, graph)
        if by_clock:
            weights += min(chains * found.chain_memory, MAX_WARM_UP_BYTES)
        return fixed + weights + _factors(graph) + chains * (3 * block + 8 * table)
    messages = BYTES_PER_NUMBER * len(graph.factor_variables) * int(graph.cardinalities.max())
    tables = 3 * BYTES_PER_NUMBER * len(graph.log_tables) + _pairs(graph)
    return (
        fixed
        + _factors(graph)
        + 4 * table
        + _cross_check_bytes(model, table, max_memory)
        + (2 * messages + tables if isinstance(method, BeliefPropagation) else 0.0)
    )


def _cross_check_bytes(model: Model, table: float, max_memory: Size | None) -> float:
    """Return the herds that a solver is compared with, which go without where they do not fit."""
    try:
        herd = Gibbs(herd=SOLVER_CHECK_MEMBERS).propose(model, max_memory=max_memory)
    except HerdedError:
        return 0.0
    return (
        herd.memory + (SOLVER_CHECK_HERDS - 1) * herd.chain_memory + 8 * SOLVER_CHECK_HERDS * table
    )


def _table(graph: FactorGraph) -> float:
    """Return the bytes of all marginals."""
    return BYTES_PER_NUMBER * graph.n_variables * int(graph.cardinalities.max())


def _weights(model: Model, method: Sampler, chains: int, proposal: Proposal) -> float:
    """Return the bytes of tables and of the weights of all chains."""
    each = proposal.chain_memory
    need = proposal.memory + (chains - 1) * each
    if proposal.starts_rows:
        # Where weight vectors begin, to start them at random: numbers for each row of the tables.
        states = model.cardinalities[model.cardinalities > 1]
        need += 5 * BYTES_PER_NUMBER * each / (4.0 * int(states.min(initial=2)))
    if proposal.has_growing_memory:
        # Tables that grow have twice the room they need, and are copied from one to the other.
        met = min(sampler_capabilities(method).max_weights, proposal.contexts)
        need += chains * 4.0 * met * (8.0 + 4.0 * int(model.cardinalities.max()))
    return need


def _expanded_factor_bytes(model: Model, graph: FactorGraph) -> float:
    """Return the factors of a model that is not made of factors, and what they are made from."""
    if model is graph:
        return 0.0
    return BYTES_PER_NUMBER * (3 * len(graph.log_tables) + 12 * len(graph.factor_variables))


def _factors(graph: FactorGraph) -> float:
    """Return the bytes of `FactorArrays` and the scan, and of their sources."""
    arity = np.diff(graph.factor_start)
    entries, others = float(arity.sum()), float((arity * (arity - 1)).sum())
    return BYTES_PER_NUMBER * (24 * graph.n_variables + 16 * entries + 12 * others)


def _block(proposal: Proposal, graph: FactorGraph) -> float:
    """Return the bytes of the block of samples of one chain."""
    width = int(graph.cardinalities.max())
    return max(BLOCK_ENTRIES, proposal.min_block_sweeps * graph.n_variables) * (
        1.0 if width <= 256 else 2.0 if width <= 65536 else 8.0
    )


def _pairs(graph: FactorGraph) -> float:
    """Return the bytes of pair marginals, separately and as one array."""
    n = len(graph.adjacency[1]) // 2
    return n * (BYTES_PER_OBJECT + 2 * BYTES_PER_NUMBER * float(graph.cardinalities.max()) ** 2)
