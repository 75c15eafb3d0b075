"""Herds beside Gibbs sampling and others, on models of all families with exact answers."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from textwrap import wrap
from typing import Any

import numpy as np

import herded as hd
from benchmarks import comparators
from benchmarks.herd_models import models
from herded.methods.weights_rule import suited_weights

TITLE = "# Herds beside Gibbs sampling"
UPDATES, QUICK_UPDATES = (10_000, 100_000, 1_000_000), (1_000,)
SEEDS, QUICK_SEEDS = 3, 1
EVERY, QUICK_EVERY = {1_000_000: 6}, 12  # of the longest runs, every sixth model
EQUAL_CPU = 100_000  # updates of Gibbs sampling, whose time the others get
T_OF_FOUR = 3.18  # standard errors: 95 % by Student's t with three degrees of freedom
USABLE = 0.05  # models on which Gibbs sampling itself is worse than this say nothing
WORSE = 1.25
LEAST = 0.01  # ratio: without fields, symmetry alone can make an answer right to the last bit
ROUNDING = 1e-8  # of answers that symmetry makes exact, and whose spread is 0
MOST_FASTER = 50  # times the updates, at equal CPU
COMPILE = 600  # updates of a run that is not timed, for the compiler's sake


@dataclass(frozen=True)
class Answer:
    """Of one run."""

    marginals: np.ndarray  # (N, K)
    standard_error: np.ndarray | None  # if several independent chains or herds ran
    warned: bool
    cpu: float


@dataclass(frozen=True)
class Score:
    """One answer held against the truth."""

    error: float  # mean absolute
    covered: float | None  # share of intervals that hold the truth, if nothing was warned
    squares: tuple[float, float] | None  # of errors and of standard errors, means
    cpu: float


Run = Callable[[hd.FactorGraph, int, int], Answer]  # model, updates per variable, seed


def ours(make: Callable[[hd.FactorGraph, int], Any], chains: int = 1, **told: Any) -> Run:
    """A method of the package: chains (or herds) share the updates, a tenth of them burn-in.

    `told` is for `infer`.
    """

    def run(model: hd.FactorGraph, updates: int, seed: int) -> Answer:
        method = make(model, seed)
        each = max(2, updates // (chains * getattr(method, "herd", 1)))
        keep = [hd.Marginals(rao_blackwell=True)]
        began = time.process_time()
        result = hd.infer(
            model,
            method,
            sweeps=each - each // 10,
            burn_in=each // 10,
            chains=chains,
            keep=keep,
            progress=False,
            **told,
        )
        cpu = time.process_time() - began
        per_chain = result.chain_marginals
        spread = per_chain.std(axis=0, ddof=1) / chains**0.5 if chains > 1 else None
        return Answer(per_chain.mean(axis=0), spread, bool(result.warnings), cpu)

    return run


def recommended(model: hd.FactorGraph, updates: int, seed: int) -> Answer:
    """What `recommend` plans for so many updates, its pilot among them."""
    began = time.process_time()
    choice = hd.recommend(model, sweeps=updates, seed=seed)
    result = hd.infer(model, choice, keep=[hd.Marginals(rao_blackwell=True)], progress=False)
    cpu, per_chain = time.process_time() - began, result.chain_marginals
    spread = per_chain.std(axis=0, ddof=1) / choice.chains**0.5 if choice.chains > 1 else None
    return Answer(per_chain.mean(axis=0), spread, bool(result.warnings), cpu)


def by_hand(function: Callable[[hd.FactorGraph, int, int], np.ndarray]) -> Run:
    """A comparator, which knows no standard error."""

    def run(model: hd.FactorGraph, updates: int, seed: int) -> Answer:
        began = time.process_time()
        return Answer(function(model, updates, seed), None, False, time.process_time() - began)

    return run


def contenders() -> dict[str, Run]:
    """All that can run: herds only where the methods have them."""
    found = {
        "Gibbs": ours(lambda _, seed: hd.Gibbs(seed=seed)),
        "Gibbs, other seeds": ours(lambda _, seed: hd.Gibbs(seed=1000 + seed)),
        "Gibbs, 4 chains": ours(lambda _, seed: hd.Gibbs(seed=seed), 4),
        "recommend": recommended,
        "in time": ours(lambda model, seed: suited_weights(model, seed=seed)),
        "in time, 4 chains": ours(lambda model, seed: suited_weights(model, seed=seed), 4),
    }
    for method in (hd.Gibbs, hd.HerdedGibbs):
        if any(field.name == "herd" for field in fields(method)):
            for chains, members in ((1, 64), (4, 16), (4, 64)):
                name = f"{method.__name__}(herd={members})" + (f", {chains} herds" * (chains > 1))
                found[name] = ours(
                    lambda _, seed, of=method, n=members: of(seed=seed, herd=n), chains
                )
    found["driven by a full period"] = by_hand(comparators.driven)
    found["antithetic pair"] = by_hand(comparators.antithetic)
    found["restless updates"] = by_hand(comparators.restless)
    return found


def lines(quick: bool) -> Iterator[str]:
    warnings.simplefilter("ignore", hd.HerdedWarning)
    known = _known(QUICK_EVERY if quick else 1)
    runs = contenders()
    seeds = range(QUICK_SEEDS if quick else SEEDS)
    yield from wrap(
        f"{len(known)} models of at most 100 variables, {len(seeds)} seeds. The error is the mean "
        "absolute error of the marginals, Rao-Blackwellised, after as many updates of each "
        "variable (all chains and members together, a tenth of them burn-in); its ratio to that of "
        "Gibbs sampling, the geometric mean over models on which Gibbs sampling is within "
        f"{USABLE} (each at least {LEAST}), and the median; the share of models above {WORSE}; the "
        f"worst. Covered: 95 % intervals "
        f"({T_OF_FOUR} standard errors of four) that hold the truth, where nothing was warned; "
        "and the root mean square of errors over that of standard errors.",
        100,
        break_on_hyphens=False,
    )
    for updates in QUICK_UPDATES if quick else UPDATES:
        some = known[:: 1 if quick else EVERY.get(updates, 1)]
        yield from _table(f"{updates:,} updates", runs, some, updates, seeds)
    yield from _equal_cpu(runs, known[:: EVERY[1_000_000]] if not quick else known, seeds, quick)


def _known(every: int) -> list[tuple[hd.FactorGraph, np.ndarray]]:
    return [
        (model, hd.infer(model, hd.Exact(), progress=False).marginals)
        for _, model in list(models())[::every]
    ]


def _table(
    title: str,
    runs: dict[str, Run],
    known: Sequence[tuple[hd.FactorGraph, np.ndarray]],
    updates: int,
    seeds: range,
    shares: dict[str, list[float]] | None = None,
) -> Iterator[str]:
    """One row for each contender; `shares` of the updates for each model, where they differ."""
    scores: dict[str, list[list[Score]]] = {name: [] for name in runs}
    for number, (model, truth) in enumerate(known):
        for name, run in runs.items():
            wanted = updates if shares is None else round(updates * shares[name][number])
            run(model, COMPILE, 0)
            answers = [run(model, wanted, seed) for seed in seeds]
            scores[name].append([score(model, answer, truth) for answer in answers])
    usable = [k for k, one in enumerate(scores["Gibbs"]) if _mean(one) <= USABLE]
    yield ""
    yield f"## {title}, {len(usable)} models"
    yield ""
    yield f"| | ratio | median | above {WORSE} | worst | covered | RMS error / SE | CPU |"
    yield "|---" * 8 + "|"
    for name in runs:
        yield _row(name, scores, usable)


def score(model: hd.FactorGraph, answer: Answer, truth: np.ndarray) -> Score:
    """Over the states of free variables; intervals of those that are neither certain nor out."""
    states = np.arange(truth.shape[1])[None, :] < np.asarray(model.cardinalities)[:, None]
    free = states & (np.asarray(model.evidence) < 0)[:, None]
    gap = np.abs(answer.marginals - truth)
    error = float(gap[free].mean())
    if answer.standard_error is None or answer.warned:
        return Score(error, None, None, answer.cpu)
    open_ = free & (truth > 0) & (truth < 1)
    spread = answer.standard_error[open_]
    covered = float((gap[open_] <= T_OF_FOUR * spread + ROUNDING).mean())
    squares = float((gap[open_] ** 2).mean()), float((spread**2).mean())
    return Score(error, covered, squares, answer.cpu)


def _mean(scores: list[Score]) -> float:
    return float(np.mean([one.error for one in scores]))


def _row(name: str, scores: dict[str, list[list[Score]]], usable: list[int]) -> str:
    ratios = np.array([_mean(scores[name][k]) / _mean(scores["Gibbs"][k]) for k in usable])
    every = [one for k in usable for one in scores[name][k]]
    covered = [one.covered for one in every if one.covered is not None]
    squares = [one.squares for one in every if one.squares is not None]
    cpu = sum(one.cpu for one in every) / sum(one.cpu for k in usable for one in scores["Gibbs"][k])
    cells = [
        f"{np.exp(np.log(np.maximum(ratios, LEAST)).mean()):.2f}",
        f"{np.median(ratios):.2f}",
        f"{(ratios > WORSE).mean():.2f}",
        f"{ratios.max():.1f}",
        f"{np.mean(covered):.3f}" if covered else "",
        f"{np.median([_root(a, b) for a, b in squares]):.2f}" if squares else "",
        f"{cpu:.2f}",
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _root(errors: float, spreads: float) -> float:
    """Herds can agree to the last bit, and be right."""
    return (errors / spreads) ** 0.5 if spreads else float("inf") if errors else 1.0


def _equal_cpu(
    runs: dict[str, Run],
    known: Sequence[tuple[hd.FactorGraph, np.ndarray]],
    seeds: range,
    quick: bool,
) -> Iterator[str]:
    """Each of the package's methods gets the time that Gibbs sampling takes."""
    updates = QUICK_UPDATES[0] if quick else EQUAL_CPU
    hand = ("driven", "antithetic", "restless")  # these loops are written to be read, not fast
    timed = {name: run for name, run in runs.items() if not name.startswith(hand)}
    shares: dict[str, list[float]] = {name: [] for name in timed}
    for model, _ in known:
        for run in timed.values():
            run(model, COMPILE, 0)
        took = {
            name: min(run(model, updates, s).cpu for s in (1, 2)) for name, run in timed.items()
        }
        for name in timed:
            fair = took["Gibbs"] / max(took[name], 1e-9)
            shares[name].append(min(MOST_FASTER, fair))
    yield from _table(
        f"The CPU of {updates:,} updates by Gibbs sampling", timed, known, updates, seeds, shares
    )
