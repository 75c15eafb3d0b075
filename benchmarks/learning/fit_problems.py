"""Problems for `python -m benchmarks --only fit`: rows of models with known likelihoods."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import herded as hd
from benchmarks.learning.parameter_recovery import SPINS, draw, exact_rows, herd_rows

ROWS = 5_000
CHUNK = 2**12  # states of the first half at once


@dataclass(frozen=True)
class Problem:
    """Rows of a known model, and a model without parameters that is to learn them."""

    name: str
    blank: Any
    rows: np.ndarray
    log_z: Callable[[Any], float]
    truth: Any
    options: dict[str, Any] = field(default_factory=dict)

    def log_likelihood(self, model: Any) -> float:
        """Compute the exact mean log-likelihood of the rows, in nats per row."""
        return float(np.mean(model.log_score(self.rows))) - self.log_z(model)


# -- spins on all pairs ------------------------------------------------------------------------


def spin_states(n: int) -> np.ndarray:
    """(2^n, n) all states of n spins, -1 and 1."""
    return 2.0 * (np.arange(2**n)[:, None] >> np.arange(n) & 1) - 1.0


@dataclass(frozen=True)
class DenseIsing:
    """Spins on all pairs: exact log Z and exact samples of up to 32 of them.

    Spins are split into a, b and c. Given a, the sum over b and c is a product of two vectors with
    one matrix that does not depend on a, so all 2^n states take one matrix product.
    """

    fields: np.ndarray
    couplings: np.ndarray  # (n, n), symmetric, zero on the diagonal

    @property
    def size(self) -> int:
        return len(self.fields) - len(self.fields) // 2

    def _alone(self, part: slice) -> np.ndarray:
        """(states,) the log-weights of some spins without the others."""
        spins = spin_states(len(self.fields[part]))
        pairs = ((spins @ self.couplings[part, part]) * spins).sum(axis=1) / 2.0
        return np.asarray(spins @ self.fields[part] + pairs)

    def log_weights(self) -> np.ndarray:
        """(2^size,) the log of the sum over the second half of the spins, by the first half."""
        second = slice(self.size, None)
        below = self._alone(second)
        few = (len(self.fields) - self.size) // 2
        low, high = spin_states(few), spin_states(len(self.fields) - self.size - few)
        matrix = np.exp(below - below.max()).reshape(len(high), len(low))
        found = self._alone(slice(None, self.size)) + below.max()
        spins = spin_states(self.size)
        for at in range(0, len(spins), CHUNK):
            tied = spins[at : at + CHUNK] @ self.couplings[: self.size, second]
            most = np.abs(tied).sum(axis=1)
            left = np.exp(tied[:, :few] @ low.T - np.abs(tied[:, :few]).sum(axis=1)[:, None])
            right = np.exp(tied[:, few:] @ high.T - np.abs(tied[:, few:]).sum(axis=1)[:, None])
            found[at : at + CHUNK] += np.log(((right @ matrix) * left).sum(axis=1)) + most
        return found

    def log_z(self) -> float:
        weights = self.log_weights()
        return float(weights.max() + np.log(np.exp(weights - weights.max()).sum()))

    def sample(self, rows: int, rng: np.random.Generator) -> np.ndarray:
        """(rows, n) independent states 0 and 1."""
        weights = self.log_weights()
        p = np.exp(weights - weights.max())
        first = spin_states(self.size)[rng.choice(len(p), rows, p=p / p.sum())]
        second = slice(self.size, None)
        below, spins = self._alone(second), spin_states(len(self.fields) - self.size)
        drawn = []
        for some in np.array_split(first, -(-rows // 64)):
            logs = below + (some @ self.couplings[: self.size, second]) @ spins.T
            drawn.append(spins[draw(logs, rng)])
        return (np.concatenate([first, np.concatenate(drawn)], axis=1) > 0).astype(np.int64)

    def model(self) -> hd.FactorGraph:
        pairs = np.stack(np.triu_indices(len(self.fields), 1), axis=1)
        ties = self.couplings[pairs[:, 0], pairs[:, 1]]
        return ising(self.fields, pairs, ties)


def dense_log_z(model: hd.FactorGraph) -> float:
    """Compute log Z of a model that `DenseIsing.model` or a fit of it with "ising" has made."""
    n = model.n_variables
    tables = model.log_tables
    fields = (tables[1 : 2 * n : 2] - tables[: 2 * n : 2]) / 2.0
    couplings = np.zeros((n, n))
    couplings[np.triu_indices(n, 1)] = tables[2 * n :: 4]  # both spins -1: alike
    return DenseIsing(fields, couplings + couplings.T).log_z()


def ising(fields: np.ndarray, pairs: np.ndarray, couplings: np.ndarray) -> hd.FactorGraph:
    """Build a model of fields h_i s_i and couplings J s_i s_j."""
    unary = np.stack([-fields, fields], axis=1)
    return hd.pairwise_model(unary, pairs, couplings[:, None, None] * SPINS)


def dense(name: str, machine: DenseIsing, rows: int, seed: int, **options: Any) -> Problem:
    """Make a problem of spins on all pairs, with exact samples."""
    n = len(machine.fields)
    data = machine.sample(rows, np.random.default_rng(seed))
    blank = DenseIsing(np.zeros(n), np.zeros((n, n))).model()
    options = {"groups": "ising", **options}
    return Problem(name, blank, data, dense_log_z, machine.model(), options)


def glass(n: int, strength: float, seed: int, rows: int = ROWS, **options: Any) -> Problem:
    """Couplings normal with standard deviation strength / sqrt(n), fields with 0.1."""
    rng = np.random.default_rng(seed)
    ties = np.triu(rng.normal(0, strength / np.sqrt(n), (n, n)), 1)
    machine = DenseIsing(rng.normal(0, 0.1, n), ties + ties.T)
    return dense(f"{n} spins, {strength}, seed {seed}", machine, rows, seed, **options)


def inverse_ising(quick: bool) -> Iterator[Problem]:
    """24 inverse Ising problems: twelve like the one that failed, twelve smaller and harder."""
    if quick:
        yield glass(22, 0.8, 0, 500, method="herd", steps=40, herd=256)
        return
    for seed in range(12):
        yield glass(30, 0.8, seed)
    for n in (22, 26, 28, 32):
        for strength in (0.5, 1.2, 1.8):
            yield glass(n, strength, 100 + n)


# -- other kinds -------------------------------------------------------------------------------


def elimination_log_z(model: Any) -> float:
    return float(hd.infer(model, hd.Exact()).log_z)


def grid(name: str, truth: hd.Lattice, seed: int, rows: int = ROWS, **options: Any) -> Problem:
    data = exact_rows(truth, rows, np.random.default_rng(seed))
    blank = hd.ising_grid(np.zeros(truth.shape), 0.0)
    return Problem(name, blank, data, elimination_log_z, truth, {"method": "herd", **options})


def random_grid(side: int, field_spread: float, spread: float, seed: int) -> hd.Lattice:
    rng = np.random.default_rng(seed)
    right, down = rng.normal(0, spread, (side, side - 1)), rng.normal(0, spread, (side - 1, side))
    return hd.ising_grid(rng.normal(0, field_spread, (side, side)), (right, down))


def potts(side: int, states: int, coupling: float, seed: int, rows: int = ROWS) -> Problem:
    rng = np.random.default_rng(seed)
    truth = hd.potts_grid(rng.normal(0, 0.2, (side, side, states)), coupling)
    blank = hd.potts_grid(np.zeros((side, side, states)), 0.0)
    name = f"Potts {side}x{side}, {states} states, {coupling}"
    data = herd_rows(truth, rows, seed)
    return Problem(name, blank, data, elimination_log_z, truth, {"method": "herd"})


def three_way(n: int, factors: int, seed: int) -> Problem:
    """Random factors of three variables of two or three states."""
    rng = np.random.default_rng(seed)
    states = rng.integers(2, 4, n)
    scopes = [tuple(rng.choice(n, 3, replace=False).tolist()) for _ in range(factors)]
    scopes += [(i,) for i in range(n)]
    shapes = [tuple(states[list(scope)]) for scope in scopes]
    tables = [rng.normal(0, 0.6, shape) for shape in shapes]
    truth = hd.FactorGraph(states, list(zip(scopes, tables, strict=True)))
    blank = hd.FactorGraph(states, [(s, np.zeros(k)) for s, k in zip(scopes, shapes, strict=True)])
    options = {"method": "herd", "l2": np.full(sum(t.size for t in tables), 1e-4)}
    data = herd_rows(truth, ROWS, seed)
    return Problem(f"{factors} factors of 3 of {n}", blank, data, elimination_log_z, truth, options)


def sparse_glass(n: int, low: float, high: float, seed: int) -> Problem:
    """Three couplings for each spin on average, of either sign."""
    rng = np.random.default_rng(seed)
    every = np.stack(np.triu_indices(n, 1), axis=1)
    pairs = every[np.sort(rng.choice(len(every), 3 * n // 2, replace=False))]
    ties = rng.choice([-1.0, 1.0], len(pairs)) * rng.uniform(low, high, len(pairs))
    truth = ising(rng.normal(0, 0.2, n), pairs, ties)
    blank = ising(np.zeros(n), pairs, np.zeros(len(pairs)))
    options = {"groups": "ising", "method": "herd"}
    data = herd_rows(truth, ROWS, seed)
    return Problem(f"sparse glass {n}", blank, data, elimination_log_z, truth, options)


def hopfield(n: int, patterns: int, strength: float, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    stored = rng.choice([-1.0, 1.0], (patterns, n))
    ties = strength * stored.T @ stored / n
    np.fill_diagonal(ties, 0.0)
    machine = DenseIsing(rng.normal(0, 0.1, n), ties)
    return dense(f"{patterns} patterns of {n} spins, {strength}", machine, ROWS, seed)


def bipartite(visible: int, hidden: int, spread: float, seed: int) -> Problem:
    """A restricted Boltzmann machine whose hidden units were seen too."""
    rng = np.random.default_rng(seed)
    n = visible + hidden
    ties = np.zeros((n, n))
    ties[:visible, visible:] = rng.normal(0, spread, (visible, hidden))
    machine = DenseIsing(rng.normal(0, 0.1, n), ties + ties.T)
    return dense(f"layers of {visible} and {hidden}, {spread}", machine, ROWS, seed, l2=1e-4)


def ferromagnet(n: int, strength: float, seed: int) -> Problem:
    ties = np.full((n, n), strength / n)
    np.fill_diagonal(ties, 0.0)
    fields = np.random.default_rng(seed).normal(0, 0.02, n)
    return dense(f"ferromagnet of {n}, {strength}", DenseIsing(fields, ties), ROWS, seed)


def other_kinds(quick: bool) -> Iterator[Problem]:
    """12 problems of other kinds."""
    if quick:
        yield grid("grid 4x4", random_grid(4, 0.2, 0.4, 0), 0, 500, steps=40, herd=256)
        return
    yield potts(6, 3, 0.5, 0)
    yield potts(5, 4, 1.1, 1)
    yield grid("grid 10x10, 0.3", random_grid(10, 0.3, 0.3, 2), 2)
    yield grid("grid 10x10, 0.9", random_grid(10, 0.2, 0.9, 3), 3)
    yield grid("ferromagnet 10x10, 0.55", hd.ising_grid(np.full((10, 10), 0.01), 0.55), 4, l2=1e-4)
    yield three_way(30, 40, 5)
    yield sparse_glass(40, 0.6, 1.2, 6)
    yield glass(24, 0.8, 7, 60, l2=0.02, method="herd")
    yield grid("grid 8x8, 100 rows", random_grid(8, 0.3, 0.4, 8), 8, 100, l2=0.02)
    yield bipartite(18, 10, 0.4, 9)
    yield hopfield(28, 3, 1.3, 10)
    yield ferromagnet(26, 1.4, 11)
