"""python -m benchmarks.accuracy.calibration [PART ...]: are answers right, or warned of?

splits      random models with many hard zeros, by samplers: silent wrong answers
plain       random models of all families by `hd.infer(model)`, and with elimination left out
intervals   how often 95 % intervals cover the truth, with and without the control of herding
log-z       how often 99 % intervals of log Z by ladders hold it, on models of hard and of all kinds
climb       which rung answers where single sites disagree: errors of it, and of other rules
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

import herded as hd
from benchmarks.hard_models.block_moves import error_of
from benchmarks.hard_models.model_generators import MAKERS, hard_models
from benchmarks.support import held_out_models
from benchmarks.support.model_families import families
from benchmarks.support.random_models import MODES, SHAPES, ZEROS, divided, tiny
from herded.methods.default_weights import default_weights
from herded.run.query import KeepOptions, NamedMethodOptions, Query
from herded.run.selection.escalation import (
    Attempt,
    attempt_stage,
    is_sufficient,
    later_stages,
    pick_least_doubtful,
)
from herded.run.selection.plan import first_stage, plan_run

WRONG = 0.05  # an error of a marginal that somebody should have warned of
CLOSE = 0.01  # an error that needs no interval
COVERED = 0.8  # of a model's marginals, whose errors are not independent


def splits(seed: int, models: int) -> Iterator[str]:
    yield "| models | wrong and warned | warned, error below 0.05 | silent, error above 0.05 |"
    yield "|---|---|---|---|"
    kinds: dict[str, Callable[[np.random.Generator], hd.FactorGraph]] = {
        "tiny, 40 to 70 % zeros": lambda rng: tiny(rng.uniform(0.4, 0.7), rng),
        "one factor made to split": divided,
    }
    for name, make in kinds.items():
        found = [_sampled(make(np.random.default_rng([seed, k])), k) for k in range(models)]
        wrong = [warned for error, warned in found if error > WRONG]
        right = [warned for error, warned in found if error <= WRONG]
        counts = f"{sum(wrong)} | {sum(right)} | {len(wrong) - sum(wrong)} of {len(found)}"
        yield f"| {name} | {counts} |"


def _sampled(model: hd.FactorGraph, seed: int) -> tuple[float, bool]:
    """The largest error of a marginal in a run of four chains, and whether something was said."""
    truth = hd.infer(model, hd.Exact()).marginals
    run = hd.infer(model, default_weights(model, seed=seed), sweeps=3000, chains=4)
    return float(np.abs(run.marginals - truth).max()), bool(run.warnings)


def plain(seed: int, models: int) -> Iterator[str]:
    """Right means: errors below 0.01, or within the interval for four fifths of the marginals."""
    makers = [*SHAPES.items(), *MODES.items(), *ZEROS.items()]
    makers += [("tiny, zeros", lambda rng: tiny(rng.uniform(0, 0.7), rng)), ("divided", divided)]
    yield "| hd.infer(model) | right | warned and wrong | silent and wrong |"
    yield "|---|---|---|---|"
    for name, keep in (("plain", None), ("elimination left out", _sampling())):
        counts, silent = np.zeros(3, np.int64), []
        for k in range(models):
            kind, make = makers[k % len(makers)]
            model = make(np.random.default_rng([seed, k]))
            truth = hd.infer(model, hd.Exact()).marginals
            result = hd.infer(model, keep=keep)
            good = is_right(result, truth)
            counts[0 if good else 1 if result.warnings else 2] += 1
            if not good and not result.warnings:
                silent.append(f"{kind} {k}")
        yield f"| {name} | {counts[0]} | {counts[1]} | {counts[2]} | {', '.join(silent)}"


def _sampling() -> list[hd.Marginals | hd.Samples]:
    """What asks for a sampler, and keeps next to nothing."""
    return [hd.Marginals(rao_blackwell=True), hd.Samples(every=10_000)]


def is_right(result: hd.Result, truth: np.ndarray) -> bool:
    """Whether marginals are close, or most of them within their intervals."""
    error = np.abs(result.marginals - truth)
    if error.max() <= CLOSE:
        return True
    if isinstance(result.method, hd.Exact):
        return False
    low, high = np.moveaxis(result.interval, -1, 0)
    return bool(((truth >= low - 1e-9) & (truth <= high + 1e-9)).mean() >= COVERED)


def intervals(seed: int, models: int) -> Iterator[str]:
    """Coverage of `result.interval` on the models of herds."""
    yield "| sweeps of each of 4 chains | standard errors alone | with the control | worst model |"
    yield "|---|---|---|---|"
    chosen = [m for _, _, m in families()]
    chosen = chosen[:: max(1, -(-len(chosen) // models))]
    for sweeps in (2_500, 25_000, 250_000):
        alone, controlled = [], []
        for model in chosen:
            truth = hd.infer(model, hd.Exact()).marginals
            run = hd.infer(
                model,
                default_weights(model, seed=seed),
                sweeps=sweeps,
                burn_in=sweeps // 10,
                chains=4,
                keep=[hd.Marginals(rao_blackwell=True)],
            )
            if run.warnings:
                continue
            free = (truth > 1e-6) & (truth < 1 - 1e-6)
            error = np.abs(run.marginals - truth)[free]
            alone.append((error <= 3.1824 * run.standard_error[free] + 1e-9).mean())
            low, high = np.moveaxis(run.interval[free], -1, 0)
            inside = (truth[free] >= low - 1e-9) & (truth[free] <= high + 1e-9)
            controlled.append(inside.mean())
        yield (
            f"| {sweeps:,} | {np.mean(alone):.2f} | {np.mean(controlled):.2f} | "
            f"{np.min(controlled):.2f} | ({len(alone)} of {len(chosen)} models were not warned of)"
        )


def log_z(seed: int, models: int) -> Iterator[str]:
    """One ladder of 16 rungs on half as many models of each set."""
    yield "| sweeps | models | within | warned | outside in silence | half width | at most |"
    yield "|---" * 7 + "|"
    half = models // 2
    others = ((name, model) for _, name, model in held_out_models.families(half, seed))
    known = [
        (name, model, float(hd.infer(model, hd.Exact()).log_z))
        for name, model in chain(hard_models(models - half, seed), others)
    ]
    for sweeps in (1_000, 4_000):
        within, warned, reach, silent = 0, 0, [], []
        for name, model, truth in known:
            method = hd.Tempered(hd.Gibbs(seed=seed), 16, 0)
            run = hd.infer(model, method, sweeps=sweeps, burn_in=sweeps // 5)
            low, high = run.log_z_interval
            is_warned = any("log Z" in text or "hottest" in text for text in run.warnings)
            within, warned = within + (low <= truth <= high), warned + is_warned
            reach.append((high - low) / 2)
            if not (low <= truth <= high or is_warned):
                silent.append(name)
        yield (
            f"| {sweeps:,} | {len(known)} | {within} | {warned} | {len(silent)} | "
            f"{np.median(reach):.3f} | {max(reach):.2f} | {', '.join(silent)}"
        )


def climb(seed: int, models: int) -> Iterator[str]:
    """On hard families, and random models with modes and zeros, as many as are climbed on."""
    makers = [*MODES.items(), *ZEROS.items()]
    hard = models * len(MAKERS) // (len(MAKERS) + len(makers))
    drawn = (makers[k % len(makers)][1] for k in range(models - hard))
    made = (make(np.random.default_rng([19, seed, k])) for k, make in enumerate(drawn))
    found = [_rungs(model, seed) for model in chain((m for _, m in hard_models(hard, seed)), made)]
    climbed = [rungs for rungs in found if not is_sufficient(rungs[0].tried)]
    head = "error | geometric mean | warned | wrong in silence"
    yield f"| {len(climbed)} of {models} models | {head} |"
    yield "|---" * 5 + "|"
    rules: dict[str, Callable[[list[Answer]], Answer]] = {
        "single sites, or blocks behind walls": lambda rungs: rungs[0],
        "the last rung": lambda rungs: rungs[-1],
        "what `auto` answers": _answered,
        "the best, which nobody knows": lambda rungs: min(rungs, key=lambda one: one.error),
    }
    for name, rule in rules.items():
        answers = [rule(rungs) for rungs in climbed]
        errors = np.array([one.error for one in answers])
        mean = np.exp(np.log(np.maximum(errors, 1e-4)).mean())
        warned = sum(not one.tried.step.agrees for one in answers)
        silent = sum(one.tried.step.agrees and not one.is_right for one in answers)
        yield f"| {name} | {errors.mean():.4f} | {mean:.4f} | {warned} | {silent} |"


class Answer(NamedTuple):
    """What a rung has said, and how far it was off."""

    tried: Attempt
    error: float
    is_right: bool


def _rungs(model: hd.FactorGraph, seed: int) -> list[Answer]:
    """Rungs of a climb up to the first that is enough."""
    truth = hd.infer(model, hd.Exact()).marginals
    query = Query(
        model,
        keep=KeepOptions(marginals=hd.Marginals(rao_blackwell=True)),
        threads=1,
        method_options=NamedMethodOptions(seed=seed),
        reason_to_sample="not exact",
    )
    plan = plan_run(query)
    first, run = first_stage(plan, query)
    found: list[Answer] = []
    for rung in (first, *later_stages(model, first, plan.escalation_updates, by_clock=False)):
        tried = attempt_stage(run, rung, None)
        if tried.result is not None:
            error = error_of(model, tried.result.marginals, truth)
            found.append(Answer(tried, error, is_right(tried.result, truth)))
            if is_sufficient(tried):
                break
    return found


def _answered(rungs: list[Answer]) -> Answer:
    best = pick_least_doubtful([one.tried for one in rungs])
    return next(one for one in rungs if one.tried is best)


PARTS = {"splits": splits, "plain": plain, "intervals": intervals, "log-z": log_z, "climb": climb}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy.calibration")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[*PARTS])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", type=int, default=100)
    options = parser.parse_args()
    warnings.simplefilter("ignore", hd.HerdedWarning)
    for part in options.parts:
        print(f"\n{part}, {options.models} models, seed {options.seed}\n", flush=True)
        for line in PARTS[part](options.seed, options.models):
            print(line, flush=True)
