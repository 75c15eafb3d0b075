"""Runs held against the truth, and a book of them that survives the program."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import herded as hd

ROUNDING = 1e-8  # of answers that symmetry makes exact, and whose spread is 0


@dataclass(frozen=True)
class Answer:
    """Of one run."""

    marginals: np.ndarray  # (N, K)
    standard_error: np.ndarray | None  # if several independent chains or herds ran
    interval: np.ndarray | None  # (N, K, 2) of 95 %, likewise
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
        return answer(result, chains, time.process_time() - began)

    return run


def recommended(model: hd.FactorGraph, updates: int, seed: int) -> Answer:
    """What `recommend` plans for so many updates, its pilot among them."""
    began = time.process_time()
    choice = hd.recommend(model, sweeps=updates, seed=seed)
    result = hd.infer(model, choice, keep=[hd.Marginals(rao_blackwell=True)], progress=False)
    return answer(result, choice.chains, time.process_time() - began)


def answer(result: hd.Result, chains: int, cpu: float) -> Answer:
    per_chain = result.chain_marginals
    spread = per_chain.std(axis=0, ddof=1) / chains**0.5 if chains > 1 else None
    shape = *per_chain.shape[1:], 2
    interval = result.interval.reshape(shape) if chains > 1 else None
    return Answer(per_chain.mean(axis=0), spread, interval, bool(result.warnings), cpu)


def by_hand(function: Callable[[hd.FactorGraph, int, int], np.ndarray]) -> Run:
    """A comparator, which knows no standard error."""

    def run(model: hd.FactorGraph, updates: int, seed: int) -> Answer:
        began = time.process_time()
        found = function(model, updates, seed)
        return Answer(found, None, None, False, time.process_time() - began)

    return run


def score(model: hd.FactorGraph, answer: Answer, truth: np.ndarray) -> Score:
    """Over the states of free variables; intervals of those that are neither certain nor out."""
    states = np.arange(truth.shape[1])[None, :] < np.asarray(model.cardinalities)[:, None]
    free = states & (np.asarray(model.evidence) < 0)[:, None]
    gap = np.abs(answer.marginals - truth)
    error = float(gap[free].mean())
    if answer.standard_error is None or answer.interval is None or answer.warned:
        return Score(error, None, None, answer.cpu)
    open_ = free & (truth > 0) & (truth < 1)
    spread = answer.standard_error[open_]
    low, high = answer.interval[open_].T
    inside = (low <= truth[open_] + ROUNDING) & (truth[open_] <= high + ROUNDING)
    covered = float(inside.mean())
    squares = float((gap[open_] ** 2).mean()), float((spread**2).mean())
    return Score(error, covered, squares, answer.cpu)


class Book:
    """Scores by model, row, updates and seed; in a file, a line each, if one is named.

    What the file has is not run again, so that a long comparison can be ended and gone on with, and
    rows can be added. Delete it when a method changes.
    """

    def __init__(self, path: str | None = None):
        self.path = None if path is None else Path(path)
        self.scores: dict[tuple[str, str, int, int], Score] = {}
        if self.path is not None and self.path.exists():
            for line in self.path.read_text().splitlines():
                self._learn(**json.loads(line))

    def _learn(self, model: str, row: str, updates: int, seed: int, **told: Any) -> None:
        told["squares"] = told["squares"] and tuple(told["squares"])
        self.scores[model, row, updates, seed] = Score(**told)

    def lacks(self, *key: Any) -> bool:
        return key not in self.scores

    def note(self, model: str, row: str, updates: int, seed: int, found: Score) -> None:
        self.scores[model, row, updates, seed] = found
        if self.path is not None:
            key = {"model": model, "row": row, "updates": updates, "seed": seed}
            with self.path.open("a") as file:
                file.write(json.dumps(key | asdict(found)) + "\n")
