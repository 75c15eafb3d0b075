"""Steps of L-BFGS, also with an L1 penalty: maximise f(x) - sum_j l1_j |x_j|.

Limited-memory BFGS (Nocedal 1980) with a backtracking line search; where an L1 penalty is given,
orthant-wise (Andrew and Gao, "Scalable training of L1-regularized log-linear models", 2007): the
gradient is that of the orthant which is entered, and steps that would leave it stop at zero. Sums
are NumPy's own in a fixed order, not those of a BLAS, for the same bits everywhere.
"""

from collections.abc import Callable

import numpy as np

HISTORY_PAIRS = 12  # pairs of steps and changes of the gradient
ARMIJO_SHARE = 1e-4  # share of the expected gain that a step must reach
MAX_STEP_HALVINGS = 40
GRADIENT_TOLERANCE = 1e-6

ObjectiveFunction = Callable[[np.ndarray], tuple[float, np.ndarray]]  # a value and its gradient


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """Sum products without a BLAS, so that the bits are the same everywhere."""
    return float((a * b).sum())


class QuasiNewton:
    """Maximise a function step by step; `arrays` holds the whole state."""

    def __init__(
        self,
        function: ObjectiveFunction,
        start: np.ndarray,
        l1: np.ndarray,
        tolerance: float = GRADIENT_TOLERANCE,
    ) -> None:
        self.function, self.l1, self.tolerance = function, l1, tolerance
        self.x, self.start = start.copy(), start.copy()
        self.value, self.gradient = self._evaluate(self.x)
        self.moved = np.zeros((0, len(start)))  # steps, the latest last
        self.changed = np.zeros((0, len(start)))  # changes of the gradient, with the opposite sign
        self.stuck = False  # no step in the direction gains anything

    @property
    def slope(self) -> float:
        """The largest component of the gradient: 0 at the maximum."""
        return float(np.abs(self._uphill(self.x, self.gradient)).max(initial=0.0))

    @property
    def converged(self) -> bool:
        """Whether nothing is left to gain: the slope is flat, or below rounding."""
        return self.slope <= self.tolerance or self.stuck

    def _evaluate(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = self.function(x)
        return value - float((self.l1 * np.abs(x)).sum()), gradient

    def gain(self) -> float:
        """Compute how much higher the value is than at the start."""
        return self.value - self._evaluate(self.start)[0]

    def _uphill(self, x: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """The gradient, the penalty included: at zero that of the steeper side, if it rises."""
        inward = np.clip(gradient, -self.l1, self.l1)
        outward: np.ndarray = gradient - self.l1 * np.sign(x)
        outward[x == 0.0] = (gradient - inward)[x == 0.0]
        return outward

    def step(self) -> None:
        """Take one step uphill, as long as it gains enough."""
        uphill = self._uphill(self.x, self.gradient)
        direction = self._newton(uphill)
        penalised = self.l1 > 0.0
        direction[penalised & (direction * uphill <= 0.0)] = 0.0
        promised = dot(direction, uphill)
        if promised <= 0.0:
            direction, promised = uphill, dot(uphill, uphill)
            self.moved, self.changed = self.moved[:0], self.changed[:0]
        side = np.where(self.x == 0.0, np.sign(uphill), np.sign(self.x))
        # Without a history the length of a step is unknown: take a short first one.
        length = 1.0 if len(self.moved) else min(1.0, 1.0 / np.sqrt(promised))
        for _ in range(MAX_STEP_HALVINGS):
            x = self.x + length * direction
            x[penalised & (x * side < 0.0)] = 0.0
            value, gradient = self._evaluate(x)
            if value >= self.value + ARMIJO_SHARE * dot(x - self.x, uphill):
                break
            length /= 2.0
        else:
            self.stuck = not len(self.moved)
            self.moved, self.changed = self.moved[:0], self.changed[:0]
            return
        moved, changed = x - self.x, self.gradient - gradient
        self.x, self.value, self.gradient = x, value, gradient
        if dot(moved, changed) > 1e-12 * dot(changed, changed):
            self.moved = np.concatenate([self.moved, moved[None]])[-HISTORY_PAIRS:]
            self.changed = np.concatenate([self.changed, changed[None]])[-HISTORY_PAIRS:]

    def _newton(self, uphill: np.ndarray) -> np.ndarray:
        """Return the direction of Newton's method, as far as the history shows the curvature."""
        direction, parts = uphill.copy(), []
        for s, y in zip(self.moved[::-1], self.changed[::-1], strict=True):
            part = dot(s, direction) / dot(s, y)
            direction -= part * y
            parts.append(part)
        if len(self.moved):
            s, y = self.moved[-1], self.changed[-1]
            direction *= dot(s, y) / dot(y, y)
        for s, y, part in zip(self.moved, self.changed, parts[::-1], strict=True):
            direction += (part - dot(y, direction) / dot(s, y)) * s
        return direction

    def sentence(self, steps: int) -> str:
        """Describe the state after `steps` steps."""
        slope = f"the largest slope is {self.slope:.1e}"
        if self.converged:
            return f"converged in {steps} steps: {slope}"
        return f"not converged in {steps} steps: {slope}; use more steps"

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that change, by name."""
        numbers = np.array([self.value, float(self.stuck)])
        return {
            "x": self.x,
            "start": self.start,
            "numbers": numbers,
            "gradient": self.gradient,
            "moved": self.moved,
            "changed": self.changed,
        }

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Restore the state from `arrays`."""
        self.x, self.start, self.gradient = arrays["x"], arrays["start"], arrays["gradient"]
        self.moved, self.changed = arrays["moved"], arrays["changed"]
        self.value, self.stuck = float(arrays["numbers"][0]), bool(arrays["numbers"][1])


def maximise(
    function: ObjectiveFunction,
    start: np.ndarray,
    l1: np.ndarray,
    steps: int,
    tolerance: float = GRADIENT_TOLERANCE,
) -> QuasiNewton:
    """Take steps until nothing is left to gain, or `steps` are done."""
    climber = QuasiNewton(function, start, l1, tolerance)
    for _ in range(steps):
        if climber.converged:
            break
        climber.step()
    return climber
