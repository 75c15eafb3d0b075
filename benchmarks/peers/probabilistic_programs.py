"""Probabilistic programming: PyMC's and NumPyro's Gibbs moves for discrete variables.

Both look at the whole model for every variable they move: they are for small models.
"""

import logging
import warnings
from functools import lru_cache

import numpy as np

from benchmarks.peers.protocol import AVERAGES, LAST, Run, missing, two_states, versioned
from benchmarks.support.workloads import PottsGrid, Work

LARGEST = 128  # variables


class _Programmed:
    """What both are given, and how much of it."""

    package: str
    sweeps_of_a_check = 10_000

    def obstacle(self, work: Work, keep: str) -> str | None:
        if isinstance(work, PottsGrid):
            return "given spins only"
        if keep == AVERAGES:
            return "gives states only"
        if work.n_variables > LARGEST:
            return f"looks at the whole model for each move: given at most {LARGEST} variables"
        return missing(self.package)


class PyMC(_Programmed):
    package = "pymc"
    name = versioned("pymc", "pymc") + ", BinaryGibbsMetropolis"

    def prepare(self, work: Work, keep: str) -> Run:
        import pymc
        import pytensor.tensor as tensor

        assert not isinstance(work, PottsGrid)
        logging.getLogger("pymc").setLevel(logging.ERROR)
        graph, n = work.as_graph(), work.n_variables
        a, b = graph.edges.T
        with pymc.Model() as model:
            x = pymc.Bernoulli("x", 0.5, shape=n)
            spins = 2.0 * x - 1.0
            pairs = tensor.sum(graph.coupling * spins[a] * spins[b])
            pymc.Potential("energy", tensor.dot(graph.field, spins) + pairs)
            step = pymc.BinaryGibbsMetropolis([x], order=list(range(n)), transit_p=1.0)

        def run(sweeps: int, seed: int) -> np.ndarray:
            with model, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about chains that are short, or single
                found = pymc.sample(
                    sweeps,
                    tune=0,
                    chains=1,
                    cores=1,
                    step=step,
                    random_seed=seed,
                    progressbar=False,
                    compute_convergence_checks=False,
                    return_inferencedata=False,
                )
            states = np.asarray(found["x"])
            return two_states(states[-1] if keep == LAST else states.mean(axis=0))

        return run


class NumPyro(_Programmed):
    package = "numpyro"
    name = versioned("numpyro", "numpyro") + ", DiscreteHMCGibbs"

    def prepare(self, work: Work, keep: str) -> Run:
        import jax
        import jax.numpy as jnp
        import numpyro
        from numpyro.distributions import Bernoulli, Normal
        from numpyro.infer import HMC, MCMC, DiscreteHMCGibbs

        assert not isinstance(work, PottsGrid)
        graph = work.as_graph()
        a, b = graph.edges.T
        field, coupling = jnp.asarray(graph.field), jnp.asarray(graph.coupling)

        def program() -> None:
            numpyro.sample("unused", Normal(0, 1))  # it asks for a continuous variable
            with numpyro.plate("variables", field.size):
                x = numpyro.sample("x", Bernoulli(0.5))
            spins = 2.0 * x - 1.0
            numpyro.factor("energy", field @ spins + jnp.sum(coupling * spins[a] * spins[b]))

        @lru_cache  # each number of sweeps is compiled, once
        def sampler(sweeps: int) -> MCMC:
            kernel = DiscreteHMCGibbs(HMC(program, trajectory_length=None, num_steps=1))
            return MCMC(kernel, num_warmup=0, num_samples=sweeps, progress_bar=False)

        def run(sweeps: int, seed: int) -> np.ndarray:
            sampler(sweeps).run(jax.random.key(seed))
            states = np.asarray(sampler(sweeps).get_samples()["x"])
            return two_states(states[-1] if keep == LAST else states.mean(axis=0))

        return run
