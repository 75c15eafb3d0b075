"""HerdedSampler: herded Gibbs behind the interface of dimod's samplers.

Each read is the last state of a chain with its own start and weights. At a fixed temperature
weights are "lazy" (one for every state of a variable's neighbours), so that the last states are
distributed as the model is. Annealing uses "pooled" weights, which reach lower energies
(`python -m benchmarks --only qubo`).
"""

import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

from herded.errors import MethodError, ModelError, missing
from herded.layouts.protocol import Layout
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.options import is_between, is_whole
from herded.models.convert.bqm import VALUES, from_bqm
from herded.models.factor_graph import FactorGraph
from herded.qubo.cooling import KINDS, cooling
from herded.run.infer import infer
from herded.run.loop import interruptible
from herded.run.sampling import BLOCK

try:
    import dimod
except ImportError as error:
    raise missing("dimod", "HerdedSampler", "dimod") from error

GENERATORS = ("none", "tile", "random")
SEEDS = 2**32  # dimod draws starts with NumPy's old generator, which takes no larger seeds

# How many reads run side by side: as many as fit in ROOM bytes, counting a block of samples and a
# slot or two for every context that each may meet.
MOST_TOGETHER, ROOM, CONTEXT_BYTES = 64, 2**28, 24


class HerdedSampler(dimod.Sampler, dimod.Initialized):
    """A sampler for dimod: samples from exp(-beta E(x)), or searches for low energies.

    It has the methods of `dimod.Sampler` (`sample`, `sample_ising`, `sample_qubo`), so that it can
    take the place of other samplers and be used inside dimod's composites. Needs dimod.

    Examples
    --------
    >>> import dimod
    >>> bqm = dimod.BinaryQuadraticModel({"a": -1.0}, {("a", "b"): 1.0}, 0.0, "SPIN")
    >>> found = hd.qubo.HerdedSampler().sample(bqm, num_reads=4, seed=1)
    >>> float(found.first.energy)
    -2.0
    >>> {label: int(spin) for label, spin in found.first.sample.items()}
    {'a': 1, 'b': -1}
    """

    def __init__(self) -> None:
        self._properties = {
            "beta_schedule_options": KINDS,
            "initial_states_generators": GENERATORS,
        }

    @property
    def properties(self) -> dict[str, Any]:
        """The values that some parameters of `sample` can take."""
        return self._properties

    @property
    def parameters(self) -> dict[str, list[str]]:
        """The names that `sample` takes, each with the properties that bear on it."""
        plain = ("num_reads", "num_sweeps", "beta", "beta_range", "seed", "initial_states")
        return {
            **{name: [] for name in plain},
            "beta_schedule_type": ["beta_schedule_options"],
            "initial_states_generator": ["initial_states_generators"],
        }

    def sample(
        self,
        bqm: Any,
        *,
        num_reads: int | None = None,
        num_sweeps: int = 1000,
        beta: float | None = None,
        beta_range: tuple[float, float] | None = None,
        beta_schedule_type: str = "geometric",
        seed: int | None = None,
        initial_states: Any = None,
        initial_states_generator: str = "random",
        **unknown: Any,
    ) -> Any:
        """States of a quadratic model, each the end of a chain of its own.

        Parameters
        ----------
        bqm : dimod.BinaryQuadraticModel
        num_reads : int, optional
            The number of chains; by default 1, or one for every initial state. Ctrl-C ends the
            sweep that they are in, and the reads so far are returned.
        num_sweeps : int
            Visits of every variable in each read.
        beta : float, optional
            Sample at this inverse temperature.
        beta_range : (float, float), optional
            Or anneal from beta hot to cold, with the last sweep at temperature 0. This is the
            default, with a range that fits the biases.
        beta_schedule_type : "geometric" or "linear"
            How beta rises.
        seed : int, optional
            From 0 to 2^32 - 1; the same seed gives the same reads. By default one is drawn, and
            reported in `info`.
        initial_states : samples-like, optional
            Samples to start from.
        initial_states_generator : "random", "tile" or "none"
            What to do where there are fewer of them than reads: add random ones, repeat them, or
            raise an error.

        Returns
        -------
        dimod.SampleSet
            In the order of the reads. `info` has the method, its parameters and the time it took.

        Raises
        ------
        ModelError
            If `bqm` is something else, or the initial states do not fit it.
        MethodError
            If a parameter is out of range.

        Examples
        --------
        >>> sampler = hd.qubo.HerdedSampler()
        >>> found = sampler.sample_qubo({(0, 0): -1, (1, 1): -1, (0, 1): 2}, num_reads=3, seed=0)
        >>> float(found.first.energy)
        -1.0
        """
        began = time.perf_counter_ns()
        self.remove_unknown_kwargs(**unknown)
        if not isinstance(bqm, dimod.BinaryQuadraticModel):
            raise ModelError(
                f"expected a dimod.BinaryQuadraticModel, got {type(bqm).__name__}: use sample_qubo "
                "or sample_ising for dictionaries"
            )
        if not is_whole(num_sweeps, 1):
            raise MethodError(
                f"expected num_sweeps as a whole number of 1 or more, got {num_sweeps!r}"
            )
        sweeps, seed = int(num_sweeps), _checked_seed(seed)
        starts = self._starts(bqm, num_reads, initial_states, initial_states_generator, seed)
        method, info = _method(bqm, beta, beta_range, beta_schedule_type, seed)
        model = _model(bqm, 1.0 if beta is None else beta)
        ready = time.perf_counter_ns()
        reads, interrupted = starts, False
        if model is not None:
            reads, interrupted = _run(model, method, starts, sweeps)
        sampled = time.perf_counter_ns()
        values = np.array(VALUES[bqm.vartype.name], np.int8)[reads]
        found = dimod.SampleSet.from_samples_bqm((values, list(bqm.variables)), bqm)
        info |= {"num_sweeps": sweeps, "seed": seed, "interrupted": interrupted}
        timing = {
            "preprocessing_ns": ready - began,
            "sampling_ns": sampled - ready,
            "postprocessing_ns": time.perf_counter_ns() - sampled,
        }
        found.info.update(info, timing=timing)
        return found

    def _starts(
        self, bqm: Any, num_reads: int | None, initial_states: Any, generator: str, seed: int
    ) -> np.ndarray:
        """(reads, N) states 0 and 1, in the order of the model's variables."""
        if not (num_reads is None or is_whole(num_reads, 1)):
            raise MethodError(
                f"expected num_reads as a whole number of 1 or more, got {num_reads!r}"
            )
        if generator not in GENERATORS:
            raise MethodError(
                f"expected initial_states_generator to be one of {', '.join(GENERATORS)}, got "
                f"{generator!r}"
            )
        try:
            parsed = self.parse_initial_states(bqm, initial_states, generator, num_reads, seed)
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"expected initial_states as samples of the model's variables, got others ({error})"
            ) from error
        given = parsed.initial_states
        columns = [given.variables.index(label) for label in bqm.variables]
        found: np.ndarray = (given.record.sample[:, columns] == 1).astype(np.int64)
        return found


def _checked_seed(seed: int | None) -> int:
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if not is_whole(seed, 0) or int(seed) >= SEEDS:
        raise MethodError(f"expected seed as a whole number from 0 to 2^32 - 1, got {seed!r}")
    return int(seed)


def _model(bqm: Any, beta: float) -> FactorGraph | None:
    """The model, or None if there are no variables. Labels are replaced by numbers."""
    if not bqm.num_variables:
        return None
    numbered, _ = bqm.relabel_variables_as_integers(inplace=False)
    return from_bqm(numbered, beta=beta)


def _method(
    bqm: Any, beta: float | None, beta_range: tuple[float, float] | None, kind: str, seed: int
) -> tuple[HerdedGibbs, dict[str, Any]]:
    """The method, and its part of `info`."""
    if beta is None:
        schedule = cooling(bqm, beta_range, kind)
        annealed = HerdedGibbs("pooled", seed=seed, schedule=schedule)
        return annealed, {
            "method": repr(annealed),
            "beta_range": (schedule.hot, schedule.cold),
            "beta_schedule_type": kind,
        }
    if beta_range is not None:
        raise MethodError(
            "expected beta or beta_range, got both: beta samples at one temperature, beta_range "
            "anneals"
        )
    if not is_between(beta, 0, sys.float_info.max):
        raise MethodError(f"expected beta as a finite number of 0 or more, got {beta!r}")
    sampler = HerdedGibbs("lazy", seed=seed)
    return sampler, {"method": repr(sampler), "beta": float(beta)}


def _run(
    model: FactorGraph, method: HerdedGibbs, starts: np.ndarray, sweeps: int
) -> tuple[np.ndarray, bool]:
    """Where the chains from `starts` end, and whether they were interrupted."""
    layout = method.compile(model)
    together = _side_by_side(layout, method, sweeps)
    ends, interrupted = [], False
    with interruptible():  # brief runs do not handle Ctrl-C by themselves
        for first in range(0, len(starts), together):
            part = starts[first : first + together]
            result = infer(
                model,
                replace(method, seed=method.seed + SEEDS * first),
                sweeps=sweeps,
                chains=len(part),
                keep=[],
                start=part,
                progress=False,
                layout=layout,
            )
            ends += [layout.values(state)[0] for state in result.state]
            if interrupted := result.provenance["interrupted"]:
                break
    return np.stack(ends), interrupted


def _side_by_side(layout: Layout, method: HerdedGibbs, sweeps: int) -> int:
    visits = layout.model.n_variables * sweeps
    needed = layout.chain_memory + min(visits, BLOCK)
    if layout.grows:
        needed += CONTEXT_BYTES * min(visits, method.max_weights)
    return max(1, min(MOST_TOGETHER, int(ROOM // needed)))
