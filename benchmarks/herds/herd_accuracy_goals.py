"""Goals for the accuracy of herds, at as many updates as Gibbs sampling has."""

import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np

import herded as hd
from benchmarks.support.goal_rows import GoalRow
from benchmarks.support.model_families import constant, ring
from benchmarks.support.random_models import grid, ising
from benchmarks.support.run_scores import ours, score

MEMBERS = 64
MODELS = 3
SEEDS, QUICK_SEEDS = 5, 1
JOINT_UPDATES = 1_000_000, 10_000_000
HERDS = 4
SIDE, COUPLING = 64, 0.4  # of the periodic lattice, which has no field
ENERGY = -1.10608  # its exact energy per site, in units of the coupling
SWEEPS, EVERY = 4000, 10  # of a herd on it, of which every tenth is looked at
BATCHES, QUICK_BATCHES = 16, 2  # of these sweeps
FEWER = 20  # times the updates, in a quick run

Method = Callable[[int], hd.Gibbs | hd.HerdedGibbs]  # of a seed


def gibbs(seed: int) -> hd.Gibbs:
    return hd.Gibbs(seed=seed)


def fresh(seed: int) -> hd.Gibbs:
    return hd.Gibbs(seed=seed, herd=MEMBERS)


def kept(seed: int) -> hd.HerdedGibbs:
    return hd.HerdedGibbs(seed=seed, herd=MEMBERS)


HERD_NAMES: dict[Method, str] = {
    fresh: f"Gibbs(herd={MEMBERS})",
    kept: f"HerdedGibbs(herd={MEMBERS})",
}


def words(quick: bool) -> str:
    """What the figures are."""
    seeds, batches = (QUICK_SEEDS, QUICK_BATCHES) if quick else (SEEDS, BATCHES)
    return (
        "Accuracy: the peer is Gibbs sampling with as many updates, a tenth of them burn-in. "
        "Errors of marginals are mean absolute errors, Rao-Blackwellised, and those of joints "
        f"total variation: means over {seeds} seeds, and over {MODELS} models where they are "
        f"random. The standard error of the energy is that of {HERDS * batches} batches of "
        f"{HERDS} herds, or of {HERDS} chains that are {MEMBERS} times as long."
    )


def rows(quick: bool) -> Iterator[GoalRow]:
    warnings.simplefilter("ignore", hd.HerdedWarning)
    seeds, fewer = (range(QUICK_SEEDS), FEWER) if quick else (range(SEEDS), 1)
    yield from marginal_rows(0.3, 100_000 // fewer, {fresh: 5, kept: 10}, seeds)
    yield from marginal_rows(1.0, 1_000_000 // fewer, {fresh: 2, kept: 2}, seeds)
    rare = common_effect((0.01, 0.02), ((0.001, 0.3), (0.94, 0.95)), ((0.05, 0.9), (0.01, 0.7)))
    common = common_effect((0.1, 0.3), ((0.001, 0.03), (0.02, 0.05)), ((0.2, 0.9), (0.3, 0.65)))
    circle = constant(ring(8), 1.0)
    for name, model in (
        ("five variables, rare causes (as earthquake)", rare),
        ("five variables, rare effect (as cancer)", common),
        ("ring of 8, J = 1", circle),
    ):
        for updates in JOINT_UPDATES:
            yield joint_row(name, model, updates // fewer, seeds)
    yield from energy_rows(SWEEPS // fewer, QUICK_BATCHES if quick else BATCHES)


def marginal_rows(
    scale: float, updates: int, goals: dict[Method, int], seeds: Sequence[int]
) -> Iterator[GoalRow]:
    """Ising 10x10: errors of each kind of herd, at most one of so many parts of Gibbs's."""
    models = [ising(grid(10, 10), scale, np.random.default_rng(k)) for k in range(MODELS)]
    known = [(one, hd.infer(one, hd.Exact(), progress=False).marginals) for one in models]
    peer = marginal_error(gibbs, known, updates, seeds)
    for method, parts in goals.items():
        yield GoalRow(
            f"Ising 10x10, J and h to {scale:g}, {updates:,} updates, {HERD_NAMES[method]}",
            f"1/{parts} of the error",
            1 / parts,
            marginal_error(method, known, updates, seeds),
            peer,
        )


def marginal_error(
    method: Method,
    known: Sequence[tuple[hd.FactorGraph, np.ndarray]],
    updates: int,
    seeds: Sequence[int],
) -> float:
    run = ours(lambda _, seed: method(seed))
    errors = [
        score(model, run(model, updates, seed), truth).error
        for model, truth in known
        for seed in seeds
    ]
    return float(np.mean(errors))


def common_effect(
    causes: tuple[float, float],
    effect: tuple[tuple[float, float], tuple[float, float]],
    witnesses: tuple[tuple[float, float], tuple[float, float]],
) -> hd.FactorGraph:
    """A Bayes net of two causes, what either may set off, and two witnesses of that.

    Numbers are probabilities of state 1, given the states of the parents.
    """

    def table(ones: object) -> np.ndarray:
        p = np.array(ones)
        return np.log(np.stack([1 - p, p], axis=-1))

    tables = [((0,), causes[0]), ((1,), causes[1]), ((0, 1, 2), effect)]
    tables += [((2, 3), witnesses[0]), ((2, 4), witnesses[1])]
    return hd.FactorGraph([2] * 5, [(scope, table(ones)) for scope, ones in tables])


def joint_row(name: str, model: hd.FactorGraph, updates: int, seeds: Sequence[int]) -> GoalRow:
    """No herd may be worse than Gibbs sampling, but for noise."""
    truth = hd.theory.target(model)
    error = {
        method: np.mean([joint_error(model, method(s), updates, truth) for s in seeds])
        for method in (gibbs, fresh)
    }
    return GoalRow(
        f"{name}, {updates:,} updates, joint, {HERD_NAMES[fresh]}",
        "1.1 of the error",
        1.1,
        float(error[fresh]),
        float(error[gibbs]),
    )


def joint_error(
    model: hd.FactorGraph, method: hd.Gibbs | hd.HerdedGibbs, updates: int, truth: np.ndarray
) -> float:
    each = updates // method.herd
    found = hd.infer(
        model,
        method,
        sweeps=each - each // 10,
        burn_in=each // 10,
        keep=[hd.Joint()],
        progress=False,
    )
    return float(np.abs(found.joint - truth).sum() / 2)


def energy_rows(sweeps: int, batches: int) -> Iterator[GoalRow]:
    """A lattice near its critical point: whether the energy is right, and how noisy it is."""
    means: dict[Method, np.ndarray] = {
        method: np.concatenate(
            [batch_energies(method(herd), sweeps, batches) for herd in range(HERDS)]
        )
        for method in (gibbs, fresh)
    }
    noise = {method: of.std(ddof=1) / len(of) ** 0.5 for method, of in means.items()}
    name = f"Ising {SIDE}x{SIDE}, periodic, coupling {COUPLING}, {HERDS} herds of {MEMBERS}"
    for method, whose in ((fresh, "herds"), (gibbs, "Gibbs")):
        yield GoalRow(
            f"{name if method is fresh else 'as many updates by Gibbs'}: energy "
            f"{means[method].mean():.5f} off {ENERGY}, over its standard error",
            "at most 3",
            3.0,
            abs(float(means[method].mean()) - ENERGY),
            float(noise[method]),
            whose=f"standard error of {whose}",
        )
    yield GoalRow(
        f"{name}: standard error of the energy",
        "2/3",
        2 / 3,
        float(noise[fresh]),
        float(noise[gibbs]),
    )


def batch_energies(method: hd.Gibbs | hd.HerdedGibbs, sweeps: int, batches: int) -> np.ndarray:
    """(batches,) means of the energy per site over a run of as many updates as a herd's."""
    model = hd.ising_grid(np.zeros((SIDE, SIDE)), COUPLING, periodic=True)
    each = sweeps * MEMBERS // method.herd
    found = hd.infer(
        model,
        method,
        sweeps=each,
        burn_in=each // 10,
        keep=[hd.Samples(every=EVERY)],
        progress=False,
    )
    members = found.samples.reshape(method.herd, -1, SIDE**2)
    energies = -model.log_score(members) / (COUPLING * SIDE**2)
    return energies.mean(axis=0).reshape(batches, -1).mean(axis=1)
