"""Gibbs sampling of spins on any graph as an expert would write it in Numba.

Two ways. *Sums*: the local field is summed over the neighbours on each visit. *Flips*: it is kept,
and changed when a neighbour flips, which is seldom. A spin is 1 if its local field is above the
logit of a uniform draw, and the logits of 2^16 draws are tabulated: no exponential.
"""

import numpy as np

from benchmarks.peers.protocol import AVERAGES, LAST, Run, one_hot, two_states
from benchmarks.support.workloads import PottsGrid, Work
from herded.system.compilation.jit import jit

DRAWS = (np.arange(2**16) + 0.5) / 2**16
HALF_LOGITS = (0.5 * np.log(DRAWS / (1 - DRAWS))).astype(np.float32)
LARGEST = 2**22  # variables: beyond it the rows of neighbours take gigabytes


class _OfGraph:
    """What both ways ask of the work, and how they run."""

    follow_flips: bool

    def obstacle(self, work: Work, keep: str) -> str | None:
        if isinstance(work, PottsGrid):
            return "written for spins"
        return f"rows of more than {LARGEST:,}" if work.n_variables > LARGEST else None

    def prepare(self, work: Work, keep: str) -> Run:
        assert not isinstance(work, PottsGrid)
        graph, n = work.as_graph(), work.n_variables
        starts, who, coupling = graph.neighbours
        field, coupling = graph.field.astype(np.float32), coupling.astype(np.float32)
        kernel = flips if self.follow_flips else sums

        def run(sweeps: int, seed: int) -> np.ndarray:
            rng = np.random.default_rng(seed)
            spins = rng.choice(np.array([-1, 1], np.float32), n)
            kept = None if keep == LAST else np.zeros(n)
            draw = np.uint64(rng.integers(1, 2**63))
            kernel(
                spins,
                field,
                starts,
                who,
                coupling,
                HALF_LOGITS,
                draw,
                sweeps,
                kept,
                keep == AVERAGES,
            )
            return one_hot(spins > 0, 2) if kept is None else two_states(kept / sweeps)

        return run


class Sums(_OfGraph):
    name = "expert Numba Gibbs, CSR"
    follow_flips = False


class Flips(_OfGraph):
    name = "expert Numba Gibbs, CSR, fields follow flips"
    follow_flips = True


@jit
def xorshift(draw):
    draw ^= draw << np.uint64(13)
    draw ^= draw >> np.uint64(7)
    return draw ^ (draw << np.uint64(17))


@jit
def record(kept, i, spin, local, averages):
    """Count a visit of state 1, or add its probability."""
    if averages:
        kept[i] += 1 / (1 + np.exp(-2 * np.float64(local)))
    else:
        kept[i] += spin > 0


@jit
def sums(spins, field, starts, who, coupling, half_logits, draw, sweeps, kept, averages):
    for _ in range(sweeps):
        for i in range(field.size):
            local = field[i]
            for e in range(starts[i], starts[i + 1]):
                local += coupling[e] * spins[who[e]]
            draw = xorshift(draw)
            above = local > half_logits[draw >> np.uint64(48)]
            spins[i] = np.float32(1) if above else np.float32(-1)
            if kept is not None:
                record(kept, i, spins[i], local, averages)


@jit
def flips(spins, field, starts, who, coupling, half_logits, draw, sweeps, kept, averages):
    local = field.copy()
    for i in range(field.size):
        for e in range(starts[i], starts[i + 1]):
            local[i] += coupling[e] * spins[who[e]]
    for _ in range(sweeps):
        for i in range(field.size):
            draw = xorshift(draw)
            above = local[i] > half_logits[draw >> np.uint64(48)]
            spin = np.float32(1) if above else np.float32(-1)
            if spin != spins[i]:
                spins[i] = spin
                for e in range(starts[i], starts[i + 1]):
                    local[who[e]] += np.float32(2) * spin * coupling[e]
            if kept is not None:
                record(kept, i, spin, local[i], averages)
