"""Section 4.1 of Bornn et al. (2013): a complete graph of two variables.

    P(x_1, x_2):  (0,0) 1/4 - eps   (1,1) 3/4 - eps   (0,1), (1,0) eps

The smaller eps, the harder to move between (0,0) and (1,1). Theorem 2 covers it: the error of
herded Gibbs falls as 1 / T, that of Gibbs as 1 / sqrt(T).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.protocol import Method
from herded.models.factor_graph import FactorGraph
from herded.paper.report import Figure, Section, Table
from herded.run.infer import infer
from herded.run.keep import Samples
from herded.system.exp import log_array
from herded.system.plot import GIBBS, HERDED, in_style, subplots, svg

EPSILONS = (0.1, 0.01, 0.001, 0.0001)
TRUTH = 0.75  # P(X_1 = 1) for every eps
SIZES = {"quick": (2_000, 40), "default": (100_000, 200), "full": (1_000_000, 200)}
POINTS = 60


@dataclass(frozen=True)
class Curves:
    """Estimates of P(X_1 = 1) after each of `sweeps`, for one eps."""

    eps: float
    sweeps: np.ndarray
    herded: np.ndarray  # (points,)
    herded_error: np.ndarray  # upper envelope: the largest error from here on, as the paper draws
    gibbs: np.ndarray  # (runs, points)

    @property
    def gibbs_error(self) -> np.ndarray:
        """Mean absolute error over the runs."""
        found: np.ndarray = np.abs(self.gibbs - TRUTH).mean(axis=0)
        return found

    def slope(self, errors: np.ndarray) -> float:
        """Of log error over log sweeps, once the chain has had time to cross: 10 / eps sweeps."""
        late = self.sweeps >= min(10 / self.eps, self.sweeps[-1] / 10)
        usable = late & (errors > 0)
        return float(np.polyfit(np.log(self.sweeps[usable]), np.log(errors[usable]), 1)[0])


def two_variable_model(eps: float) -> FactorGraph:
    """Table 1 of the paper."""
    joint = np.array([[0.25 - eps, eps], [eps, 0.75 - eps]])
    return FactorGraph([2, 2], [((0, 1), log_array(joint))])


def run(eps: float, sweeps: int, runs: int) -> Curves:
    """Herded Gibbs once (it is deterministic), Gibbs many times."""
    model = two_variable_model(eps)
    at = np.unique(np.round(np.logspace(0, np.log10(sweeps), POINTS)).astype(int))
    start = np.zeros(2, int)  # the smaller mode, so that both must cross
    # Twice as long as it is shown: an envelope would dip where the run ends.
    herded = _estimates(model, HerdedGibbs(phases="half"), 2 * sweeps, start)
    error = np.abs(herded - TRUTH)
    envelope = np.maximum.accumulate(error[::-1])[::-1]
    gibbs = np.stack(
        [_estimates(model, Gibbs(seed=seed), sweeps, start)[at - 1] for seed in range(runs)]
    )
    return Curves(eps, at, herded[at - 1], envelope[at - 1], gibbs)


def _estimates(model: FactorGraph, method: Method, sweeps: int, start: np.ndarray) -> np.ndarray:
    """The running estimate of P(X_1 = 1) after each sweep."""
    samples = infer(model, method, sweeps=sweeps, start=start, keep=[Samples()]).samples
    return np.cumsum(samples[0, :, 0], dtype=np.int64) / np.arange(1, sweeps + 1)


def section(size: str, progress: Callable[[str], None]) -> Section:
    """The experiment at one of SIZES."""
    sweeps, runs = SIZES[size]
    curves = []
    for eps in EPSILONS:
        progress(f"two variables, eps = {eps}")
        curves.append(run(eps, sweeps, runs))
    rows = [
        [
            f"{c.eps:g}",
            f"{c.slope(c.herded_error):.2f}",
            f"{c.slope(c.gibbs_error):.2f}",
            f"{c.herded_error[-1]:.1e}",
            f"{c.gibbs_error[-1]:.1e}",
            f"{c.gibbs_error[-1] / c.herded_error[-1]:.0f}",
        ]
        for c in curves
    ]
    table = Table(
        "two-variables",
        f"Error of P(X1 = 1) after {sweeps:,} sweeps and its fitted slope in log-log "
        f"coordinates from 10/eps sweeps on. Gibbs: mean over {runs} runs.",
        ["eps", "slope, herded", "slope, Gibbs", "error, herded", "error, Gibbs", "ratio"],
        rows,
    )
    return Section(
        title="Two variables (section 4.1, figure 3)",
        text="The marginal P(X1 = 1) = 3/4 of a complete graph of two binary variables, estimated "
        "by visit frequencies. Both methods start at (0, 0).",
        verdicts=[_verdict(curves)],
        parts=[table, Figure(_draw(curves), _caption(runs))],
    )


def _verdict(curves: list[Curves]) -> str:
    settled = [c for c in curves if c.sweeps[-1] >= 100 / c.eps]
    herded = [c.slope(c.herded_error) for c in settled]
    gibbs = [c.slope(c.gibbs_error) for c in settled]
    agrees = max(herded) <= -0.9 and min(gibbs) >= -0.6 and max(gibbs) <= -0.4
    begin = "As in the paper" if agrees else "Unlike the paper"
    skipped = ", ".join(f"{c.eps:g}" for c in curves if c not in settled)
    tail = (
        f" For eps = {skipped} the run is shorter than 100/eps sweeps, too short to fit a rate."
        if skipped
        else ""
    )
    return (
        f"{begin}, herded Gibbs has slope {_span(herded)} (theorem 2: -1) "
        f"and Gibbs {_span(gibbs)} (expected: -0.5).{tail}"
    )


def _span(values: list[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def _caption(runs: int) -> str:
    return (
        "Columns: eps = 0.1, 0.01, 0.001, 0.0001. (a) estimates of P(X1 = 1), Gibbs with one "
        f"standard deviation over {runs} runs; (b) their errors in log-log coordinates, for herded "
        "Gibbs the upper envelope; (c) inverse errors: a straight line is a rate of 1/T."
    )


@in_style
def _draw(curves: list[Curves]) -> str:
    figure, axes = subplots(3, len(curves), width=10, height=6.2)
    for column, c in enumerate(curves):
        top, middle, bottom = axes[:, column]
        mean, spread = c.gibbs.mean(axis=0), c.gibbs.std(axis=0)
        top.fill_between(c.sweeps, mean - spread, mean + spread, color=GIBBS, alpha=0.2, lw=0)
        top.semilogx(c.sweeps, mean, color=GIBBS, label="Gibbs")
        top.semilogx(c.sweeps, c.herded, color=HERDED, label="herded Gibbs")
        top.axhline(TRUTH, color="#9ca3af", lw=0.8)
        top.set(title=f"eps = {c.eps:g}", ylim=(-0.05, 1.05))
        middle.loglog(c.sweeps, c.gibbs_error, color=GIBBS)
        middle.loglog(c.sweeps, c.herded_error, color=HERDED)
        bottom.plot(c.sweeps, 1 / c.gibbs_error, color=GIBBS)
        bottom.plot(c.sweeps, 1 / c.herded_error, color=HERDED)
        bottom.ticklabel_format(axis="both", style="sci", scilimits=(0, 4))
        bottom.set_xlabel("sweeps")
    for axis, name in zip(axes[:, 0], ("(a) P(X1 = 1)", "(b) error", "(c) 1 / error"), strict=True):
        axis.set_ylabel(name)
    axes[0, 0].legend(loc="lower right")
    return svg(figure)
