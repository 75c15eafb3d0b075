"""Energy, magnetisation and correlations of Ising models in two and three dimensions.

Four herds of 64 Gibbs chains give means and 95 % intervals, a little above the temperature at
which spins order; any function of the states will do, here the square of the magnetisation.
"""

import numpy as np

import herded as hd


def squared(states, model):
    return hd.magnetisation(states, model) ** 2


CORRELATIONS = hd.Observable(hd.Correlations([1, 2, 4]))
KEEP = [hd.Observable(hd.energy), hd.Observable(squared, every=5), CORRELATIONS]

for shape, coupling in (((32, 32), 0.38), ((10, 10, 10), 0.2)):
    model = hd.ising_grid(np.zeros(shape), coupling, periodic=True)
    result = hd.infer(model, hd.Gibbs(herd=64), sweeps=1000, burn_in=200, chains=4, keep=KEEP)
    found, spins = result.observables, model.n_variables
    low, high = found["energy"].interval / spins
    print(f"{' x '.join(map(str, shape))} spins, coupling {coupling}")
    print(f"  energy of a spin {found['energy'].mean / spins:.4f} ({low:.4f} to {high:.4f})")
    print(f"  magnetisation squared {found['squared'].mean:.4f}")
    print(f"  correlation at 1, 2, 4: {found['correlations'].mean.round(3)}")
    print(f"  autocorrelation time {found['energy'].autocorrelation_time:.1f} sweeps")
hd.plot.series(result, "energy").savefig("ising_observables.png", dpi=110)
