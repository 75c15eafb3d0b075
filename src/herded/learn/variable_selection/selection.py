"""Bayesian variable selection for linear regression."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import Interrupted
from herded.learn.resumable_herd_run import check_run_options, data_hash
from herded.learn.variable_selection import validation
from herded.learn.variable_selection.column_moves import herd_bytes
from herded.learn.variable_selection.enumeration import enumerate_models
from herded.learn.variable_selection.herd_sampling import sample_models
from herded.learn.variable_selection.regression_problem import (
    RegressionProblem,
    StandardisedColumns,
    columns_of,
    problem_of,
)
from herded.learn.variable_selection.result import RankedModel, Selection, SelectionAverages
from herded.methods.options import check_herd, check_seed
from herded.system import memory_limits
from herded.system.atomic_files import FilePath


def select_variables(
    X: ArrayLike,
    y: ArrayLike,
    prior: str = "g",
    *,
    g: float | None = None,
    slab: float = 1.0,
    inclusion: float | tuple[float, float] = 0.5,
    method: str | None = None,
    sweeps: int = 1000,
    burn_in: int | None = None,
    herd: int = 64,
    chains: int = 4,
    largest: int | None = None,
    best: int = 10,
    seed: int = 0,
    names: Sequence[str] | None = None,
    progress: bool | None = None,
    checkpoint: FilePath | None = None,
    max_memory: memory_limits.Size | None = None,
) -> Selection:
    """Find the columns that a linear model of y needs, averaging over all models.

    With up to 20 columns all models are enumerated. With more, herds of Gibbs chains visit the
    models of high probability: each member is exactly a Gibbs chain over models (coefficients and
    noise are integrated out), and a change of a model updates its factorisation.

    The main arguments are `X`, `y`, `prior`, `inclusion` and `sweeps`. The other arguments set the
    details of the priors, the sampler, checkpoints and resources.

    Parameters
    ----------
    X : array_like, (n, p)
        A pandas table also provides the names. An intercept is always in the model; columns are
        centred and scaled.
    y : array_like, (n,)
    prior : "g" or "spike-slab"
        The prior of the coefficients of columns in the model: Zellner's g-prior, or independent
        normals whose standard deviation is `slab` times that of the noise, for a column of standard
        deviation 1.
    g : float, optional
        The g of the g-prior; by default n, the unit information prior.
    slab : float
    inclusion : float or (float, float)
        The prior probability that a column is in the model, or the two parameters of its beta
        prior: (1, 1) makes all model sizes equally likely, which suits many columns with few
        relevant ones.
    method : "exact", "herd" or "herded", optional
        By default "exact" up to 20 columns (it takes at most 24), else "herd". With "herded" each
        chain herds in time, with pooled weights: the smallest error after some thousand sweeps, but
        a small bias that remains in any run.
    sweeps, burn_in : int
        Visits of every column in each member, after a burn-in (by default a fifth of `sweeps`).
    herd, chains : int
        The members of a herd, and the number of independent herds, which give intervals.
    largest : int, optional
        Models with more columns are excluded; by default 100 or fewer if models are sampled.
    best : int
        The number of best models to keep.
    seed : int
        The same seed gives the same bits.
    names : sequence of str, optional
    progress : bool, optional
        Whether to show a progress bar; False never shows one.
    checkpoint : path, optional
        A file to save a sampled run to, and to resume from.
    max_memory : float or str, optional
        A number of bytes, or a text such as "2G"; half of what is free by default.

    Returns
    -------
    Selection

    Raises
    ------
    ModelError
        If X or y is not a table and a column of finite numbers, or y is constant.
    MethodError
        If an option is out of range.
    MemoryLimitError
        If the products of all pairs of columns, or the members, do not fit.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 30))
    >>> y = X[:, 3] - 2 * X[:, 7] + rng.normal(size=60)
    >>> found = hd.learn.select_variables(X, y, inclusion=(1, 1), sweeps=100)
    >>> found.models[0].columns
    (3, 7)
    >>> np.flatnonzero(found.inclusion > 0.5)
    array([3, 7])
    """
    check_herd(herd)
    check_seed(seed)
    burn_in = check_run_options(sweeps, burn_in, chains=chains, best=best, burn_in_divisor=5)
    table, target, names = validation.check_regression(X, y, names)
    rows, p = table.shape
    memory_limits.check_memory(
        24.0 * p * p, max_memory, "the products of all columns", "use fewer columns"
    )
    columns = columns_of(table, target)
    varies = np.flatnonzero(columns.lengths > 0)
    validation.check_variation(columns.y_length, varies, p)
    method = validation.choose_algorithm(method, len(varies))
    largest = validation.choose_max_columns(largest, len(varies), method)
    strength = validation.check_regression_prior(prior, g, slab, rows)
    inclusion = validation.check_inclusion(inclusion)
    used = columns._replace(
        products=np.ascontiguousarray(columns.products[np.ix_(varies, varies)]),
        with_y=columns.with_y[varies],
    )
    problem = problem_of(used, strength, inclusion=inclusion, largest=largest)
    if method == "exact":
        found = _average_by_enumeration(problem, best)
    else:
        in_time = method == "herded"
        herd = 1 if in_time else herd
        need = chains * herd_bytes(herd, len(varies), largest)
        memory_limits.check_memory(
            need, max_memory, f"{chains} herds", "use fewer members or largest="
        )
        identity = {
            "run": "select_variables",
            "data": data_hash(problem.products, problem.with_y, problem.prior),
            "prior": repr((prior, strength)),
            "options": [method, herd, chains, seed, sweeps, burn_in, largest, best],
        }
        found = sample_models(
            problem, identity, progress, checkpoint,
            sweeps=sweeps, burn_in=burn_in, herd=herd, in_time=in_time, chains=chains,
            largest=largest, best=best, seed=seed,
        )  # fmt: skip
    selection = _selection(found, columns, varies, names)
    if found.stopped:
        raise Interrupted(
            f"interrupted after {found.sweeps} sweeps: error.result has the partial result",
            selection,
        )
    return selection


def _average_by_enumeration(problem: RegressionProblem, best: int) -> SelectionAverages:
    """Average over all models."""
    found, p = enumerate_models(problem), len(problem.with_y)
    first = np.argsort(-found.scores, kind="stable")[:best]
    ranked = [
        (float(found.scores[code]), (code >> np.arange(p - 1, -1, -1)) & 1)
        for code in first.tolist()
        if found.scores[code] > -np.inf
    ]
    return SelectionAverages(
        found.inclusion, np.zeros(p), found.mean, found.square, ranked, "exact"
    )


def _selection(
    found: SelectionAverages,
    columns: StandardisedColumns,
    varies: np.ndarray,
    names: tuple[str, ...],
) -> Selection:
    """Convert averages to the user's columns and units."""
    p = len(names)
    inclusion, mean, deviation, interval = np.zeros(p), np.zeros(p), np.zeros(p), np.zeros((p, 2))
    scale = columns.y_length / columns.lengths[varies]
    inclusion[varies] = found.inclusion
    mean[varies] = found.mean * scale
    deviation[varies] = np.sqrt(np.maximum(found.square - found.mean**2, 0.0)) * scale
    reach = found.margin[:, None] * np.array([-1.0, 1.0])
    interval[varies] = np.clip(found.inclusion[:, None] + reach, 0.0, 1.0)
    top = found.ranked[0][0]
    models = []
    for score, model in found.ranked:
        chosen = tuple(varies[np.flatnonzero(model)].tolist())
        odds = float(np.exp(score - top))
        models.append(RankedModel(chosen, tuple(names[j] for j in chosen), odds, score))
    return Selection(
        names,
        inclusion,
        interval,
        mean,
        deviation,
        columns.y_mean - float(columns.means @ mean),
        tuple(models),
        found.method,
        found.sweeps,
        (*validation.constant_columns_warning(names, varies), *found.warnings),
        found.interrupted,
    )
