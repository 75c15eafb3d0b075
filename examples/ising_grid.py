"""How fast do errors fall? Gibbs and herded Gibbs on a 10x10 Ising grid.

The model has random fields and couplings. Its exact marginals are known, so each method can be
compared with them as it runs: `ErrorCurve` records the mean absolute error after the given sweeps.
Gibbs converges as 1 / sqrt(sweeps); on a model with couplings as weak as these, herded Gibbs is
several times as accurate. With stronger couplings the difference becomes small: try STRENGTH = 1.

    python examples/ising_grid.py
"""

import numpy as np

import herded as hd

SIDE = 10
STRENGTH = 0.3  # fields and couplings are uniform on (-STRENGTH, STRENGTH)
SWEEPS = [100, 1_000, 10_000]


def random_grid(seed: int) -> hd.Lattice:
    """A grid with a field for each spin and a coupling for each pair of neighbours."""
    rng = np.random.default_rng(seed)

    def uniform(*shape: int) -> np.ndarray:
        return rng.uniform(-STRENGTH, STRENGTH, shape)

    field = uniform(SIDE, SIDE)
    right, down = uniform(SIDE, SIDE - 1), uniform(SIDE - 1, SIDE)
    return hd.ising_grid(field, (right, down))


def main() -> None:
    model = random_grid(seed=0)
    truth = hd.infer(model, hd.Exact()).marginals
    curve = hd.ErrorCurve(truth, at=SWEEPS, rao_blackwell=True)
    print(f"{'sweeps':<16}" + "".join(f"{sweeps:>12,}" for sweeps in SWEEPS))
    for name, method in (("Gibbs", hd.Gibbs()), ("herded Gibbs", hd.HerdedGibbs())):
        keep = [curve, hd.Marginals(rao_blackwell=True)]
        result = hd.infer(model, method, sweeps=SWEEPS[-1], chains=4, keep=keep)
        errors = result.curve.errors.mean(axis=0)  # over the chains
        print(f"{name:<16}" + "".join(f"{error:>12.6f}" for error in errors))


if __name__ == "__main__":
    main()
