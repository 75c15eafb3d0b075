"""Section 4.1 of Bornn et al. (2013): a complete graph of two variables.

    P(x_1, x_2):  (0,0) 1/4 - eps   (1,1) 3/4 - eps   (0,1), (1,0) eps

The smaller eps, the harder it is to move between (0,0) and (1,1). Theorem 2 covers it: the error of
herded Gibbs falls as 1 / T, that of Gibbs as 1 / sqrt(T).

Herds are compared at as many updates: T / 50 sweeps of 50 members. Three quarters of 50 is not a
whole number, on purpose: the count of ones in a herd of 64 would settle at 48, with no error.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.protocol import Method
from herded.models.factor_graph import FactorGraph
from herded.paper.report import Figure, Section, Table, Verdict
from herded.run.infer import infer
from herded.run.recording.recorders import Samples
from herded.system.figures import GIBBS_COLOUR, HERDED_COLOUR, subplots, svg, with_plot_style
from herded.system.numerics.exp_log import log_array

EPSILONS = (0.1, 0.01, 0.001, 0.0001)
TRUE_PROBABILITY = 0.75  # P(X_1 = 1) for every eps
HERD_MEMBERS = 50  # members; it divides the sweeps of SIZES
SIZES = {"quick": (2_000, 40), "default": (100_000, 200), "full": (1_000_000, 200)}
POINTS = 60
HERD_METHODS: dict[str, Callable[[int], Method]] = {
    "Gibbs": lambda seed: Gibbs(seed=seed, herd=HERD_MEMBERS),
    "herded Gibbs": lambda seed: HerdedGibbs(seed=seed, herd=HERD_MEMBERS),
}


@dataclass(frozen=True)
class RepeatedRuns:
    """Estimates of P(X_1 = 1) by many runs of one method."""

    updates: np.ndarray  # (points,) of each variable: sweeps, times the members of a herd
    estimates: np.ndarray  # (runs, points)
    second_half: np.ndarray  # (runs,) estimates without the first half of the run

    @property
    def error(self) -> np.ndarray:
        """The mean absolute error over the runs."""
        found: np.ndarray = np.abs(self.estimates - TRUE_PROBABILITY).mean(axis=0)
        return found

    @property
    def second_half_error(self) -> float:
        return float(np.abs(self.second_half - TRUE_PROBABILITY).mean())


@dataclass(frozen=True)
class Curves:
    """Estimates of P(X_1 = 1) after each of `sweeps`, for one eps."""

    eps: float
    sweeps: np.ndarray
    herded: np.ndarray  # (points,)
    herded_error: np.ndarray  # upper envelope: the largest error from here on, as the paper draws
    gibbs: RepeatedRuns
    herds: dict[str, RepeatedRuns]

    def slope(self, errors: np.ndarray) -> float:
        """Fit the slope of log error over log sweeps after 10 / eps sweeps, the time to cross."""
        late = self.sweeps >= min(10 / self.eps, self.sweeps[-1] / 10)
        usable = late & (errors > 0)
        return float(np.polyfit(np.log(self.sweeps[usable]), np.log(errors[usable]), 1)[0])


def two_variable_model(eps: float) -> FactorGraph:
    """Build the model of table 1 of the paper."""
    joint = np.array([[0.25 - eps, eps], [eps, 0.75 - eps]])
    return FactorGraph([2, 2], [((0, 1), log_array(joint))])


def run(eps: float, sweeps: int, runs: int) -> Curves:
    """Run herded Gibbs once, since it is deterministic, and Gibbs many times."""
    model = two_variable_model(eps)
    at = np.unique(np.round(np.logspace(0, np.log10(sweeps), POINTS)).astype(int))
    start = np.zeros(2, int)  # the smaller mode, so that both must cross
    # Twice as long as shown, since an envelope would dip at the end of the run.
    ones = _ones(model, HerdedGibbs(phases="half"), 2 * sweeps, start)
    herded = ones / np.arange(1, 2 * sweeps + 1)
    error = np.abs(herded - TRUE_PROBABILITY)
    envelope = np.maximum.accumulate(error[::-1])[::-1]
    gibbs = _run_seeds(model, lambda seed: Gibbs(seed=seed), 1, at, runs, start)
    herds = {
        name: _run_seeds(model, make, HERD_MEMBERS, at, runs, start)
        for name, make in HERD_METHODS.items()
    }
    return Curves(eps, at, herded[at - 1], envelope[at - 1], gibbs, herds)


def _run_seeds(
    model: FactorGraph,
    make: Callable[[int], Method],
    members: int,
    updates: np.ndarray,
    runs: int,
    start: np.ndarray,
) -> RepeatedRuns:
    """Run as many updates as the last of `updates`; estimates are taken near each of them."""
    at = np.unique(updates[updates >= members] // members)
    last, half = int(at[-1]), int(at[-1]) // 2
    ones = np.stack([_ones(model, make(seed), last, start) for seed in range(runs)])
    late = (ones[:, -1] - ones[:, half - 1]) / (members * (last - half))
    return RepeatedRuns(members * at, ones[:, at - 1] / (members * at), late)


def _ones(model: FactorGraph, method: Method, sweeps: int, start: np.ndarray) -> np.ndarray:
    """Count how often X_1 was 1 up to each sweep, in all members of a herd."""
    samples = infer(model, method, sweeps=sweeps, start=start, keep=[Samples()]).samples
    return np.cumsum(samples[:, :, 0].sum(axis=0, dtype=np.int64))


def section(size: str, progress: Callable[[str], None]) -> Section:
    """Run the experiment at one of SIZES."""
    sweeps, runs = SIZES[size]
    curves = []
    for eps in EPSILONS:
        progress(f"two variables, eps = {eps}")
        curves.append(run(eps, sweeps, runs))
    rows = [
        [
            f"{c.eps:g}",
            f"{c.slope(c.herded_error):.2f}",
            f"{c.slope(c.gibbs.error):.2f}",
            f"{c.herded_error[-1]:.1e}",
            f"{c.gibbs.error[-1]:.1e}",
            f"{c.gibbs.error[-1] / c.herded_error[-1]:.0f}",
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
        "by visit frequencies. All methods start at (0, 0).",
        verdicts=[_verdict(curves), Verdict(_herd_verdict(curves))],
        parts=[table, _herd_table(curves, runs), Figure([*map(_draw, curves)], _caption(runs))],
    )


def _herd_table(curves: list[Curves], runs: int) -> Table:
    rows = []
    for c in curves:
        drawn = [c.gibbs, *c.herds.values()]
        whole = [f"{run.error[-1]:.1e}" for run in drawn]
        half = [f"{run.second_half_error:.1e}" for run in drawn]
        rows.append([f"{c.eps:g}", *whole, *half])
    names = ["Gibbs", *(f"{name}, herd" for name in HERD_METHODS)]
    return Table(
        "two-variables-herds",
        f"Herds of {HERD_MEMBERS} (not in the paper) at as many updates: error of P(X1 = 1) after "
        f"{curves[0].sweeps[-1]:,} updates of each variable, which are "
        f"{curves[0].sweeps[-1] // HERD_MEMBERS:,} sweeps of a herd, from the whole run and from "
        f"its second half alone. Means over {runs} runs. 3/4 suits kept phases (herded Gibbs, "
        "herd): a settled herd has 37 and 38 ones of 50 in turn, and their mean is exact.",
        ["eps", *names, *(f"{name}, 2nd half" for name in names)],
        rows,
        folded=True,
    )


def _verdict(curves: list[Curves]) -> Verdict:
    settled = [c for c in curves if c.sweeps[-1] >= 100 / c.eps]
    herded = [c.slope(c.herded_error) for c in settled]
    gibbs = [c.slope(c.gibbs.error) for c in settled]
    agrees = max(herded) <= -0.9 and min(gibbs) >= -0.6 and max(gibbs) <= -0.4
    begin = "As in the paper" if agrees else "Unlike the paper"
    skipped = ", ".join(f"{c.eps:g}" for c in curves if c not in settled)
    tail = (
        f" For eps = {skipped} the run is shorter than 100/eps sweeps, too short to fit a rate."
        if skipped
        else ""
    )
    return Verdict(
        f"{begin}, herded Gibbs has slope {_span(herded)} (theorem 2: -1) "
        f"and Gibbs {_span(gibbs)} (expected: -0.5).{tail}",
        "Two variables: the error of herded Gibbs falls as 1/T, and clearly faster than that of "
        "Gibbs (figure 3).",
        agrees,
    )


def _herd_verdict(curves: list[Curves]) -> str:
    """Compare herds with chains: all members start in the smaller mode and have to leave it."""
    herds = [c.herds["Gibbs"] for c in curves]
    whole = [h.error[-1] / c.gibbs.error[-1] for h, c in zip(herds, curves, strict=True)]
    half = [
        h.second_half_error / c.gibbs.second_half_error for h, c in zip(herds, curves, strict=True)
    ]
    ahead = [c for c in curves if all(c.herded_error[-1] < h.error[-1] for h in c.herds.values())]
    return (
        f"Herds, at eps = {_list([c.eps for c in curves])}: with as many updates, a herd of "
        f"{HERD_MEMBERS} has {_list(whole)} times the error of Gibbs, and {_list(half)} times "
        f"without the first half of each run. All {HERD_MEMBERS} members must leave (0, "
        f"0), and each has only 1/{HERD_MEMBERS} of the sweeps to do it. Over the whole run, one "
        "chain of herded Gibbs is better than either herd at eps = "
        f"{_list([c.eps for c in ahead]) or 'none'}."
    )


def _list(values: list[float]) -> str:
    return ", ".join(f"{value:.2g}" for value in values)


def _span(values: list[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def _caption(runs: int) -> str:
    return (
        "From left to right: eps = 0.1, 0.01, 0.001, 0.0001. (a) P(X1 = 1), Gibbs with one "
        f"standard deviation over {runs} runs; (b) their errors in log-log coordinates, for herded "
        "Gibbs the upper envelope; (c) inverse errors: a straight line is a rate of 1/T. Dashed: "
        f"herds of {HERD_MEMBERS}, means over {runs} runs. Those with random phases (Gibbs) and "
        "with kept ones nearly coincide, since most of their error comes from the start."
    )


@with_plot_style
def _draw(c: Curves) -> str:
    """Draw one column of the paper's figure."""
    figure, (top, middle, bottom) = subplots(3, 1, width=2.7, height=6.4)
    mean, spread = c.gibbs.estimates.mean(axis=0), c.gibbs.estimates.std(axis=0)
    top.fill_between(c.sweeps, mean - spread, mean + spread, color=GIBBS_COLOUR, alpha=0.2, lw=0)
    top.semilogx(c.sweeps, mean, color=GIBBS_COLOUR, label="Gibbs")
    top.semilogx(c.sweeps, c.herded, color=HERDED_COLOUR, label="herded Gibbs")
    top.axhline(TRUE_PROBABILITY, color="#9ca3af", lw=0.8)
    top.set(title=f"ε = {c.eps:g}", ylim=(-0.05, 1.05), ylabel="(a) P(X₁ = 1)")
    middle.loglog(c.sweeps, c.gibbs.error, color=GIBBS_COLOUR)
    middle.loglog(c.sweeps, c.herded_error, color=HERDED_COLOUR)
    middle.set_ylabel("(b) error")
    bottom.plot(c.sweeps, 1 / c.gibbs.error, color=GIBBS_COLOUR)
    bottom.plot(c.sweeps, 1 / c.herded_error, color=HERDED_COLOUR)
    for (name, herd), colour in zip(c.herds.items(), (GIBBS_COLOUR, HERDED_COLOUR), strict=True):
        line: dict[str, Any] = {"ls": "--", "lw": 1, "color": colour}
        top.semilogx(herd.updates, herd.estimates.mean(axis=0), label=f"{name}, herd", **line)
        middle.loglog(herd.updates, herd.error, **line)
        bottom.plot(herd.updates, 1 / herd.error, **line)
    bottom.ticklabel_format(axis="both", style="sci", scilimits=(0, 4))
    bottom.set(xlabel="updates", ylabel="(c) 1 / error")
    figure.legend(*top.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    return svg(figure)
