"""MAX-CUT by annealing: cut a random graph into two parts with as many edges between as possible.

Each node is a variable of two states, the part it lies in. An edge between different parts has
log-potential STRENGTH, an edge inside a part 0, so that the log-score of a state is the size of its
cut times STRENGTH, and a state of high probability is a large cut. With a schedule the temperature
falls from sweep to sweep, from 1 to 0, and `BestState` keeps the best state that any of the chains
has met.

    python examples/max_cut.py

For problems in the form of a `dimod.BinaryQuadraticModel` there is `hd.qubo.HerdedSampler`.
"""

import numpy as np

import herded as hd

NODES, EDGES = 200, 800
STRENGTH = 4.0  # inverse temperature of the first sweep

pairs = np.stack(np.triu_indices(NODES, k=1), axis=1)
edges = pairs[np.random.default_rng(0).choice(len(pairs), EDGES, replace=False)]
cut = STRENGTH * np.array([[0.0, 1.0], [1.0, 0.0]])
model = hd.pairwise_model(np.zeros((NODES, 2)), edges, cut)


def size_of_cut(side):
    return int((side[edges[:, 0]] != side[edges[:, 1]]).sum())


method = hd.HerdedGibbs("pooled", schedule="linear")
best = hd.infer(model, method, sweeps=1_000, chains=8, keep=[hd.BestState()]).best
print(f"{NODES} nodes, {EDGES} edges")
print(f"a random cut: {size_of_cut(np.random.default_rng(1).integers(2, size=NODES))} edges")
print(f"annealed herded Gibbs: {size_of_cut(best.state)} edges, log-score {best.log_score:.1f}")
