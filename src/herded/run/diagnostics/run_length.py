"""Checks that a run is long enough for its intervals: autocorrelation times and halves.

An interval from the spread of a few chains holds where each chain is many autocorrelation times
long and past its burn-in. Both are checked on what the run recorded as it went: the trace
(`run/recording/trace.py`) of some variables, pairs and sums of variables, and the series of
observables. A quantity that remembers its past for more than a tenth of the run is reported with
the best lower bound of its autocorrelation time; so is one whose halves differ by more than chance
explains.

`python -m benchmarks.accuracy.calibration run-length` prints how often this finds what is wrong,
and how often it reports what is not.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from herded.models.naming import variable_text
from herded.models.protocol import Model
from herded.run.diagnostics.autocorrelation import WINDOW_TIMES, autocorrelation_times
from herded.run.diagnostics.variable_times import (
    RESOLVED,
    VariableTimes,
    in_sweeps,
    times_around_own_means,
)
from herded.run.recording.trace import TraceRecorder

MIN_TIMES = 10.0  # autocorrelation times that a run should last
FEW_ROWS = 4  # chains, below which a run should last longer: they estimate a time less well
MIN_AVERAGED_MEMBERS = 16  # members of all herds, whose own averages give times
ERROR_SIGMAS = 1.5  # standard errors that make a lower bound of an estimate,
LONG_ERROR_SIGMAS, LONG_LOOKS = 0.5, 64  # for few chains (large errors) after this many looks
MIN_SHOWN = 1.6  # looks: a shorter time is indistinguishable from none
UNRESOLVED_LOOKS = 0.25  # looks: assumed for a time that is too short to resolve
HALVES_SIGMAS = 5.0  # standard errors between two halves that chance does not explain
BINS_PER_SERIES = 64  # into which the series of an observable is averaged
MAX_ENTRIES = 32  # of an array-valued observable, and rows times entries at most
MAX_CELLS = 2**20  # numbers of a series that are looked at
MIN_SERIES_LOOKS = 8
MIN_RARE_LOOKS = 20  # looks at the rarer state of a variable, below which it tells nothing


class TraceSeries(NamedTuple):
    """One or more quantities (looks, rows, quantities) of all chains and members, and names."""

    values: np.ndarray
    spacing: float  # sweeps from one look to the next
    names: tuple[str, ...]
    variables: tuple[tuple[int, ...], ...]  # that each quantity is about
    noise: np.ndarray | None = None  # variance of values that are averages over that of single ones
    is_of_variables: bool = False  # one quantity for each traced variable


class WorstQuantity(NamedTuple):
    """The quantity with the worst figures.

    Attributes
    ----------
    name : str
    variables : tuple
    time : float
        Lower bound of the autocorrelation time, in sweeps.
    halves : tuple
        The means of the first and the second half.
    errors : float
        How many standard errors these are apart.
    others : int
        How many other quantities are above the limit, too.
    wanted_times : float
        Autocorrelation times that the run should last.
    """

    name: str
    variables: tuple[int, ...]
    time: float
    halves: tuple[float, float]
    errors: float
    others: int
    wanted_times: float = MIN_TIMES


class RunLength(NamedTuple):
    """The slowest quantity of a run, and the one whose halves differ most."""

    slow: WorstQuantity | None
    drift: WorstQuantity | None
    time: float  # typical autocorrelation time in sweeps, of the slowest kind of quantity
    times: VariableTimes | None = None  # of traced variables; None of a run of a few sweeps


def assess_length(recorders: Sequence[TraceRecorder], observables: Any, model: Model) -> RunLength:
    """Judge a run by the traces of its chains and by what was kept of observables."""
    found: list[tuple[WorstQuantity, bool, bool]] = []
    longest, variable_times = 0.0, None
    for series in (*_trace_series(recorders, model), *_observable_series(observables)):
        times, bounds = series_times(series)
        if variable_times is None and series.is_of_variables:
            variable_times = _variable_times(series, times, bounds, recorders)
        halves, errors = compare_halves(series, times)
        own = 1.0 if series.noise is None else series.noise
        bounds = bounds * own
        typical = float(np.median(times * own)) if len(times) else 0.0
        typical = typical if typical > RESOLVED else UNRESOLVED_LOOKS * typical
        longest = max(longest, typical * series.spacing)
        looks, rows = series.values.shape[:2]
        least_times = MIN_TIMES * max(FEW_ROWS / rows, 1.0) if rows > 1 else MIN_TIMES
        slow = bounds >= max(looks / least_times, MIN_SHOWN)
        drifts = np.abs(errors) > HALVES_SIGMAS
        for q in np.flatnonzero(slow | drifts):
            finding = WorstQuantity(
                series.names[q],
                series.variables[q],
                float(bounds[q] * series.spacing),
                (float(halves[0, q]), float(halves[1, q])),
                float(abs(errors[q])),
                0,
                least_times,
            )
            found.append((finding, bool(slow[q]), bool(drifts[q])))
    slow_ones = [finding for finding, is_slow, _ in found if is_slow]
    drifting = [finding for finding, _, is_drifting in found if is_drifting]
    return RunLength(
        _worst(slow_ones, key=lambda one: one.time),
        _worst(drifting, key=lambda one: one.errors),
        longest,
        variable_times,
    )


def _variable_times(
    series: TraceSeries, times: np.ndarray, bounds: np.ndarray, recorders: Sequence[TraceRecorder]
) -> VariableTimes:
    """Return the `series_times` of each variable, and times around the means of chains."""
    upper = np.where(bounds > 0, times * times / np.where(bounds > 0, bounds, 1.0), 0.0)
    upper = np.where(times >= RESOLVED, upper, 0.0)  # else nothing is known but that it is short
    variables = recorders[0].variables
    own = times_around_own_means(series.values, len(recorders), series.spacing)
    return VariableTimes(variables, in_sweeps(upper, series.spacing, 0.0), own)


def _worst(
    found: list[WorstQuantity], key: Callable[[WorstQuantity], float]
) -> WorstQuantity | None:
    return max(found, key=key)._replace(others=len(found) - 1) if found else None


# -- figures of a series ---------------------------------------------------------------------------


def series_times(series: TraceSeries) -> tuple[np.ndarray, np.ndarray]:
    """Return autocorrelation times of quantities in looks, and lower bounds; 0 if unknown.

    Of many members a time follows from how much their averages differ: by a fraction 1 / n of the
    variance for n independent looks, by all of it for chains that never move. Of few chains it is
    the sum of autocorrelations.
    """
    values, looks = series.values, len(series.values)
    rows, n = values.shape[1:]
    if looks < MIN_SERIES_LOOKS or not n:
        return np.zeros(n), np.zeros(n)
    if rows >= MIN_AVERAGED_MEMBERS:
        times = _times_between(values)
        error = np.full(n, ERROR_SIGMAS * np.sqrt(2.0 / (rows - 1)))
    else:
        times = np.nan_to_num(autocorrelation_times(np.asarray(values, np.float64)))
        window = np.minimum(WINDOW_TIMES * times, looks / 2)
        errors = LONG_ERROR_SIGMAS if looks >= LONG_LOOKS else ERROR_SIGMAS
        error = errors * np.sqrt(2.0 * (2.0 * window + 1.0) / (looks * rows))
    times = np.where(_tells(values), times, 0.0)
    return times, times / (1.0 + error)


def _times_between(values: np.ndarray) -> np.ndarray:
    """Return looks times the fraction of the variance between the averages of rows."""
    looks = len(values)
    squares = _squares(values)
    means = _sums(values) / looks
    total = squares / (looks * values.shape[1]) - means.mean(axis=0) ** 2
    changes = total > 1e-12 * np.maximum(squares / (looks * values.shape[1]), 1e-300)
    between = means.var(axis=0, ddof=1)
    times: np.ndarray = np.where(changes, looks * between / np.where(changes, total, 1.0), 0.0)
    bounded: np.ndarray = np.where(changes, np.maximum(times, 1.0), 0.0)
    return bounded


def _is_binary(values: np.ndarray) -> bool:
    return values.dtype == np.uint8 and int(values.max(initial=0)) < 2


def _sums(values: np.ndarray) -> np.ndarray:
    """Sum over looks, (rows, quantities); bits are summed as bytes, ten times as fast."""
    if len(values) < 256 and _is_binary(values):
        return np.asarray(values.sum(axis=0, dtype=np.uint8), np.float64)
    kind = np.int64 if values.dtype.kind in "ui" else np.float64
    return np.asarray(values.sum(axis=0, dtype=kind), np.float64)


def _squares(values: np.ndarray) -> np.ndarray:
    """Sum squares over looks and rows."""
    if _is_binary(values):
        return np.asarray(_sums(values).sum(axis=0))
    wide = values.astype(np.float64)
    return np.asarray(np.einsum("lrq,lrq->q", wide, wide))


def _tells(values: np.ndarray) -> np.ndarray:
    """Return which quantities were seen apart from their usual value often enough."""
    if values.dtype != np.uint8:
        return np.ones(values.shape[2], bool)
    total = values.shape[0] * values.shape[1]
    if _is_binary(values):
        apart = _sums(values).sum(axis=0)
    else:
        usual = np.median(values[:, :1].reshape(-1, values.shape[2]), axis=0).astype(np.uint8)
        apart = (values != usual).sum(axis=(0, 1))
    return np.asarray(np.minimum(apart, total - apart) >= MIN_RARE_LOOKS)


def compare_halves(series: TraceSeries, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the means (2, quantities) of both halves, and how many standard errors they are apart.

    The standard error is the larger of two: from how differently rows change, and from the
    variance and the autocorrelation time.
    """
    values, half = series.values, len(series.values) // 2
    rows, n = values.shape[1:]
    if half < MIN_SERIES_LOOKS // 2 or not n:
        return np.zeros((2, n)), np.zeros(n)
    first, second = (_sums(part) / half for part in (values[:half], values[-half:]))
    means = np.stack([first.mean(axis=0), second.mean(axis=0)])
    variance = np.maximum(_squares(values) / (len(values) * rows) - means.mean(axis=0) ** 2, 0.0)
    error = np.sqrt(4.0 * variance * np.maximum(times, 1.0) / (2 * half * rows))
    if rows >= MIN_AVERAGED_MEMBERS:
        error = np.maximum(error, (second - first).std(axis=0, ddof=1) / np.sqrt(rows))
    apart = means[1] - means[0]
    known = (error > 0) & (times > 0)
    return means, np.where(known, apart / np.where(known, error, 1.0), 0.0)


def _variance(bins: np.ndarray) -> np.ndarray:
    """Return the variance of values (bins, looks, rows, entries) of each entry.

    Bin by bin: NumPy's `var` copies all values, which may fill the memory that is left.
    """
    mean = sum(part.mean(axis=(0, 1)) for part in bins) / len(bins)
    squares = sum(np.square(part - mean).mean(axis=(0, 1)) for part in bins)
    return np.asarray(squares / len(bins))


def bytes_of_bins(draws: int, rows: int, entries: int) -> float:
    """Return the memory needed to judge a run by the series of an observable."""
    entries = min(entries, MAX_ENTRIES)
    cells, length = float(rows * entries), max(1, draws // BINS_PER_SERIES)
    if cells * BINS_PER_SERIES > MAX_CELLS:
        return 0.0
    return 3 * 8.0 * cells * (draws // length + length)


# -- what there is to look at ----------------------------------------------------------------------


def _trace_series(recorders: Sequence[TraceRecorder], model: Model) -> Iterator[TraceSeries]:
    """Yield variables, their recorded pairs, and sums of variables."""
    looks = np.concatenate([recorder.looks() for recorder in recorders], axis=1)
    if len(looks) < MIN_SERIES_LOOKS or not looks.shape[2]:
        return
    variables, pairs = recorders[0].variables, recorders[0].pairs
    spacing = float(recorders[0].arrays["every"][0])
    yield TraceSeries(
        looks,
        spacing,
        tuple(f"variable {variable_text(model, int(i))}" for i in variables),
        tuple((int(i),) for i in variables),
        is_of_variables=True,
    )
    if len(pairs):
        alike = (looks[:, :, pairs[:, 0]] == looks[:, :, pairs[:, 1]]).view(np.uint8)
        ends = variables[pairs]
        yield TraceSeries(
            alike,
            spacing,
            tuple(
                f"the pair {variable_text(model, int(i))}, {variable_text(model, int(j))}"
                for i, j in ends
            ),
            tuple((int(i), int(j)) for i, j in ends),
        )
    if looks.shape[2] > 1:
        sums = looks.sum(axis=2, dtype=np.int32).astype(np.float64)[:, :, None]
        yield TraceSeries(sums, spacing, (f"the sum of {looks.shape[2]} variables",), ((),))


def _observable_series(observables: Any) -> Iterator[TraceSeries]:
    """Yield the series of observables, averaged in bins."""
    for found in (observables or {}).values():
        if found.values is None:
            continue
        series = np.moveaxis(found.values.reshape(*found.values.shape[:2], -1), 1, 0)
        draws, rows, entries = series.shape
        some = series[:, :, :: -(-entries // MAX_ENTRIES)]
        length = max(1, draws // BINS_PER_SERIES)
        bins = draws // length
        if bins < MIN_SERIES_LOOKS or some[0].size * BINS_PER_SERIES > MAX_CELLS:
            continue
        kept = some[-bins * length :]
        binned = kept.reshape(bins, length, rows, -1).mean(axis=1)
        noise = None
        if length > 1:
            total = _variance(kept.reshape(bins, length, rows, -1))
            noise = np.where(total > 0, binned.var(axis=(0, 1)) / np.where(total > 0, total, 1), 1)
        step = -(-entries // MAX_ENTRIES)
        names = tuple(
            f"the observable {found.name!r}" + (f", entry {k * step}" if entries > 1 else "")
            for k in range(binned.shape[2])
        )
        yield TraceSeries(
            binned, float(length * found.every), names, ((),) * binned.shape[2], noise
        )
