"""Mean energies over independent runs beside exact ones: a z-score for each layout and model.

Tori of 64 x 64 have Kaufman's exact energies (`exact_energies`), strips with random fields those of
transfer matrices. Runs are independent herds or chains, so the spread of their means is honest:
z = (mean - exact) / (standard deviation / sqrt(runs)).

**Starts and burn-in.** A start that is still remembered would look like a bias. Tori start ordered,
and are given `BURN_IN` sweeps. Above the critical temperature 2.27 the slowest is T = 2.5, where
energies have an autocorrelation time of 12 sweeps, and 600 are 50 of them. At T = 2 an ordered
start lies in one of the two ordered phases, which have the same energies; states with walls between
phases have a weight of about e^-29 (64 sites long, tension 0.228 per site, two walls) and need not
be reached. Strips have autocorrelation times of 3 to 6 sweeps, and at least 40 of burn-in.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import herded as hd
from benchmarks.accuracy.bias.exact_energies import strip_energy, torus_energy

RUNS, QUICK_RUNS = 200, 20
AT_ONCE = 10  # chains of a call
SIDE = 64
TEMPERATURES = (2.0, 2.5, 3.0, 5.0)
BURN_IN = {2.0: 200, 2.5: 600, 3.0: 200, 5.0: 50}
LARGEST_Z = 4.0


class Case(NamedTuple):
    name: str
    make: Callable[[], tuple[Any, float]]  # a model and its exact energy
    method: Any
    layout: str | None
    burn_in: int
    sweeps: int
    ordered: bool = False


def torus(temperature: float) -> tuple[Any, float]:
    model = hd.ising_grid(np.zeros((SIDE, SIDE)), 1 / temperature, periodic=True)
    return model, torus_energy(SIDE, temperature)


def ising_strip(*shape: int, coupling: float = 0.35) -> tuple[Any, float]:
    """The first axis is long; fields are normal numbers times 0.6."""
    field = 0.6 * np.random.default_rng(len(shape)).normal(size=shape)
    model = hd.ising_grid(field, coupling)
    logs = np.stack([-field, field], axis=-1).reshape(shape[0], -1, 2)
    pairs = coupling * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return model, strip_energy(logs, pairs, within(shape[1:]))


def potts_strip(states: int, *shape: int) -> tuple[Any, float]:
    logs = 0.6 * np.random.default_rng(states).normal(size=(*shape, states))
    model = hd.potts_grid(logs, 0.9)
    return model, strip_energy(
        logs.reshape(shape[0], -1, states), 0.9 * np.eye(states), within(shape[1:])
    )


def within(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """Neighbours in a layer."""
    place, found = np.arange(np.prod(shape)).reshape(shape), []
    for axis in range(place.ndim):
        lines = np.moveaxis(place, axis, 0)
        found += list(zip(lines[:-1].ravel().tolist(), lines[1:].ravel().tolist(), strict=True))
    return found


def pair_strip(states: int, layers: int, width: int) -> tuple[Any, float]:
    """A strip as a general graph, with random tables that all bonds share."""
    rng = np.random.default_rng(10 + states)
    logs = 0.6 * rng.normal(size=(layers, width, states))
    pairs = 0.3 * rng.normal(size=(states, states))
    pairs = pairs + pairs.T
    place = np.arange(layers * width).reshape(layers, width)
    edges = [
        *zip(place[:-1].ravel().tolist(), place[1:].ravel().tolist(), strict=True),
        *zip(place[:, :-1].ravel().tolist(), place[:, 1:].ravel().tolist(), strict=True),
    ]
    model = hd.pairwise_model(logs.reshape(-1, states), edges, pairs)
    return model, strip_energy(logs, pairs, within((width,)))


def write_conditional(i: int, x: Any, kept: Any, data: Any, out: Any) -> None:
    """A callback model: a strip of sites with fields, numbered layer by layer."""
    field, coupling, width = data
    total = field[i]
    if i >= width:
        total += coupling * (2 * x[i - width] - 1)
    if i + width < len(x):
        total += coupling * (2 * x[i + width] - 1)
    if i % width > 0:
        total += coupling * (2 * x[i - 1] - 1)
    if i % width < width - 1:
        total += coupling * (2 * x[i + 1] - 1)
    out[0], out[1] = -total, total


def cases() -> list[Case]:
    alone, herd = hd.Gibbs(), hd.Gibbs(herd=64)
    found = []
    for temperature in TEMPERATURES:
        burn_in = BURN_IN[temperature]
        for layout, method in (("grid", herd), ("field", herd), ("grid", alone)):
            make = lambda t=temperature: torus(t)  # noqa: E731
            name = f"torus, T = {temperature:g}"
            found.append(Case(name, make, method, layout, burn_in, 100, ordered=True))
    flat = lambda: ising_strip(96, 6)  # noqa: E731
    for layout in ("grid", "field", "dense", "table", "factor"):
        found.append(Case("strip of 96 x 6", flat, herd, layout, 50, 60))
    for layout in ("grid", "field", "table", "factor"):
        found.append(Case("strip of 96 x 6", flat, alone, layout, 50, 400))
    solid = lambda: ising_strip(60, 3, 2, coupling=0.25)  # noqa: E731
    found += [Case("strip of 60 x 3 x 2", solid, m, "grid", 50, 100) for m in (herd, alone)]
    for states, width in ((3, 4), (5, 2)):
        potts = lambda q=states, w=width: potts_strip(q, 64, w)  # noqa: E731
        found += [
            Case(f"Potts strip, {states} states", potts, m, "grid", 50, 100) for m in (herd, alone)
        ]
    pair = lambda: pair_strip(3, 64, 4)  # noqa: E731
    for layout in ("pairs", "table", "factor"):
        found += [Case("pair strip, 3 states", pair, m, layout, 50, 60) for m in (herd, alone)]
    small, moves = (lambda: ising_strip(24, 3)), hd.Blocks(entries=16)
    found += [
        Case("blocks on a strip of 24 x 3", small, replace(method, moves=moves), None, 40, sweeps)
        for method, sweeps in ((replace(herd, herd=16), 40), (alone, 200))
    ]
    ladder = hd.Tempered(hd.Gibbs(), rungs=4)
    found += [
        Case("ladder on a strip of 24 x 3", small, ladder, layout, 50, 300)
        for layout in (None, "factor")
    ]
    found.append(Case("ladder, 3 states", lambda: pair_strip(3, 16, 3), ladder, None, 50, 200))
    herds = hd.Tempered(replace(herd, herd=16), rungs=4)
    found.append(Case("ladder on a strip of 24 x 3", small, herds, None, 50, 60))
    return found


def z_score(case: Case, runs: int) -> tuple[float, float, float]:
    """The mean over runs, its standard error, and how many of them it is from the exact one."""
    model, exact = case.make()
    start = np.zeros(model.n_variables, int) if case.ordered else None
    means: list[float] = []
    while len(means) < runs:
        method = with_seed(case.method, 1 + len(means))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = hd.infer(
                model, method, sweeps=case.sweeps, burn_in=case.burn_in, chains=AT_ONCE,
                start=start, layout=case.layout, threads=1,
                keep=[hd.Observable(hd.energy, every=10, series=False)],
            )  # fmt: skip
        one = result.observables["energy"].chain_means
        means += np.asarray(one).reshape(AT_ONCE, -1).mean(axis=1).tolist()
    mean, error = float(np.mean(means)), float(np.std(means, ddof=1) / np.sqrt(len(means)))
    return mean, error, (mean - exact) / error


def with_seed(method: Any, seed: int) -> Any:
    if isinstance(method, hd.Tempered):
        return replace(method, method=replace(method.method, seed=seed))
    return replace(method, seed=seed)


def lines(quick: bool) -> Iterator[str]:
    runs = QUICK_RUNS if quick else RUNS
    yield f"| model | layout | method | exact | mean of {runs} runs | standard error | z |"
    yield "|---|---|---|---|---|---|---|"
    for case in cases():
        mean, error, z = z_score(case, runs)
        exact = mean - z * error
        single = case.method.method if isinstance(case.method, hd.Tempered) else case.method
        members = single.herd
        method = f"herd of {members}" if members > 1 else "single chain"
        wrong = " **beyond 4**" if abs(z) > LARGEST_Z else ""
        yield (
            f"| {case.name} | {case.layout or 'auto'} | {method} | {exact:.4f} | {mean:.4f} "
            f"| {error:.4f} | {z:+.2f}{wrong} |"
        )
