"""Scores of recognised entities: precision, recall and F1 over whole entities, not words.

An entity counts as found if its first word, last word and kind are right. A score that would divide
by zero is 0.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from herded.errors import CorpusError
from herded.ner.text.labels import spans
from herded.ner.text.sentence_inputs import SentenceLabels

MAX_BOOTSTRAP_NUMBERS = 1 << 22  # numbers drawn at once by the bootstrap


@dataclass(frozen=True)
class Score:
    """Precision, recall and F1 over whole entities, and in `kinds` for each kind.

    Attributes
    ----------
    found : int
        The number of entities that are true and were guessed.
    true, guessed : int
    kinds : dict
        From kinds to their scores.
    """

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


def score(truth: Sequence[SentenceLabels], guess: Sequence[SentenceLabels]) -> Score:
    """Compare guessed labels with the true ones, entity by entity.

    An entity is found if its first word, its last word and its kind are right. A score that would
    divide by zero is 0.

    Parameters
    ----------
    truth, guess : sequence of sequence of str
        Labels for each sentence; IO or BIO.

    Returns
    -------
    Score
        With `precision`, `recall`, `f1` and `kinds`; printed, it is a table.

    Raises
    ------
    CorpusError
        If the numbers of guessed and true labels differ.

    Examples
    --------
    >>> truth = [["PERSON", "PERSON", "O", "LOCATION"], ["O", "PERSON"]]
    >>> guess = [["PERSON", "PERSON", "O", "O"], ["O", "PERSON"]]
    >>> print(hd.ner.score(truth, guess))
              precision  recall      F1  support
    LOCATION     0.0000  0.0000  0.0000        1
    PERSON       1.0000  1.0000  1.0000        2
    all          1.0000  0.6667  0.8000        3
    """
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
    truth: Sequence[Sequence[SentenceLabels]],
    guess: Sequence[Sequence[SentenceLabels]],
    other: Sequence[Sequence[SentenceLabels]] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> "Interval":
    """Resample the F1 score: an interval that holds 95 % of resampled scores.

    Each resample draws as many documents as there are, with replacement.

    Parameters
    ----------
    truth, guess : sequence of sequence of sequence of str
        Labels by document, then by sentence.
    other : optional
        A second guess. The interval is then that of its F1 minus that of `guess`, on the same
        documents; if it excludes 0, the guesses differ significantly.
    resamples : int
    seed : int

    Returns
    -------
    Interval
        With `value`, `low` and `high`.

    Raises
    ------
    CorpusError
        If there is no document, or the sizes differ.

    Examples
    --------
    >>> truth = [[["PERSON", "O"]], [["O", "LOCATION"]], [["PERSON", "O"]]]
    >>> guess = [[["PERSON", "O"]], [["O", "O"]], [["PERSON", "O"]]]
    >>> interval = hd.ner.bootstrap(truth, guess, seed=0)
    >>> round(interval.value, 2), interval.low <= interval.value <= interval.high
    (0.8, True)
    """
    if resamples < 1:
        raise CorpusError(f"expected at least 1 resample, got {resamples}")
    guesses = [guess] if other is None else [guess, other]
    counts = [_counts(truth, labels) for labels in guesses]
    value = _difference([_f1(count.sum(axis=0)) for count in counts])
    values = np.empty(resamples)
    rng = np.random.Generator(np.random.PCG64(seed))
    n = len(truth)
    step = max(1, MAX_BOOTSTRAP_NUMBERS // n)
    for at in range(0, resamples, step):
        draws = min(step, resamples - at)
        times = rng.multinomial(n, np.full(n, 1.0 / n), size=draws)
        values[at : at + draws] = _difference([_f1(times @ count) for count in counts])
    low, high = np.quantile(values, [0.025, 0.975])
    return Interval(float(value), float(low), float(high))


@dataclass(frozen=True)
class Interval:
    """A value, and the interval with 95 % of the resampled values."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4f} ({self.low:.4f} to {self.high:.4f})"


def _counts(
    truth: Sequence[Sequence[SentenceLabels]], guess: Sequence[Sequence[SentenceLabels]]
) -> np.ndarray:
    """Count the entities found, true and guessed in each document."""
    _check_as_many("documents", truth, guess)
    if not truth:
        raise CorpusError("expected at least 1 document to draw from, got none")
    scores = [score(wanted, got) for wanted, got in zip(truth, guess, strict=True)]
    return np.array([(each.found, each.true, each.guessed) for each in scores], dtype=np.int64)


def _f1(counts: np.ndarray) -> np.ndarray:
    """Compute F1 from found, true and guessed counts on the last axis."""
    found, true, guessed = np.moveaxis(counts, -1, 0)
    given: np.ndarray = 2.0 * found / np.maximum(true + guessed, 1)
    return given


def _difference(f1: list[np.ndarray]) -> np.ndarray:
    return f1[0] if len(f1) == 1 else f1[1] - f1[0]


def _check_as_many(what: str, truth: Sequence[Any], guess: Sequence[Any]) -> None:
    if len(truth) != len(guess):
        raise CorpusError(
            f"expected {len(truth)} guessed {what}, as in the truth, got {len(guess)}"
        )
