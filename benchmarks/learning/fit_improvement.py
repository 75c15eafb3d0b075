"""Does `hd.learn.fit` end below the pseudo-likelihood? 36 problems with exact likelihoods."""

import time
import warnings
from collections.abc import Iterator

import numpy as np

import herded as hd
from benchmarks.learning.fit_problems import Problem, inverse_ising, other_kinds

TITLE = "# Likelihood against pseudo-likelihood"
TOLERANCE = 0.01  # nats per row
MAX_FIELD_RATIO = 1.5  # of the error of fields to that of pseudo-likelihood


def lines(quick: bool) -> Iterator[str]:
    yield 'Exact mean log-likelihoods in nats per row of fits with `objective="pseudo"` and with'
    yield "the default objective. Where a penalty is given, both are penalised likelihoods. *Gain*"
    yield "is what `fit` itself reports, against its start (99 % interval), and *fields* the error"
    yield "of the fields over that of pseudo-likelihood's (root mean squares)."
    yield ""
    yield (
        "| problem | rows | truth | pseudo | fit | difference | fields | chosen | by | gain |"
        " memory | slow | converged | CPU s |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    differences, ratios = [], []
    for problems in (inverse_ising(quick), other_kinds(quick)):
        for problem in problems:
            difference, ratio, line = compared(problem)
            differences.append(difference)
            ratios.append(ratio)
            yield line
    below = sum(d < -TOLERANCE for d in differences)
    known = [ratio for ratio in ratios if np.isfinite(ratio)]
    yield ""
    yield (
        f"{below} of {len(differences)} fits are more than {TOLERANCE} nats per row below "
        f"pseudo-likelihood; the worst difference is {min(differences):+.4f}. On "
        f"{sum(r > MAX_FIELD_RATIO for r in known)} of {len(known)} models of spins with fields "
        f"the error of the fields is over {MAX_FIELD_RATIO} times that of pseudo-likelihood; the "
        f"largest ratio is {max(known):.2f}."
    )


def compared(problem: Problem) -> tuple[float, float, str]:
    """The difference to pseudo-likelihood, the ratio of field errors, and a line of the table."""
    rows = problem.rows.reshape(len(problem.rows), *problem.blank.shape)
    same = {k: v for k, v in problem.options.items() if k in ("groups", "l2")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hd.HerdedWarning)
        pseudo = hd.learn.fit(problem.blank, rows, objective="pseudo", progress=False, **same)
        began = time.process_time()
        fitted = hd.learn.fit(problem.blank, rows, progress=False, **problem.options)
        seconds = time.process_time() - began
    values = [penalised(problem, one) for one in (pseudo, fitted)]
    difference = values[1] - values[0]
    mixing = fitted.mixing
    errors = [field_error(problem, one.model) for one in (fitted, pseudo)]
    ratio = errors[0] / errors[1]
    cells = (
        problem.name,
        f"{len(rows):,}",
        f"{problem.log_likelihood(problem.truth):.4f}",
        *(f"{value:.4f}" for value in values),
        f"{difference:+.4f}",
        f"{ratio:.2f}" if np.isfinite(ratio) else "",
        fitted.chosen,
        fitted.criterion,
        f"{fitted.gain:+.4f} ± {fitted.gain_half_width:.4f}",
        "" if mixing is None else f"{mixing.memory:.0f}",
        "" if mixing is None else "yes" if mixing.is_slow else "no",
        "yes" if fitted.converged else "no",
        f"{seconds:.1f}",
    )
    return difference, ratio, f"| {' | '.join(cells)} |"


def field_error(problem: Problem, model: hd.FactorGraph | hd.Lattice) -> float:
    """The root mean square error of the fields; NaN where variables are no spins with fields."""
    graphs = [one.as_factor_graph() for one in (model, problem.truth)]
    n = graphs[0].n_variables
    if (graphs[0].cardinalities != 2).any() or (np.diff(graphs[0].factor_start) > 2).any():
        return np.nan
    fields = [(g.log_tables[1 : 2 * n : 2] - g.log_tables[: 2 * n : 2]) / 2.0 for g in graphs]
    return float(np.sqrt(np.mean((fields[0] - fields[1]) ** 2)))


def penalised(problem: Problem, fitted: hd.learn.Fitted) -> float:
    """The exact log-likelihood less the penalty, which single numbers charge to pairs alone."""
    l2 = np.asarray(problem.options.get("l2", 0.0))
    if l2.ndim == 0:
        l2 = l2 * is_joint(fitted)
    return problem.log_likelihood(fitted.model) - float((l2 * fitted.parameters**2).sum()) / 2.0


def is_joint(fitted: hd.learn.Fitted) -> np.ndarray:
    """(P,) whether a parameter belongs to a factor of more than one variable."""
    graph = fitted.model.as_factor_graph()
    sizes = np.repeat(np.diff(graph.factor_start), np.diff(graph.table_start))
    found = np.zeros(len(fitted.parameters), bool)
    found[fitted.groups[(sizes > 1) & (fitted.groups >= 0)]] = True
    return found
