"""The result of an observable: its mean, its interval and its series."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from herded.errors import MethodError, NotKeptError
from herded.methods.protocol import sampler_capabilities
from herded.methods.schedule import is_annealed
from herded.run.diagnostics.autocorrelation import autocorrelation_times
from herded.run.diagnostics.intervals import t_quantile_95
from herded.run.observables.recorder import Observables
from herded.run.recording.growing_arrays import join_chains
from herded.run.sampler_run import SamplerRun
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.suggestions import did_you_mean

MIN_AUTOCORRELATION_TIMES = 10  # autocorrelation times that a series must last to tell one


class ObservableMapping(dict[str, "Observed"]):
    """Observables by name; the error for an unknown name lists the known ones."""

    def __missing__(self, name: str) -> "Observed":
        hint = did_you_mean(name, list(self))
        known = ", ".join(map(repr, self)) or "that were measured (none were)"
        raise NotKeptError(f"expected one of the observables {known}, got {name!r}{hint}")


@dataclass(frozen=True, eq=False)
class Observed:
    """The result of an observable.

    Attributes
    ----------
    name : str
    every : int
        Sweeps from one value to the next.
    chain_means : ndarray of shape (chains, ...)
        The means of independent chains, or of herds.
    members : int
        Of each herd; 1 of chains that are none.
    diagnostics : tuple of Diagnostic
        Why the run is not to be trusted: the warnings among `result.diagnostics`, such as chains
        that disagree, or members that are still where they began.

    Examples
    --------
    >>> model = hd.ising_grid(np.zeros((4, 4)), 0.2)
    >>> keep = [hd.Observable(hd.energy)]
    >>> result = hd.infer(model, hd.Gibbs(herd=64), sweeps=400, burn_in=40, chains=4, keep=keep)
    >>> energy = result.observables["energy"]
    >>> abs(energy.mean + 1.0) < 0.1, energy.interval.shape
    (True, (2,))
    >>> energy.series.shape, 1 < energy.autocorrelation_time < 3
    ((256, 400), True)
    """

    name: str
    every: int
    chain_means: np.ndarray
    members: int
    diagnostics: tuple[Diagnostic, ...] = field(default=(), repr=False)
    values: np.ndarray | None = field(default=None, repr=False)  # (chains, draws, ...)
    no_time: str = field(default="", repr=False)  # why an autocorrelation time would mean nothing

    @property
    def mean(self) -> Any:
        """The average over sweeps and chains: a number, or an array."""
        return _as_scalar(self.chain_means.mean(axis=0))

    @property
    def standard_error(self) -> Any:
        """The standard error of the mean, from independent chains or herds; it excludes bias."""
        chains = len(self.chain_means)
        if chains < 2:
            raise MethodError(
                f"expected at least 2 independent chains or herds for a standard error of "
                f"{self.name!r}, got 1: pass chains=4"
            )
        return _as_scalar(self.chain_means.std(axis=0, ddof=1) / np.sqrt(chains))

    @property
    def interval(self) -> Any:
        """The 95 % interval of the mean, (..., 2): the lower and the upper end.

        Standard errors times Student's t for the number of chains or herds (3.18 for four).
        It holds once the burn-in is over, and excludes bias as `standard_error` does. Where there
        are `diagnostics`, the weights of the modes are unknown: then it reaches from
        the least to the greatest mean of a chain, or of a member of a herd, if it is not wider;
        without a series, which tells these, it has no ends.
        """
        error, chains = np.asarray(self.standard_error), len(self.chain_means)
        reach = t_quantile_95(chains) * error
        low, high = self.mean - reach, self.mean + reach
        if self.diagnostics:
            none = np.full_like(error, np.inf)
            means = np.stack([-none, none]) if self.values is None else self.values.mean(axis=1)
            low, high = np.minimum(low, means.min(axis=0)), np.maximum(high, means.max(axis=0))
        return np.stack([low, high], axis=-1)

    @property
    def series(self) -> np.ndarray:
        """The values (chains, draws, ...); members of a herd count as chains, as in samples."""
        if self.values is None:
            raise NotKeptError(
                f"expected a series of {self.name!r}, which was kept without: pass series=True"
            )
        return self.values

    @cached_property
    def autocorrelation_time(self) -> Any:
        """Sweeps: 1 + 2 (the sum of autocorrelations), averaged over chains and members.

        n sweeps of one chain are worth n / time independent samples. Each member of a herd is a
        Gibbs chain and has this time; together they are worth more or less than as many independent
        ones, which `interval` knows. Herding in time has no such number. NaN where a value never
        changes.
        """
        if self.no_time:
            raise MethodError(
                f"expected random draws for an autocorrelation time of {self.name!r}, got "
                f"{self.no_time}: use Gibbs()"
            )
        series = self.series
        flat = np.moveaxis(series.reshape(*series.shape[:2], -1), 1, 0)
        times = autocorrelation_times(flat)
        if len(flat) < MIN_AUTOCORRELATION_TIMES * np.nanmax(times, initial=1.0):
            raise MethodError(
                f"expected a series of at least {MIN_AUTOCORRELATION_TIMES} autocorrelation times "
                f"of {self.name!r}, got {len(flat):,} values, too few for a time of "
                f"{np.nanmax(times, initial=1.0):.3g}: use more sweeps"
            )
        return _as_scalar(self.every * times.reshape(series.shape[2:]))

    def __repr__(self) -> str:
        return f"{self.name}: {self.described()}"

    def described(self) -> str:
        """Describe the mean and its interval in words."""
        return self._mean_and_interval() + (
            "; doubtful, see result.warnings" if self.diagnostics else ""
        )

    def _mean_and_interval(self) -> str:
        chains = len(self.chain_means)
        runs = f"{chains} herds of {self.members}" if self.members > 1 else f"{chains} chains"
        if self.chain_means.ndim > 1:
            shape = " x ".join(map(str, self.chain_means.shape[1:]))
            return f"{shape} means, of {runs}"
        if chains < 2:
            one = "one herd" if self.members > 1 else "one chain"
            return f"{self.mean:.6g}, of {one}: no interval without chains=4"
        low, high = self.interval
        return f"{self.mean:.6g}, 95 % interval {low:.6g} to {high:.6g}, of {runs}"


def _as_scalar(value: np.ndarray) -> Any:
    """Return a number where there is one."""
    return float(value) if np.ndim(value) == 0 else value


def build_observable_results(run: SamplerRun) -> ObservableMapping:
    """Build the current results of the observables of a `SamplerRun`."""
    recorders = [chain.recorders[Observables] for chain in run.chains]
    found = ObservableMapping()
    for k, choice in enumerate(run.keep.each_observable):
        draws = run.recorded // choice.every
        if not draws:
            continue
        means = np.stack([recorder.arrays[f"sums {k}"] for recorder in recorders])
        found[choice.name] = Observed(
            choice.name,
            choice.every,
            means / (draws * run.layout.members),
            run.layout.members,
            values=join_chains(run, Observables, f"series {k}") if choice.series else None,
            no_time=_why_no_time(run.method),
        )
    return found


def with_diagnostics(
    found: ObservableMapping, diagnostics: Sequence[Diagnostic]
) -> ObservableMapping:
    """Return the same observables, with the warnings among the diagnostics of their run."""
    serious = tuple(one for one in diagnostics if one.severity == "warning")
    return ObservableMapping(
        {name: replace(one, diagnostics=serious) for name, one in found.items()}
    )


def _why_no_time(method: object) -> str:
    """Describe draws that are not independent samples from one distribution."""
    if is_annealed(method):
        return "a temperature that falls"
    if sampler_capabilities(method).herds_in_time:
        return f"{type(method).__name__}, whose draws follow from each other"
    return ""
