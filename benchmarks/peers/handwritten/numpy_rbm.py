"""Block Gibbs sampling of a restricted Boltzmann machine as an expert would write it in NumPy.

A layer given the other is one product of matrices in single precision, for all chains at once, in
arrays that are made once.
"""

from collections.abc import Callable

import numpy as np

from benchmarks.peers.protocol import two_states
from benchmarks.support.workloads import IsingGraph

Run = Callable[[int, int], np.ndarray]


def machine(visible: int, hidden: int, seed: int = 0) -> IsingGraph:
    """Every visible spin is tied to every hidden one."""
    rng = np.random.default_rng(seed)
    edges = np.stack(
        [np.repeat(np.arange(visible), hidden), visible + np.tile(np.arange(hidden), visible)], 1
    )
    coupling = rng.normal(0, 0.6 / visible**0.5, len(edges))
    name = f"Boltzmann machine {visible}x{hidden}"
    return IsingGraph(name, rng.normal(0, 0.3, visible + hidden), edges, coupling)


def prepare(work: IsingGraph, visible: int, chains: int) -> Run:
    """A run of so many chains that counts visits; `work` is one that `machine` made."""
    n = work.n_variables
    weights = 2 * work.coupling.reshape(visible, n - visible).astype(np.float32)
    field = 2 * work.field.astype(np.float32)

    def run(sweeps: int, seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        seen = rng.choice(np.array([-1, 1], np.float32), (chains, visible))
        hidden = np.empty((chains, n - visible), np.float32)
        uniform = np.empty_like(seen), np.empty_like(hidden)
        room = np.empty_like(seen), np.empty_like(hidden)
        sums = np.zeros(n)
        with np.errstate(over="ignore", invalid="ignore"):  # exp(-x) may be infinite: no ones then
            for _ in range(sweeps):
                draw(hidden, seen, weights, field[visible:], rng, uniform[1], room[1])
                draw(seen, hidden, weights.T, field[:visible], rng, uniform[0], room[0])
                sums[:visible] += seen.sum(axis=0)
                sums[visible:] += hidden.sum(axis=0)
        return two_states((1 + sums / (sweeps * chains)) / 2)

    return run


def draw(
    layer: np.ndarray,
    other: np.ndarray,
    weights: np.ndarray,
    field: np.ndarray,
    rng: np.random.Generator,
    uniform: np.ndarray,
    room: np.ndarray,
) -> None:
    """u < 1 / (1 + exp(-x)), without the division."""
    np.matmul(other, weights, out=room)
    room += field
    np.negative(room, out=room)
    np.exp(room, out=room)
    room += 1
    rng.random(out=uniform, dtype=np.float32)
    uniform *= room
    np.less(uniform, 1, out=layer)
    layer *= 2
    layer -= 1
