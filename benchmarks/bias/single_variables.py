"""Single variables whose probabilities are known, from 1e-9 to 1 - 1e-9, on every layout.

Lattices have no couplings. Graphs consist of stars: the leaves are certain to be in state 1, and
the centre has its probability from couplings that are no round numbers. All visits of a variable
then have the same conditional, and are independent of each other. Both the states that were drawn
and the conditionals that were recorded are tested (`e_values`).
"""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import herded as hd
from benchmarks.bias.e_values import LIMIT, log_e_of_total

RARE = (1e-9, 1e-7, 1e-5, 1e-3, 0.03, 0.3)
P = np.array([*RARE, *(1 - p for p in reversed(RARE))])
SHOWN = (1e-7, 1e-5, 1e-3)  # in the table
MEMBERS = 64
BATCHES = 3
CERTAIN = 26.0  # nats: a leaf is in its state but for 5e-12
LEAVES = 4
SPREAD = 0.37  # of couplings of stars


class Known(NamedTuple):
    """A model, and which variables have which state with which probability."""

    model: Any
    variables: np.ndarray
    states: np.ndarray
    p: np.ndarray


class Case(NamedTuple):
    """What is run, and how often its variables are visited in a batch."""

    name: str
    make: Callable[[], Known]
    method: Any
    draws: float  # of one probability, by all members, in a batch
    layout: str | None = None
    depth: int = 1  # of the tree in which a herd finds a state: every level has two phases


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


def stars(n: int, states: int) -> Known:
    """Centre i is variable 5 i, its leaves follow it."""
    logs, target, p = unary(n, states)
    rng = np.random.default_rng(states)
    tables = np.zeros((n, LEAVES, states, states))
    tables[:, :, 1] = SPREAD * rng.normal(size=(n, LEAVES, states))
    tables[:, :, 1, 0] = 0.0
    alone = np.full((n, LEAVES + 1, states), -CERTAIN)
    alone[:, 1:, 1] = 0.0
    alone[:, 0] = logs - tables[:, :, 1].sum(axis=1)
    centre = np.repeat((LEAVES + 1) * np.arange(n), LEAVES)
    leaf = centre + np.tile(np.arange(1, LEAVES + 1), n)
    model = hd.pairwise_model(
        alone.reshape(-1, states),
        np.stack([leaf, centre], axis=1),
        tables.reshape(-1, states, states),
    )
    return Known(model, (LEAVES + 1) * np.arange(n), target, p)


def write_logits(i: int, x: Any, kept: Any, data: Any, out: Any) -> None:
    """A callback model: every variable alone."""
    for k in range(len(out)):
        out[k] = data[i, k]


def callback(n: int, states: int) -> Known:
    logs, target, p = unary(n, states)
    model = hd.ConditionalModel([states] * n, write_logits, data=logs)
    return Known(model, np.arange(n), target, p)


def cases() -> list[Case]:
    alone, herd = hd.Gibbs(seed=1), hd.Gibbs(seed=1, herd=MEMBERS)
    blocks, block_herd = (hd.Gibbs(seed=1, herd=m, moves=hd.Blocks()) for m in (1, MEMBERS))
    found = [
        Case("grid", lambda: grid(60, 64), herd, 4e8),
        Case("grid", lambda: grid(60, 64), alone, 1e8),
        Case("N-dimensional grid", lambda: grid(12, 16, 20), herd, 4e8),
        Case("N-dimensional grid", lambda: grid(12, 16, 20), alone, 3e7),
        Case("Potts grid, 3 states", lambda: potts(60, 64, states=3), herd, 5e7, depth=2),
        Case("Potts grid, 3 states", lambda: potts(60, 64, states=3), alone, 2e7),
        Case("Potts grid, 11 states", lambda: potts(33, 40, states=11), herd, 3e7, depth=4),
        Case("Potts grid, 3 dimensions", lambda: potts(12, 10, 10, states=3), herd, 5e7, depth=2),
    ]
    for layout, members, draws in (
        ("field", MEMBERS, 1e8), ("dense", MEMBERS, 2e7),
        ("table", MEMBERS, 2e7), ("factor", MEMBERS, 4e6),
        ("field", 1, 5e6), ("table", 1, 8e6), ("factor", 1, 2e6),
    ):  # fmt: skip
        method = herd if members > 1 else alone
        found.append(Case("pair graph", lambda: stars(960, 2), method, draws, layout))
    for layout, members, draws in (
        ("pairs", MEMBERS, 4e6), ("table", MEMBERS, 3e6), ("factor", MEMBERS, 1.5e6),
        ("pairs", 1, 2e6), ("table", 1, 2e6), ("factor", 1, 1e6),
    ):  # fmt: skip
        method = herd if members > 1 else alone
        make = lambda: stars(480, 5)  # noqa: E731
        found.append(Case("pair graph, 5 states", make, method, draws, layout, depth=3))
    found += [
        Case("callback", lambda: callback(96, 2), herd, 1e7),
        Case("callback", lambda: callback(96, 2), alone, 5e6),
        Case("callback, 3 states", lambda: callback(144, 3), herd, 1e7, depth=2),
        Case("callback, 3 states", lambda: callback(144, 3), alone, 4e6),
        Case("blocks", lambda: stars(96, 3), block_herd, 4e5, depth=2),
        Case("blocks", lambda: stars(96, 3), blocks, 4e5),
    ]
    return found


class Tested(NamedTuple):
    """The sums of one case, by probability, and their evidence against it."""

    drawn: np.ndarray  # (len(P),) counts over what they should be
    draws: float  # of each probability
    log_e: float  # largest of the states that were drawn
    log_e_recorded: float  # largest of the conditionals that were recorded

    @property
    def rejects(self) -> bool:
        return max(self.log_e, self.log_e_recorded) >= LIMIT


def run(case: Case, share: float = 1.0) -> Tested:
    """Batch after batch, until one probability is rejected or all batches are done."""
    known = case.make()
    members, each = case.method.herd, len(known.p) / len(P)
    sweeps = max(8, round(share * case.draws / (each * members)))
    counts, recorded = np.zeros(len(P)), np.zeros(len(P))
    which = np.searchsorted(np.sort(P), known.p)
    order = np.argsort(P)
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
            sums[order] += np.bincount(which, found, len(P)) * sweeps * members
        visits = round(sweeps * each * (batch + 1))
        tested = judge(counts, recorded, visits, members, case.depth)
        if tested.rejects:
            break
    return tested


def with_seed(method: Any, seed: int) -> Any:
    """The same method with another seed."""
    return replace(method, seed=seed)


def judge(
    counts: np.ndarray, recorded: np.ndarray, visits: int, members: int, depth: int
) -> Tested:
    """E-values of all probabilities.

    A node has two phases, each of which rounds a sum of conditionals down or up: less than 2 in
    all. Rounding conditionals to the 7 or 15 bits of a lane moves their sum by less than
    members / 2^7. What a node passes on is scaled by the share of the next.
    """
    worst = [-np.inf, -np.inf]
    for nth, p in enumerate(P):
        mean = members * p
        off = (2.0 + members / 2**7) * depth if members > 1 else 1.0
        low, high = max(0.0, mean - off), min(float(members), mean + off)
        for kind, sums in enumerate((counts, recorded)):
            log_e = log_e_of_total(float(sums[nth]), visits, mean, low, high)
            worst[kind] = max(worst[kind], log_e)
    draws = float(visits * members)
    return Tested(counts / (P * draws), draws, *worst)


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
