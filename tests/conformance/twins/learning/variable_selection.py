"""Variable selection step by step: every model is solved anew, from the products of its columns."""

import itertools

from herded.system.numerics.exp_log import exp, log
from tests.conformance.twins.counter_rng import naive_draw, naive_key
from tests.conformance.twins.herded_weights import FIRST_SPLIT
from tests.conformance.twins.herds.any_graph import naive_orders, two_sides

TINY, ONE = 1e-9, 2**31


def solved(problem, model, j=None):
    """q and log|A| of a model, and what is left of column j and of its product with y."""
    order = [*model, *([] if j is None else [j])]
    rows = [[float(problem.products[a, b]) for b in order] for a in order]
    right = [float(problem.with_y[a]) for a in order]
    q = log_det = 0.0
    for a in range(len(model)):
        for b in range(a + 1, len(order)):
            share = rows[b][a] / rows[a][a]
            rows[b] = [x - share * y for x, y in zip(rows[b], rows[a], strict=True)]
            right[b] -= share * right[a]
        q += right[a] ** 2 / rows[a][a]
        log_det += log(rows[a][a])
    return q, log_det, rows[-1][-1] if j is not None else None, right[-1] if right else None


def log_posterior(problem, model):
    """Of a model: that of the empty one is 0."""
    q, log_det, *_ = solved(problem, sorted(model))
    fit = problem.width * log_det + problem.half * log(1.0 - problem.shrink * q)
    return float(problem.prior[len(model)]) - fit


def chance(problem, model, j):
    """The probability of column j given the others, at scale 2^31, from two log posteriors."""
    others = sorted(model - {j})
    _, _, left, _ = solved(problem, others, j)
    if left <= TINY or problem.odds[len(others)] == -float("inf"):
        return 0
    odds = log_posterior(problem, {*others, j}) - log_posterior(problem, set(others))
    return int(ONE / (1.0 + exp(-odds)) + 0.5)


def naive_selection(problem, *, members, sweeps, seed, chain=0, in_time=False):
    """The models of all members after each sweep, and the sums of all probabilities."""
    p = len(problem.with_y)
    phases, orders, exchanges = (naive_key(seed, chain, part) for part in (4, 5, 6))
    table, states = naive_orders(members), naive_starts(problem, members, seed, chain)
    sums, found = [0] * p, []
    pools = [
        {(j, 0): naive_draw((phases + m) % 2**64, j) >> 33 for j in range(p)}
        for m in range(members)
    ]
    for sweep in range(sweeps):
        pools = [split(pool, sweep) for pool in pools]
        for j in range(p):
            clock = sweep * p + j
            chances = [chance(problem, set(state), j) for state in states]
            sums[j] += sum(chances)
            if in_time:
                taken = [alone(pool, j, c, sweep) for pool, c in zip(pools, chances, strict=True)]
            else:
                taken = together(chances, phases, clock, naive_draw(orders, clock), table)
            for state, is_in in zip(states, taken, strict=True):
                if is_in and j not in state:
                    state.append(j)
                elif not is_in and j in state:
                    leave(state, j)
        for m, state in enumerate([] if in_time else states):
            exchange(problem, state, exchanges, 2 * (sweep * members + m))
        found.append([sorted(state) for state in states])
    return found, sums


def naive_starts(problem, members, seed, chain):
    p, key, states = len(problem.with_y), naive_key(seed, chain, 3), []
    for m in range(members):
        state = []
        for a in range((naive_draw(key, m) >> 11) % (min(8, p) + 1)):
            j = (naive_draw(key, members + m * 8 + a) >> 11) % p
            if j not in state and solved(problem, state, j)[2] > TINY:
                state.append(j)
        states.append(state)
    return states


def together(chances, key, clock, bits, table):
    """Carries of one phase, members below 1/2 first, or of one for each side."""
    first, second = table[bits % len(table)], table[(bits >> 32) % len(table)]
    shuffled = [first[second[j]] for j in range(len(chances))]
    low = naive_draw(key, clock) >> 33
    high = naive_draw(key, clock) % ONE
    below, above, two = two_sides(chances, shuffled)
    taken = [0] * len(chances)
    for k in below:
        low += chances[k]
        taken[k], low = low >> 31, low % ONE
    phase = high if two else low
    for k in above:
        phase += chances[k]
        taken[k], phase = phase >> 31, phase % ONE
    return taken


def bins(sweep):
    """1 until sweep 128, then twice as many whenever the run is 4 times as long."""
    return 2 ** len([t for t in range(5) if sweep >= FIRST_SPLIT * 4**t])


def split(pool, sweep):
    """Both halves of a bin inherit its phase, where there are more bins than a sweep before."""
    if bins(sweep) == bins(sweep - 1):
        return pool
    return {(j, 2 * b + half): phase for (j, b), phase in pool.items() for half in (0, 1)}


def alone(pool, j, chance, sweep):
    """The carry of a member's own phase, one for each column and bin of chances."""
    at = j, min(chance * bins(sweep) // ONE, bins(sweep) - 1)
    carry, pool[at] = divmod(pool[at] + chance, ONE)
    return carry


def leave(state, j):
    """The last column takes the place of the one that leaves."""
    state[state.index(j)] = state[-1]
    state.pop()


def exchange(problem, state, key, clock):
    """One column for any other, in proportion to the posterior."""
    if not state:
        return
    leave(state, state[(naive_draw(key, clock) >> 11) % len(state)])
    choices = [
        j
        for j in range(len(problem.with_y))
        if j not in state and solved(problem, state, j)[2] > TINY
    ]
    scores = [log_posterior(problem, {*state, j}) for j in choices]
    shares = [exp(score - max(scores)) for score in scores]
    wanted = (naive_draw(key, clock + 1) >> 11) / 2**53 * sum(shares)
    passed = list(itertools.accumulate(shares))
    state.append(next(j for j, upto in zip(choices, passed, strict=True) if upto > wanted))
