"""Steps along a noisy gradient; the answer is the average of the later ones.

Each parameter moves by rate_t times its gradient over the variance of its statistic (a diagonal
Newton step), rate_t = rate / sqrt(1 + t / 20). The average over the last two thirds of the steps
has far less noise than any of them (Polyak and Juditsky 1992). An L1 penalty is a proximal step:
parameters that are zero after the last step are zero in the answer.
"""

from collections.abc import Callable

import numpy as np

DECAY_STEPS = 20.0  # steps after which their length has shrunk to 0.7 of the first
SKIPPED_STEPS_DIVISOR = 3  # the first third of the steps is not averaged

GradientFunction = Callable[[np.ndarray, int], np.ndarray]  # at a point, in a given step


class AveragedAscent:
    """Noisy steps and their average; `arrays` holds the whole state."""

    def __init__(
        self,
        gradient: GradientFunction,
        start: np.ndarray,
        variance: np.ndarray,
        *,
        l1: np.ndarray,
        l2: np.ndarray,
        rate: float,
        steps: int,
    ) -> None:
        self.gradient, self.variance = gradient, variance + l2
        self.value = np.nan  # noisy gradients come without the objective
        self.l1, self.l2, self.rate = l1, l2, rate
        self.start, self.last = start.copy(), start.copy()
        self.total, self.slopes, self.squares = (np.zeros(len(start)) for _ in range(3))
        self.done, self.first = 0, steps // SKIPPED_STEPS_DIVISOR

    @property
    def counted(self) -> int:
        """The number of steps that are averaged."""
        return max(0, self.done - self.first)

    @property
    def x(self) -> np.ndarray:
        """The average, or the last step if none is averaged yet."""
        if not self.counted:
            return self.last
        mean: np.ndarray = self.total / self.counted
        mean[(self.l1 > 0.0) & (self.last == 0.0)] = 0.0
        return mean

    @property
    def slope(self) -> float:
        """The mean gradient over its standard error, averaged over parameters (rms)."""
        if self.counted < 2:
            return np.inf
        mean = self.slopes / self.counted
        spread = np.maximum(self.squares / self.counted - mean * mean, 0.0) / self.counted
        moving = spread > 0.0
        return float(np.sqrt((mean[moving] ** 2 / spread[moving]).mean())) if moving.any() else 0.0

    @property
    def converged(self) -> bool:
        """False while steps are taken: `learn.assessment.fit_assessment` measures the gradient
        afterwards.

        Averages of gradients along the way are near zero even where steps oscillate.
        """
        return False

    def step(self) -> None:
        """Take one step."""
        rate = self.rate / np.sqrt(1.0 + self.done / DECAY_STEPS) / self.variance
        slope = self.gradient(self.last, self.done) - self.l2 * self.last
        x = self.last + rate * slope
        self.last = np.sign(x) * np.maximum(np.abs(x) - rate * self.l1, 0.0)
        self.done += 1
        if self.counted:
            seen = slope - np.where(
                self.last == 0.0, np.clip(slope, -self.l1, self.l1), self.l1 * np.sign(self.last)
            )
            self.total += self.last
            self.slopes += seen
            self.squares += seen * seen

    def sentence(self, steps: int) -> str:
        """Say that the gradient is still unknown."""
        return f"not converged in {steps} steps: the gradient at the end was not measured"

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that change, by name."""
        return {
            "start": self.start,
            "last": self.last,
            "total": self.total,
            "slopes": self.slopes,
            "squares": self.squares,
            "done": np.array([self.done]),
        }

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Restore the state from `arrays`."""
        self.start = arrays["start"]
        self.last, self.total = arrays["last"], arrays["total"]
        self.slopes, self.squares = arrays["slopes"], arrays["squares"]
        self.done = int(arrays["done"][0])
