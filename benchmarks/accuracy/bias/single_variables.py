"""Single variables whose probabilities are known, from 1e-9 to 1 - 1e-9, on every layout.

Lattices have no couplings. Graphs consist of stars: the leaves are certain to be in state 1, and
the centre has its probability from couplings that are no round numbers. All visits of a variable
then have the same conditional, and are independent of each other. Both the states that were drawn
and the conditionals that were recorded are tested (`e_values`): summed over all variables of one
probability, and variable by variable, since a rounding that is fixed has another sign on each.
"""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import herded as hd
from benchmarks.accuracy.bias.e_values import LIMIT, log_e_of_total, log_mean_exp

RARE = (1e-9, 1e-7, 1e-5, 1e-3, 0.03, 0.3)
P = np.array([*RARE, *(1 - p for p in reversed(RARE))])
SHOWN = (1e-7, 1e-5, 1e-3)  # in the table
MEMBERS = 64
BATCHES = 3
CERTAIN = 26.0  # nats: a leaf is in its state but for 5e-12
LEAVES = 4
SPREAD = 0.37  # of couplings of stars
MANY_LEAVES = 40  # enough for blocks whose variables share their neighbours
COLD = 0.5  # temperature of herds that have a schedule


class Known(NamedTuple):
    """A model, and which variables have which state with which probability."""

    model: Any
    variables: np.ndarray
    states: np.ndarray
    p: np.ndarray


class Precision(NamedTuple):
    """How far recorded conditionals may be from p, as `docs/explanation/precision.md` says."""

    absolute: float = 2.0**-31  # of the law, fixed
    relative: float = 0.0  # of the law, fixed: a share of the smaller of p and 1 - p
    rounding: float = 0.0  # of one visit of a member, at random and right on average
    relative_rounding: float = 0.0

    def law(self, p: np.ndarray) -> np.ndarray:
        """The fixed error at most."""
        found: np.ndarray = self.absolute + self.relative * np.minimum(p, 1 - p)
        return found

    def reach(self, p: np.ndarray) -> np.ndarray:
        """How far random rounding moves the conditional of a visit at most."""
        found: np.ndarray = self.rounding + self.relative_rounding * np.minimum(p, 1 - p)
        return found


CUMULATED = Precision(2.0**-30)  # two cumulated probabilities are rounded
BYTES = Precision(rounding=2.0**-7 + 2.0**-15)  # lanes of 7 bits
WORDS = Precision(relative=2.0**-20, rounding=2.0**-15, relative_rounding=2.0**-9)  # fields, too
SIGMOID = Precision(2.0**-30, 2.0**-21)  # interpolated, and couplings in whole numbers
SINGLE = 2.0**-24  # of single precision


class Case(NamedTuple):
    """What is run, and how often its variables are visited in a batch."""

    name: str
    make: Callable[[], Known]
    method: Any
    draws: float  # of one probability, by all members, in a batch
    layout: str | None = None
    depth: int = 1  # of the tree in which a herd finds a state: every level has two phases
    precision: Precision = Precision()


def unary(n: int, states: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log-probabilities (n, states), and the state and probability that are asked about."""
    nth = np.arange(n)
    target, p = nth // len(P) % states, P[nth % len(P)]
    shares = np.arange(1.0, states)
    logs = np.empty((n, states))
    for i in nth:
        others = np.arange(states) != target[i]
        logs[i, others] = np.log((1 - p[i]) * shares / shares.sum())
        logs[i, target[i]] = np.log(p[i])
    return logs, target, p


def grid(*shape: int) -> Known:
    logs, target, p = unary(math.prod(shape), 2)
    field = (logs[:, 1] - logs[:, 0]) / 2
    return Known(hd.ising_grid(field.reshape(shape), 0.0), np.arange(len(p)), target, p)


def potts(*shape: int, states: int) -> Known:
    logs, target, p = unary(math.prod(shape), states)
    model = hd.potts_grid(logs.reshape(*shape, states), 0.0)
    return Known(model, np.arange(len(p)), target, p)


def stars(n: int, states: int, leaves: int = LEAVES, temperature: float = 1.0) -> Known:
    """Centre i is followed by its leaves; at this temperature it has its probability."""
    logs, target, p = unary(n, states)
    rng = np.random.default_rng(states)
    tables = np.zeros((n, leaves, states, states))
    tables[:, :, 1] = SPREAD * rng.normal(size=(n, leaves, states))
    tables[:, :, 1, 0] = 0.0
    alone = np.full((n, leaves + 1, states), -CERTAIN)
    alone[:, 1:, 1] = 0.0
    alone[:, 0] = logs - tables[:, :, 1].sum(axis=1)
    centre = np.repeat((leaves + 1) * np.arange(n), leaves)
    leaf = centre + np.tile(np.arange(1, leaves + 1), n)
    model = hd.pairwise_model(
        temperature * alone.reshape(-1, states),
        np.stack([leaf, centre], axis=1),
        temperature * tables.reshape(-1, states, states),
    )
    return Known(model, (leaves + 1) * np.arange(n), target, p)


def layers(n: int, leaves: int) -> Known:
    """Centres that all have the same leaves: variables 0 to n - 1, then the leaves."""
    logs, target, p = unary(n, 2)
    couplings = SPREAD / math.sqrt(leaves) * np.random.default_rng(1).normal(size=(n, leaves))
    tables = np.zeros((n, leaves, 2, 2))
    tables[:, :, 1, 1] = couplings
    alone = np.concatenate([logs, np.tile([-CERTAIN, 0.0], (leaves, 1))])
    alone[:n, 1] -= couplings.sum(axis=1)
    edges = np.stack(np.broadcast_arrays(np.arange(n)[:, None], n + np.arange(leaves)), axis=-1)
    model = hd.pairwise_model(alone, edges.reshape(-1, 2), tables.reshape(-1, 2, 2))
    return Known(model, np.arange(n), target, p)


def stay_cold(sweep: int, total: int) -> float:
    """A schedule of one temperature."""
    return COLD


def write_logits(i: int, x: Any, kept: Any, data: Any, out: Any) -> None:
    """A callback model: every variable alone."""
    for k in range(len(out)):
        out[k] = data[i, k]


def callback(n: int, states: int) -> Known:
    logs, target, p = unary(n, states)
    model = hd.ConditionalModel([states] * n, write_logits, data=logs)
    return Known(model, np.arange(n), target, p)


def potts_precision(depth: int, around: int, rounding: float) -> Precision:
    """Of herds that multiply weights of neighbours in single precision, split after split."""
    return Precision(relative=depth * (2 * around + 6) * SINGLE, rounding=rounding)


def cases() -> list[Case]:
    alone, herd = hd.Gibbs(seed=1), hd.Gibbs(seed=1, herd=MEMBERS)
    cold = hd.Gibbs(seed=1, herd=MEMBERS, schedule=stay_cold)
    blocks, block_herd = (hd.Gibbs(seed=1, herd=m, moves=hd.Blocks()) for m in (1, MEMBERS))
    found = [
        Case("grid", lambda: grid(60, 64), herd, 4e8, precision=BYTES),
        Case("grid", lambda: grid(60, 64), alone, 1e8),
        Case("N-dimensional grid", lambda: grid(12, 16, 20), herd, 4e8, precision=BYTES),
        Case("N-dimensional grid", lambda: grid(12, 16, 20), alone, 3e7),
    ]
    for name, shape, states, depth, draws in (
        ("Potts grid, 3 states", (60, 64), 3, 2, 5e7),
        ("Potts grid, 11 states", (33, 40), 11, 4, 3e7),
        ("Potts grid, 3 dimensions", (12, 10, 10), 3, 2, 5e7),
    ):
        precision = potts_precision(depth, 2 * len(shape), SINGLE)
        make = partial(potts, *shape, states=states)
        found.append(Case(name, make, herd, draws, depth=depth, precision=precision))
    found.append(Case("Potts grid, 3 states", lambda: potts(60, 64, states=3), alone, 2e7,
                      precision=CUMULATED))  # fmt: skip
    for layout, members, draws, precision in (
        ("field", MEMBERS, 1e8, WORDS), ("dense", MEMBERS, 2e7, SIGMOID),
        ("table", MEMBERS, 2e7, Precision()), ("factor", MEMBERS, 4e6, Precision()),
        ("field", 1, 5e6, SIGMOID), ("table", 1, 8e6, Precision()), ("factor", 1, 2e6, Precision()),
    ):  # fmt: skip
        method = herd if members > 1 else alone
        make = partial(stars, 960, 2)
        found.append(Case("pair graph", make, method, draws, layout, precision=precision))
    for layout, precision in (("field", WORDS), ("dense", SIGMOID), ("factor", Precision())):
        make = partial(stars, 960, 2, temperature=COLD)
        found.append(Case("pair graph, cold", make, cold, 4e6, layout, precision=precision))
    for name, make in (
        (f"pair graph of degree {MANY_LEAVES}", partial(stars, 96, 2, MANY_LEAVES)),
        ("layers", partial(layers, 96, MANY_LEAVES)),
    ):
        many = WORDS._replace(relative_rounding=MANY_LEAVES * 2.0**-11)
        found.append(Case(name, make, herd, 2e7, "field", precision=many))
    for layout, members, draws, precision in (
        ("pairs", MEMBERS, 4e6, potts_precision(3, LEAVES, 2.0**-30)),
        ("table", MEMBERS, 3e6, CUMULATED), ("factor", MEMBERS, 1.5e6, CUMULATED),
        ("pairs", 1, 2e6, Precision(2.0**-30, 2.0**-21)),
        ("table", 1, 2e6, CUMULATED), ("factor", 1, 1e6, CUMULATED),
    ):  # fmt: skip
        method = herd if members > 1 else alone
        make = partial(stars, 480, 5)
        found.append(Case("pair graph, 5 states", make, method, draws, layout, 3, precision))
    found += [
        Case("callback", lambda: callback(96, 2), herd, 1e7),
        Case("callback", lambda: callback(96, 2), alone, 5e6),
        Case("callback, 3 states", lambda: callback(144, 3), herd, 1e7, None, 2, CUMULATED),
        Case("callback, 3 states", lambda: callback(144, 3), alone, 4e6, precision=CUMULATED),
        Case("blocks", lambda: stars(96, 3), block_herd, 4e5, None, 2, CUMULATED),
        Case("blocks", lambda: stars(96, 3), blocks, 4e5, precision=CUMULATED),
    ]
    return found


class Tested(NamedTuple):
    """The sums of one case, by probability, and the evidence against their law."""

    drawn: np.ndarray  # (len(P),) counts over what they should be
    draws: float  # of each probability
    log_e: float  # largest of the states that were drawn
    log_e_recorded: float  # largest of the conditionals that were recorded; infinite if one is off

    @property
    def rejects(self) -> bool:
        return max(self.log_e, self.log_e_recorded) >= LIMIT


def run(case: Case, share: float = 1.0) -> Tested:
    """Batch after batch, until one probability is rejected or all batches are done."""
    known = case.make()
    members, each = case.method.herd, len(known.p) / len(P)
    sweeps = max(8, round(share * case.draws / (each * members)))
    counts, recorded = np.zeros(len(known.p)), np.zeros(len(known.p))
    for batch in range(BATCHES):
        method = with_seed(case.method, batch + 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of one chain: it is not asked how far it is off
            result = hd.infer(
                known.model, method, sweeps=sweeps, burn_in=4, layout=case.layout, threads=1,
                chains=1, keep=[hd.Marginals(rao_blackwell=True)],
            )  # fmt: skip
        at = known.variables, known.states
        for sums, table in ((counts, result.frequencies), (recorded, result.marginals)):
            found = np.asarray(table).reshape(known.model.n_variables, -1)[at]
            sums += found * sweeps * members
        tested = judge(case, known.p, counts, recorded, sweeps * (batch + 1))
        if tested.rejects:
            break
    return tested


def with_seed(method: Any, seed: int) -> Any:
    """The same method with another seed."""
    return replace(method, seed=seed)


def judge(
    case: Case, p: np.ndarray, counts: np.ndarray, recorded: np.ndarray, visits: int
) -> Tested:
    """E-values of variables (V,), one by one and summed by probability.

    A node has two phases, each of which rounds a sum of conditionals down or up: less than 2 in
    all. Rounding conditionals to the 7 or 15 bits of a lane moves their sum by less than
    members / 2^7. What a node passes on is scaled by the share of the next.
    """
    members = case.method.herd
    mean = members * p
    off = np.full(len(p), (2.0 + members / 2**7) * case.depth if members > 1 else 1.0)
    drawn, log_e = judge_sums(p, counts, visits, mean, off, members)
    # What the law may be off by is not held against the recorded sums.
    slack = visits * members * case.precision.law(p)
    excess = recorded - visits * mean
    excess -= np.clip(excess, -slack, slack)
    rounded = members * case.precision.reach(p)
    if rounded.any():
        _, log_e_recorded = judge_sums(p, visits * mean + excess, visits, mean, rounded, members)
    else:
        log_e_recorded = np.inf if (np.abs(excess) > 1e-9 * visits * mean).any() else 0.0
    draws = float(visits * members * len(p) / len(P))
    return Tested(drawn / (P * draws), draws, log_e, log_e_recorded)


def judge_sums(
    p: np.ndarray,
    sums: np.ndarray,
    visits: int,
    mean: np.ndarray,
    off: np.ndarray,
    members: int,
) -> tuple[np.ndarray, float]:
    """Sums by probability, and the largest log e-value of these and of all variables together."""
    low, high = np.maximum(0.0, mean - off), np.minimum(float(members), mean + off)
    of_each = log_mean_exp(log_e_of_total(sums, visits, mean, low, high))
    which = [np.flatnonzero(p == one) for one in P]
    totals = np.array([sums[some].sum() for some in which])
    first = np.array([some[0] for some in which])
    pooled = log_e_of_total(totals, visits * len(which[0]), mean[first], low[first], high[first])
    return totals, max(float(of_each), float(pooled.max()))


def lines(quick: bool) -> Iterator[str]:
    yield "| model | layout | method | draws of each p | 1e-7 | 1e-5 | 1e-3 | log e | recorded |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for case in cases():
        tested = run(case, 0.02 if quick else 1.0)
        shown = " | ".join(f"{tested.drawn[np.flatnonzero(p == P)[0]]:.3f}" for p in SHOWN)
        wrong = " **rejected**" if tested.rejects else ""
        members = f"herd of {MEMBERS}" if case.method.herd > 1 else "single chain"
        yield (
            f"| {case.name} | {case.layout or 'auto'} | {members} | {tested.draws:.1e} | {shown} "
            f"| {tested.log_e:.1f} | {tested.log_e_recorded:.1f}{wrong} |"
        )
