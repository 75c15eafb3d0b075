"""A sampler of one's own: Metropolis, which proposes to flip a variable and may decline."""

from dataclasses import dataclass

import numpy as np

import herded as hd


@dataclass(frozen=True)
class Metropolis(hd.Sampler):
    seed: int = 0

    def advance(self, layout, state, block, pool=None):
        for sample in block:
            rng = np.random.default_rng((self.seed, state.chain, state.sweep))
            for i in np.flatnonzero(layout.model.evidence < 0):
                other = state.x.copy()
                other[i] = 1 - other[i]
                gain = layout.model.log_score(other) - layout.model.log_score(state.x)
                state.x = other if np.log(rng.random()) < gain else state.x
            sample[:] = state.x
            state.sweep += 1


grid = hd.ising_grid([[0.5, -0.2], [0.1, 0.3]], 0.4)
found = hd.infer(grid, Metropolis(), sweeps=300, burn_in=30, chains=4)
print("Metropolis", found.marginals[..., 1].round(2).tolist())
print("exact     ", hd.infer(grid, "exact").marginals[..., 1].round(2).tolist())
