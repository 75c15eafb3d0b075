"""Runs of the decoders of section 4.3 on a task: same starts, same scan, same sweeps, same code.

The temperature of annealed Gibbs falls linearly from 1 to 0. "Best" is the best sample of each
connected component, "last" is the end of the run. Seconds are CPU time of `infer`, from the model
to the labels, without the making of the model, such as features. The annealed herd, which is not in
the paper, has as many updates of each word as the others, or slightly fewer: 16 members share them.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.protocol import Method
from herded.methods.viterbi.solver import Viterbi
from herded.ner.crf.decoding import zero_temperature
from herded.paper.ner.tasks import Task
from herded.run.infer import infer
from herded.run.recording.best_state_recorder import BestState
from herded.run.recording.recorders import KeepArgument, Samples

ANNEALED_GIBBS = partial(Gibbs, schedule="linear")
HERD_MEMBERS = 16  # members
ANNEALED_HERD = partial(Gibbs, schedule="linear", herd=HERD_MEMBERS)
HERD_NAME = f"Annealed herd of {HERD_MEMBERS}, best"
ICM_SWEEPS = 30  # sweeps of ICM, which converges long before


@dataclass(frozen=True)
class Row:
    """The results of one method after some sweeps; several seeds give several labellings."""

    method: str
    sweeps: int
    labels: list[np.ndarray]
    seconds: float  # mean CPU time of one run
    members: int = 1  # of a herd; a sweep moves all of them

    def f1(self, task: Task) -> tuple[float, float]:
        """Compute the mean and standard deviation of F1 over the seeds."""
        values = np.array([task.f1(labels) for labels in self.labels])
        spread = values.std(ddof=1) if len(values) > 1 else 0.0
        return float(values.mean()), float(spread)

    def nats(self, task: Task, base: np.ndarray) -> float:
        """Compute how much the log-score exceeds that of `base`, averaged over the seeds."""
        least = task.model.log_score(base)
        return float(np.mean([task.model.log_score(labels) for labels in self.labels]) - least)

    def hits(self, task: Task) -> float:
        """Compute the per cent of sentences labelled as by Viterbi, averaged over the seeds."""
        return float(np.mean([task.hits(labels) for labels in self.labels]))


def chain_rows(
    task: Task, counts: Sequence[int], seeds: int, tell: Callable[[str], None]
) -> list[Row]:
    """Run all decoders on chains, each from the same random starts."""
    _warm_up(task, linked=False)
    starts = [task.random_start(seed) for seed in range(seeds)]
    rows = [_run_and_time("Viterbi", 1, lambda: infer(task.model, Viterbi()).best.state)]
    tell(f"{task.name}: ICM")
    rows.append(_icm(task, starts))
    for sweeps in counts:
        tell(f"{task.name}: {sweeps} sweeps")
        rows += _annealed_runs(task, sweeps, starts)
        rows.append(_run_all_starts("Gibbs, best", task, Gibbs, sweeps, starts)[0])
        rows.append(_run_all_starts("Herded Gibbs, best", task, HerdedGibbs, sweeps, starts)[0])
        rows.append(_annealed_herd(task, sweeps, starts))
    return rows


def skip_rows(
    task: Task,
    counts: Sequence[int],
    starts: Sequence[np.ndarray],
    seeds: int,
    tell: Callable[[str], None],
) -> list[Row]:
    """Run all decoders on skip-chains, each from the same starts.

    From a single start, random methods run with several seeds; herding is deterministic.
    """
    _warm_up(task, linked=True)
    drawn = list(starts) if len(starts) > 1 else [starts[0]] * seeds
    rows = [_icm(task, starts)]
    annealed_herded = partial(_lazy, schedule="linear")
    for sweeps in counts:
        tell(f"{task.name}: {sweeps} sweeps")
        rows += _annealed_runs(task, sweeps, drawn)
        rows.append(_run_all_starts("Gibbs, best", task, Gibbs, sweeps, drawn)[0])
        herded = _run_all_starts("Herded Gibbs, best", task, _lazy, sweeps, starts)[0]
        polished = _icm(task, herded.labels)
        both = herded.seconds + polished.seconds
        rows.append(herded)
        rows.append(Row("Herded Gibbs, best, then ICM", sweeps, polished.labels, both))
        rows.append(
            _run_all_starts("Annealed herded, best", task, annealed_herded, sweeps, starts)[0]
        )
        rows.append(_annealed_herd(task, sweeps, drawn))
    return rows


def _lazy(seed: int, schedule: str | None = None) -> HerdedGibbs:
    return HerdedGibbs("lazy", phases="half", seed=seed, schedule=schedule)


def _annealed_runs(task: Task, sweeps: int, starts: Sequence[np.ndarray]) -> list[Row]:
    return list(_run_all_starts("Annealed Gibbs", task, ANNEALED_GIBBS, sweeps, starts, last=True))


def _annealed_herd(task: Task, updates: int, starts: Sequence[np.ndarray]) -> Row:
    row = _run_all_starts(HERD_NAME, task, ANNEALED_HERD, herd_sweeps_for_updates(updates), starts)[
        0
    ]
    return replace(row, members=HERD_MEMBERS)


def herd_sweeps_for_updates(updates: int) -> int:
    """Return how many sweeps of the herd update each word at most `updates` times."""
    return max(1, updates // HERD_MEMBERS)


def _run_all_starts(
    name: str,
    task: Task,
    method: Callable[..., Any],
    sweeps: int,
    starts: Sequence[np.ndarray],
    last: bool = False,
) -> tuple[Row, ...]:
    """Return the best samples, one seed per start, and with `last` also the ends of the runs."""
    best, ends, seconds = [], [], []
    keep: list[KeepArgument] = [BestState(), Samples(every=sweeps)] if last else [BestState()]
    for seed, start in enumerate(starts):
        began = time.process_time()
        found = infer(task.model, method(seed=seed), sweeps=sweeps, start=start, keep=keep)
        seconds.append(time.process_time() - began)
        best.append(found.best.state)
        if last:
            ends.append(found.samples[0, -1].astype(np.int64))
    mean = float(np.mean(seconds))
    if not last:
        return (Row(name, sweeps, best, mean),)
    return Row(f"{name}, best", sweeps, best, mean), Row(f"{name}, last", sweeps, ends, mean)


def _icm(task: Task, starts: Sequence[np.ndarray]) -> Row:
    coldest = partial(Gibbs, schedule=zero_temperature)
    return _run_all_starts("ICM", task, coldest, ICM_SWEEPS, starts)[0]


def _run_and_time(name: str, sweeps: int, run: Callable[[], np.ndarray]) -> Row:
    began = time.process_time()
    labels = run()
    return Row(name, sweeps, [labels], time.process_time() - began)


def _warm_up(task: Task, linked: bool) -> None:
    """Compile everything that is timed, with one sweep each."""
    if not linked:
        infer(task.model, Viterbi())
    methods: list[Method] = [ANNEALED_GIBBS(), ANNEALED_HERD(), Gibbs()]
    methods.append(_lazy(0) if linked else HerdedGibbs(phases="half"))
    if linked:
        methods.append(_lazy(0, schedule="linear"))
    for method in methods:
        infer(
            task.model, method, sweeps=1, keep=[BestState(), Samples()], start=task.random_start(0)
        )
