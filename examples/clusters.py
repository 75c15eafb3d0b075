"""Clusters whose number is not known, and how certain it is that two points share one.

A Dirichlet process mixture of Gaussians, sampled by herds of collapsed Gibbs chains. Two of the
three groups overlap: the matrix of pairs shows what can be told. Draws clusters.png.
"""

import numpy as np

import herded as hd

rng = np.random.default_rng(0)
centres = np.repeat([[0.0, 0.0], [3.0, 1.0], [-2.0, 6.0]], 50, axis=0)
X = centres + rng.normal(size=(150, 2))

mixture = hd.learn.DirichletMixture(sweeps=100, progress=False).fit(X)
pairs = mixture.co_clustering()
print("probable numbers of clusters:", mixture.cluster_counts_.round(2))
for a, b in ((0, 1), (0, 60), (0, 140)):
    low, high = pairs.interval[a, b]
    print(f"points {a} and {b} together: {pairs.probability[a, b]:.2f} ({low:.2f} to {high:.2f})")
print(f"log density of a new point: {mixture.score([[0.0, 0.0]]):.2f}")
mixture.plot().savefig("clusters.png")
