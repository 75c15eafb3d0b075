"""A sampler of one's own: trees of variables, each drawn at once given all others.

`TreeGibbs` uses public names only, and works with `hd.infer` like the samplers of the package.
docs/own-sampler.md goes through it line by line.
"""

from dataclasses import dataclass

import numpy as np

import herded as hd


@dataclass(frozen=True)
class TreeGibbs:
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

    def init(self, layout, x, *, chain, tally, total):
        """A chain at the state x."""
        if tally:
            raise hd.MethodError("expected Marginals() without rao_blackwell for TreeGibbs")
        return hd.State(layout.store(x), chain=chain, total=total)

    def advance(self, layout, state, block, pool=None):
        """Draw every forest once in each sweep; the draws depend on the sweep's number alone."""
        for sample in block:
            rng = np.random.default_rng((self.seed, state.chain, state.sweep))
            for forest in layout.arrays[2]:
                draw_forest(layout, forest, state.x, rng)
            sample[:] = state.x
            state.sweep += 1


def draw_forest(layout, forest, x, rng):
    """Draw the variables of `forest`, pairs (variable, parent) from the roots on."""
    alone, near, _ = layout.arrays
    parents, logs = dict(forest), {}
    for i, _ in forest:
        others = (j for j in near[i] if j not in parents)
        logs[i] = alone[i] + sum(near[i][j][:, x[j]] for j in others)
    for i, parent in reversed(forest):  # sum every variable out, leaves first
        if parent is not None:
            table = logs[i] + near[parent][i]
            logs[parent] = logs[parent] + np.logaddexp.reduce(table, axis=1)
    for i, parent in forest:  # draw, roots first
        log = logs[i] if parent is None else logs[i] + near[i][parent][:, x[parent]]
        p = np.exp(log - log.max()).cumsum()
        x[i] = np.searchsorted(p, rng.random() * p[-1], side="right")


def forests(model, near):
    """Sets of variables without loops, as pairs (variable, parent); each variable is in one."""
    left, found = [int(i) for i in np.flatnonzero(model.evidence < 0)], []
    while left:
        tree_of, rest = {}, []
        for i in left:
            touched = [tree_of[j] for j in near[i] if j in tree_of]
            if len(set(touched)) < len(touched):
                rest.append(i)  # it would close a loop
                continue
            tree_of = {j: i if tree in touched else tree for j, tree in tree_of.items()} | {i: i}
        found.append(rooted(tree_of, near))
        left = rest
    return found


def rooted(members, near):
    """The members of a forest, parents before children."""
    order, seen = [], set()
    for root in members:
        stack = [] if root in seen else [(root, None)]
        while stack:
            i, parent = stack.pop()
            seen.add(i)
            order.append((i, parent))
            stack += [(j, i) for j in near[i] if j in members and j not in seen]
    return order


if __name__ == "__main__":
    side, rng = 4, np.random.default_rng(0)
    grid = hd.ising_grid(0.1 * rng.normal(size=(side, side)), 0.8).as_factor_graph()
    exact = hd.infer(grid, hd.Exact()).marginals
    for method in (TreeGibbs(), hd.Gibbs()):
        found = hd.infer(grid, method, sweeps=2000, burn_in=100)
        error = abs(found.marginals - exact).mean()
        print(f"{type(method).__name__:10} mean error of a strongly coupled grid {error:.3f}")
