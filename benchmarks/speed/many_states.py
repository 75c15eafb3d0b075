"""Random pairwise models of many states: CPU nanoseconds per update beside an expert's own sampler.

The expert's loops are what one writes by hand for such a model: neighbours in CSR and the number of
a table for each, tables in both directions, their rows multiplied or logarithms summed, xorshift
for the draws and a search of the cumulated sums. All run in one process, alternating.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np

import herded as hd
from benchmarks.support.timing import nanoseconds
from herded.system.compilation.jit import jit

NODES, DEGREE, SWEEPS = 10_000, 6, 20
STATES = (3, 4, 8, 16)
METHODS = [
    ("herded pooled", "pairs", hd.HerdedGibbs(weights="pooled")),
    ("Gibbs", "pairs", hd.Gibbs()),
    ("herded pooled", "factor", hd.HerdedGibbs(weights="pooled")),
]
TABLES = ((False, "a table for each edge"), (True, "one table for all edges"))


def lines(repeats: int) -> Iterator[str]:
    yield f"{NODES:,} variables of K states and mean degree {DEGREE}, log-potentials 0.3 N(0, 1):"
    yield "CPU ns per update, over the faster expert"
    yield ""
    for shared, title in TABLES:
        timed = [_timed(ManyStates(states, shared), repeats) for states in STATES]
        yield f"| {title} | " + " | ".join(f"K = {states}" for states in STATES) + " |"
        yield "|---|" + "---|" * len(STATES)
        for name in timed[0]:
            cells = []
            for found in timed:
                expert = min(value for key, value in found.items() if key.startswith("expert"))
                cells.append(f"{found[name]:.0f} ({found[name] / expert:.2f})")
            yield f"| {name} | " + " | ".join(cells) + " |"
        yield ""


class ManyStates:
    """Couplings on a random graph: for the expert in CSR, for `herded` as a model."""

    def __init__(self, states: int, shared: bool, nodes: int = NODES) -> None:
        rng = np.random.default_rng(0)
        ends = np.unique(np.sort(rng.integers(0, nodes, (nodes * DEGREE, 2)), axis=1), axis=0)
        ends = rng.permutation(ends[ends[:, 0] != ends[:, 1]])[: nodes * DEGREE // 2]
        tables = 0.3 * rng.normal(size=(1 if shared else len(ends), states, states))
        self.alone = 0.3 * rng.normal(size=(nodes, states))
        self.model = hd.pairwise_model(self.alone, ends, tables[0] if shared else tables)
        first, second = np.concatenate([ends, ends[:, ::-1]]).T
        order = np.argsort(first, kind="stable")
        self.start = np.concatenate([[0], np.cumsum(np.bincount(first, minlength=nodes))])
        self.neighbour = second[order].astype(np.uint32)
        # Tables [the neighbour's state, the variable's own], sorted as they are read.
        self.logs = np.concatenate([tables.transpose(0, 2, 1), tables])
        self.which = order // len(ends)
        if not shared:
            self.logs, self.which = self.logs[order], np.arange(len(order))


def _timed(sparse: ManyStates, repeats: int) -> dict[str, float]:
    block = np.zeros((SWEEPS, NODES), np.uint8)
    works: dict[str, Callable[[], Any]] = {}
    for name, kernel, change in (
        ("expert's CSR Gibbs, products", expert_products, np.exp),
        ("expert's CSR Gibbs, sums", expert_sums, np.array),
    ):
        tables = change(sparse.logs), change(sparse.alone)
        told = (sparse.start, sparse.neighbour, sparse.which, *tables)
        works[name] = _expert(kernel, told, block)
    for name, kind, method in METHODS:
        works[f"{name}, {kind} layout"] = _sweeping(sparse.model, kind, method, block)
    return nanoseconds(works, updates=SWEEPS * NODES, repeats=repeats)


def _expert(kernel: Any, told: tuple[np.ndarray, ...], block: np.ndarray) -> Callable[[], None]:
    x, seed = np.zeros(NODES, np.uint8), np.array([88172645463325252], np.uint64)
    return lambda: kernel(*told, x, seed, block)


def _sweeping(model: Any, kind: str, method: Any, block: np.ndarray) -> Callable[[], None]:
    layout = method.compile(model, kind=kind)
    state = method.init(layout, np.zeros(NODES, int))
    return lambda: method.advance(layout, state, block)


# -- the expert's loops --------------------------------------------------------------------------


@jit
def expert_products(start, neighbour, which, factor, alone, x, seed, block):
    bits, states = seed[0], alone.shape[1]
    upto = np.empty(states)
    for s in range(len(block)):
        for i in range(len(x)):
            for k in range(states):
                upto[k] = alone[i, k]
            for e in range(start[i], start[i + 1]):
                row = factor[which[e], x[neighbour[e]]]
                for k in range(states):
                    upto[k] *= row[k]
            bits = next_bits(bits)
            x[i] = pick(upto, bits)
            block[s, i] = x[i]
    seed[0] = bits


@jit
def expert_sums(start, neighbour, which, logs, alone, x, seed, block):
    bits, states = seed[0], alone.shape[1]
    upto = np.empty(states)
    for s in range(len(block)):
        for i in range(len(x)):
            for k in range(states):
                upto[k] = alone[i, k]
            for e in range(start[i], start[i + 1]):
                row = logs[which[e], x[neighbour[e]]]
                for k in range(states):
                    upto[k] += row[k]
            for k in range(states):
                upto[k] = np.exp(upto[k])
            bits = next_bits(bits)
            x[i] = pick(upto, bits)
            block[s, i] = x[i]
    seed[0] = bits


@numba.njit
def next_bits(bits):
    bits ^= bits << np.uint64(13)
    bits ^= bits >> np.uint64(7)
    return bits ^ (bits << np.uint64(17))


@numba.njit
def pick(upto, bits):
    """A state drawn in proportion to `upto`, which is cumulated."""
    last = len(upto) - 1
    for k in range(last):
        upto[k + 1] += upto[k]
    u = (bits >> np.uint64(11)) * 2.0**-53 * upto[last]
    k = 0
    while k < last and u >= upto[k]:
        k += 1
    return k
