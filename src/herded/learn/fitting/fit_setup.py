"""The setup of a fit: what is maximised, from where, and by which steps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from herded.errors import MemoryLimitError, MethodError, ModelError
from herded.learn.assessment.curvature import largest_curvature
from herded.learn.assessment.fit_assessment import FitAssessor
from herded.learn.assessment.held_out import HeldOutScore, best_by_score
from herded.learn.fitting.averaged_gradient import AveragedAscent
from herded.learn.fitting.exact_moments import ExactMoments
from herded.learn.fitting.herd_moments import MomentHerd, UnknownParts
from herded.learn.fitting.lbfgs import QuasiNewton, dot, maximise
from herded.learn.fitting.objectives import (
    Likelihood,
    Objective,
    ObservedStatistics,
    PseudoLikelihood,
    TrainingRows,
)
from herded.learn.fitting.training_loop import TrainingLoop
from herded.methods.options import check_herd, check_seed
from herded.models.naming import variable_text
from herded.run.diagnostics.log_z_check import QUICK_EXACT_BYTES
from herded.run.training_helpers import EarlyStopping, random_permutation, subtract_l2_penalty
from herded.system import memory_limits
from herded.system.argument_checks import is_number_between, is_whole_number
from herded.system.numerics.counter_rng import random_bits_array, stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

# bytes of elimination that take a tenth of a second, the limit of "auto"
ROUGH_START_STEPS, ROUGH_START_SLOPE = 100, 1e-3  # of pseudo-likelihood before exact steps
START_STEPS = 200  # of pseudo-likelihood before noisy steps, which may return it
WARM_UP_CALLS = 20  # calls of a herd before the first step
STEPS_BETWEEN_SCORES = 10  # noisy steps between two scores of held-out rows
MIN_COMPLETE_SHARE = 0.5  # of rows, for their pseudo-likelihood to give the start
HIDDEN_SHARE = 0.5  # of unknown states from which a column counts as a hidden variable
HIDDEN_JITTER = 0.5  # largest distance of hidden variables' initial parameters from the model's


@dataclass(frozen=True)
class FitOptions:
    """The checked options of `fit`."""

    objective: str
    method: str
    batch: int | None
    patience: int
    steps: int
    rate: float
    herd: int
    sweeps: int
    seed: int
    max_memory: float

    def __post_init__(self) -> None:
        if self.objective not in ("likelihood", "pseudo"):
            raise MethodError(
                f'expected objective="likelihood" or "pseudo", got {self.objective!r:.80}'
            )
        if self.method not in ("auto", "exact", "herd"):
            raise MethodError(f'expected method="auto", "exact" or "herd", got {self.method!r:.80}')
        counts = {"patience": self.patience, "steps": self.steps, "sweeps": self.sweeps}
        for name, value in {**counts, "batch": self.batch}.items():
            if not (is_whole_number(value, 1) or (name == "batch" and value is None)):
                raise MethodError(f"expected {name} as a whole number from 1, got {value!r:.80}")
        if not is_number_between(self.rate, 1e-12, 1e6):
            raise MethodError(f"expected a rate above 0, got {self.rate!r:.80}")
        check_herd(self.herd)
        check_seed(self.seed)

    def as_text(self, steps: TrainingLoop) -> str:
        """Write the options that determine the bits of a run, for its checkpoint."""
        averaged = () if steps.until_flat else (self.steps,)
        chosen = self.objective, self.method, self.batch, self.patience
        return repr((*chosen, self.rate, self.herd, self.sweeps, self.seed, *averaged))


@dataclass(frozen=True, eq=False)
class FitPenalty:
    """A penalty on the objective: sum_p l1_p |x_p| + l2_p x_p^2 / 2."""

    l1: np.ndarray
    l2: np.ndarray

    def smooth(self, function: Callable[..., tuple[float, np.ndarray]]) -> Any:
        """Subtract the differentiable part of the penalty from the function."""

        return lambda x: subtract_l2_penalty(*function(x), x, self.l2)


def check_training_rows(rows: TrainingRows, penalty: FitPenalty, options: FitOptions) -> None:
    """Raise if the rows cannot be learned from."""
    rows.check_possible()
    if options.objective == "pseudo" and not rows.complete:
        raise MethodError(
            "expected rows without unknown states (-1) for the pseudo-likelihood, got some: use "
            'objective="likelihood"'
        )
    family = rows.family
    endless = endless_parameters(rows, penalty)
    unknown = rows.states.min(axis=0) < 0  # in some row
    endless &= ~family.touching(unknown)
    if endless.any():
        f = family.factor_of(int(np.argmax(endless)))
        names = ", ".join(variable_text(family.model, int(i)) for i in family.graph.factor(f)[0])
        raise ModelError(
            "expected data that vary, but some states of the variables of factor "
            f"{f} ({names}) never occur, which makes its best parameter infinite: drop constant "
            "columns, add rows, or set a penalty for it (l2=, an array for single variables)"
        )


def prepare_training(
    rows: TrainingRows,
    held: TrainingRows | None,
    penalty: FitPenalty,
    options: FitOptions,
    has_begun: bool,
) -> TrainingLoop:
    """Build the steps to take, and their start unless they began in an earlier run."""
    members = options.herd + len(rows.states)
    need = members * (12.0 * rows.states.shape[1] + 8.0 * np.diff(rows.links.link_start).max())
    memory_limits.check_memory(
        need, options.max_memory, "the states of data and herd", "use fewer rows"
    )
    parts: dict[str, Any] = {}
    objective: Objective = PseudoLikelihood(rows)
    is_likelihood = options.objective == "likelihood"
    model = plan_whole_elimination(rows, options) if is_likelihood else None
    is_exact = model is not None and options.batch is None
    given = rows.family.start
    # Steps of the likelihood begin at the better of the two.
    has_choice = is_likelihood and not has_begun and rows.complete and bool(given.any())
    if is_likelihood:
        known = ObservedStatistics(rows, options.max_memory, options.sweeps, options.seed)
        if known.drawn is not None:
            parts["rows"] = known.drawn
        if model is None:
            parts["herd"] = MomentHerd(
                rows.family, rows.links, options.herd, options.sweeps, options.seed
            )
        objective = Likelihood(known, model, parts.get("herd"))
    score = None if held is None else HeldOutScore(held, objective, options.max_memory)
    start = first_parameters(rows, penalty, options, has_begun, is_exact, score)
    for _ in range(WARM_UP_CALLS if "herd" in parts and not has_begun else 0):
        parts["herd"].of(given if has_choice else start)
    if options.batch is None and not parts:
        function = penalty.smooth(objective)
        if has_choice:
            values = [
                function(x)[0] - dot(penalty.l1, np.abs(x)) if score is None else score(x)
                for x in (start, given)
            ]
            start = given if values[1] > values[0] else start
        smooth = QuasiNewton(function, start, penalty.l1)
        return TrainingLoop(
            smooth, options.steps, True, score, 1, EarlyStopping(options.patience), parts
        )
    batches = RowBatches(len(rows.states), options.batch, options.seed)
    states = known_states(rows, start, options)
    variance = rows.variances(states)
    curvature = largest_curvature(rows, variance + penalty.l2, states, options.seed)
    assessor = FitAssessor(
        rows=rows,
        objective=objective,
        l1=penalty.l1,
        l2=penalty.l2,
        unit=np.sqrt(variance / len(rows.states)),
        steps=options.steps,
        sweeps=options.sweeps,
        seed=options.seed,
        max_memory=options.max_memory,
    )
    if has_choice:
        if score is not None:
            start = given if score(given) > score(start) else start
        else:
            start = assessor.better_start(start, given)
        for _ in range(WARM_UP_CALLS if "herd" in parts else 0):
            parts["herd"].of(start)
    noisy = AveragedAscent(
        lambda x, step: objective(x, batches.of(step))[1],
        start,
        variance,
        l1=penalty.l1,
        l2=penalty.l2,
        rate=min(options.rate, 1.0 / max(curvature, 1e-9)),
        steps=options.steps,
    )
    return TrainingLoop(
        noisy, options.steps, False, score, STEPS_BETWEEN_SCORES, EarlyStopping(options.patience),
        parts,
        assessor=assessor,
    )  # fmt: skip


def first_parameters(
    rows: TrainingRows,
    penalty: FitPenalty,
    options: FitOptions,
    has_begun: bool,
    is_exact: bool,
    score: HeldOutScore | None,
) -> np.ndarray:
    """Return the model's parameters, improved by pseudo-likelihood if all states are known.

    Exact steps converge from any start, so a rough maximum is enough for them. With held-out rows
    the best score along the ascent decides, as it does for `objective="pseudo"`.

    If some states are missing, complete rows have a pseudo-likelihood. A given model is kept then,
    since it cannot be compared before the steps.

    Parameters of hidden variables, which few rows observe, start at random distances from the
    model's: if several are equal, as in a model of zeros, nothing else would separate them.
    """
    start = rows.family.start.copy()
    hidden = np.asarray((rows.states < 0).mean(axis=0) >= HIDDEN_SHARE)
    known: TrainingRows | None = rows
    if not rows.complete:
        if hidden.any():
            key = stream_key(options.seed, 0, StreamPurpose.PARAMETER_JITTER)
            bits = random_bits_array(key, len(start))
            apart = HIDDEN_JITTER * (2.0**-52 * (bits >> np.uint64(11)).astype(np.float64) - 1.0)
            return np.where(rows.family.touching(hidden), start + apart, start)
        known = complete_rows(rows, penalty)
        if start.any():
            return start
    # Draws of unknown states, which a resumed run repeats, depend on the start.
    is_needed = not (has_begun and rows.complete)
    if options.objective == "likelihood" and is_needed and known is not None:
        pseudo = penalty.smooth(known.pseudo)
        if score is not None:
            climber = QuasiNewton(pseudo, start, penalty.l1)
            return best_by_score(climber, score, START_STEPS, options.patience)
        if is_exact:
            return maximise(pseudo, start, penalty.l1, ROUGH_START_STEPS, ROUGH_START_SLOPE).x
        return maximise(pseudo, start, penalty.l1, START_STEPS).x
    return start


def complete_rows(rows: TrainingRows, penalty: FitPenalty) -> TrainingRows | None:
    """Return the rows without unknown states.

    None if they are few, so that their best parameters are far from those of all rows, or if they
    have no best parameters.
    """
    at = np.flatnonzero((rows.states >= 0).all(axis=1))
    if len(at) < MIN_COMPLETE_SHARE * len(rows.states):
        return None
    known = rows.taken(at)
    return None if endless_parameters(known, penalty).any() else known


def endless_parameters(rows: TrainingRows, penalty: FitPenalty) -> np.ndarray:
    """Return which parameters (P,) have no best value, since some states never occur."""
    low, high = rows.family.extremes()
    found = rows.family.gathered(rows.met)
    room = 1e-9 * (high - low)
    is_free = penalty.l1 + penalty.l2 == 0.0
    return np.asarray(((found <= low + room) | (found >= high - room)) & is_free)


def plan_whole_elimination(rows: TrainingRows, options: FitOptions) -> ExactMoments | None:
    """Plan the elimination of the whole model, if that is asked for or quick."""
    if options.method == "herd":
        return None
    try:
        most = options.max_memory if options.method == "exact" else QUICK_EXACT_BYTES
        return ExactMoments(rows.family.graph, most)
    except MemoryLimitError:
        if options.method == "exact":
            raise
        return None


def known_states(rows: TrainingRows, start: np.ndarray, options: FitOptions) -> np.ndarray:
    """Return the rows as columns (N, R), with unknown states drawn once."""
    if rows.complete:
        return rows.columns
    drawn = UnknownParts(rows.links, rows.states, len(rows.family.group), options.seed)
    drawn.of(rows.family.tables(start), rows.weight, WARM_UP_CALLS)
    return drawn.x


@dataclass(frozen=True)
class RowBatches:
    """The rows of each step: all, or batches in a random order without replacement."""

    rows: int
    size: int | None
    seed: int

    def of(self, step: int) -> np.ndarray | None:
        """Return the rows of a step in order, or None for all."""
        if self.size is None or self.size >= self.rows:
            return None
        each = -(-self.rows // self.size)
        epoch, part = divmod(step, each)
        order = random_permutation(self.rows, self.seed, epoch, StreamPurpose.BATCH_ORDER)
        return np.sort(order[part * self.size : (part + 1) * self.size])
