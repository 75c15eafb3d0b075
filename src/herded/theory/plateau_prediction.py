"""A prediction of the plateau in the error of herded Gibbs on sparse graphs, and its cause.

On a sparse graph the weight (i, x_N(i)) serves many states of the other variables R (neither i nor
its neighbours). Lemma 1 keeps the frequency of x_i given x_N(i) right for any R, but x_i must also
be independent of R given x_N(i), and nothing ensures that. A weight that has just emitted 1 is
likely to emit 0 next, so if R *at the next visit of that weight* depends on the emitted value, then
x_i and R are correlated. Hence the predictor:

    law of R at the next visit of the same weight after emitting 0, against after emitting 1,

in a run of plain Gibbs, without any herding. On a complete graph R is empty. Two cautions: it
predicts *that* there is a plateau rather than its height (the rest of the dynamics amplifies or
damps the correlation), and it does not detect phase locking (see `warn_if_locked`).
"""

from dataclasses import dataclass

import numpy as np

from herded.errors import MethodError
from herded.methods.gibbs import Gibbs
from herded.models.protocol import Model
from herded.run.infer import infer
from herded.run.interrupts import stop_all_runs_on_interrupt
from herded.run.recording.recorders import Samples

MIN_VISITS_TO_COMPARE = 20  # visits needed to compare an emitted value


@dataclass(frozen=True)
class Prediction:
    """The result of `plateau_predictor`: how the other variables depend on an emitted value.

    Attributes
    ----------
    distance : float
        In total variation, averaged over weights, pairs of emitted values and other variables.
    floor : float
        The same after shuffling emitted values, which leaves only sampling noise.
    per_variable : tuple of float
        distance - floor for the weights of each variable.
    sweeps : int
        The number of sweeps of plain Gibbs.
    excess : float
        distance - floor: about 0, of either sign, if herding should have no plateau.

    Examples
    --------
    >>> pair = hd.pairwise_model(np.zeros((2, 2)), [(0, 1)], np.eye(2))
    >>> hd.theory.plateau_predictor(pair, sweeps=1000).excess
    0.0
    """

    distance: float  # average over weights, pairs of emitted values and other variables
    floor: float  # the same after shuffling emitted values: sampling noise alone
    per_variable: tuple[float, ...]  # distance - floor for the weights of each variable
    sweeps: int

    @property
    def excess(self) -> float:
        """distance - floor: about 0 (of either sign) if herding should have no plateau."""
        return self.distance - self.floor

    def __str__(self) -> str:
        return (
            f"the others differ by {self.distance:.3g} after different emissions, of which "
            f"{self.floor:.3g} is noise: excess {self.excess:.3g} ({self.sweeps} Gibbs sweeps)"
        )


@stop_all_runs_on_interrupt()  # partial runs are useless by themselves
def plateau_predictor(
    model: Model, sweeps: int = 100_000, seed: int = 0, *, shuffles: int = 4
) -> Prediction:
    """Predict whether herded Gibbs has a plateau, from a run of plain Gibbs.

    For each value that a weight emits, it records the distribution of the variables outside i and
    N(i) at the weight's next visit, and compares these distributions. A weight counts by its visits
    times p (1 - p), so one that always emits the same value does not count.

    Parameters
    ----------
    model : FactorGraph or Lattice
        Without evidence.
    sweeps : int
        The number of sweeps of plain Gibbs.
    seed : int
    shuffles : int
        How often emitted values are shuffled to estimate the noise.

    Returns
    -------
    Prediction

    Examples
    --------
    On a complete graph there are no other variables, and no plateau:

    >>> rng = np.random.default_rng(0)
    >>> model = hd.theory.random_complete_graph(rng, 3)
    >>> hd.theory.plateau_predictor(model, sweeps=1000).distance
    0.0
    """
    if (np.asarray(model.evidence) >= 0).any():
        raise MethodError("expected a model without evidence, got clamped variables")
    result = infer(
        model,
        Gibbs(seed=seed, scan="sequential"),
        sweeps=sweeps,
        burn_in=max(100, sweeps // 100),
        keep=[Samples()],
        progress=False,
    )
    samples, rng = result.samples[0].astype(np.int64), np.random.default_rng(seed)
    totals = np.array([_one_variable(model, samples, i, rng, shuffles) for i in _all(model)])
    weight, distance, floor = totals.sum(axis=0)
    per_variable = (totals[:, 1] - totals[:, 2]) / np.maximum(totals[:, 0], 1e-300)
    if weight == 0:
        return Prediction(0.0, 0.0, (0.0,) * len(totals), sweeps)
    gaps = tuple(float(gap) for gap in per_variable)
    return Prediction(float(distance / weight), float(floor / weight), gaps, sweeps)


def _all(model: Model) -> range:
    return range(model.n_variables)


def _one_variable(
    model: Model, samples: np.ndarray, i: int, rng: np.random.Generator, shuffles: int
) -> tuple[float, float, float]:
    """Return (weight, weighted distance, weighted floor), summed over the weights of variable i."""
    cards = [int(k) for k in model.cardinalities]
    near = model.neighbours(i)
    others = np.setdiff1d(np.arange(len(cards)), [*near, i])
    if len(others) == 0:
        return 0.0, 0.0, 0.0
    # What variable i sees in a sequential scan: new values before it, old ones from it on.
    seen = np.concatenate([samples[1:, :i], samples[:-1, i:]], axis=1)
    emitted = samples[1:, i]
    context = np.zeros(len(seen), np.int64)
    for j in near:
        context = context * cards[j] + seen[:, j]
    indicators = _indicators(seen[:, others], [cards[j] for j in others])
    total = np.zeros(3)
    order = np.argsort(context, kind="stable")
    for visits in np.split(order, np.flatnonzero(np.diff(context[order])) + 1):
        said, later = emitted[visits[:-1]], indicators[visits[1:]]
        weight, distance = _compare(said, later, cards[i], len(others))
        if weight > 0:
            noise = [
                _compare(rng.permutation(said), later, cards[i], len(others))[1]
                for _ in range(shuffles)
            ]
            total += weight, weight * distance, weight * float(np.mean(noise))
    return float(total[0]), float(total[1]), float(total[2])


def _indicators(values: np.ndarray, cards: list[int]) -> np.ndarray:
    """Return one column per variable and state."""
    columns = [values[:, [c]] == np.arange(k) for c, k in enumerate(cards)]
    return np.concatenate(columns, axis=1).astype(np.float64)


def _compare(said: np.ndarray, later: np.ndarray, k: int, others: int) -> tuple[float, float]:
    """Average the distance between the laws of later states over pairs of emitted values."""
    counts = np.bincount(said, minlength=k)
    enough = np.flatnonzero(counts >= MIN_VISITS_TO_COMPARE)
    laws = {int(v): later[said == v].mean(axis=0) for v in enough}
    weight = distance = 0.0
    for a in laws:
        for b in laws:
            if a < b:
                pair = counts[a] * counts[b] / len(said)
                weight += pair
                distance += pair * 0.5 * float(np.abs(laws[a] - laws[b]).sum()) / others
    return weight, distance / weight if weight else 0.0
