"""MAX-CUT by annealing: cut a random graph into two parts with as many edges between as possible.

Each node is a variable of two states, the part it lies in. An edge between different parts has
log-potential 1, an edge inside a part 0, so that the log-score of a state is the size of its cut,
and a state of high probability is a large cut. With a schedule the temperature falls from
sweep to sweep, and `BestState` keeps the best state that any of the chains has met.

    python examples/max_cut.py

For problems in the form of a `dimod.BinaryQuadraticModel` there is `hd.qubo.HerdedSampler`.
"""

import numpy as np

import herded as hd

NODES, EDGES = 200, 800
STRENGTH = 4.0  # inverse temperature of the first sweep: the temperature falls from 1 to 0


def random_graph(seed: int) -> np.ndarray:
    """EDGES different edges (E, 2)."""
    pairs = np.stack(np.triu_indices(NODES, k=1), axis=1)
    chosen = np.random.default_rng(seed).choice(len(pairs), EDGES, replace=False)
    return pairs[chosen]


def cut_model(edges: np.ndarray) -> hd.FactorGraph:
    """STRENGTH for every edge that is cut."""
    cut = STRENGTH * np.array([[0.0, 1.0], [1.0, 0.0]])
    return hd.pairwise_model(np.zeros((NODES, 2)), edges, cut)


def main() -> None:
    edges = random_graph(seed=0)
    model = cut_model(edges)
    side = np.random.default_rng(1).integers(2, size=NODES)
    by_chance = int((side[edges[:, 0]] != side[edges[:, 1]]).sum())

    method = hd.HerdedGibbs("pooled", schedule="linear")
    best = hd.infer(model, method, sweeps=1_000, chains=8, keep=[hd.BestState()]).best
    sides = best.state[edges]
    cut = int((sides[:, 0] != sides[:, 1]).sum())
    print(f"{NODES} nodes, {EDGES} edges")
    print(f"a random cut: {by_chance} edges")
    print(f"annealed herded Gibbs: {cut} edges, log-score {best.log_score:.1f}")


if __name__ == "__main__":
    main()
