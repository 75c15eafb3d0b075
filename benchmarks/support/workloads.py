"""The work that `herded` and its peers are given: models as plain arrays that any package can take.

Ising   pi(x) ~ exp(sum_i h_i s_i + sum_(i~j) J_ij s_i s_j),   s_i = -1 or +1 for states 0 and 1
Potts   pi(x) ~ exp(sum_i u_i[x_i] + J sum_(i~j) [x_i = x_j])
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import herded as hd

SPINS = np.array([[1.0, -1.0], [-1.0, 1.0]])


@dataclass(frozen=True, eq=False)
class IsingGraph:
    """Spins on any graph: fields (N,), edges (E, 2) and their couplings (E,)."""

    name: str
    field: np.ndarray
    edges: np.ndarray
    coupling: np.ndarray
    n_states: int = 2

    @property
    def n_variables(self) -> int:
        return self.field.size

    @cached_property
    def model(self) -> Any:
        unary = np.stack([-self.field, self.field], axis=1)
        return hd.pairwise_model(unary, self.edges, self.coupling[:, None, None] * SPINS)

    def as_graph(self) -> "IsingGraph":
        return self

    @cached_property
    def neighbours(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows of neighbours one after another: where each row starts, who, and the couplings."""
        source, target = np.concatenate([self.edges, self.edges[:, ::-1]]).T
        order = np.lexsort((target, source))
        starts = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=self.n_variables))])
        coupling = np.tile(self.coupling, 2)[order]
        return starts, target[order].astype(np.int32), coupling


@dataclass(frozen=True, eq=False)
class IsingGrid:
    """Spins on a grid: fields (H, W); one coupling, or arrays (right, down) on an open grid."""

    name: str
    field: np.ndarray
    coupling: float | tuple[np.ndarray, np.ndarray]
    periodic: bool = False
    n_states: int = 2

    @property
    def n_variables(self) -> int:
        return self.field.size

    @cached_property
    def model(self) -> Any:
        return hd.ising_grid(self.field, self.coupling, periodic=self.periodic)

    def as_graph(self) -> IsingGraph:
        """The same model without its shape; made again on each call, for it can be large."""
        edges = grid_edges(*self.field.shape, self.periodic)
        if isinstance(self.coupling, tuple):
            coupling = np.concatenate([part.ravel() for part in self.coupling])
        else:
            coupling = np.full(len(edges), self.coupling)
        return IsingGraph(self.name, self.field.ravel(), edges, coupling)


@dataclass(frozen=True, eq=False)
class PottsGrid:
    """Variables of K states on an open grid: log-potentials (H, W, K) and one coupling."""

    name: str
    log_unary: np.ndarray
    coupling: float

    @property
    def n_variables(self) -> int:
        return self.log_unary[..., 0].size

    @property
    def n_states(self) -> int:
        return self.log_unary.shape[2]

    @property
    def edges(self) -> np.ndarray:
        return grid_edges(*self.log_unary.shape[:2])

    @cached_property
    def model(self) -> Any:
        return hd.potts_grid(self.log_unary, self.coupling)


Work = IsingGraph | IsingGrid | PottsGrid


def grid_edges(height: int, width: int, periodic: bool = False) -> np.ndarray:
    """(E, 2): every pixel and the next one to its right, then every pixel and the one below it."""
    number = np.arange(height * width).reshape(height, width)
    pairs = []
    for axis in (1, 0):
        after = np.roll(number, -1, axis)
        inside = slice(None) if periodic else slice(-1)
        at = (slice(None), inside) if axis else (inside,)
        pairs.append(np.stack([number[at].ravel(), after[at].ravel()], axis=1))
    return np.concatenate(pairs)


def ising_grid(side: int, seed: int = 0) -> IsingGrid:
    """Fields normal, coupling 0.3: disordered, but not independent."""
    field = np.random.default_rng(seed).standard_normal((side, side))
    return IsingGrid(f"Ising {side}x{side}", field, 0.3)


def constant_grid(side: int) -> IsingGrid:
    """One field for all and no edges, as in physics."""
    field = np.full((side, side), 0.1)
    return IsingGrid(f"Ising {side}x{side}, constant field, periodic", field, 0.3, periodic=True)


def uneven_grid(side: int, scale: float, seed: int = 0) -> IsingGrid:
    """Fields and couplings uniform on (-scale, scale)."""
    rng = np.random.default_rng(seed)
    coupling = (
        rng.uniform(-scale, scale, (side, side - 1)),
        rng.uniform(-scale, scale, (side - 1, side)),
    )
    name = f"Ising {side}x{side}, J and h to {scale:g}"
    return IsingGrid(name, rng.uniform(-scale, scale, (side, side)), coupling)


def random_graph(n: int, degree: float, seed: int = 0) -> IsingGraph:
    """n * degree / 2 different pairs of variables; couplings that shrink with the degree."""
    rng = np.random.default_rng(seed)
    wanted = min(round(n * degree / 2), n * (n - 1) // 2)
    codes = np.empty(0, np.int64)
    while len(codes) < wanted:
        ends = np.sort(rng.integers(0, n, (2 * wanted, 2)), axis=1)
        fresh = ends[:, 0] * n + ends[:, 1]
        codes = np.unique(np.concatenate([codes, fresh[ends[:, 0] != ends[:, 1]]]))
    edges = np.stack(np.divmod(rng.permutation(codes)[:wanted], n), axis=1)
    coupling = rng.normal(0, 0.6 / max(degree, 1) ** 0.5, wanted)
    return IsingGraph(f"{n:,} spins, degree {degree:g}", rng.normal(0, 0.3, n), edges, coupling)


def potts_grid(side: int, states: int, seed: int = 0) -> PottsGrid:
    """Log-potentials normal, coupling 0.5."""
    unary = np.random.default_rng(seed).standard_normal((side, side, states))
    return PottsGrid(f"Potts {side}x{side}, K = {states}", unary, 0.5)
