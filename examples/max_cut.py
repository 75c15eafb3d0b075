"""MAX-CUT by annealing: cut a random graph into two parts with as many edges between as possible.

Edges that are cut have log-potential STRENGTH. For dimod there is `hd.qubo.HerdedSampler`.
"""

import matplotlib.pyplot as plt
import numpy as np

import herded as hd

NODES, EDGES, STRENGTH = 200, 800, 4.0
pairs = np.stack(np.triu_indices(NODES, k=1), axis=1)
edges = pairs[np.random.default_rng(0).choice(len(pairs), EDGES, replace=False)]
model = hd.pairwise_model(np.zeros((NODES, 2)), edges, STRENGTH * (1 - np.eye(2)))


def size_of_cut(side):
    return int((side[edges[:, 0]] != side[edges[:, 1]]).sum())


method = hd.HerdedGibbs("pooled", schedule="linear")
best = hd.infer(model, method, sweeps=1_000, chains=8, keep=[hd.BestState()]).best
print(f"a random cut: {size_of_cut(np.random.default_rng(1).integers(2, size=NODES))} edges")
print(f"annealed herded Gibbs: {size_of_cut(best.state)} edges, log-score {best.log_score:.1f}")
place = best.state.argsort().argsort()  # one part after the other
figure, axis = plt.subplots(figsize=(4, 4), layout="constrained")
axis.plot(*place[edges].T, ".", *place[edges[:, ::-1]].T, ".", color="#2563a8", ms=3)
axis.set(title="edges after the cut: few within a part", xlabel="node", ylabel="node")
figure.savefig("max_cut.png", dpi=110)
