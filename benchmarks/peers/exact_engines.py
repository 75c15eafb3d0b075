"""Exact inference, which is what a user would pick on a small model: pyAgrum and pgmpy."""

import itertools
from typing import Any

import numpy as np

from benchmarks.peers.protocol import AVERAGES, Run, missing, versioned
from benchmarks.support.workloads import IsingGraph, Work

LARGEST = 30  # variables: these are for small models


class _Exact:
    """Spins on small graphs; the number of sweeps means nothing to it."""

    package: str
    name: str

    def obstacle(self, work: Work, keep: str) -> str | None:
        if not isinstance(work, IsingGraph):
            return "given graphs of spins only"
        if work.n_variables > LARGEST:
            return f"exact: given at most {LARGEST} variables"
        if keep == AVERAGES:
            return "exact: has no visits to average"
        return missing(self.package)

    def prepare(self, work: Work, keep: str) -> Run:
        assert isinstance(work, IsingGraph)
        return lambda sweeps, seed: self.marginals(work)

    def marginals(self, graph: IsingGraph) -> np.ndarray:
        raise NotImplementedError


class PyAgrum(_Exact):
    package = "pyagrum"
    name = versioned("pyAgrum", "pyagrum") + ", exact"

    def marginals(self, graph: IsingGraph) -> np.ndarray:
        import pyagrum

        network = pyagrum.MarkovRandomField()
        names = [f"x{i}" for i in range(graph.n_variables)]
        for name, factor in zip(names, unaries(graph), strict=True):
            network.add(pyagrum.RangeVariable(name, name, 0, 1))
            network.addFactor([name])[:] = factor
        for (a, b), factor in zip(graph.edges.tolist(), pairs(graph), strict=True):
            network.addFactor([names[a], names[b]])[:] = factor
        solver = pyagrum.ShaferShenoyMRFInference(network)
        solver.makeInference()
        return np.array([solver.posterior(name).toarray() for name in names])


class Pgmpy(_Exact):
    package = "pgmpy"
    name = versioned("pgmpy", "pgmpy") + ", exact"

    def marginals(self, graph: IsingGraph) -> np.ndarray:
        from pgmpy.factors.discrete import DiscreteFactor
        from pgmpy.inference import BeliefPropagation
        from pgmpy.models import DiscreteMarkovNetwork

        network = DiscreteMarkovNetwork()
        network.add_nodes_from(range(graph.n_variables))
        network.add_edges_from(graph.edges.tolist())
        for i, factor in enumerate(unaries(graph)):
            network.add_factors(DiscreteFactor([i], [2], factor))
        for (a, b), factor in zip(graph.edges.tolist(), pairs(graph), strict=True):
            network.add_factors(DiscreteFactor([a, b], [2, 2], factor))
        solver = BeliefPropagation(_connected(network))
        found = [solver.query([i], show_progress=False).values for i in range(graph.n_variables)]
        return np.array(found)


def _connected(network: Any) -> Any:
    """The network with parts that stand apart tied by factors of ones, which it asks for."""
    import networkx
    from pgmpy.factors.discrete import DiscreteFactor

    parts = [min(part) for part in networkx.connected_components(network)]
    for a, b in itertools.pairwise(parts):
        network.add_edge(a, b)
        network.add_factors(DiscreteFactor([a, b], [2, 2], np.ones(4)))
    return network


def unaries(graph: IsingGraph) -> np.ndarray:
    """(N, 2)"""
    return np.exp(np.stack([-graph.field, graph.field], axis=1))


def pairs(graph: IsingGraph) -> np.ndarray:
    """(E, 2, 2)"""
    return np.exp(graph.coupling[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]]))
