"""Which method wins where: weights of one chain, herds and belief propagation, by family of models.

The models, the error and the burn-in are those of `benchmarks.herds.herd_comparison`.
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

import numpy as np

import herded as hd
from benchmarks.herds.herd_comparison import COMPILE, LEAST, MOST_FASTER, USABLE
from benchmarks.support.model_families import families
from benchmarks.support.run_scores import Answer, Run, ours, recommended, score

TITLE = "# Which method wins where"
SEEDS = {10_000: 2, 100_000: 1}  # updates of each variable, and runs of each
EVERY = {100_000: 3}  # of the longest runs, every third model
QUICK_SEEDS, QUICK_EVERY = {1_000: 1}, 12
ROOM = 2**23  # bytes of tables and weights: larger ones take longer to fill than to use
SLOW = 0.01  # error of Gibbs sampling from which on a model mixes slowly for this many updates
WEIGHTS = {
    "blanket": {"weights": "blanket"},
    "shared": {"weights": "shared"},
    "pooled": {"weights": "pooled"},
    "pooled, slack 4": {"weights": "pooled", "slack": 4.0},
    "lazy": {"weights": "lazy"},
    "full": {"weights": "full"},
}
SOLVED = "belief propagation"


def contenders() -> dict[str, Run]:
    """Gibbs sampling first: the others are held against it."""
    found = {"Gibbs": ours(lambda _, seed: hd.Gibbs(seed=seed))}
    for name, options in WEIGHTS.items():
        found[name] = ours(
            lambda _, seed, o=options: hd.HerdedGibbs(seed=seed, **o), max_memory=ROOM
        )
    for method in (hd.Gibbs, hd.HerdedGibbs):
        name = f"{method.__name__}(herd=64)"
        found[name] = ours(lambda _, seed, of=method: of(seed=seed, herd=64))
    found["recommend"] = recommended
    found[SOLVED] = propagated
    return found


def propagated(model: hd.FactorGraph, updates: int, seed: int) -> Answer:
    """Belief propagation, which knows neither updates nor seeds."""
    return solve(model, hd.BeliefPropagation())


def solve(model: hd.FactorGraph, method: Any) -> Answer:
    """What a solver finds, and how long it takes."""
    began = time.process_time()
    marginals = hd.infer(model, method, progress=False).marginals
    return Answer(marginals, None, None, False, time.process_time() - began)


def lines(quick: bool) -> Iterator[str]:
    warnings.simplefilter("ignore", hd.HerdedWarning)
    chosen = list(families())[:: QUICK_EVERY if quick else 1]
    kinds = [kind for kind, _, _ in chosen]
    solved = [solve(model, hd.Exact()) for _, _, model in chosen]
    known = [(m, answer.marginals) for (_, _, m), answer in zip(chosen, solved, strict=True)]
    runs = contenders()
    yield from wrap(
        f"{len(known)} models of at most 100 variables with exact answers. The mean absolute error "
        "of the marginals, Rao-Blackwellised, over that of Gibbs sampling after as many updates of "
        "each variable (all members together, a tenth of them burn-in): the geometric mean over "
        f"the models of a family on which that is within {USABLE} (each ratio at least "
        f"{LEAST}). Slow: those on which its error is above {SLOW}. Best: the share of models on "
        "which a sampler has the smallest error. CPU: the time over that of Gibbs sampling, the "
        f"geometric mean too. Left out: models whose weights take more than {ROOM >> 20} MiB.",
        100,
        break_on_hyphens=False,
    )
    for updates, seeds in (QUICK_SEEDS if quick else SEEDS).items():
        some = slice(None, None, EVERY.get(updates, 1))
        error, cpu = measured(runs, known[some], np.full((len(runs), len(known)), updates), seeds)
        yield from table(f"{updates:,} updates", list(runs), kinds[some], error, cpu)
        exact = np.array([answer.cpu for answer in solved[some]]) / cpu[0]
        yield ""
        yield f"Exact inference takes {geometric(exact)} of the CPU of Gibbs sampling."
    fair = np.minimum(MOST_FASTER, cpu[0] / np.maximum(cpu, 1e-9))
    share = np.nan_to_num(updates * fair, nan=updates).astype(np.int64)
    error, cpu = measured(runs, known[some], share, seeds)
    title = f"The CPU of {updates:,} updates by Gibbs sampling"
    yield from table(title, list(runs), kinds[some], error, cpu)


def measured(
    runs: dict[str, Run],
    known: Sequence[tuple[hd.FactorGraph, np.ndarray]],
    updates: np.ndarray,
    seeds: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Errors and CPU seconds (runs, models), means over seeds; NaN where a method cannot."""
    error, cpu = np.full((2, len(runs), len(known)), np.nan)
    for k, (model, truth) in enumerate(known):
        for r, run in enumerate(runs.values()):
            try:
                run(model, COMPILE, 0)
            except hd.MemoryLimitError:
                continue
            answers = [run(model, int(updates[r, k]), seed) for seed in range(seeds)]
            error[r, k] = np.mean([score(model, answer, truth).error for answer in answers])
            cpu[r, k] = np.mean([answer.cpu for answer in answers])
    return error, cpu


def table(
    title: str, names: list[str], kinds: list[str], error: np.ndarray, cpu: np.ndarray
) -> Iterator[str]:
    """One row for each method, one column for each family."""
    usable = error[0] <= USABLE
    groups = {kind: usable & (np.array(kinds) == kind) for kind in dict.fromkeys(kinds)}
    groups |= {"slow": usable & (error[0] > SLOW), "all": usable}
    samplers = np.array([name != SOLVED for name in names])
    best = np.argmin(np.where(samplers[:, None], np.nan_to_num(error, nan=np.inf), np.inf), axis=0)
    heads = [f"{group} ({of.sum()})" for group, of in groups.items()]
    yield ""
    yield f"## {title}"
    yield ""
    yield f"| | {' | '.join([*heads, 'worst', 'best', 'CPU', 'left out'])} |"
    yield "|---" * (len(heads) + 5) + "|"
    for r, name in enumerate(names):
        ratio, can = error[r] / error[0], ~np.isnan(error[r])
        cells = [geometric(ratio[of & can]) for of in groups.values()]
        cells.append(f"{ratio[usable & can].max():.1f}")
        cells.append(f"{(best[usable] == r).mean():.2f}" if samplers[r] else "")
        cells.append(geometric((cpu[r] / cpu[0])[usable & can]))
        cells.append(str((usable & ~can).sum() or ""))
        yield f"| {name} | {' | '.join(cells)} |"


def geometric(ratios: np.ndarray) -> str:
    """The geometric mean, where there are any."""
    return f"{np.exp(np.log(np.maximum(ratios, LEAST)).mean()):.2f}" if len(ratios) else ""
