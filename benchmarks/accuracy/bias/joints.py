"""Four variables with strong couplings beside their enumerated joint distribution.

Many such blocks lie in one model, apart from each other or between known variables. All members of
a herd start in one state, drawn from the exact joint. Every sweep leaves that law as it is,
whatever the order of visits, so that no burn-in is needed: each member still has it when its last
state is looked at. What a herd makes of a block is one number in [0, 1] for each joint state, the
share of its members, and herds and blocks are independent. `log_e_of_fractions` tests these.
"""

import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import herded as hd
from benchmarks.accuracy.bias.e_values import LIMIT, log_e_of_fractions

SIZE = 4  # variables of a block
SWEEPS = 40  # between the start and the look
CHAINS = 16
COUPLING, FIELD = 1.5, 0.2
TINY = 1e-12  # less likely joint states are not tested


class Blocks(NamedTuple):
    """A model of many blocks."""

    model: Any
    members: np.ndarray  # (blocks, SIZE) variables
    logs: np.ndarray  # (blocks, K^SIZE) log-probabilities of joint states, up to a constant


class Case(NamedTuple):
    name: str
    make: Callable[[], Blocks]
    method: Any
    layout: str | None = None


def joint_states(states: int) -> np.ndarray:
    return np.array(list(itertools.product(range(states), repeat=SIZE)))


def lattice(shape: tuple[int, ...], states: int = 2) -> Blocks:
    """Squares of four free sites, and known ones in a random state around them."""
    rng = np.random.default_rng(len(shape))
    if states == 2:
        model = hd.ising_grid(np.full(shape, FIELD), COUPLING)
    else:
        model = hd.potts_grid(np.tile(np.arange(states) * FIELD, (*shape, 1)), 2 * COUPLING)
    place = np.arange(np.prod(shape)).reshape(shape)
    starts = itertools.product(*(range(1, n - 3, 3) for n in shape))
    blocks = np.array([place[s][:2, :2].ravel() for s in (corner(at, len(shape)) for at in starts)])
    known = np.ones(place.size, bool)
    known[blocks.ravel()] = False
    around = (rng.random(place.size) < 0.3) * (states - 1)
    sites = np.stack(np.unravel_index(np.arange(place.size), shape), axis=1)
    evidence = {tuple(map(int, sites[i])): int(around[i]) for i in np.flatnonzero(known)}
    joint, neighbour = joint_states(states), neighbours(place)
    logs = np.zeros((len(blocks), len(joint)))
    for b, block in enumerate(blocks):
        inside = {int(i): n for n, i in enumerate(block)}
        for i, n in inside.items():
            x = joint[:, n]
            logs[b] += FIELD * (2 * x - 1) if states == 2 else FIELD * x
            for j in neighbour[i]:
                y = joint[:, inside[j]] if j in inside else around[j]
                alike = x == y
                bond = COUPLING * (2.0 * alike - 1) if states == 2 else 2 * COUPLING * alike
                logs[b] += bond * (0.5 if j in inside else 1.0)
    return Blocks(model.given(evidence), blocks, logs)


def corner(at: tuple[int, ...], dimensions: int) -> tuple[Any, ...]:
    """Two sites along the first two axes, one along all others."""
    return tuple(slice(i, i + 2) if axis < 2 else i for axis, i in enumerate(at))


def neighbours(place: np.ndarray) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(place.size)]
    for axis in range(place.ndim):
        lines = np.moveaxis(place, axis, 0)
        for a, b in zip(lines[:-1].ravel().tolist(), lines[1:].ravel().tolist(), strict=True):
            found[a].append(b)
            found[b].append(a)
    return found


def graph(n: int, states: int, triples: bool = False) -> Blocks:
    """Rings of four with a chord and random tables, or factors of three variables."""
    rng = np.random.default_rng(states + triples)
    joint = joint_states(states)
    scopes = [(0, 1, 2), (1, 2, 3)] if triples else [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    factors, logs = [], np.zeros((n, len(joint)))
    for b in range(n):
        for scope in [(v,) for v in range(SIZE)] + scopes:
            table = (0.5 if len(scope) == 1 else COUPLING) * rng.normal(size=(states,) * len(scope))
            factors.append((tuple(SIZE * b + v for v in scope), table))
            logs[b] += table[tuple(joint[:, v] for v in scope)]
    model = hd.FactorGraph([states] * (SIZE * n), factors)
    return Blocks(model, np.arange(SIZE * n).reshape(n, SIZE), logs)


def write_conditional(i: int, x: Any, kept: Any, data: Any, out: Any) -> None:
    """A callback model of rings of four."""
    field, coupling = data
    out[0], out[1] = 0.0, field[i]
    first = i // 4 * 4
    for j in range(first, first + 4):
        if j != i:
            out[1] += coupling[i, j - first] * x[j]


def callback(n: int) -> Blocks:
    rng, joint = np.random.default_rng(9), joint_states(2)
    field, coupling = rng.normal(size=SIZE * n), 2 * COUPLING * rng.normal(size=(n, SIZE, SIZE))
    coupling = coupling + coupling.transpose(0, 2, 1)
    coupling[:, np.arange(SIZE), np.arange(SIZE)] = 0.0
    logs = field.reshape(n, SIZE) @ joint.T
    logs += 0.5 * np.einsum("ka,nab,kb->nk", joint, coupling, joint)
    data = field, coupling.reshape(-1, SIZE)
    model = hd.ConditionalModel([2] * (SIZE * n), write_conditional, data=data)
    return Blocks(model, np.arange(SIZE * n).reshape(n, SIZE), logs)


def cases() -> list[Case]:
    alone, herd = hd.Gibbs(), hd.Gibbs(herd=64)
    flat, solid, potts = (
        (lambda: lattice((64, 64))),
        (lambda: lattice((14, 14, 14))),
        (lambda: lattice((48, 48), 3)),
    )
    found = [
        Case(name, make, method)
        for name, make in (("grid", flat), ("N-dimensional grid", solid), ("Potts grid", potts))
        for method in (herd, alone)
    ]
    for states, layouts in (
        (2, ("field", "dense", "table", "factor")),
        (3, ("pairs", "table", "factor")),
    ):
        for layout in layouts:
            for method in (herd, alone):
                if (layout, method.herd) != ("dense", 1):
                    make = lambda states=states: graph(256, states)  # noqa: E731
                    found.append(Case(f"pair graph, {states} states", make, method, layout))
    for method in (herd, alone):
        found.append(Case("factors of three", lambda: graph(256, 2, True), method, "factor"))
        found.append(Case("callback", lambda: callback(64), method))
        blocks = replace(method, moves=hd.Blocks(entries=8))
        found.append(Case("blocks", lambda: graph(32, 3), blocks))
    return found


def run(case: Case, runs: int) -> tuple[int, float, float]:
    """Herds times blocks, the largest log e-value of a joint state, and how often rare ones came.

    The last is over how often they should, for all joint states below 1e-3 together.
    """
    blocks = case.make()
    p = np.exp(blocks.logs - blocks.logs.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    n, many = p.shape
    joint = joint_states(round(many ** (1 / SIZE)))
    parts = []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        members = case.method.herd
        chains = CHAINS if members > 1 else 4 * CHAINS
        start = np.maximum(blocks.model.evidence.reshape(-1), 0) + np.zeros((chains, 1), int)
        uniform = rng.random((chains, n, 1))
        drawn = np.minimum((uniform > p.cumsum(axis=1)).sum(axis=2), many - 1)
        start[:, blocks.members] = joint[drawn]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = hd.infer(
                blocks.model, replace(case.method, seed=seed), sweeps=SWEEPS, burn_in=0,
                chains=chains, start=np.repeat(start, members, axis=0), layout=case.layout,
                threads=1, keep=[hd.Samples(every=SWEEPS)],
            )  # fmt: skip
        last = np.asarray(result.samples)[:, -1].reshape(chains, members, -1)[..., blocks.members]
        names = np.ravel_multi_index(tuple(np.moveaxis(last, -1, 0)), (joint.max() + 1,) * SIZE)
        share = (names[..., None] == np.arange(many)).mean(axis=1)
        parts.append(share)
    shares = np.concatenate(parts)
    means, likely = np.broadcast_to(p, shares.shape), p > TINY
    worst = max(
        log_e_of_fractions(shares[:, likely[:, k], k], means[:, likely[:, k], k])
        for k in range(many)
        if likely[:, k].any()
    )
    rare = np.where(p < 1e-3, p, 0.0)
    ratio = float((shares * (rare > 0)).sum() / max(rare.sum() * len(shares), TINY))
    return len(shares) * n, worst, ratio


def lines(quick: bool) -> Iterator[str]:
    yield "| model | layout | method | herds x blocks | joint states below 1e-3 | log e |"
    yield "|---|---|---|---|---|---|"
    for case in cases():
        count, worst, ratio = run(case, 1 if quick else 2)
        wrong = " **rejected**" if worst >= LIMIT else ""
        method = f"herd of {case.method.herd}" if case.method.herd > 1 else "single chain"
        yield (
            f"| {case.name} | {case.layout or 'auto'} | {method} | {count:,} | {ratio:.3f} "
            f"| {worst:.1f}{wrong} |"
        )
