"""Exchange states between two replicas at neighbouring temperatures, component by component.

Two replicas, hot and cold, differ on some variables. A *component* is a set of these that factors
connect: every factor that touches it sees only it and variables on which both replicas agree. So
exchanging the component's states between them exchanges the values of those factors and leaves all
others as they are, and it is accepted with a Metropolis probability of its own,

    min(1, exp((beta_cold - beta_hot) (S(hot) - S(cold)))),   S: the sum of those factors' logs

(Swendsen and Wang, "Replica Monte Carlo simulation of spin glasses", 1986). Components are the same
after an exchange as before, and none touches another's factors: the joint distribution of both
replicas stays what it is. Hard zeros are no obstacle, for both states are possible before, and
every factor has afterwards a value that one of the two had. Exchanging whole states instead is
accepted less and less often as a model grows.

Replicas lie side by side: the state of variable i in lane k is x[i lanes + k]. Lanes of a rung are
neighbours: one, or the members of a herd, each with a ladder of its own.
"""

from typing import NamedTuple

import numpy as np

from herded.models.factor_graph import FactorGraph
from herded.system.aligned_arrays import make_read_only, start_offsets
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits
from herded.system.numerics.exp_log import exp

MIN_REJECTION_RATE = 1e-3  # of a gap between rungs, however seldom it rejects: gaps stay gaps
FIRST_RESPACING_SWEEP = 32  # sweeps; then at every power of two, until the burn-in is over
_11, _UNIT = np.uint64(11), 2.0**-53
_ALIKE, _DIFFERS, _MET = 0, 1, 2


class ExchangeArrays(NamedTuple):
    """The factors of each variable, and the variables of each factor."""

    entry_start: np.ndarray  # (N+1,)
    factor: np.ndarray  # of each entry
    factor_start: np.ndarray  # (F+1,)
    variable: np.ndarray
    stride: np.ndarray
    table_start: np.ndarray  # (F,)
    log_tables: np.ndarray  # of every rung but, where zeros are melted, the coldest
    hard_tables: np.ndarray  # of the coldest where zeros are melted above it, else empty


class LadderArrays(NamedTuple):
    """The arrays of a ladder: those that change, and those that describe it."""

    x: np.ndarray  # (N * lanes,)
    betas: np.ndarray  # (rungs,) from the hottest to 1
    tried: np.ndarray  # (rungs - 1,) variables in all exchanges, also those that were equal,
    rejected: np.ndarray  # and those in components that were refused, on average
    apart: np.ndarray  # (rungs - 1,) sums of gap (S(cold) - S(hot)) of whole states
    tags: np.ndarray  # (N * lanes,) 1: came from the hottest rung, and was not the coldest since
    came: np.ndarray  # (N,) how often a state came from the hottest rung to the coldest
    is_frozen: np.ndarray  # one number: whether the burn-in is over, and betas stay as they are
    spaced: int  # gaps between rungs that are respaced, from the hottest on
    members: int  # lanes of a rung
    is_whole: bool  # exchange whole states
    bridges: bool  # space rungs for bridges: evenly in how far whole states are apart


def compile_exchange_arrays(
    graph: FactorGraph, log_tables: np.ndarray, melts: bool
) -> ExchangeArrays:
    """Lay the factors out for searches; `melts` if the model's zeros are not in `log_tables`."""
    arity = np.diff(graph.factor_start)
    owner = np.repeat(np.arange(graph.n_factors), arity)
    by_variable = np.argsort(graph.factor_variables, kind="stable")
    degree = np.bincount(graph.factor_variables, minlength=graph.n_variables)
    return make_read_only(
        ExchangeArrays(
            entry_start=start_offsets(degree),
            factor=owner[by_variable],
            factor_start=graph.factor_start,
            variable=graph.factor_variables,
            stride=graph.factor_strides,
            table_start=graph.table_start,
            log_tables=log_tables,
            hard_tables=graph.log_tables if melts else np.empty(0),
        )
    )


@jit
def exchange_replicas(g, m, key, sweep):
    """Exchange after sweep number `sweep`: even pairs of rungs, then odd ones.

    Then new temperatures, where it is time for them.
    """
    n, rungs = len(g.entry_start) - 1, len(m.betas)
    lanes = rungs * m.members
    mark, stack = np.zeros(n, np.uint8), np.empty(n, np.int64)
    met = np.full(len(g.factor_start), -1)
    for r in range(sweep % 2, rungs - 1, 2):
        for k in range(m.members):
            lane = r * m.members + k
            clock = np.uint64((sweep * lanes + lane) * n)
            exchange_pair(g, m, r, lane, key, clock, mark, met, stack)
    respace_if_due(m, sweep)


@jit
def exchange_pair(g, m, r, hot, key, clock, mark, met, stack):
    """Exchange components between lane `hot` of rung r and its like on the next rung."""
    x, members, n = m.x, m.members, len(g.entry_start) - 1
    lanes, cold = len(m.betas) * members, hot + members
    gap = m.betas[r + 1] - m.betas[r]
    for i in range(n):
        mark[i] = _DIFFERS if x[i * lanes + hot] != x[i * lanes + cold] else _ALIKE
    m.tried[r] += n
    size, difference, total = 0, 0.0, 0.0
    for i in range(n):
        if mark[i] != _DIFFERS:
            continue
        hardens = r + 2 == len(m.betas) and len(g.hard_tables) > 0
        size, change = collect_component(g, x, lanes, hot, cold, i, hardens, mark, met, stack, size)
        difference += change
        total += change
        if not m.is_whole:
            accept_or_reject(
                m, r, hot, gap, difference, random_bits(key, clock + np.uint64(i)), stack, size
            )
            size, difference = 0, 0.0
    if size:
        accept_or_reject(m, r, hot, gap, difference, random_bits(key, clock), stack, size)
    m.apart[r] -= gap * total * n if total > -np.inf else 0.0


@jit
def collect_component(g, x, lanes, hot, cold, first, hardens, mark, met, stack, size):
    """Add the component of variable `first` to the stack.

    Gives the stack's new size, and how much more the component's factors are worth as the hot
    replica has them: -inf where that is impossible on a coldest rung that `hardens`.
    """
    mark[first] = _MET
    stack[size] = first
    at, difference, is_possible = size, 0.0, True
    size += 1
    while at < size:
        v = stack[at]
        at += 1
        for e in range(g.entry_start[v], g.entry_start[v + 1]):
            f = g.factor[e]
            if met[f] == hot:
                continue
            met[f] = hot
            here = there = g.table_start[f]
            for s in range(g.factor_start[f], g.factor_start[f + 1]):
                u = g.variable[s]
                here += np.int64(x[u * lanes + hot]) * g.stride[s]
                there += np.int64(x[u * lanes + cold]) * g.stride[s]
                if mark[u] == _DIFFERS:
                    mark[u] = _MET
                    stack[size] = u
                    size += 1
            difference += g.log_tables[here] - g.log_tables[there]
            if hardens and g.hard_tables[here] == -np.inf:
                is_possible = False
    return size, difference if is_possible else -np.inf


@jit
def accept_or_reject(m, r, hot, gap, difference, bits, stack, size):
    """Exchange the variables on the stack, or not."""
    gain = difference if difference == -np.inf else gap * difference
    if is_exchange_accepted(m, r, size, gain, bits):
        for at in range(size):
            swap_variable(m, r, hot, stack[at])


@jit
def is_exchange_accepted(m, r, size, gain, bits):
    """Decide by Metropolis' rule whether rungs r and r + 1 exchange `size` variables."""
    accepted = metropolis_probability(gain)
    m.rejected[r] += size * (1.0 - accepted)
    return uniform(bits) < accepted


@jit
def uniform(bits):
    """Return a number in [0, 1) from 64 random bits."""
    return np.float64(bits >> _11) * _UNIT


@jit
def metropolis_probability(gain):
    """Return the acceptance probability of a proposal with this gain in logs."""
    return 1.0 if gain >= 0.0 else exp(gain)


@jit
def swap_variable(m, r, hot, i):
    """Exchange the states of a variable, and where they came from."""
    x, tags, lanes = m.x, m.tags, len(m.betas) * m.members
    a = i * lanes + hot
    b = a + m.members
    x[a], x[b] = x[b], x[a]
    tags[a], tags[b] = tags[b], 1 if r == 0 else tags[a]
    if r + 2 == len(m.betas):
        m.came[i] += tags[b]
        tags[b] = 0


@jit
def respace_if_due(m, sweep):
    """Respace the rungs at powers of two, until the burn-in is over; return whether it did.

    So that exchanges of components are refused as often in every gap; or, where rungs are bridges
    to log Z, evenly by the square roots of how far whole states are apart, on which the error of
    a bridge depends: components are exchanged easily even where whole states differ widely.
    """
    done = sweep + 1
    if m.is_frozen[0] or done < FIRST_RESPACING_SWEEP or done & (done - 1):
        return False
    rates = np.zeros(m.spaced)
    for r in range(m.spaced):
        if m.tried[r] > 0.0:
            rates[r] = (m.apart[r] if m.bridges else m.rejected[r]) / m.tried[r]
        rates[r] = max(rates[r], MIN_REJECTION_RATE)
        rates[r] = np.sqrt(rates[r]) if m.bridges else rates[r]
    respace_betas(m.betas, rates)
    for r in range(len(m.tried)):
        m.tried[r] = 0.0
        m.apart[r] = 0.0
        m.rejected[r] = 0.0
    return True


@jit
def respace_betas(betas, rates):
    """Respace the gaps that have rates between the same ends, so that rates become equal.

    (Syed, Bouchard-Cote, Deligiannidis and Doucet, "Non-reversible parallel tempering", 2021.)
    """
    gaps = len(rates)
    upto, old = np.zeros(gaps + 1), betas.copy()
    for r in range(gaps):
        upto[r + 1] = upto[r] + rates[r]
    gap = 0
    for r in range(1, gaps):
        wanted = upto[gaps] * r / gaps
        while upto[gap + 1] < wanted:
            gap += 1
        part = (wanted - upto[gap]) / (upto[gap + 1] - upto[gap])
        betas[r] = old[gap] + part * (old[gap + 1] - old[gap])
