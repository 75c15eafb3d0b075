"""How well entities were found: precision, recall and F1 over whole entities, not words.

An entity counts as found if its first word, last word and kind are right. What would divide by
zero is 0.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from herded.errors import CorpusError
from herded.ner.labels import spans

Labels = Sequence[str]  # of one sentence

LARGEST = 1 << 22  # numbers drawn at once by the bootstrap


@dataclass(frozen=True)
class Score:
    """Of all entities, and in `kinds` of each kind."""

    found: int  # entities that are true and were guessed
    true: int
    guessed: int
    kinds: "dict[str, Score]" = field(default_factory=dict)

    @property
    def precision(self) -> float:
        """The share of the guessed entities that are true."""
        return self.found / self.guessed if self.guessed else 0.0

    @property
    def recall(self) -> float:
        """The share of the true entities that were guessed."""
        return self.found / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.found / (self.true + self.guessed) if self.found else 0.0

    @property
    def support(self) -> int:
        """The number of true entities."""
        return self.true

    def __str__(self) -> str:
        width = max(map(len, [*self.kinds, "all"]))
        lines = [f"{'':{width}}  precision  recall      F1  support"]
        for name, part in [*self.kinds.items(), ("all", self)]:
            lines.append(
                f"{name:{width}}  {part.precision:9.4f}  {part.recall:6.4f}  {part.f1:6.4f}"
                f"  {part.support:7d}"
            )
        return "\n".join(lines)


def score(truth: Sequence[Labels], guess: Sequence[Labels]) -> Score:
    """Compare labels, a sequence for each sentence; either may be IO or BIO."""
    found: Counter[str] = Counter()
    true: Counter[str] = Counter()
    guessed: Counter[str] = Counter()
    _check_as_many("sentences", truth, guess)
    for i, (wanted, got) in enumerate(zip(truth, guess, strict=True)):
        _check_as_many(f"labels of sentence {i}", wanted, got)
        a, b = set(spans(wanted)), set(spans(got))
        true.update(kind for _, _, kind in a)
        guessed.update(kind for _, _, kind in b)
        found.update(kind for _, _, kind in a & b)
    kinds = {
        kind: Score(found[kind], true[kind], guessed[kind]) for kind in sorted({*true, *guessed})
    }
    return Score(found.total(), true.total(), guessed.total(), kinds)


def bootstrap(
    truth: Sequence[Sequence[Labels]],
    guess: Sequence[Sequence[Labels]],
    other: Sequence[Sequence[Labels]] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> "Interval":
    """How much F1 owes to the choice of documents: an interval that holds 95 % of resamples.

    Labels are given by document, then by sentence. Documents are drawn with replacement, as many
    as there are. With `other`, a second guess, the interval is of its F1 less that of `guess`, both
    on the same documents: one that leaves out 0 tells the guesses apart.
    """
    if resamples < 1:
        raise CorpusError(f"expected at least 1 resample, got {resamples}")
    guesses = [guess] if other is None else [guess, other]
    counts = [_counts(truth, labels) for labels in guesses]
    value = _difference([_f1(count.sum(axis=0)) for count in counts])
    values = np.empty(resamples)
    rng = np.random.Generator(np.random.PCG64(seed))
    n = len(truth)
    step = max(1, LARGEST // n)
    for at in range(0, resamples, step):
        draws = min(step, resamples - at)
        times = rng.multinomial(n, np.full(n, 1.0 / n), size=draws)
        values[at : at + draws] = _difference([_f1(times @ count) for count in counts])
    low, high = np.quantile(values, [0.025, 0.975])
    return Interval(float(value), float(low), float(high))


@dataclass(frozen=True)
class Interval:
    """A value, and where 95 % of resamples have it."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4f} ({self.low:.4f} to {self.high:.4f})"


def _counts(truth: Sequence[Sequence[Labels]], guess: Sequence[Sequence[Labels]]) -> np.ndarray:
    """Per document the entities found, true and guessed."""
    _check_as_many("documents", truth, guess)
    if not truth:
        raise CorpusError("expected at least 1 document to draw from, got none")
    scores = [score(wanted, got) for wanted, got in zip(truth, guess, strict=True)]
    return np.array([(each.found, each.true, each.guessed) for each in scores], dtype=np.int64)


def _f1(counts: np.ndarray) -> np.ndarray:
    """F1 from found, true and guessed on the last axis."""
    found, true, guessed = np.moveaxis(counts, -1, 0)
    given: np.ndarray = 2.0 * found / np.maximum(true + guessed, 1)
    return given


def _difference(f1: list[np.ndarray]) -> np.ndarray:
    return f1[0] if len(f1) == 1 else f1[1] - f1[0]


def _check_as_many(what: str, truth: Sequence[Any], guess: Sequence[Any]) -> None:
    if len(truth) != len(guess):
        raise CorpusError(
            f"expected {len(truth)} guessed {what}, as many as true, got {len(guess)}"
        )
