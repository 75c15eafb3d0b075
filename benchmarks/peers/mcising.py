"""mcising: Metropolis sweeps in Rust, for grids with one field and one coupling, without edges."""

import numpy as np

from benchmarks.peers.protocol import AVERAGES, LAST, Run, missing, two_states, versioned
from benchmarks.support.workloads import IsingGrid, Work


class Mcising:
    name = versioned("mcising", "mcising") + ", Metropolis"

    def obstacle(self, work: Work, keep: str) -> str | None:
        if not (
            isinstance(work, IsingGrid)
            and work.periodic
            and (work.field == work.field[0, 0]).all()
            and work.field.shape[0] == work.field.shape[1]
        ):
            return "takes square periodic grids with one field"
        return "gives states only" if keep == AVERAGES else missing("mcising")

    def prepare(self, work: Work, keep: str) -> Run:
        from mcising import LatticeConfig, Simulation, SimulationConfig

        assert isinstance(work, IsingGrid) and not isinstance(work.coupling, tuple)
        lattice = LatticeConfig(size=len(work.field), j1=work.coupling, h=float(work.field[0, 0]))

        def run(sweeps: int, seed: int) -> np.ndarray:
            simulation = Simulation(SimulationConfig(lattice=lattice, seed=seed))
            if keep == LAST:
                simulation.sweep(sweeps, temperature=1.0)
                return two_states(simulation.spins > 0)
            visits = np.zeros(work.field.shape, np.int64)
            for _ in range(sweeps):
                simulation.sweep(1, temperature=1.0)
                visits += simulation.spins > 0
            return two_states(visits / sweeps)

        return run
