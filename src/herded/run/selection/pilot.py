"""A short run that measures how fast single moves mix on a model, before a long one is planned."""

import time
from typing import NamedTuple, cast

import numpy as np

from herded.layouts.base import SweepableLayout
from herded.methods.gibbs import Gibbs
from herded.methods.layout_cache import cached_layout
from herded.models.constraints.start_states import member_starts
from herded.models.protocol import Model
from herded.run.diagnostics.autocorrelation import WINDOW_TIMES
from herded.system.memory_limits import Size
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

PILOT_MEMBERS = 8  # of the herd that goes ahead
MAX_PILOT_VARIABLES = 256  # whose states are looked at
MAX_PILOT_SWEEPS = 2000  # sweeps
MAX_BLOCK_BYTES = 2**22  # bytes of samples at once
MIN_VARIANCE = 1e-3  # variance of a state that hardly ever changes: its time cannot be estimated
MIN_TIMES_OF_PILOT = 3  # autocorrelation times that a pilot must last


class Pilot(NamedTuple):
    """The findings of a pilot, and its costs."""

    time: float  # the longest autocorrelation time of a variable, in sweeps: 1 is none
    sweeps: int
    seconds: float

    @property
    def is_sure(self) -> bool:
        """Whether it was long enough to tell that time."""
        return self.sweeps >= MIN_TIMES_OF_PILOT * self.time

    @property
    def updates(self) -> int:
        """Of each variable."""
        return self.sweeps * PILOT_MEMBERS


def run_pilot(
    model: Model,
    sweeps: int,
    *,
    seconds: float | None = None,
    seed: int = 0,
    max_memory: Size | None = None,
) -> Pilot:
    """Run a small herd for some sweeps, or for some seconds if these are over earlier."""
    own_seed = int(stream_key(seed, StreamPurpose.PILOT)) >> 1
    method = Gibbs(herd=PILOT_MEMBERS, seed=own_seed)
    layout = cast(SweepableLayout, cached_layout(model, method, None, max_memory))
    x = member_starts(model, PILOT_MEMBERS, stream_key(seed, 0, StreamPurpose.PILOT))
    free = np.flatnonzero((model.evidence < 0) & (model.cardinalities > 1))
    picked = free[:: -(-len(free) // MAX_PILOT_VARIABLES) or 1]
    if not len(picked):
        return Pilot(1.0, 0, 0.0)
    state = method.init(layout, x)
    room = max(1, MAX_BLOCK_BYTES // (layout.n_stored * PILOT_MEMBERS))
    method.advance(layout, state, np.zeros((1, layout.sample_size), layout.sample_type))  # compile
    began, seen = time.perf_counter(), list[np.ndarray]()
    left = min(sweeps, MAX_PILOT_SWEEPS)
    while left > 0 and (seconds is None or not seen or time.perf_counter() - began < seconds):
        block = np.zeros((min(room, left), layout.sample_size), layout.sample_type)
        layout.fill(block, state)
        method.advance(layout, state, block)
        seen.append(layout.members_of(block)[:, :, picked])
        left -= len(block)
    samples = np.concatenate(seen)
    took = time.perf_counter() - began
    return Pilot(longest_autocorrelation_time(samples), len(samples), took)


def longest_autocorrelation_time(samples: np.ndarray) -> float:
    """Return the longest time of a variable in samples (sweeps, members, N).

    A time is 1 + 2 (the sum of autocorrelations). Members are averaged over; where they disagree
    for good, what a variable is in one of them never changes, and the time is as long as the run.
    """
    sweeps = len(samples)
    gaps = samples - samples.mean(axis=(0, 1))
    variance = (gaps**2).mean(axis=(0, 1))
    gaps, variance = gaps[:, :, variance > MIN_VARIANCE], variance[variance > MIN_VARIANCE]
    if not len(variance):
        return 1.0
    waves = np.fft.rfft(gaps, 2 * sweeps, axis=0)
    products = np.fft.irfft((np.abs(waves) ** 2).mean(axis=1), axis=0)[:sweeps]
    correlations = products / np.arange(sweeps, 0, -1)[:, None] / variance
    times = 2 * np.cumsum(correlations, axis=0) - 1
    ended = np.arange(sweeps)[:, None] >= WINDOW_TIMES * times
    ended[sweeps // 2 :] = True
    first = ended.argmax(axis=0)
    return float(max(1.0, times[first, np.arange(len(first))].max()))
