"""Spike and slab regression by conditionals of one's own: which of 12 columns explain y?

A column is out (its coefficient is 0, the spike) or in (its coefficient is normal, the slab). What
a chain keeps is the matrix of sums of products, swept over the columns that are in: it tells the
residual with any one column more or less, and costs a column's worth of work when one changes.
"""

import numpy as np

import herded as hd

# SLAB is a coefficient's variance over the noise's, ODDS the log-odds of being in.
rng, SLAB, ODDS = np.random.default_rng(3), 1.0, np.log(0.25 / 0.75)
X = rng.normal(size=(60, 12)) + 0.8 * rng.normal(size=(60, 1))
y = X[:, :4] @ [1.0, -0.7, 0.4, 0.3] + 1.5 * rng.normal(size=60)
products = np.column_stack([X, y]).T @ np.column_stack([X, y])


def conditional(i, x, swept, n, out):
    now, other = swept[-1, -1], swept[-1, -1] - swept[i, -1] ** 2 / swept[i, i]
    pivot = -1.0 / swept[i, i] if x[i] else swept[i, i]
    out[0] = -0.5 * n * np.log(other if x[i] else now)
    out[1] = -0.5 * n * np.log(now if x[i] else other) + ODDS - 0.5 * np.log(SLAB * pivot)


def changed(i, old, new, x, swept, n):
    pivot, row = swept[i, i], swept[i].copy()
    for a, share in enumerate(row / pivot):
        for b in range(len(row)):
            swept[a, b] -= share * row[b]
    swept[i] = swept[:, i] = (new - old) * row / pivot
    swept[i, i] = -1.0 / pivot


def statistics(x, n):
    swept = products + np.diag(np.append(np.full(12, 1.0 / SLAB), 0.0))
    for i in np.flatnonzero(x):
        changed(i, 0, 1, x, swept, n)
    return swept


model = hd.ConditionalModel([2] * 12, conditional, data=60, statistics=statistics, changed=changed)
found = hd.infer(model, hd.Gibbs(herd=64), sweeps=5000, burn_in=100, chains=4).marginals[:, 1]
states = np.indices((2,) * 12).reshape(12, -1).T
exact = np.exp(model.log_score(states) - np.logaddexp.reduce(model.log_score(states))) @ states
print("P(column is in)", *found.round(3))
print("enumerated     ", *exact.round(3), f"\nlargest error {np.abs(found - exact).max():.1e}")
