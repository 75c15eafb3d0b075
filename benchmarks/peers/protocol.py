"""What every peer looks like."""

from collections.abc import Callable
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Protocol

import numpy as np

from benchmarks.support.workloads import Work

# What a run keeps: its last state only (the cheapest), how often each state was visited, or the
# mean of the conditional probabilities (Rao-Blackwell), which is more accurate.
LAST, VISITS, AVERAGES = "last state", "visits", "averages"

Run = Callable[[int, int], np.ndarray]  # (sweeps, seed) -> marginals (N, K)


class Peer(Protocol):
    """A way to sample from a model."""

    name: str

    def obstacle(self, work: Work, keep: str) -> str | None:
        """Why this peer cannot do that, or None."""

    def prepare(self, work: Work, keep: str) -> Run:
        """Everything that does not depend on the number of sweeps."""


def missing(package: str, distribution: str | None = None) -> str | None:
    """Why a package cannot be imported, or None."""
    name = distribution or package
    if find_spec(package.split(".")[0]) is None:
        return f"not installed: pip install {name}"
    try:
        import_module(package)
    except Exception as problem:  # whatever a broken install raises, the others still run
        return f"installed, but it cannot be imported: {problem}"
    return None


def versioned(name: str, distribution: str) -> str:
    """The name with the version that is installed, if any."""
    try:
        return f"{name} {metadata.version(distribution)}"
    except metadata.PackageNotFoundError:
        return name


def one_hot(states: np.ndarray, n_states: int) -> np.ndarray:
    """The marginals of a single state."""
    return np.eye(n_states)[np.asarray(states, np.int64).ravel()]


def two_states(probability: np.ndarray) -> np.ndarray:
    """Marginals (N, 2) from the probabilities of state 1."""
    ones = np.asarray(probability, float).ravel()
    return np.stack([1 - ones, ones], axis=1)
