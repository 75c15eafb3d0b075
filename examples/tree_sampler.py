"""A sampler of one's own: trees of variables, each drawn at once given all others.

`TreeGibbs` uses public names only, and works with `hd.infer` like the samplers of the package.
docs/how-to/custom-sampler.md goes through it line by line.
"""

from dataclasses import dataclass

import numpy as np

import herded as hd


@dataclass(frozen=True)
class TreeGibbs(hd.Sampler):
    """Gibbs sampling that draws whole forests of variables: strong couplings do not hold it up."""

    seed: int = 0

    def compile(self, model, *, kind=None, max_memory=None):
        """The factors by variable, and forests that cover all variables that are not known."""
        alone = [np.zeros(k) for k in model.cardinalities]
        near = [{} for _ in alone]
        for f in range(model.n_factors):
            scope, table = model.factor(f)
            if len(scope) > 2:
                raise hd.MethodError(f"expected factors of at most two variables, got {len(scope)}")
            if len(scope) == 1:
                alone[scope[0]] = alone[scope[0]] + table
            elif len(scope) == 2:
                i, j = scope
                near[i][j] = near[i].get(j, 0) + table
                near[j][i] = near[j].get(i, 0) + table.T
        return hd.Layout(model=model, method=self, arrays=(alone, near, forests(model, near)))

    def advance(self, layout, state, block, pool=None):
        """Draw every forest once in each sweep; the draws depend on the sweep's number alone."""
        for sample in block:
            rng = np.random.default_rng((self.seed, state.chain, state.sweep))
            for forest in layout.arrays[2]:
                draw_forest(layout, forest, state.x, rng)
            sample[:] = state.x
            state.sweep += 1


def draw_forest(layout, forest, x, rng):
    """Draw the variables of `forest`, in which parents come before their children."""
    alone, near, _ = layout.arrays
    logs = {}
    for i in forest:
        others = (j for j in near[i] if j not in forest)
        logs[i] = alone[i] + sum(near[i][j][:, x[j]] for j in others)
    for i, parent in reversed(forest.items()):  # sum every variable out, leaves first
        if parent is not None:
            table = logs[i] + near[parent][i]
            logs[parent] = logs[parent] + np.logaddexp.reduce(table, axis=1)
    for i, parent in forest.items():  # draw, roots first
        log = logs[i] if parent is None else logs[i] + near[i][parent][:, x[parent]]
        p = np.exp(log - log.max()).cumsum()
        x[i] = np.searchsorted(p, rng.random() * p[-1], side="right")


def forests(model, near):
    """Sets of variables without loops, {variable: parent or None}; each variable is in one."""
    left, found = np.flatnonzero(model.evidence < 0).tolist(), []
    while left:
        forest, rest = {}, []
        for i in left:
            inside = [j for j in near[i] if j in forest]
            if len(inside) > 1:
                rest.append(i)  # it might close a loop
            else:
                forest[i] = inside[0] if inside else None
        found.append(forest)
        left = rest
    return found


if __name__ == "__main__":
    side, rng = 4, np.random.default_rng(0)
    grid = hd.ising_grid(0.1 * rng.normal(size=(side, side)), 0.8).as_factor_graph()
    exact = hd.infer(grid, hd.Exact()).marginals
    for method in (TreeGibbs(), hd.Gibbs()):
        found = hd.infer(grid, method, sweeps=2000, burn_in=100)
        error = abs(found.marginals - exact).mean()
        print(f"{type(method).__name__:10} mean error of a strongly coupled grid {error:.3f}")
