"""The members of a herd draw together: one phase for each variable, values taken as carries.

Visit variable i in all n chains of a herd at once. Each has its own conditional p_k:

    phi = a uniform number, one for the variable and the visit
    for k in the herd, in a shuffled order:  phi += p_k;  x_k = carry;  phi mod 1

The p_k and the order are fixed before phi is drawn, so that phi is uniform before each step and
carries with probability p_k: every member is exactly a Gibbs chain. The number of ones is the sum
of the p_k rounded up or down (systematic sampling, Madow 1949), so that the herd's average is less
noisy than that of independent chains. `docs/explanation/herds.md` has the proof, `herded.theory`
checks it.

More than two states are split in halves again and again, each split with a phase of its own that
only members who come to it use.

The order of members is free. Two things are asked of it. It must be shuffled: in a fixed order
members at even places stay the same where all p_k are 1/2, and models without fields
collapse. And members whose conditionals are similar should be neighbours in it: then the number of
ones is right among them too, and what depends on several variables, such as the energy, has less
noise than in as many independent chains; in a random order it has more. So kernels whose lanes are
members let those below 1/2 draw first, then the others, in random order among each.

Where those below 1/2 expect less than one 1 among them, rounding is most of the noise. If it makes
them one too many, the others, which continue with the same phase, are one too few: the count is
right, and members that disagree with their neighbours are two too many. There, fresh phases are
two, one for each side: counts vary more, and energies no more than those of independent chains.
Members of exactly 1/2, which are many where there is no field, then take turns between both sides:
on one they would all but become each other's mirror images, whose energies are the same.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from herded.draws.fixed_point import PHASE_MASK
from herded.draws.protocol import CreatesWeights, SweepParameters
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits, stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

ORDER_STREAM = stream_key(0, 0, StreamPurpose.MEMBER_ORDERS)
MAX_ORDER_ENTRIES = 2**16  # of a table of orders: 128 KiB
HALF_PHASE_U4 = np.uint32(2**30)
MIN_SUM_FOR_ONE_PHASE = np.uint64(2**31)  # sum of p below 1/2, from which on all have one phase
# no phase: members of 1/2 and more always continue with the others' phase
NO_SECOND_PHASE = np.uint32(2**31)
_0, _31, _SCALE = np.uint32(0), np.uint64(31), float(2**31)


@dataclass(frozen=True)
class SystematicDraw:
    """Chains that draw together: fresh phases at every visit, or phases that are kept."""

    seed: int
    members: int
    kept: bool

    weights: ClassVar[None] = None
    vector: ClassVar[bool] = False

    def step(self, sweep: int, chain: int) -> SweepParameters:
        phases = stream_key(self.seed, chain, StreamPurpose.HERD_PHASES)
        orders = stream_key(self.seed, chain, StreamPurpose.MEMBER_ORDERS)
        return SweepParameters(sweep, phases, orders, False, 0, 0)

    def start(self, layout: CreatesWeights, chain: int) -> dict[str, np.ndarray]:
        if not self.kept:
            return {}
        key = stream_key(self.seed, chain, StreamPurpose.WEIGHTS_AND_SCANS)
        return layout.start_weights(True, key)


@lru_cache(maxsize=16)
def member_orders(members: int) -> np.ndarray:
    """Draw random orders (rows, members). A visit takes two of them, one after the other.

    That makes as many orders as pairs of rows. Each is a permutation as random as any; to draw one
    at every visit would take longer than the visit.
    """
    rows = max(4, min(64, MAX_ORDER_ENTRIES // members))
    rows = 1 << (rows.bit_length() - 1)
    table = np.empty((rows, members), np.uint16 if members <= 2**16 else np.uint32)
    _fill_orders(table, ORDER_STREAM)
    table.flags.writeable = False
    return table


@jit
def _fill_orders(table, key):
    """Shuffle every row (Fisher and Yates)."""
    rows, n = table.shape
    for r in range(rows):
        for k in range(n):
            table[r, k] = k
        for last in range(n - 1, 0, -1):
            bits = random_bits(key, np.uint64(r * n + last))
            other = np.int64(bits >> np.uint64(11)) % (last + 1)
            table[r, last], table[r, other] = table[r, other], table[r, last]


@jit
def order_offsets(bits, rows, n):
    """Return where in the table of orders the two rows of a visit start, from 64 random bits."""
    mask = np.uint64(rows - 1)
    return (bits & mask) * np.uint64(n), ((bits >> np.uint64(32)) & mask) * np.uint64(n)


@jit
def fresh_phase(key, name):
    """Return a uniform phase at scale 2^31."""
    return np.uint32(random_bits(key, name) >> np.uint64(33))


@jit
def second_phase(key, name):
    """Return the phase of members of 1/2 and more, from bits that `fresh_phase` leaves."""
    return np.uint32(random_bits(key, name)) & PHASE_MASK


@jit
def scaled_ratio(part, whole):
    """Return part / whole at scale 2^31; 0 and 1 are exact."""
    return np.uint32(np.float64(part) / np.float64(whole) * _SCALE)


@jit
def draw_members(p, phi, second, flat, a, b, x, at, n):
    """Draw all n members: x[at + k] is member k's carry; return the phase, count and sum.

    Members below 1/2 come first, then the others, which continue their phase, or have the phase
    `second` if there is one and those below 1/2 expect less than one 1; both are gone through at
    once. Phases are not taken modulo 1: their carries are counted, and 64 bits hold them.
    """
    low, high, tie = np.uint64(phi), np.uint64(phi), np.uint32(0)
    for k in range(n):
        high += np.uint64(p[k] if p[k] < HALF_PHASE_U4 else _0)
    if second != NO_SECOND_PHASE and high - low < MIN_SUM_FOR_ONE_PHASE:
        high, tie = np.uint64(second), np.uint32(1)
    start, count = high, high >> _31
    for j in range(n):
        k = np.uint64(flat[a + np.uint64(flat[b + j])])
        below = p[k] if p[k] < HALF_PHASE_U4 + (np.uint32(j) & tie) else _0
        low += np.uint64(below)
        high += np.uint64(p[k] - below)
        now = (low >> _31) + (high >> _31)
        x[at + k] = now - count
        count = now
    ones, total = count - (start >> _31), low - np.uint64(phi) + high - start
    return np.uint32(high) & PHASE_MASK, np.int64(ones), np.int64(total)


@jit
def start_kept_phases(phases, key):
    """Start kept phases at random places."""
    for at in range(len(phases)):
        phases[at] = fresh_phase(key, np.uint64(at))
