"""The result of `infer`: plain arrays and their provenance."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from herded.errors import MethodError, ModelError, NotKeptError
from herded.methods.protocol import sampler_capabilities
from herded.models.naming import named_row, named_state, variable_index
from herded.run.diagnostics.intervals import (
    correlated_margins,
    half_widths,
    open_states,
    rare_margins,
)
from herded.system.argument_checks import short_repr
from herded.system.diagnostics.diagnostic import Diagnostic

if TYPE_CHECKING:
    from herded.run.observables.result import Observed

Kept = TypeVar("Kept")

MIN_SAMPLES = 10  # recorded by each chain or herd, for an interval: few may agree by chance


@dataclass(frozen=True)
class BestStateResult:
    """A state and the log of its unnormalised probability."""

    state: np.ndarray  # the model's shape
    log_score: float
    model: Any = field(default=None, repr=False)

    @property
    def named(self) -> dict[Any, Any]:
        """The state of every variable, by name where variables and states have names."""
        return named_state(self.model, self.state)


@dataclass(frozen=True)
class PairMarginalTables:
    """Pair marginals: tables[e] belongs to the variables edges[e]."""

    edges: np.ndarray  # (E, 2)
    tables: Sequence[np.ndarray]  # E, each with the states of one variable by those of the other
    model: Any = field(default=None, repr=False)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Return the pairs."""
        return iter(tuple(map(tuple, self.edges.tolist())))

    def __len__(self) -> int:
        return len(self.edges)

    def __getitem__(self, pair: tuple[Any, Any]) -> np.ndarray:
        """Return the table of two variables, by number, name or pixel."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ModelError(
                f"expected a pair of variables, such as [0, 1], got {short_repr(pair)}"
            )
        i, j = (variable_index(self.model, key) for key in pair)
        for a, b, flip in ((i, j, False), (j, i, True)):
            found = np.flatnonzero((self.edges[:, 0] == a) & (self.edges[:, 1] == b))
            if len(found):
                table = self.tables[found[0]]
                return np.transpose(table) if flip else table
        raise KeyError(f"the pair {pair} was not kept")


@dataclass(frozen=True)
class ErrorCurveResult:
    """Errors (chains, points) after each of `sweeps` (points,)."""

    sweeps: np.ndarray
    errors: np.ndarray


def truncate_curve(
    points: np.ndarray, errors: np.ndarray, sweeps: int, done: int
) -> ErrorCurveResult:
    """Return the errors at the points that an interrupted run has reached."""
    reached = points <= min(done, sweeps)
    return ErrorCurveResult(points[reached], errors[:, reached])


class LogZEstimate(NamedTuple):
    """An estimate of log Z by a ladder, with its interval."""

    log_z: float
    margin: float  # of a 99 % interval, to each side
    upwards: float  # from each rung to the next, colder one
    downwards: float
    halves: tuple[float, float]  # of the run


@dataclass(frozen=True, repr=False)
class Result:
    """The result of `infer`; errors for what was not kept say how to keep it.

    Examples
    --------
    >>> pair = hd.FactorGraph([2, 2], [((0, 1), [[1.0, 0.0], [0.0, 1.0]])])
    >>> result = hd.infer(pair, hd.Exact())
    >>> result.marginals.round(3)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    >>> round(result.log_z, 4), result.converged
    (2.0064, True)
    """

    shape: tuple[int, ...]  # of the variables
    sweeps: int  # recorded, per chain
    converged: bool | None  # of a solver; a sampler has no such moment
    provenance: dict[str, Any]
    state: tuple[Any, ...] = field(default=(), repr=False)  # continue with infer(start=...)
    kept: dict[str, Any] = field(default_factory=dict, repr=False)
    model: Any = field(default=None, repr=False)  # what it is a result for: names, scores
    diagnostics: tuple[Diagnostic, ...] = ()  # why not to trust it; silence proves nothing
    method: Any = field(default=None, repr=False)  # what was run; its text is in `provenance`
    reason: str = field(default="", repr=False)  # why, where the method was not given
    # `AttemptReport`s, where several were tried
    escalation: tuple[Any, ...] = field(default=(), repr=False)
    later: Callable[[str], dict[str, Any]] | None = field(default=None, repr=False)  # finds more

    @property
    def warnings(self) -> tuple[str, ...]:
        """The diagnostics as sentences."""
        return tuple(one.message for one in self.diagnostics)

    def __repr__(self) -> str:
        from herded.run.export.formatting import result_text  # late for the start-up time

        return result_text(self)

    def _repr_html_(self) -> str:
        from herded.run.export.formatting import result_html  # late for the start-up time

        return result_html(self)

    def _get(self, kind: type[Kept], name: str, remedy: str, key: str | None = None) -> Kept:
        """Return the record `name`, stored under `key` if not under its name."""
        found: Kept | None = self.kept.get(key or name)
        if found is None and self.later is not None:
            new = self.later(key or name)
            self.kept.update({name: value for name, value in new.items() if value is not None})
            found = self.kept.get(key or name)
        if found is None:
            raise NotKeptError(f"expected {name} to be kept, but got none: {remedy}")
        return found

    @property
    def marginals(self) -> np.ndarray:
        """P(x_i = k), shape (N, K), or (H, W, K) for a picture; zero beyond a cardinality."""
        return self._shaped(self.chain_marginals.mean(axis=0))

    @property
    def chain_marginals(self) -> np.ndarray:
        """The marginals of each chain, (chains, N, K)."""
        remedy = "pass keep=[Marginals()], and a method that gives them"
        return self._get(np.ndarray, "marginals", remedy, "chain_marginals")

    def marginal(self, variable: Hashable) -> dict[Any, float]:
        """Return P(x_i = k) of one variable, by name, number or pixel, as states and values.

        Examples
        --------
        >>> rain = hd.FactorGraph(
        ...     [2], [((0,), np.log([0.75, 0.25]))], names=["rain"], state_names=[["no", "yes"]]
        ... )
        >>> result = hd.infer(rain, hd.Exact())
        >>> round(result.marginal("rain")["yes"], 6)
        0.25
        """
        i, tables = variable_index(self.model, variable), self.chain_marginals
        return named_row(self.model, i, tables[:, i].mean(axis=0))

    @property
    def frequencies(self) -> np.ndarray:
        """Visit frequencies, the paper's estimator, also where marginals are Rao-Blackwellised."""
        remedy = "pass keep=[Marginals()] to a sampler"
        counts = self._get(np.ndarray, "frequencies", remedy, "chain_frequencies")
        return self._shaped(counts.mean(axis=0))

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the marginals from the spread of the chains; it excludes bias.

        Chains that are wrong together, by a bias of herding on sparse graphs or by a mode none of
        them has visited, agree, and this number cannot see it.
        """
        chains = self.chain_marginals
        if self.converged is not None:
            raise MethodError(
                "expected the result of a sampler for a standard error, got that of "
                f"{type(self.method).__name__}, which draws nothing"
            )
        if len(chains) < 2:
            raise MethodError(
                "expected at least 2 chains for a standard error, got 1: pass chains=4"
            )
        members = self.provenance.get("members", 1)
        if self.sweeps * members < MIN_SAMPLES:
            raise MethodError(
                f"expected at least {MIN_SAMPLES} recorded samples of each chain or herd for a "
                f"standard error, got {self.sweeps * members}, after which chains may agree by "
                "chance: use more sweeps"
            )
        own = sampler_capabilities(self.method)
        fresh = own.members > 1 and not own.herds_in_time
        if not fresh and (chains == chains[0]).all():  # herds may: symmetry makes answers exact
            raise MethodError(
                "expected chains that differ, got identical ones, without any spread: use "
                "more sweeps, or a method with random phases or draws"
            )
        return self._shaped(chains.std(axis=0, ddof=1) / np.sqrt(len(chains)))

    @property
    def interval(self) -> np.ndarray:
        """95 % intervals of the marginals, (N, K, 2): the lower and the upper end.

        Standard errors times Student's t for the number of chains or herds (3.18 for four),
        within 0 and 1. Of states that were visited a few times, or never, they have room for what
        chance may have missed (`[0, 0.0008]` of one never seen in 10,000 samples). Those of single
        chains are no narrower than their autocorrelation times allow. They hold once
        the burn-in is over. Long runs that herd in time are compared with a control, and their
        intervals reach as far as it is away; those of shorter ones exclude bias as `standard_error`
        does.
        """
        self.standard_error  # noqa: B018 which refuses what has none
        reach = self._shaped(self.half_widths())
        ends: np.ndarray = np.stack([self.marginals - reach, self.marginals + reach], axis=-1)
        return ends.clip(0.0, 1.0)

    def half_widths(self) -> np.ndarray:
        """Return the half-widths of 95 % intervals, (N, K); see `interval`."""
        found = half_widths(self.chain_marginals, self.kept.get("control"))
        counted = self.kept.get("chain_frequencies")
        if counted is None:
            return found
        members = self.provenance.get("members", 1)
        samples = len(counted) * self.sweeps * members
        frequencies = counted.mean(axis=0)
        rare = rare_margins(frequencies, samples, open_states(self.model))
        wider: np.ndarray = np.maximum(found, rare)
        times = self.kept.get("times")
        herds_in_time = sampler_capabilities(self.method).herds_in_time
        if times is not None and members == 1 and not herds_in_time:
            is_averaged = counted is not self.chain_marginals
            correlated = correlated_margins(frequencies, samples, times, is_averaged)
            np.maximum(wider, correlated, out=wider)
        return wider

    @property
    def best(self) -> BestStateResult:
        """The best state found, each connected component at its best."""
        return self._get(
            BestStateResult,
            "best",
            "pass keep=[BestState()] to a sampler, or use Viterbi() or Exact()",
        )

    @property
    def samples(self) -> np.ndarray:
        """The recorded states, (chains, draws, N)."""
        return self._get(np.ndarray, "samples", "pass keep=[Samples(every=10)] to a sampler")

    @property
    def pair_marginals(self) -> PairMarginalTables:
        """P(x_i = a, x_j = b) of pairs of variables."""
        remedy = "pass keep=[PairMarginals()] to a sampler, or use Exact()"
        return self._get(PairMarginalTables, "pair_marginals", remedy, "pairs")

    @property
    def joint(self) -> np.ndarray:
        """The joint distribution, one axis per variable."""
        return self._get(
            np.ndarray, "joint", "pass keep=[Joint()] to a sampler, or use a smaller model"
        )

    @property
    def observables(self) -> "Mapping[str, Observed]":
        """The averages of functions of the states, by name."""
        remedy = "pass keep=[Observable(energy)] to a sampler"
        found: Mapping[str, Observed] = self._get(dict, "observables", remedy)
        return found

    @property
    def curve(self) -> ErrorCurveResult:
        """The error against a reference during the run."""
        return self._get(ErrorCurveResult, "curve", "pass keep=[ErrorCurve(reference)]")

    @property
    def log_z(self) -> float:
        """The log of the normalising constant.

        Exact, a bound (mean field), Bethe's estimate, or bridged by a ladder, with an interval.
        """
        remedy = (
            "use Exact(), Tempered(rungs=16, hottest_beta=0), MeanField() or BeliefPropagation()"
        )
        return self._get(float, "log_z", remedy)

    @property
    def log_z_interval(self) -> tuple[float, float]:
        """A 99 % interval of log Z by a ladder: its lower and its upper end.

        It holds once the burn-in is over; `warnings` reports signs to the contrary.
        """
        remedy = "use Tempered(rungs=16, hottest_beta=0)"
        found = self._get(LogZEstimate, "log_z_interval", remedy, "bridged")
        return found.log_z - found.margin, found.log_z + found.margin

    def plot(self) -> Any:
        """Plot what was kept: marginals, else observables, samples, or the error curve.

        A matplotlib figure, which notebooks show and `savefig` writes. `hd.plot` has each of them.
        """
        from herded import plot  # late for the start-up time

        for name, draw in (
            ("chain_marginals", plot.marginals),
            ("observables", plot.series),
            ("samples", plot.samples),
            ("curve", plot.curve),
        ):
            if self.kept.get(name) is not None:
                return draw(self)
        raise NotKeptError(
            "expected kept marginals, observables or samples to plot, got none: pass "
            "keep=[Marginals()]"
        )

    def to_pandas(self) -> Any:
        """Return the marginals as a table: a row for each state of each variable, by name.

        Columns are `variable` (`row` and `column` of a picture), `state`, `probability`, and with
        several chains `standard_error`, `low` and `high`, the ends of a 95 % interval
        (`standard_error` says what they are worth), NaN where there is none to be had.
        """
        from herded.run.export.pandas_xarray import to_pandas  # late for the start-up time

        return to_pandas(self)

    def to_xarray(self, *, log_score: bool = True) -> Any:
        """Return samples, marginals and best state that were kept, as an `xarray.DataTree`.

        posterior     x: the kept samples (chain, draw, node), pictures (chain, draw, row,
                      column); a node is a variable of the model
        sample_stats  sweep of each draw after the burn-in, and its log_score unless that is off
        marginals     marginal (node, state); with several chains chain_marginal and
                      standard_error. NaN for states that a variable does not have
        best          x: the best state, and its log_score

        Attributes say where it came from. `tree.to_netcdf(file)` and `tree.to_zarr(folder)` write
        it; ArviZ reads what they wrote.
        """
        from herded.run.export.pandas_xarray import to_xarray  # late for the start-up time

        return to_xarray(self, log_score=log_score)

    def _shaped(self, table: np.ndarray) -> np.ndarray:
        return table.reshape(*self.shape, table.shape[-1])
