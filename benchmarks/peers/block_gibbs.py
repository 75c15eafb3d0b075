"""Block Gibbs sampling in JAX, on the CPU: thrml, and hamon, which has the same names.

The loop over sweeps is ours, around the packages' own sweep: it takes any number of sweeps without
compiling again.
"""

from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.peers.protocol import AVERAGES, LAST, Run, missing, versioned
from benchmarks.support.workloads import IsingGraph, PottsGrid, Work

LARGEST = 2**18  # variables: each is a Python object


class BlockGibbs:
    """One of the two packages."""

    def __init__(self, package: str) -> None:
        self.package, self.name = package, versioned(package, package)

    def obstacle(self, work: Work, keep: str) -> str | None:
        if keep == AVERAGES:
            return "keeps states only"
        if work.n_variables > LARGEST:
            return f"more than {LARGEST:,} variables take minutes to load"
        return missing(self.package)

    def prepare(self, work: Work, keep: str) -> Run:
        import jax
        import jax.numpy as jnp

        sample_blocks = import_module(self.package).sample_blocks
        program, colours = program_of(self.package, work)
        states, n = work.n_states, work.n_variables
        # What a program holds goes in as an argument: as a constant it is folded for minutes.
        arrays, rest = import_module("equinox").partition(program, _is_array)

        @jax.jit
        def loop(arrays: Any, key: Any, blocks: Any, sweeps: Any) -> Any:
            inside = import_module("equinox").combine(arrays, rest)

            def body(t: Any, carry: Any) -> Any:
                blocks, visits = carry
                drawn = jax.random.fold_in(key, t)
                blocks, _ = sample_blocks(drawn, list(blocks), [], inside, [None] * len(blocks))
                if keep != LAST:
                    visits = [v + _hot(b, states) for v, b in zip(visits, blocks, strict=True)]
                return blocks, visits

            visits = [jnp.zeros((b.size, states - 1), jnp.int32) for b in blocks]
            blocks, visits = jax.lax.fori_loop(0, sweeps, body, (blocks, visits))
            return [_hot(b, states) for b in blocks] if keep == LAST else visits

        def run(sweeps: int, seed: int) -> np.ndarray:
            rng = np.random.default_rng(seed)
            kind = bool if states == 2 and not isinstance(work, PottsGrid) else np.uint8
            blocks = [jnp.asarray(rng.integers(0, states, len(c)).astype(kind)) for c in colours]
            found = loop(arrays, jax.random.key(seed), blocks, sweeps)
            marginals = np.zeros((n, states))
            for colour, visits in zip(colours, found, strict=True):
                marginals[colour, 1:] = np.asarray(visits) / (1 if keep == LAST else sweeps)
            marginals[:, 0] = 1 - marginals[:, 1:].sum(axis=1)
            return marginals

        return run


@lru_cache(maxsize=2)
def program_of(package: str, work: Work) -> tuple[Any, list[np.ndarray]]:
    """The package's program, kept since it takes long, and the variables of each of its blocks."""
    home = import_module(package)
    graph = work if isinstance(work, PottsGrid) else work.as_graph()
    colours = colouring(graph.n_variables, graph.edges)
    make = _potts if isinstance(graph, PottsGrid) else _spins
    return make(home, graph, colours), colours


def _spins(home: Any, graph: IsingGraph, colours: list[np.ndarray]) -> Any:
    import jax.numpy as jnp

    nodes = [home.SpinNode() for _ in range(graph.n_variables)]
    edges = [(nodes[a], nodes[b]) for a, b in graph.edges.tolist()]
    field, coupling = jnp.asarray(graph.field), jnp.asarray(graph.coupling)
    ebm = home.models.IsingEBM(nodes, edges, field, coupling, jnp.array(1.0))
    blocks = [home.Block([nodes[i] for i in colour]) for colour in colours]
    return home.models.IsingSamplingProgram(ebm, blocks, [])


def _potts(home: Any, work: PottsGrid, colours: list[np.ndarray]) -> Any:
    import jax
    import jax.numpy as jnp

    states, edges = work.n_states, work.edges
    nodes = [home.CategoricalNode() for _ in range(work.n_variables)]
    ends = [home.Block([nodes[i] for i in side]) for side in edges.T]
    tables = np.broadcast_to(work.coupling * np.eye(states), (len(edges), states, states))
    unary = jnp.asarray(work.log_unary.reshape(-1, states))
    factors = [
        home.models.CategoricalEBMFactor([home.Block(nodes)], unary),
        home.models.SquareCategoricalEBMFactor(ends, jnp.asarray(tables)),
    ]
    blocks = [home.Block([nodes[i] for i in colour]) for colour in colours]
    kinds = {home.CategoricalNode: jax.ShapeDtypeStruct((), jnp.uint8)}
    spec = home.BlockGibbsSpec(blocks, [], kinds)
    rule = home.models.CategoricalGibbsConditional(states)
    return home.FactorSamplingProgram(spec, [rule] * len(blocks), factors, [])


def _hot(block: Any, states: int) -> Any:
    """(N, K - 1): which of the states 1 to K - 1 each variable is in; state 0 is the rest."""
    return (block[:, None] == np.arange(1, states)).astype(np.int32)


def _is_array(leaf: Any) -> bool:
    import jax

    return isinstance(leaf, (jax.Array, np.ndarray))


def colouring(n: int, edges: np.ndarray) -> list[np.ndarray]:
    """Variables by colour, so that neighbours differ: the first colour free, one after another."""
    around: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges.tolist():
        around[a].append(b)
        around[b].append(a)
    colour = [-1] * n
    for i in range(n):
        taken = {colour[j] for j in around[i]}
        colour[i] = next(c for c in range(len(taken) + 1) if c not in taken)
    found = np.array(colour)
    return [np.flatnonzero(found == c) for c in range(found.max() + 1)]
