"""Herds beside Gibbs sampling and others, on models of all families with exact answers.

Options of `python -m benchmarks --only herds`:

    --updates 10000,100000   lengths of runs, 10,000 and 100,000 and 1,000,000 unless told
    --rows recommend Gibbs   which rows (Gibbs sampling is always one), all unless told
    --every 3                every third model
    --scores FILE            where the score of each run is kept, and taken from if it is there
    --others 2               the second set of `held_out_models`; any number makes another

All of it takes hours; `--scores` makes them parts of an hour.
"""

import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import NamedTuple

import numpy as np

import herded as hd
from benchmarks.herds import gibbs_variants, metropolised_gibbs, shared_bins
from benchmarks.support import held_out_models, model_families
from benchmarks.support.run_scores import Book, Run, Score, by_hand, ours, recommended, score
from herded.methods.default_weights import default_weights

TITLE = "# Herds beside Gibbs sampling"
UPDATES, QUICK_UPDATES = (10_000, 100_000, 1_000_000), (1_000,)
SEEDS, QUICK_SEEDS = 3, 1
QUICK_EVERY = 12
USABLE = 0.05  # models on which Gibbs sampling itself is worse than this say nothing
WORSE = 1.25
LEAST = 0.01  # ratio: without fields, symmetry alone can make an answer right to the last bit
MOST_FASTER = 50  # times the updates, at equal CPU
LONGEST_EQUAL = 100_000  # updates of Gibbs sampling whose time others get
AGAIN = "Gibbs, other seeds"
COMPILE = 4_000  # updates of a run that is not timed, for the compiler's sake
SOME_NEWS = 60.0  # seconds between two words about where it is


@dataclass(frozen=True)
class Wanted:
    """What is asked for beside the default."""

    updates: tuple[int, ...] | None = None
    rows: tuple[str, ...] | None = None
    every: int = 1
    scores: str | None = None
    others: int = 0  # the set of other models, if any


class Known(NamedTuple):
    """A model with its exact marginals."""

    name: str
    model: hd.FactorGraph
    truth: np.ndarray


def contenders() -> dict[str, Run]:
    """Gibbs sampling first: the others are held against it."""
    found = {
        "Gibbs": ours(lambda _, seed: hd.Gibbs(seed=seed)),
        AGAIN: ours(lambda _, seed: hd.Gibbs(seed=1000 + seed)),
        "Gibbs, 4 chains": ours(lambda _, seed: hd.Gibbs(seed=seed), 4),
        "recommend": recommended,
        "in time": ours(lambda model, seed: default_weights(model, seed=seed)),
        "in time, 4 chains": ours(lambda model, seed: default_weights(model, seed=seed), 4),
    }
    for method in (hd.Gibbs, hd.HerdedGibbs):
        for chains, members in ((1, 64), (4, 16), (4, 64)):
            name = f"{method.__name__}(herd={members})" + (f", {chains} herds" * (chains > 1))
            found[name] = ours(lambda _, seed, of=method, n=members: of(seed=seed, herd=n), chains)
    return found | {name: by_hand(function) for name, function in HAND.items()}


HAND = {  # written to be read, not to be fast
    "driven by a full period": gibbs_variants.driven,
    "antithetic pair": gibbs_variants.antithetic,
    "restless (Suwa-Todo)": metropolised_gibbs.restless,
    "restless (ZDNAM)": metropolised_gibbs.zero_self,
    "in bins, centred": shared_bins.centred,
    "in bins, exactly": shared_bins.exactly,
    "in bins, rounded": shared_bins.rounded,
}


def lines(quick: bool, wanted: Wanted | None = None) -> Iterator[str]:
    warnings.simplefilter("ignore", hd.HerdedWarning)
    wanted = wanted or Wanted()
    runs = chosen_rows(wanted.rows)
    known = _known(wanted.others, QUICK_EVERY if quick else wanted.every)
    seeds = range(QUICK_SEEDS if quick else SEEDS)
    lengths = wanted.updates or (QUICK_UPDATES if quick else UPDATES)
    book = Book(wanted.scores)
    yield from wrap(
        f"{len(known)} models of at most 100 variables, {len(seeds)} seeds. The error is the mean "
        "absolute error of the marginals, Rao-Blackwellised, after as many updates of each "
        "variable (all chains and members together, a tenth of them burn-in); its ratio to that of "
        "Gibbs sampling, the geometric mean over models on which Gibbs sampling is within "
        f"{USABLE} (each at least {LEAST}), and the median; the share of models above {WORSE}; the "
        "worst. Covered: 95 % intervals (`result.interval`) that hold the truth, where nothing was "
        "warned; and the root mean square of all those errors over that of their standard errors.",
        100,
        break_on_hyphens=False,
    )
    for updates in lengths:
        scores = _measured(
            book, known, runs, {name: [updates] * len(known) for name in runs}, seeds
        )
        yield from _table(f"{updates:,} updates", scores)
        if updates > LONGEST_EQUAL:
            continue
        fair = {
            name: [fair_share(scores, name, k, updates) for k in range(len(known))]
            for name in runs
            if name not in (*HAND, AGAIN)
        }
        scores = _measured(book, known, runs, fair, seeds)
        yield from _table(f"The CPU of {updates:,} updates by Gibbs sampling", scores)


def chosen_rows(rows: Sequence[str] | None) -> dict[str, Run]:
    """Contenders whose names begin as asked; Gibbs sampling among them."""
    every = contenders()
    for asked in rows or ():
        if not any(name.startswith(asked) for name in every):
            raise hd.HerdedError(f"expected --rows that begin as one of {list(every)}, got {asked}")
    return {
        name: run
        for name, run in every.items()
        if rows is None or name == "Gibbs" or name.startswith(tuple(rows))
    }


def _known(others: int, every: int) -> list[Known]:
    families = held_out_models.families(number=others) if others else model_families.families()
    return [
        Known(f"{name} ({others})" if others else name, model, truth(model))
        for _, name, model in list(families)[::every]
    ]


def truth(model: hd.FactorGraph) -> np.ndarray:
    return hd.infer(model, hd.Exact(), progress=False).marginals


def _measured(
    book: Book,
    known: Sequence[Known],
    runs: dict[str, Run],
    updates: dict[str, list[int]],
    seeds: range,
) -> dict[str, list[list[Score]]]:
    """Scores by row, model and seed; `updates` for each row and model."""
    last = time.monotonic()
    for number, (name, model, exact) in enumerate(known):
        for row, lengths in updates.items():
            missing = [seed for seed in seeds if book.lacks(name, row, lengths[number], seed)]
            if missing:
                runs[row](model, COMPILE, 0)
            for seed in missing:
                found = score(model, runs[row](model, lengths[number], seed), exact)
                book.note(name, row, lengths[number], seed, found)
        if time.monotonic() - last > SOME_NEWS:
            last = time.monotonic()
            print(f"{number + 1} of {len(known)} models", file=sys.stderr, flush=True)
    return {
        row: [
            [book.scores[one.name, row, n, s] for s in seeds]
            for one, n in zip(known, lengths, strict=True)
        ]
        for row, lengths in updates.items()
    }


def fair_share(scores: dict[str, list[list[Score]]], name: str, k: int, updates: int) -> int:
    """The updates of model k that a row has in the CPU time of Gibbs sampling, to two digits."""
    gibbs, own = (min(one.cpu for one in scores[row][k]) for row in ("Gibbs", name))
    if name == "Gibbs":
        return updates
    return int(float(f"{updates * min(MOST_FASTER, gibbs / max(own, 1e-9)):.1e}"))


def _table(title: str, scores: dict[str, list[list[Score]]]) -> Iterator[str]:
    """One row for each contender."""
    usable = [k for k, one in enumerate(scores["Gibbs"]) if _mean(one) <= USABLE]
    yield ""
    yield f"## {title}, {len(usable)} models"
    yield ""
    yield f"| | ratio | median | above {WORSE} | worst | covered | RMS error / SE | CPU |"
    yield "|---" * 8 + "|"
    for name in scores:
        yield _row(name, scores, usable)


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
        f"{_root(*np.sum(squares, axis=0)):.2f}" if squares else "",
        f"{cpu:.2f}",
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _root(errors: float, spreads: float) -> float:
    """Herds can agree to the last bit, and be right."""
    return (errors / spreads) ** 0.5 if spreads else float("inf") if errors else 1.0
