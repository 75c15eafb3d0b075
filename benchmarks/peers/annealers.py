"""Simulated annealing at a constant temperature, which is then a sampler: dwave-samplers, openjij.

Both give the last state of each read only: a run of many sweeps that is to give marginals is made
of many reads, each long enough to forget where it began.
"""

from typing import Any

import numpy as np

from benchmarks.peers.protocol import AVERAGES, LAST, Run, missing, two_states, versioned
from benchmarks.support.workloads import IsingGraph, PottsGrid, Work

READ = 20  # sweeps of a read where many are made
LARGEST = 2**18  # variables: beyond it building the model alone takes minutes
LARGEST_WITH_READS = 2**12  # beyond it starting the reads would be all that is timed


class _Annealer:
    """What both share: the models they take, and how sweeps are shared out among reads."""

    def __init__(self, package: str, distribution: str) -> None:
        self.package, self.distribution = package, distribution
        self.name = versioned(distribution, distribution)

    def obstacle(self, work: Work, keep: str) -> str | None:
        if isinstance(work, PottsGrid):
            return "spins only"
        if keep == AVERAGES:
            return "gives states only"
        if work.n_variables > LARGEST:
            return f"more than {LARGEST:,} variables take minutes to load"
        if keep != LAST and work.n_variables > LARGEST_WITH_READS:
            return "gives the last state of a read"
        return missing(self.package, self.distribution)

    def prepare(self, work: Work, keep: str) -> Run:
        assert not isinstance(work, PottsGrid)
        draw = self.loaded(work.as_graph())

        def run(sweeps: int, seed: int) -> np.ndarray:
            if keep == LAST:
                return two_states(draw(1, sweeps, seed)[0] > 0)
            length = min(sweeps, READ)
            return two_states((draw(max(1, sweeps // length), length, seed) > 0).mean(axis=0))

        return run

    def loaded(self, graph: IsingGraph) -> Any:
        """A function of (reads, sweeps, seed) that gives the spins (reads, N)."""
        raise NotImplementedError


class Dwave(_Annealer):
    def __init__(self, rule: str) -> None:
        super().__init__("dwave.samplers", "dwave-samplers")
        self.rule, self.name = rule, f"{self.name}, {rule}"

    def loaded(self, graph: IsingGraph) -> Any:
        from dimod import BinaryQuadraticModel
        from dwave.samplers import SimulatedAnnealingSampler

        quadratic = (*graph.edges.T, -graph.coupling)
        bqm = BinaryQuadraticModel.from_numpy_vectors(-graph.field, quadratic, 0.0, "SPIN")
        sampler = SimulatedAnnealingSampler()

        def draw(reads: int, sweeps: int, seed: int) -> np.ndarray:
            found = sampler.sample(
                bqm,
                num_reads=reads,
                beta_schedule_type="custom",
                beta_schedule=[1.0],
                num_sweeps_per_beta=sweeps,
                proposal_acceptance_criteria=self.rule,
                seed=seed,
            )
            return _in_order(found)

        return draw


class Openjij(_Annealer):
    def __init__(self) -> None:
        super().__init__("openjij", "openjij")
        self.name = f"{self.name}, Metropolis"

    def loaded(self, graph: IsingGraph) -> Any:
        from openjij import BinaryQuadraticModel, SASampler

        linear = dict(enumerate((-graph.field).tolist()))
        pairs = map(tuple, graph.edges.tolist())
        quadratic = dict(zip(pairs, (-graph.coupling).tolist(), strict=True))
        bqm = BinaryQuadraticModel(linear, quadratic, 0.0, "SPIN", sparse=True)
        sampler = SASampler()

        def draw(reads: int, sweeps: int, seed: int) -> np.ndarray:
            # A seed would make all reads equal: it takes its own.
            return _in_order(sampler.sample(bqm, schedule=[(1.0, sweeps)], num_reads=reads))

        return draw


def _in_order(found: Any) -> np.ndarray:
    """Samples with variables 0, 1, 2, ... in this order."""
    return np.asarray(found.record.sample)[:, np.argsort(list(found.variables))]
