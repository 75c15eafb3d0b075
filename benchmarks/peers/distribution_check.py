"""Does a peer sample from the right distribution? One that does other work is not a peer."""

from functools import lru_cache
from typing import Any

import numpy as np

import herded as hd
from benchmarks.peers.protocol import LAST, VISITS, Peer
from benchmarks.support.workloads import (
    IsingGraph,
    IsingGrid,
    PottsGrid,
    Work,
    constant_grid,
    ising_grid,
    potts_grid,
    random_graph,
    uneven_grid,
)

SWEEPS = 100_000
ALLOWED = 0.012  # mean error of a marginal; halving or doubling the couplings makes more
SMALL: dict[str, Work] = {
    "grid": ising_grid(4),
    "periodic": constant_grid(4),
    "uneven": uneven_grid(4, 1.0),
    "graph": random_graph(10, 3),
    "potts": potts_grid(3, 3),
}


def kind(work: Work) -> str:
    """Which of the small models is like this work."""
    if isinstance(work, PottsGrid):
        return "potts"
    if isinstance(work, IsingGraph):
        return "graph"
    if isinstance(work, IsingGrid) and work.periodic:
        return "periodic"
    return "uneven" if isinstance(work.coupling, tuple) else "grid"


@lru_cache
def exact(name: str) -> np.ndarray:
    small = SMALL[name]
    return hd.infer(small.model, hd.Exact()).marginals.reshape(-1, small.n_states)


def error(peer: Peer, name: str) -> float:
    """The mean error of its marginals on a small model."""
    sweeps = getattr(peer, "sweeps_of_a_check", SWEEPS)
    found = peer.prepare(SMALL[name], VISITS)(sweeps, 1)
    return float(np.abs(found - exact(name)).mean())


_known: dict[Any, float] = {}


def obstacle(peer: Peer, work: Work, keep: str = LAST) -> str | None:
    """Why this peer is not to be timed on this work, or None."""
    reason = peer.obstacle(work, keep)
    if reason is None:
        key = peer.name, kind(work)
        if key not in _known:
            _known[key] = error(peer, kind(work))
        if not _known[key] <= ALLOWED:
            reason = f"its marginals are off by {_known[key]:.3f} on a small model"
    return reason
