"""Minima of quadratic models: HerdedSampler beside simulated annealing of dwave-samplers.

Equal sweeps and equal reads; the two also with each other's range of temperatures, for that choice
matters as much as the method. The lowest energy known is the lowest that anything here has found,
with a longer run of each.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import herded as hd

READS, LONG = 20, 3_000
Problem = Callable[[np.random.Generator], Any]


def edges(n: int, count: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """`count` of all pairs of `n` variables."""
    rows, columns = np.triu_indices(n, 1)
    chosen = rng.choice(len(rows), count, replace=False)
    return list(zip(rows[chosen].tolist(), columns[chosen].tolist(), strict=True))


def spin_glass(n: int, count: int, gaussian: bool) -> Problem:
    """Couplings +-1, or normal, on random pairs."""

    def draw(rng: np.random.Generator) -> Any:
        import dimod

        pairs = edges(n, count, rng)
        values = rng.normal(size=count) if gaussian else rng.choice([-1.0, 1.0], count)
        linear = dict.fromkeys(range(n), 0.0)
        return dimod.BinaryQuadraticModel(
            linear, dict(zip(pairs, values.tolist(), strict=True)), 0.0, "SPIN"
        )

    return draw


def random_qubo(rng: np.random.Generator) -> Any:
    """250 variables, a tenth of all pairs, whole biases from -100 to 100."""
    import dimod

    pairs = edges(250, 3112, rng)
    biases = rng.integers(-100, 101, 250 + len(pairs)).astype(float).tolist()
    quadratic = dict(zip(pairs, biases[250:], strict=True))
    return dimod.BinaryQuadraticModel(dict(enumerate(biases[:250])), quadratic, 0.0, "BINARY")


def colouring(rng: np.random.Generator) -> Any:
    """40 nodes in one of 4 colours each, at a price: penalties of 3 on prices from 0 to 1."""
    import dimod

    bqm = dimod.BinaryQuadraticModel("BINARY")
    for node in range(40):
        for colour in range(4):
            bqm.add_linear((node, colour), float(rng.uniform()) - 3.0)
            for other in range(colour):
                bqm.add_quadratic((node, other), (node, colour), 6.0)
    for a, b in edges(40, 80, rng):
        for colour in range(4):
            bqm.add_quadratic((a, colour), (b, colour), float(rng.uniform()))
    return bqm


SAMPLERS = (
    "HerdedSampler",
    "dwave-samplers",
    "HerdedSampler, the other's range",
    "dwave-samplers, the other's range",
)
PROBLEMS: dict[str, Problem] = {
    "±1 glass, 500 spins, degree 6": spin_glass(500, 1500, gaussian=False),
    "normal glass, 500 spins, degree 6": spin_glass(500, 1500, gaussian=True),
    "±1 glass, 150 spins, all pairs": spin_glass(150, 11175, gaussian=False),
    "QUBO, 250 variables, density 0.1": random_qubo,
    "colouring, 160 variables, penalties": colouring,
}


def lines(quick: bool) -> Iterator[str]:
    yield "## Minima of quadratic models"
    yield ""
    try:
        from dwave.samplers import SimulatedAnnealingSampler
    except ImportError:
        yield "(skipped: no peer to compare with; pip install dwave-samplers)"
        return
    models = 2 if quick else 5
    sweeps = (100,) if quick else (100, 1_000)
    yield f"How far above the lowest energy known, in %, {models} models each, {READS} reads: the"
    yield "best read (mean over models), all reads (mean), and seconds of the clock for one model"
    yield ""
    head = " | ".join(f"best, {s:,} sweeps | all | seconds" for s in sweeps)
    yield f"| problem | sampler | {head} |"
    yield "|---|---|" + "---|---|---|" * len(sweeps)
    for name, problem in PROBLEMS.items():
        drawn = [problem(np.random.default_rng(seed)) for seed in range(models)]
        found = [compare(bqm, SimulatedAnnealingSampler(), sweeps, quick) for bqm in drawn]
        for label in SAMPLERS:
            cells = [np.mean([one[label, s] for one in found], axis=0) for s in sweeps]
            row = " | ".join(f"{best:.2f} | {all_:.2f} | {sec:.2f}" for best, all_, sec in cells)
            yield f"| {name} | {label} | {row} |"


def compare(
    bqm: Any, peer: Any, sweeps: tuple[int, ...], quick: bool
) -> dict[tuple[str, int], tuple[float, float, float]]:
    """By sampler and sweeps: the best gap in %, the mean gap, and seconds."""
    herded = hd.qubo.HerdedSampler()
    ours, theirs = (  # which also compiles what is timed below
        sampler.sample(bqm, num_sweeps=2, seed=0).info["beta_range"] for sampler in (herded, peer)
    )
    setups = zip(
        SAMPLERS, [(herded, ours), (peer, theirs), (herded, theirs), (peer, ours)], strict=True
    )
    runs = {
        (label, s): measure(sampler, bqm, s, beta_range)
        for label, (sampler, beta_range) in setups
        for s in sweeps
    }
    longest = [
        measure(sampler, bqm, 1_000 if quick else LONG, beta_range)
        for sampler, beta_range in ((herded, ours), (peer, theirs))
    ]
    lowest = min(energies.min() for energies, _ in [*runs.values(), *longest])
    above = {key: 100 * (energies - lowest) / abs(lowest) for key, (energies, _) in runs.items()}
    return {key: (gap.min(), gap.mean(), runs[key][1]) for key, gap in above.items()}


def measure(sampler: Any, bqm: Any, sweeps: int, beta_range: Any) -> tuple[np.ndarray, float]:
    """The energies of the reads, and the seconds they took."""
    began = time.perf_counter()
    found = sampler.sample(bqm, num_reads=READS, num_sweeps=sweeps, seed=1, beta_range=beta_range)
    return found.record.energy, time.perf_counter() - began
