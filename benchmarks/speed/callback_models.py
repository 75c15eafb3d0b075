"""Conditionals of one's own beside Gibbs sampling written by hand, both compiled by Numba."""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import njit

import herded as hd
from benchmarks.support.timing import best_sweeps
from herded.layouts.callback.herd_sweeps import callback_herd_sweeps
from herded.layouts.callback.kernel_calls import statistics_of
from herded.layouts.callback.sweeps import CallbackArrays
from herded.models.callbacks.function_calls import MemberViews, placed_values
from herded.system.compilation.address_views import make_reader
from herded.system.compilation.user_function_compiler import (
    compile_first_class,
    compile_for_arguments,
    compile_inlined,
)

TITLE = "## Conditionals of one's own"
COLUMNS, SPINS, HERD = 12, 100, 64
SLAB, ODDS = 1.0, float(np.log(0.25 / 0.75))


class Work(NamedTuple):
    """A model as functions, and the same in a loop by hand: (x, data, sweeps, seed) -> counts."""

    name: str
    model: hd.ConditionalModel
    by_hand: Callable[..., Any]
    data: Any


# -- spike and slab: what is kept is a swept matrix ------------------------------------------------


def swept_conditional(i, x, swept, data, out):
    n, _ = data
    now, other = swept[-1, -1], swept[-1, -1] - swept[i, -1] ** 2 / swept[i, i]
    pivot = -1.0 / swept[i, i] if x[i] else swept[i, i]
    out[0] = -0.5 * n * np.log(other if x[i] else now)
    out[1] = -0.5 * n * np.log(now if x[i] else other) + ODDS - 0.5 * np.log(SLAB * pivot)


def swept_changed(i, old, new, x, swept, data):
    pivot, row = swept[i, i], swept[i].copy()
    for a, share in enumerate(row / pivot):
        for b in range(len(row)):
            swept[a, b] -= share * row[b]
    swept[i] = swept[:, i] = (new - old) * row / pivot
    swept[i, i] = -1.0 / pivot


def swept_statistics(x, data):
    swept = data[1].copy()
    for i in range(len(x)):
        if x[i]:
            swept_changed(i, np.int64(0), x[i], x, swept, data)
    return swept


@njit(cache=True)
def spike_and_slab_by_hand(x, data, sweeps, seed):
    """One chain: log-odds from the swept matrix, which follows every change in place."""
    np.random.seed(seed)  # noqa: NPY002  the one generator that Numba seeds
    n, start = data
    swept, size = start.copy(), len(start)
    counts = np.zeros(len(x), np.int64)
    for _ in range(sweeps):
        for i in range(len(x)):
            pivot, now = swept[i, i], swept[size - 1, size - 1]
            other = now - swept[i, size - 1] ** 2 / pivot
            if x[i]:
                odds = ODDS - 0.5 * np.log(-SLAB / pivot) - 0.5 * n * np.log(now / other)
            else:
                odds = ODDS - 0.5 * np.log(SLAB * pivot) - 0.5 * n * np.log(other / now)
            new = np.int64(np.random.random() < 1.0 / (1.0 + np.exp(-odds)))  # noqa: NPY002
            if new != x[i]:
                for a in range(size):
                    if a != i:
                        share = swept[a, i] / pivot
                        for b in range(size):
                            if b != i:
                                swept[a, b] -= share * swept[i, b]
                for a in range(size):
                    if a != i:
                        swept[a, i] = swept[i, a] = (new - x[i]) * swept[i, a] / pivot
                swept[i, i] = -1.0 / pivot
                x[i] = new
            counts[i] += new
    return counts


def spike_and_slab() -> Work:
    rng = np.random.default_rng(3)
    columns = rng.normal(size=(60, COLUMNS)) + 0.8 * rng.normal(size=(60, 1))
    y = columns[:, :4] @ [1.0, -0.7, 0.4, 0.3] + 1.5 * rng.normal(size=60)
    both = np.column_stack([columns, y])
    data = 60, both.T @ both + np.diag(np.append(np.full(COLUMNS, 1.0 / SLAB), 0.0))
    model = hd.ConditionalModel(
        [2] * COLUMNS,
        swept_conditional,
        data=data,
        statistics=swept_statistics,
        changed=swept_changed,
    )
    return Work(
        "spike and slab, 12 columns, a swept matrix kept", model, spike_and_slab_by_hand, data
    )


# -- spins: nothing kept, or their fields ---------------------------------------------------------


def summed_conditional(i, x, statistics, data, out):
    field, coupling = data
    total = field[i]
    for j in range(len(x)):
        total += coupling[i, j] * x[j]
    out[0], out[1] = 0.0, total


@njit(cache=True)
def summed_by_hand(x, data, sweeps, seed):
    np.random.seed(seed)  # noqa: NPY002  the one generator that Numba seeds
    field, coupling = data
    counts = np.zeros(len(x), np.int64)
    for _ in range(sweeps):
        for i in range(len(x)):
            total = field[i]
            for j in range(len(x)):
                total += coupling[i, j] * x[j]
            x[i] = np.random.random() < 1.0 / (1.0 + np.exp(-total))  # noqa: NPY002
            counts[i] += x[i]
    return counts


def field_conditional(i, x, fields, data, out):
    out[0], out[1] = 0.0, fields[i]


def field_statistics(x, data):
    field, coupling = data
    fields = field.copy()
    for i in range(len(x)):
        for j in range(len(x)):
            fields[i] += coupling[i, j] * x[j]
    return fields


def field_changed(i, old, new, x, fields, data):
    _, coupling = data
    for j in range(len(x)):
        fields[j] += (new - old) * coupling[i, j]


@njit(cache=True)
def fields_by_hand(x, data, sweeps, seed):
    np.random.seed(seed)  # noqa: NPY002  the one generator that Numba seeds
    field, coupling = data
    fields, counts = field.copy(), np.zeros(len(x), np.int64)
    for _ in range(sweeps):
        for i in range(len(x)):
            new = np.int64(np.random.random() < 1.0 / (1.0 + np.exp(-fields[i])))  # noqa: NPY002
            if new != x[i]:
                for j in range(len(x)):
                    fields[j] += (new - x[i]) * coupling[i, j]
                x[i] = new
            counts[i] += new
    return counts


def spins() -> tuple[Work, Work]:
    rng = np.random.default_rng(0)
    coupling = np.triu(rng.normal(size=(SPINS, SPINS)), 1) / SPINS**0.5
    data = rng.normal(size=SPINS) - 1.0, coupling + coupling.T
    summed = hd.ConditionalModel([2] * SPINS, summed_conditional, data=data)
    kept = hd.ConditionalModel(
        [2] * SPINS,
        field_conditional,
        data=data,
        statistics=field_statistics,
        changed=field_changed,
    )
    return (
        Work("100 spins, all summed at each visit", summed, summed_by_hand, data),
        Work("100 spins, fields kept", kept, fields_by_hand, data),
    )


# -- states: more than two of them ----------------------------------------------------------------


def ring_conditional(i, x, statistics, data, out):
    field, coupling = data
    before, after = x[i - 1], x[i + 1 - len(x)]
    for k in range(len(out)):
        out[k] = field[i, k]
    out[before] += coupling
    out[after] += coupling


@njit(cache=True)
def ring_by_hand(x, data, sweeps, seed):
    np.random.seed(seed)  # noqa: NPY002  the one generator that Numba seeds
    field, coupling = data
    n, states = field.shape
    counts, p = np.zeros((n, states), np.int64), np.empty(states)
    for _ in range(sweeps):
        for i in range(n):
            before, after = x[i - 1], x[i + 1 - n]
            total = 0.0
            for k in range(states):
                p[k] = np.exp(field[i, k] + coupling * ((before == k) + (after == k)))
                total += p[k]
            left, new = np.random.random() * total, 0  # noqa: NPY002
            while left >= p[new] and new < states - 1:
                left -= p[new]
                new += 1
            x[i] = new
            counts[i, new] += 1
    return counts


def ring() -> Work:
    data = np.random.default_rng(1).normal(size=(SPINS, 4)), 0.7
    model = hd.ConditionalModel([4] * SPINS, ring_conditional, data=data)
    return Work("ring of 100 variables of 4 states, nothing kept", model, ring_by_hand, data)


# -- tables ---------------------------------------------------------------------------------------


def works() -> tuple[Work, ...]:
    return spike_and_slab(), *spins(), ring()


def lines(quick: bool) -> Iterator[str]:
    yield TITLE
    yield ""
    yield "CPU ns per update, of one variable in one chain. By hand is one chain, Gibbs sampling"
    yield "with NumPy's generator; `Gibbs(herd=64)` moves 64. Best of runs that take turns."
    yield ""
    yield "| model | by hand | Gibbs() | ratio | Gibbs(herd=64) | ratio | plain Python |"
    yield "|---|---|---|---|---|---|---|"
    for work in works():
        yield row(work, quick)
    yield ""
    yield "CPU seconds to compile and ns per update of the herd on the first model, with functions"
    yield "that the kernel calls by their addresses, and with a kernel compiled anew for each."
    yield ""
    yield "| | the functions | the kernel | and for other functions | ns per update |"
    yield "|---|---|---|---|---|"
    yield from ways(quick)


def row(work: Work, quick: bool) -> str:
    plain = hd.ConditionalModel(
        work.model.cardinalities,
        work.model.conditional,
        data=work.data,
        statistics=work.model.statistics,
        changed=work.model.changed,
        compiled=False,
    )
    n = work.model.n_variables

    def run(model: Any, method: Any) -> Callable[[int, int], object]:
        return lambda sweeps, seed: hd.infer(model, method(seed), sweeps=sweeps, progress=False)

    runs: dict[str, Callable[[int, int], object]] = {
        "hand": lambda sweeps, seed: work.by_hand(np.zeros(n, np.int64), work.data, sweeps, seed),
        "chain": run(work.model, lambda seed: hd.Gibbs(seed)),
        "herd": run(work.model, lambda seed: hd.Gibbs(seed, herd=HERD)),
    }
    took = best_sweeps(runs, repeats=3 if quick else 7, seconds=0.05 if quick else 0.3)
    took |= best_sweeps(
        {"plain": run(plain, lambda seed: hd.Gibbs(seed))}, repeats=2, sweeps=8 if quick else 80
    )
    hand, chain = (1e9 * took[name] / n for name in ("hand", "chain"))
    herd, slow = 1e9 * took["herd"] / n / HERD, 1e9 * took["plain"] / n
    return (
        f"| {work.name} | {hand:.1f} | {chain:.1f} | {chain / hand:.2f} | {herd:.1f} | "
        f"{herd / hand:.2f} | {slow:,.0f} |"
    )


def ways(quick: bool) -> Iterator[str]:
    """What it takes to compile functions and kernels, by either way; no kernel comes from disk."""
    model = spike_and_slab().model
    for name, by_address in (("by address", True), ("compiled in", False)):
        kernel = njit(nogil=True, error_model="numpy")(callback_herd_sweeps.py_func)
        took, again = (compiled(model, kernel, by_address) for _ in range(2))
        yield (
            f"| {name} | {took[0]:.2f} | {took[1]:.2f} | {sum(again[:2]):.2f} | "
            f"{speed(model, took[2], 50 if quick else 500):.1f} |"
        )


def compiled(model: Any, kernel: Any, by_address: bool) -> tuple[float, float, Callable[..., Any]]:
    """CPU seconds for the functions and for the kernel, and a call of it by (sweeps).

    The functions are new each time, of the same types.
    """
    method = hd.Gibbs(herd=HERD)
    layout = method.compile(model)
    state = method.init(layout, np.zeros((HERD, model.n_variables), np.int64), tally=False)
    x = state.x.reshape(HERD, -1)
    members, together = MemberViews(model, x, statistics_of(state)), layout._together(state)
    own = CallbackArrays(
        members.place(model.callbacks.best),
        True,
        x,
        members.out,
        members.old,
        np.zeros(3, np.int64),
    )
    began = time.process_time()
    read, _ = make_reader(*placed_values(model, x, members.kept, members.old, members.out))
    calls = model.callbacks._calls(compile_inlined, read)
    made = [
        compile_first_class(one, (0, 0), "") if by_address else njit(nogil=True)(one)
        for one in (calls.visit, calls.follow)
    ]
    functions, began = time.process_time() - began, time.process_time()

    def arguments(sweeps: int) -> tuple[Any, ...]:
        block = np.zeros((sweeps, 0), np.uint8)
        step = method.draw.step(0, 0)
        return *made, own, together, layout.scan, step, np.ones(sweeps), block

    call: Callable[..., Any] = kernel
    if by_address:
        call = compile_for_arguments(_Kernel(kernel), arguments(1))
    call(*arguments(1))

    def run(sweeps: int, alive: MemberViews = members) -> Any:
        return call(*arguments(sweeps))

    return functions, time.process_time() - began, run


class _Kernel(NamedTuple):
    """A kernel, as `compile_for_arguments` knows it."""

    dispatcher: Any


def speed(model: Any, call: Callable[[int], Any], sweeps: int) -> float:
    """CPU ns per update."""
    best = np.inf
    for _ in range(5):
        began = time.process_time()
        call(sweeps)
        best = min(best, time.process_time() - began)
    return 1e9 * best / (sweeps * HERD * model.n_variables)
