"""Which columns does a regression need? Inclusion probabilities of 60 columns, 5 of them true.

Herds of Gibbs chains visit the models of high posterior probability; each member is exactly a
Gibbs chain. Up to 20 columns all models are enumerated instead. Draws inclusion_probabilities.png.
"""

import numpy as np

import herded as hd

rng = np.random.default_rng(0)
X = rng.normal(size=(100, 60))
X[:, 1] += 0.9 * X[:, 0]  # columns 0 and 1 say nearly the same
true = {0: 1.0, 10: -0.8, 20: 0.6, 30: 0.5, 40: 0.3}
y = sum(weight * X[:, j] for j, weight in true.items()) + rng.normal(size=100)

found = hd.learn.select_variables(X, y, inclusion=(1, 1), sweeps=150, progress=False)
for j in np.argsort(-found.inclusion)[:7]:
    low, high = found.interval[j]
    kind = "true" if j in true else "noise"
    print(f"column {j} ({kind}): {found.inclusion[j]:.3f}, 95 % from {low:.3f} to {high:.3f}")
print("best models:", [model.columns for model in found.models[:3]])
found.plot().savefig("inclusion_probabilities.png")
