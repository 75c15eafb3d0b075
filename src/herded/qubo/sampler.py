"""HerdedSampler: herded Gibbs behind the interface of dimod's samplers.

Reads are chains side by side, each from a start and with weights of its own; a read is where its
chain ends. At a fixed temperature a visit's context has the states of all its neighbours
("lazy"), for then the ends are distributed as the model is; annealing pools contexts, which reaches
lower energies (`python -m benchmarks --only qubo`).
"""

import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

from herded.errors import MethodError, ModelError, missing
from herded.layouts.choose import Plan
from herded.layouts.weights import is_hashed
from herded.methods.annealed_herded_gibbs import AnnealedHerdedGibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.options import is_between, is_whole
from herded.models.convert.bqm import VALUES, from_bqm
from herded.models.factor_graph import FactorGraph
from herded.qubo.cooling import KINDS, cooling
from herded.run.infer import infer
from herded.run.interrupts import interruptible
from herded.run.loop import BLOCK

try:
    import dimod
except ImportError as error:
    raise missing("dimod", "HerdedSampler", "dimod") from error

GENERATORS = ("none", "tile", "random")
SEEDS = 2**32  # dimod draws starts with NumPy's old generator, which takes no larger seeds

# How many reads run side by side: as many as this much memory holds, with all they may come to
# need (a block of samples each, and a slot or two for every context met).
MOST_TOGETHER, ROOM, CONTEXT_BYTES = 64, 2**28, 24

Method = HerdedGibbs | AnnealedHerdedGibbs


class HerdedSampler(dimod.Sampler, dimod.Initialized):
    """Samples from exp(-beta E(x)), or looks for low energies, by herded Gibbs.

    >>> import dimod, herded
    >>> bqm = dimod.BinaryQuadraticModel({"a": -1.0}, {("a", "b"): 1.0}, 0.0, "SPIN")
    >>> herded.HerdedSampler().sample(bqm, num_reads=4, seed=1).first.energy
    -2.0
    """

    def __init__(self) -> None:
        self._properties = {
            "beta_schedule_options": KINDS,
            "initial_states_generators": GENERATORS,
        }

    @property
    def properties(self) -> dict[str, Any]:
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
        """A `dimod.SampleSet` of `num_reads` states, in the order of the reads.

        num_reads    chains, each from a start of its own; by default 1, or one for every initial
                     state. Ctrl-C ends the sweep they are in and gives the reads there are
        num_sweeps   visits of every variable in each read
        beta         sample at this inverse temperature
        beta_range   or anneal from beta hot to cold, and the last sweep at temperature 0: the
                     default, with a range that fits the biases
        beta_schedule_type  "geometric" or "linear", how beta rises
        seed         from 0 to 2^32 - 1; the same seed gives the same reads. Without one a seed is
                     drawn, and told in `info`
        initial_states  samples to start from; if too few for all reads, those missing are made as
                     initial_states_generator says: "random", "tile" (repeat), or "none" (refuse)
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
        method, told = _method(bqm, beta, beta_range, beta_schedule_type, seed)
        model = _model(bqm, 1.0 if beta is None else beta)
        ready = time.perf_counter_ns()
        reads, interrupted = starts, False
        if model is not None:
            reads, interrupted = _run(model, method, starts, sweeps)
        sampled = time.perf_counter_ns()
        values = np.array(VALUES[bqm.vartype.name], np.int8)[reads]
        found = dimod.SampleSet.from_samples_bqm((values, list(bqm.variables)), bqm)
        told |= {"num_sweeps": sweeps, "seed": seed, "interrupted": interrupted}
        timing = {
            "preprocessing_ns": ready - began,
            "sampling_ns": sampled - ready,
            "postprocessing_ns": time.perf_counter_ns() - sampled,
        }
        found.info.update(told, timing=timing)
        return found

    def _starts(
        self, bqm: Any, num_reads: Any, initial_states: Any, generator: Any, seed: int
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
        return (given.record.sample[:, columns] == 1).astype(np.int64)


def _checked_seed(seed: Any) -> int:
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if not is_whole(seed, 0) or int(seed) >= SEEDS:
        raise MethodError(f"expected seed as a whole number from 0 to 2^32 - 1, got {seed!r}")
    return int(seed)


def _model(bqm: Any, beta: float) -> FactorGraph | None:
    """The model, if there are variables: their labels need no names here."""
    if not bqm.num_variables:
        return None
    numbered, _ = bqm.relabel_variables_as_integers(inplace=False)
    return from_bqm(numbered, beta=beta)


def _method(
    bqm: Any, beta: Any, beta_range: Any, kind: Any, seed: int
) -> tuple[Method, dict[str, Any]]:
    """The method, and what `info` is to say of it."""
    if beta is None:
        schedule = cooling(bqm, beta_range, kind)
        annealed = AnnealedHerdedGibbs(schedule, weights="pooled", phases="random", seed=seed)
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
    sampler = HerdedGibbs(weights="lazy", phases="random", seed=seed)
    return sampler, {"method": repr(sampler), "beta": float(beta)}


def _run(
    model: FactorGraph, method: Method, starts: np.ndarray, sweeps: int
) -> tuple[np.ndarray, bool]:
    """Where the chains from `starts` end, and whether they were interrupted."""
    plan = method.compile(model)
    together = _side_by_side(plan, method, sweeps)
    ends, interrupted = [], False
    with interruptible():  # also where each run is so brief that it would not care
        for first in range(0, len(starts), together):
            part = starts[first : first + together]
            result = infer(
                model,
                replace(method, seed=method.seed + SEEDS * first),
                sweeps=sweeps,
                chains=len(part),
                keep=[],
                state=part,
                progress=False,
                plan=plan,
            )
            ends += [state.values(plan) for state in result.state]
            if interrupted := result.provenance["interrupted"]:
                break
    return np.stack(ends), interrupted


def _side_by_side(plan: Plan, method: Method, sweeps: int) -> int:
    visits = plan.model.n_variables * sweeps
    needed = plan.chain_memory + min(visits, BLOCK)
    if is_hashed(method.weights, plan.kind):
        needed += CONTEXT_BYTES * min(visits, method.max_weights)
    return max(1, min(MOST_TOGETHER, int(ROOM // needed)))
