"""Learn the parameters of a model from data: `hd.learn.fit`."""

import hashlib
import os
import warnings as warnings_module
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import HerdedWarning, Interrupted, MethodError
from herded.learn.assessment.fit_outcome import choose_outcome
from herded.learn.fitting.fit_result import Fitted
from herded.learn.fitting.fit_setup import (
    FitOptions,
    FitPenalty,
    check_training_rows,
    prepare_training,
)
from herded.learn.fitting.log_linear import LogLinear, build_log_linear
from herded.learn.fitting.objectives import TrainingRows
from herded.learn.fitting.observations import as_observations, check_enough, split_rows
from herded.models.naming import variable_text
from herded.models.protocol import Model
from herded.run.execute import users_level
from herded.run.interrupts import raises_interrupted, stop_event_on_interrupt
from herded.run.training_helpers import random_permutation
from herded.system import memory_limits
from herded.system.argument_checks import as_float_array, short_repr
from herded.system.memory_limits import Size
from herded.system.numerics.stream_purposes import StreamPurpose

UNBOUNDED_LOG_ODDS = 10.0  # beyond log(rows): log-odds that no rows of data can support


@raises_interrupted
def fit(
    model: Model,
    data: ArrayLike,
    *,
    groups: object = None,
    weights: object = None,
    objective: str = "likelihood",
    method: str = "auto",
    l1: ArrayLike = 0.0,
    l2: ArrayLike = 0.0,
    batch: int | None = None,
    held_out: float | ArrayLike | None = None,
    patience: int = 5,
    steps: int = 200,
    rate: float = 0.5,
    herd: int = 1024,
    sweeps: int = 4,
    seed: int = 0,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: float = 30.0,
    progress: bool | None = None,
    max_memory: Size | None = None,
) -> Fitted:
    """Learn the parameters of a model from rows of data.

    It maximises the mean over rows of the log-likelihood (or pseudo-likelihood), minus
    sum_p l1_p |parameter_p| + l2_p parameter_p^2 / 2.

    The main arguments are `model`, `data`, `groups`, `l1`, `l2` and `held_out`. The other arguments
    set the optimisation, checkpoints and resources.

    Parameters
    ----------
    model : FactorGraph or Lattice
        Its graph is kept, and its log-potentials are the start of learning. If all states are
        known, learning by likelihood starts from the best pseudo-likelihood instead if that is
        better.
    data : array_like of int, shape (rows, N)
        A state of every variable in each row; -1 for unknown states and in the columns of hidden
        variables. The rows of a lattice may have its shape.
    groups : optional
        The parameter that each log-potential is a multiple of, -1 if it is fixed: a list with an
        array for each factor, in the shape of its table, or one flat array like ``log_tables``.
        Factors that name the same parameter are tied. By default a lattice has a field for each
        variable (for each state but the first, if there are more than two) and a coupling for each
        pair of neighbours, and any other model one parameter for each log-potential. "tied" gives a
        lattice one field and one coupling. "ising" gives each factor of one two-state variable a
        field, and each factor of two a coupling.
    weights : optional
        The multipliers of the parameters, in the shapes of `groups`; 1 by default. An Ising
        coupling has 1 where spins are alike and -1 elsewhere.
    objective : {"likelihood", "pseudo"}
        "pseudo" is the sum of log p(x_i | all others), which needs no summing or sampling of the
        model. Estimates are consistent, with somewhat larger errors.
    method : {"auto", "exact", "herd"}
        How to compute the likelihood's gradient: by elimination, or by a herd of chains that
        persists from step to step. "auto" eliminates if that takes a tenth of a second or less.
    l1, l2 : float or array_like of shape (P,)
        Penalties. A single number applies to all parameters but those of single variables.
    batch : int, optional
        The number of rows in each step, drawn without replacement until all were used; by default
        all. Meant for data with unknown states, where each row takes work.
    held_out : float or array_like, optional
        A share of the rows to hold out, or other rows. Learning ends when their score has not
        improved `patience` times in a row, and returns the best parameters seen, including those on
        the way to the best pseudo-likelihood if learning starts there. The score is their
        likelihood if it is known exactly, else their pseudo-likelihood.
    patience : int
    steps : int
        The largest number of steps. With a herd or in batches all are taken, and the last two
        thirds averaged. The result is the best of the start, the average and the last parameters;
        see `Fitted`.
    rate : float
        The rate of the first step of a herd or of batches, where 1 is a Newton step of each
        parameter alone. It is lowered if correlations between statistics would make such steps
        diverge.
    herd : int
        The number of members of the herd.
    sweeps : int
        The sweeps of the herd in each step.
    seed : int
        The seed of the herd, of batches, of the held-out rows, and of the start of parameters of
        variables that most rows do not observe.
    checkpoint : path, optional
        A file to save to every `checkpoint_every` seconds and at the end, and to resume from if it
        exists, with the same bits.
    checkpoint_every : float
    progress : bool, optional
        Whether to show a progress bar on a terminal: only in long runs (None), or never (False).
    max_memory : int or str, optional
        The most memory for elimination with ``method="exact"``; half of what is free by default.

    Returns
    -------
    Fitted
        With `model`, `parameters`, `history`, a sentence on `convergence`, and `warnings`, which
        are also issued as `HerdedWarning`.

    Raises
    ------
    ModelError
        If the data do not fit the model, or would send a parameter to infinity.
    MethodError
        If an option is wrong, or the objective cannot be computed from these data.

    Examples
    --------
    Two spins that are mostly alike:

    >>> data = [[0, 0], [1, 1], [0, 0], [1, 0], [0, 1], [1, 1]]
    >>> fitted = hd.learn.fit(hd.ising_grid(np.zeros((1, 2)), 0.0), data)
    >>> fitted.model.couplings[0].round(4)
    array([[0.3466]])

    One table shared by two factors, and a variable in the middle that was never observed:

    >>> path = hd.pairwise_model(np.zeros((3, 2)), [(0, 1), (1, 2)], [[0.5, 0.0], [0.0, 0.5]])
    >>> like = [[0, -1], [-1, 0]]
    >>> groups = [[-1, -1]] * 3 + [like] * 2
    >>> rows = [[0, -1, 0], [1, -1, 1], [1, -1, 1], [0, -1, 1]]
    >>> fitted = hd.learn.fit(path, rows, groups=groups)
    >>> fitted.parameters.round(3)
    array([1.763])
    """
    options = FitOptions(
        objective, method, batch, patience, steps, rate, herd, sweeps, seed,
        memory_limits.memory_limit(max_memory),
    )  # fmt: skip
    given = build_log_linear(model, groups, weights)
    family, unit = given.normalised()
    every = as_observations(model, data)
    check_enough(model, every)
    TrainingRows(family, every).check_possible()  # before rows are reordered
    order = random_permutation(len(every), options.seed, 0, StreamPurpose.HELD_OUT_ROWS)
    learned, held = split_rows(model, every, held_out, order)
    rows = TrainingRows(family, learned)
    l1, l2 = penalty_vector(family, "l1", l1), penalty_vector(family, "l2", l2)
    penalty = FitPenalty(l1 * unit, l2 * unit**2)  # of normalised parameters
    check_training_rows(rows, penalty, options)
    others = None if held is None else TrainingRows(family, held)
    if others is not None:
        others.check_possible("held_out")
    has_begun = checkpoint is not None and os.path.exists(checkpoint)
    try:
        run = prepare_training(rows, others, penalty, options, has_begun)
    except KeyboardInterrupt:
        raise Interrupted("interrupted before the first step") from None
    run.identity = {
        "model": family.graph.content_hash,
        "parameters": array_digest(given.group, given.weight),
        "data": array_digest(learned) if held is None else array_digest(learned, held),
        "penalty": array_digest(l1, l2),
        "options": options.as_text(run),
    }
    if checkpoint is not None:
        run.resume(checkpoint)
    run.run(checkpoint, checkpoint_every, progress)
    with stop_event_on_interrupt() as stop:
        outcome = choose_outcome(run, stop)
    found = outcome.parameters
    endless = unbounded_parameter_warning(family, penalty, found, unit, len(learned))
    for sentence in outcome.warnings:
        warnings_module.warn(sentence, HerdedWarning, stacklevel=users_level())
    fitted = Fitted(
        model=family.rebuilt(found),
        parameters=found * unit,
        groups=family.group,
        history=run.columns(),
        converged=outcome.converged and not endless,
        convergence=(
            f"not converged in {run.done} steps: {endless}" if endless else outcome.convergence
        ),
        interrupted=outcome.interrupted,
        steps=run.done,
        chosen=outcome.chosen,
        criterion=outcome.criterion,
        gain=outcome.gain.value,
        gain_half_width=outcome.gain.half_width,
        gradient_test=outcome.test,
        mixing=outcome.mixing,
        warnings=outcome.warnings,
        gains=outcome.gains or {},
    )
    if run.stopped or outcome.interrupted:
        raise Interrupted(f"interrupted after {run.done} steps", fitted if run.done else None)
    return fitted


def unbounded_parameter_warning(
    family: LogLinear, penalty: FitPenalty, found: np.ndarray, unit: np.ndarray, rows: int
) -> str:
    """Warn of a parameter that this many rows cannot tell from infinity, if there is one.

    Rows with unknown states, or states that never meet, may have no best parameters: the ascent
    ends where the slope is lost in rounding.
    """
    free = penalty.l1 + penalty.l2 == 0.0
    odds = np.where(free & (np.abs(found) > np.abs(family.start)), family.span * np.abs(found), 0.0)
    worst = int(np.argmax(odds))
    if not odds[worst] > UNBOUNDED_LOG_ODDS + np.log(rows):
        return ""
    f = family.factor_of(worst)
    names = ", ".join(variable_text(family.model, int(i)) for i in family.graph.factor(f)[0])
    return (
        f"a parameter of factor {f} ({names}) is {found[worst] * unit[worst]:.3g}, log-odds that "
        f"{rows} rows cannot support: it may have no best value, so set a penalty for it (l2=)"
    )


def penalty_vector(family: LogLinear, name: str, given: ArrayLike) -> np.ndarray:
    """Return one penalty per parameter (P,); a single number excludes those of single variables."""
    values = as_float_array(name, given)
    if not (np.isfinite(values).all() and (values >= 0.0).all()):
        raise MethodError(f"expected {name} of 0 or more, got {short_repr(given)}")
    if values.ndim == 0:
        joint = ~family.alone
        return np.where(joint if joint.any() else True, values, 0.0)
    if values.shape != (family.count,):
        raise MethodError(
            f"expected {name} as one number or one for each of {family.count} parameters, got "
            f"shape {values.shape}"
        )
    return values


def array_digest(*arrays: np.ndarray) -> str:
    """Return sixteen hex digits that are equal for equal arrays."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(str(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]
