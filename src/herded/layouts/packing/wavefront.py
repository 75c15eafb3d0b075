"""The order in which strips of a lattice are swept, to suit caches and threads.

A half-sweep of a strip needs the half-sweep before it on that strip and on its two neighbours, and
must come before the half-sweep after it on these. Any order that respects this has the bits of one
half-sweep after another, and there are better ones:

A *wave* is several half-sweeps over one region, each a strip behind the one before: what a strip
needs of p and w is still in cache when the next half-sweep comes.

A region is strips [first + k s, last + k t) in the k-th half-sweep of its wave. Regions that shrink
from both sides (s = 1, t = -1) do not need each other, so that threads can sweep them at once; when
all of them are done, the seams between them, which grow (s = -1, t = 1), do not either. A periodic
lattice is a ring that has one seam more, also on one thread.
"""

import itertools
from functools import lru_cache

import numpy as np

from herded.system.compilation.jit import jit

# columns of a region: half-sweeps [0, 1), strips [2, 3) of the first of them, and the slopes s, t
HALF_SWEEP_BEGIN, HALF_SWEEP_END, FIRST_STRIP, LAST_STRIP, FIRST_SLOPE, LAST_SLOPE = range(6)
# bytes of a core's own cache that a wave may use: half of what one has today
CORE_CACHE_BYTES = 5 * 2**17
LAST_CACHE_BYTES = 2**23  # and of the last cache
MIN_WAVE_HALF_SWEEPS = 16  # half-sweeps of a wave that hardly waits for memory


@lru_cache(maxsize=64)
def wave_length(size: int, strips: int) -> int:
    """Return the half-sweeps of a wave on a lattice with tables of `size` bytes.

    A core's own cache holds the strips of both colours that a wave is at; where that makes waves
    short, because strips are large, the last cache does.
    """
    strip = 2 * (size // (2 * strips))
    return max(1, CORE_CACHE_BYTES // strip, min(MIN_WAVE_HALF_SWEEPS, LAST_CACHE_BYTES // strip))


@lru_cache(maxsize=64)
def wave_schedule(
    strips: int, halves: int, length: int, periodic: bool, threads: int
) -> tuple[tuple[np.ndarray, ...], ...]:
    """Yield consecutive phases, each of parallel jobs, each of regions in order.

    `length` is the half-sweeps of a wave.
    """
    threads = max(1, min(threads, strips // 2))
    cuts = [strips * t // threads for t in range(threads + 1)]
    seams = cuts[:-1] if periodic else cuts[1:-1]
    if seams:  # those of neighbours meet when they are as wide as the regions between them
        length = min(length, 1 + min(b - a for a, b in itertools.pairwise(cuts)) // 2)
    phases: list[list[list[tuple[int, ...]]]] = []
    for begin in range(0, halves, length):
        end = min(halves, begin + length)
        phases.append(
            [
                [(begin, end, a, b, int(a in seams), -int(b % strips in seams))]
                for a, b in itertools.pairwise(cuts)
            ]
        )
        if seams and end - begin > 1:
            phases.append([[(begin, end, seam, seam, -1, 1)] for seam in seams])
    if threads == 1:
        phases = [[list(itertools.chain.from_iterable(job for phase in phases for job in phase))]]
    return tuple(tuple(np.array(job, np.int64).reshape(-1, 6) for job in phase) for phase in phases)


@jit
def wave_fronts(region):
    """Return the steps of a wave; in step f its k-th half-sweep is at strip f - k."""
    halves = region[HALF_SWEEP_END] - region[HALF_SWEEP_BEGIN]
    return region[FIRST_STRIP], region[LAST_STRIP] + (region[LAST_SLOPE] + 1) * (
        halves - 1
    ) + halves


@jit
def strip_at_front(region, front, k, strips):
    """Return the strip of the k-th half-sweep in step `front`, or -1 where it is outside."""
    strip = front - k
    if strip < region[FIRST_STRIP] + region[FIRST_SLOPE] * k:
        return -1
    if strip >= region[LAST_STRIP] + region[LAST_SLOPE] * k:
        return -1
    return strip % strips
