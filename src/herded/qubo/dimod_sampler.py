"""A dimod sampler, HerdedSampler, backed by herds of Gibbs chains.

Reads are the members of herds (`draws.systematic`), each exactly a Gibbs chain. They are moved
together, which takes a fraction of the time, at a fixed or a falling temperature.
"""

import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from herded.errors import Interrupted, MethodError, ModelError, missing_extra_error
from herded.layouts.base import SweepableLayout
from herded.methods.gibbs import Gibbs
from herded.models.convert.bqm import VALUES_BY_VARTYPE, drop_names
from herded.qubo.beta_schedule import SCHEDULE_KINDS, BetaSchedule, make_beta_schedule
from herded.qubo.spin_biases import SpinBiases, read_biases
from herded.run.build_result import full_repr
from herded.run.interrupts import interrupt_without_result, stop_event_on_interrupt
from herded.run.query import KeepOptions
from herded.run.run_loop import run_until_done
from herded.run.sampler_run import SamplerRun
from herded.system.argument_checks import is_number_between, is_whole_number
from herded.system.interrupts import NO_PART

try:
    import dimod
except ImportError as error:
    raise missing_extra_error("dimod", "HerdedSampler", "dimod") from error

GENERATORS = ("none", "tile", "random")
N_SEEDS = 2**32  # dimod uses NumPy's old generator, which takes no larger seeds

MAX_HERD_MEMBERS = 64  # the bits of a word; herds of several words gain nothing
# even for one read, since layouts of herds are faster when the temperature falls
MIN_HERD_MEMBERS = 2
MAX_PARALLEL_BYTES = 2**28  # bytes of herds that run in parallel


class HerdedSampler(dimod.Sampler, dimod.Initialized):
    """A dimod sampler: samples from exp(-beta E(x)), or searches for low energies.

    It has the methods of `dimod.Sampler` (`sample`, `sample_ising`, `sample_qubo`), so it can
    replace other samplers and be used inside dimod's composites. It needs dimod.

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
            "beta_schedule_options": SCHEDULE_KINDS,
            "initial_states_generators": GENERATORS,
        }

    @property
    def properties(self) -> dict[str, Any]:
        """The values that some parameters of `sample` can take."""
        return self._properties

    @property
    def parameters(self) -> dict[str, list[str]]:
        """The parameters of `sample`, each with the properties related to it."""
        plain = ("num_reads", "num_sweeps", "beta", "beta_range", "seed", "initial_states")
        return {
            **{name: [] for name in plain},
            "beta_schedule_type": ["beta_schedule_options"],
            "initial_states_generator": ["initial_states_generators"],
        }

    @interrupt_without_result()
    def sample(
        self,
        bqm: Any,
        *,
        num_reads: int | None = None,
        num_sweeps: int = 1000,
        beta: float | None = None,
        beta_range: tuple[float, float] | None = None,
        beta_schedule_type: str = "mixed",
        seed: int | None = None,
        initial_states: object = None,
        initial_states_generator: str = "random",
        **unknown: object,
    ) -> Any:
        """Draw states of a quadratic model, each the end of a Gibbs chain.

        Parameters
        ----------
        bqm : dimod.BinaryQuadraticModel
        num_reads : int, optional
            The number of chains; by default 1, or one for every initial state. They are members of
            herds, at most 64 in each.
        num_sweeps : int
            The number of visits of every variable in each read.
        beta : float, optional
            The inverse temperature to sample at.
        beta_range : (float, float), optional
            The inverse temperatures (hot, cold) to anneal between, with the last sweep at
            temperature 0. Annealing is the default, with a range that suits the biases.
        beta_schedule_type : "mixed", "geometric" or "linear"
            How beta rises. With "mixed", 1 / beta falls linearly first, then geometrically.
        seed : int, optional
            From 0 to 2^32 - 1; the same seed gives the same reads. By default a random seed is
            drawn and reported in `info`.
        initial_states : samples-like, optional
            Samples to start from.
        initial_states_generator : "random", "tile" or "none"
            What to do if there are fewer initial states than reads: add random ones, repeat them,
            or raise an error.

        Returns
        -------
        dimod.SampleSet
            In the order of the reads. `info` has the method, its parameters and the time taken.

        Raises
        ------
        ModelError
            If `bqm` is something else, or the initial states do not fit it.
        MethodError
            If a parameter is out of range.
        Interrupted
            After Ctrl-C: a KeyboardInterrupt whose `result` has the reads so far. If they ended
            before their last sweep, its `info["interrupted"]` is True.

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
        if not is_whole_number(num_sweeps, 1):
            raise MethodError(
                f"expected num_sweeps as a whole number of 1 or more, got {num_sweeps!r}"
            )
        sweeps, seed = int(num_sweeps), _checked_seed(seed)
        starts = self._starts(bqm, num_reads, initial_states, initial_states_generator, seed)
        biases = read_biases(bqm)
        method = _method(biases, beta, beta_range, beta_schedule_type)
        method = replace(method, seed=seed, herd=_members(len(starts)))
        reads, interrupted, stopped, ready = starts, False, False, began
        if bqm.num_variables:
            layout, inside = _compile_layout(bqm, biases, method, beta)
            ready = time.perf_counter_ns()
            reads, interrupted, stopped = _run(layout, inside, starts, sweeps)
        sampled = time.perf_counter_ns()
        values = np.array(VALUES_BY_VARTYPE[bqm.vartype.name], np.int8)[reads]
        found = dimod.SampleSet.from_samples_bqm((values, list(bqm.variables)), bqm)
        info = _method_info(method, beta)
        info |= {"num_sweeps": sweeps, "seed": seed, "interrupted": interrupted}
        timing = {
            "preprocessing_ns": ready - began,
            "sampling_ns": sampled - ready,
            "postprocessing_ns": time.perf_counter_ns() - sampled,
        }
        found.info.update(info, timing=timing)
        if stopped:
            raise Interrupted("interrupted: error.result has the reads so far", found)
        return found

    def _starts(
        self, bqm: Any, num_reads: int | None, initial_states: object, generator: str, seed: int
    ) -> np.ndarray:
        """Return start states 0 and 1 (reads, N), in the order of the model's variables."""
        if not (num_reads is None or is_whole_number(num_reads, 1)):
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
                f"expected initial_states as samples of the model's variables, got: {error}"
            ) from error
        given = parsed.initial_states
        columns = [given.variables.index(label) for label in bqm.variables]
        found: np.ndarray = (given.record.sample[:, columns] == 1).astype(np.uint8)
        return found


def _checked_seed(seed: int | None) -> int:
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if not is_whole_number(seed, 0) or int(seed) >= N_SEEDS:
        raise MethodError(f"expected seed as a whole number from 0 to 2^32 - 1, got {seed!r}")
    return int(seed)


def _method(
    biases: SpinBiases, beta: float | None, beta_range: tuple[float, float] | None, kind: str
) -> Gibbs:
    """Build the method: Gibbs sampling, annealed unless there is a `beta`."""
    if beta is None:
        return Gibbs(schedule=make_beta_schedule(biases, beta_range, kind))
    if beta_range is not None:
        raise MethodError(
            "expected beta or beta_range, got both: beta samples at one temperature, beta_range "
            "anneals"
        )
    if not is_number_between(beta, 0, sys.float_info.max):
        raise MethodError(f"expected beta as a finite number of 0 or more, got {beta!r}")
    return Gibbs()


def _method_info(method: Gibbs, beta: float | None) -> dict[str, Any]:
    """Return the entries of `info` about the method."""
    schedule, found = method.schedule, {"method": full_repr(method)}
    if isinstance(schedule, BetaSchedule):
        range_ = schedule.hot, schedule.cold
        return {**found, "beta_range": range_, "beta_schedule_type": schedule.kind}
    return {**found, "beta": beta}


def _members(reads: int) -> int:
    """Return the members per herd, for as few equal herds as possible; some may be spare."""
    herds = -(-reads // MAX_HERD_MEMBERS)
    return max(MIN_HERD_MEMBERS, -(-reads // herds))


def _compile_layout(
    bqm: Any, biases: SpinBiases, method: Gibbs, beta: float | None
) -> tuple[SweepableLayout, Gibbs]:
    """Build the layout, and the method for it: annealed biases are divided by 2^k."""
    bqm, schedule = bqm.copy(), method.schedule
    bqm.offset = 0.0  # irrelevant for drawing states, and perhaps far larger than all biases
    if not isinstance(schedule, BetaSchedule):
        return method.compile(drop_names(bqm, 1.0 if beta is None else beta)), method
    exponent, whole = biases.fitting_exponent(schedule.cold)
    method = replace(method, schedule=schedule.times(2.0**exponent))
    model = drop_names(bqm, 2.0**-exponent)
    return method.compile(model, kind=None if whole else "factor"), method


def _run(
    layout: SweepableLayout, method: Gibbs, starts: np.ndarray, sweeps: int
) -> tuple[np.ndarray, bool, bool]:
    """Run from `starts`: the final states, whether the run ended early, and whether by Ctrl-C."""
    reads, members = len(starts), layout.members
    herds = -(-reads // members)
    spare = np.repeat(starts[-1:], herds * members - reads, axis=0)
    places = np.concatenate([starts, spare]).reshape(herds, members, -1)
    together = max(1, int(MAX_PARALLEL_BYTES // layout.chain_memory))
    ends, interrupted = [], False
    with stop_event_on_interrupt() as stop:
        for first in range(0, herds, together):
            states = [
                method.init(layout, places[h], chain=h, total=sweeps)
                for h in range(first, min(first + together, herds))
            ]
            run = SamplerRun.prepare(layout, method, KeepOptions(), states, sweeps, 0)
            with run.share_out(None):
                run_until_done(run, nullcontext(stop), progress=False)
            if run.done:  # otherwise these are the start states
                ends += [layout.values(state).astype(np.uint8) for state in states]
            if stop.is_set():
                interrupted = run.interrupted or first + together < herds
                break
        if not ends:
            raise Interrupted(NO_PART)
    return np.concatenate(ends)[:reads], interrupted, stop.is_set()
