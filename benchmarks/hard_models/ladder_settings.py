"""Settings of ladders and of blocks on random models that had no part in choosing them.

    --others 2               another set of models; any number makes one

Every setting has so many sweeps that whole calls take the CPU of those with the defaults, by a run
that is timed first. Its error is held against theirs, and so is that of the defaults with other
seeds: what chance does.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

import herded as hd
from benchmarks.hard_models import block_moves
from benchmarks.hard_models.model_generators import LARGEST, Rng, diagnoses, hard_models, pedigree
from benchmarks.support import held_out_models
from benchmarks.support.model_families import net
from benchmarks.support.timing import cpu_seconds

TITLE = "# Settings of ladders and blocks"
SEEDS, QUICK_SEEDS = 2, 1
MODELS, QUICK_MODELS = (28, 10), (1, 1)  # of hard families, and of all others
CUT, QUICK_CUT = 12, 1  # models that blocks do not hold whole
SWEEPS, QUICK_SWEEPS = 4_000, 200  # of a ladder with the defaults
BLOCK_SWEEPS, QUICK_BLOCK_SWEEPS = 312, 40  # of 4 herds of 4: what `recommend` gives them
BURN_IN = 5  # a part in so many
LEAST_SWEEPS = 10
SHORTEST = 1e-6  # seconds that a clock may tell apart from none
TRIES = 40  # for a model that blocks cut
MATTERS = 1e-4  # errors below it are alike
WORSE = 1.25
WIDTH = 100
AGAIN = "the same, other seeds"

LADDERS: dict[str, Any] = {
    "8 rungs, hottest_beta 0.1": (8, 0.1),
    AGAIN: (8, 0.1),
    "4 rungs": (4, 0.1),
    "16 rungs": (16, 0.1),
    "hottest_beta 0.03": (8, 0.03),
    "hottest_beta 0.3": (8, 0.3),
}
BLOCKS: dict[str, Any] = {
    "256 entries, 16 blocks": (256, 16),
    AGAIN: (256, 16),
    "64 entries": (64, 16),
    "1,024 entries": (1024, 16),
    "4,096 entries": (4096, 16),
    "8 blocks": (256, 8),
    "32 blocks": (256, 32),
}


class Known(NamedTuple):
    """A model of a family and its marginals."""

    family: str
    model: hd.FactorGraph
    truth: np.ndarray


Work = Callable[[hd.FactorGraph, Any, int, int], np.ndarray]  # of a setting, with sweeps and seed


def lines(quick: bool, number: int = 0) -> Iterator[str]:
    """Three tables; `number` makes another set of models."""
    warnings.simplefilter("ignore", hd.HerdedWarning)
    seeds = QUICK_SEEDS if quick else SEEDS
    hard, others = QUICK_MODELS if quick else MODELS
    yield from wrap(
        f"Mean absolute errors of marginals over {seeds} seeds, as ratios to those of the first "
        "row: their geometric mean over models and in each family, the share of models above "
        f"{WORSE}, and the worst. CPU is that of whole calls, as a geometric mean of ratios, too.",
        WIDTH,
        break_on_hyphens=False,
    )
    sweeps = QUICK_SWEEPS if quick else SWEEPS
    yield from ["", f"Ladders, {sweeps:,} sweeps, on hard families:", ""]
    found = (Known(_family(name), model, truth(model)) for name, model in hard_models(hard, number))
    yield from _table(found, LADDERS, _ladder, sweeps, seeds)
    yield from ["", "Ladders on all other families:", ""]
    drawn = held_out_models.families(others, 1_000 + number)
    found = (Known(kind, model, truth(model)) for kind, _, model in drawn)
    yield from _table(found, LADDERS, _ladder, sweeps, seeds)
    yield from ["", "Blocks, on models with hard zeros that they cut:", ""]
    sweeps = QUICK_BLOCK_SWEEPS if quick else BLOCK_SWEEPS
    found = cut_models(QUICK_CUT if quick else CUT, number)
    yield from _table(found, BLOCKS, _in_blocks, sweeps, seeds)


def _ladder(model: hd.FactorGraph, setting: Any, sweeps: int, seed: int) -> np.ndarray:
    return _marginals(model, hd.Tempered(hd.Gibbs(seed=seed), *setting), sweeps, 1)


def _in_blocks(model: hd.FactorGraph, setting: Any, sweeps: int, seed: int) -> np.ndarray:
    moves = hd.Blocks(*setting)
    return _marginals(model, hd.Gibbs(seed=seed, herd=4, moves=moves), sweeps, 4)


def _marginals(model: hd.FactorGraph, method: Any, sweeps: int, chains: int) -> np.ndarray:
    burn_in = sweeps // BURN_IN
    length = {"sweeps": sweeps - burn_in, "burn_in": burn_in, "chains": chains}
    keep = [hd.Marginals(rao_blackwell=True)]
    return hd.infer(model, method, keep=keep, threads=1, progress=False, **length).marginals


def _table(
    models: Iterator[Known], settings: Mapping[str, Any], work: Work, sweeps: int, seeds: int
) -> Iterator[str]:
    """A row for every setting, and what it does in each family."""
    default = next(iter(settings))
    errors: dict[str, list[float]] = {name: [] for name in settings}
    took: dict[str, list[float]] = {name: [] for name in settings}
    families: list[str] = []
    for known in models:
        families.append(known.family)
        budget = 0.0
        for name, setting in settings.items():
            run = _timed(known, work, setting)
            run(LEAST_SWEEPS, 0)  # compiles
            seconds = max(run(sweeps, 0)[1], SHORTEST)
            budget = budget or seconds
            length = max(LEAST_SWEEPS, round(sweeps * budget / seconds))
            first = seeds if name == AGAIN else 0
            runs = [run(length, first + s) for s in range(seeds)]
            errors[name].append(float(np.mean([error for error, _ in runs])))
            took[name].append(float(np.mean([seconds for _, seconds in runs])))
    kinds = list(dict.fromkeys(families))
    yield f"| {len(families)} models | error | above {WORSE} | worst | CPU | {' | '.join(kinds)} |"
    yield "|---" * (5 + len(kinds)) + "|"
    base = np.maximum(errors[default], MATTERS)
    for name in settings:
        ratio = np.maximum(errors[name], MATTERS) / base
        time = geometric(np.maximum(took[name], SHORTEST) / np.maximum(took[default], SHORTEST))
        each = [geometric(ratio[np.array(families) == kind]) for kind in kinds]
        yield (
            f"| {name} | {geometric(ratio):.2f} | {(ratio > WORSE).mean():.2f} | {ratio.max():.1f} "
            f"| {time:.2f} | {' | '.join(f'{one:.2f}' for one in each)} |"
        )


def _timed(known: Known, work: Work, setting: Any) -> Callable[[int, int], tuple[float, float]]:
    """A run of so many sweeps with a seed: its error and its CPU seconds."""

    def run(sweeps: int, seed: int) -> tuple[float, float]:
        model = block_moves.anew(known.model)  # so that nothing is kept from the run before
        found: list[np.ndarray] = []
        took = cpu_seconds(lambda: found.append(work(model, setting, sweeps, seed)))
        return block_moves.error_of(known.model, found[0], known.truth), took

    return run


def geometric(ratios: np.ndarray) -> float:
    """Their geometric mean."""
    return float(np.exp(np.log(ratios).mean()))


def truth(model: hd.FactorGraph) -> np.ndarray:
    """Marginals by exact inference."""
    return hd.infer(model, hd.Exact(), max_memory=LARGEST, progress=False).marginals


def cut_models(count: int, number: int) -> Iterator[Known]:
    """Models with hard zeros that blocks of any setting cut, the families in turn.

    Those that a block holds whole would be left to exact inference.
    """
    widest = hd.Blocks(max(entries for entries, _ in BLOCKS.values()))
    makers: dict[str, Callable[[Rng], hd.FactorGraph]] = {
        "diagnoses": lambda rng: diagnoses(rng, 25, 30, 80),
        "pedigrees": pedigree,
        "copies": lambda rng: block_moves.copies(rng, int(rng.integers(12, 16))),
        "nets": lambda rng: net(int(rng.integers(30, 80)), 4, rng, even=1.0, zeros=0.1),
    }
    for k in range(count):
        family = list(makers)[k % len(makers)]
        rng = np.random.default_rng([18, number, k])
        for _ in range(TRIES):
            model = makers[family](rng)
            if len(widest.choose(model).blocks) < 2:
                continue
            try:
                yield Known(family, model, truth(model))
            except hd.HerdedError:
                continue
            break


def _family(name: str) -> str:
    return name.rpartition(" ")[0]
