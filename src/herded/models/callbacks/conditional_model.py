"""Discrete models given by their conditionals: functions instead of factors."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import ModelError
from herded.models import evidence as _evidence
from herded.models import summary
from herded.models.callbacks.frozen_data import frozen_data
from herded.models.callbacks.function_calls import CompiledCallbacks, compile_callbacks
from herded.models.callbacks.path_scores import allowed_states_mask, mean_logit_spread, path_scores
from herded.models.protocol import ModelCapabilities
from herded.models.validation import (
    check_cardinalities,
    check_names,
    check_state_names,
    check_states,
)
from herded.system.aligned_arrays import arrays_in, start_offsets
from herded.system.argument_checks import as_integer_array, read_only_copy, short_repr
from herded.system.compilation.fingerprint import Fingerprint

CALLBACK_ARGUMENTS = {
    "conditional": "(i, x, statistics, data, out)",
    "statistics": "(x, data)",
    "changed": "(i, old, new, x, statistics, data)",
}


@dataclass(frozen=True, eq=False, init=False, repr=False)
class ConditionalModel:
    """A discrete model given by the conditional of each variable given all others.

    You write a function for the conditionals, and the samplers do the rest. Numba compiles the
    function if it can; otherwise it runs as plain Python, with a warning that says how slow that
    is.

    Parameters
    ----------
    cardinalities : array_like of int, shape (N,)
        The number of states of each variable.
    conditional : callable
        ``conditional(i, x, statistics, data, out)`` writes the log-probability of each state of
        variable `i` given the others into `out`, up to a constant; -inf forbids a state. `x` (N,)
        holds the states of all variables as 64-bit integers and must not be written to. The result
        must not depend on ``x[i]``.
    data : array, number or (nested) tuple of them, optional
        The data that the functions read. Arrays are copied unless they are read-only.
    statistics : callable, optional
        ``statistics(x, data)`` computes what a chain keeps in addition to `x`, such as sums, counts
        or a factorisation: an array or a tuple of arrays, with the same shapes and types for every
        `x`. By default the functions get an empty tuple.
    changed : callable, optional
        ``changed(i, old, new, x, statistics, data)`` updates the statistics in place after ``x[i]``
        changed from `old` to `new`. By default they are rebuilt after every change.
    neighbours : sequence of sequences of int, optional
        The variables that each conditional depends on; by default all others. The paper's "blanket"
        weights and visits by colour need it.
    vectorised : bool
        Whether the functions take all members of a herd at once. Then `x` is (members, N), `out` is
        (members, K_i), every array of the statistics has a first axis of members, and `old` and
        `new` are (members,) and equal where a member has not changed.
    compiled : bool, optional
        None compiles if Numba can, False never does, True raises an error if Numba cannot.
    names : sequence of str, optional
        A name for each variable, which evidence and results may use.
    state_names : sequence of sequence of str, optional
        Names for the states of every variable.

    Raises
    ------
    ModelError
        If an argument is wrong. The functions are checked when a run starts and occasionally during
        it: shapes, NaN, +inf, no possible state, a conditional that depends on ``x[i]``, statistics
        that drift from a fresh computation.

    Examples
    --------
    Ten spins, each of which prefers the state of the majority; the statistic is the sum of spins:

    >>> def conditional(i, x, statistics, data, out):
    ...     others = statistics[0] - x[i]
    ...     out[0], out[1] = 0.0, data * (2 * others - (len(x) - 1))
    >>> def statistics(x, data):
    ...     return np.array([x.sum()])
    >>> def changed(i, old, new, x, statistics, data):
    ...     statistics[0] += new - old
    >>> model = hd.ConditionalModel(
    ...     [2] * 10, conditional, data=0.1, statistics=statistics, changed=changed
    ... )
    >>> result = hd.infer(model.given({0: 1}), hd.Gibbs(herd=64), sweeps=2000, chains=4)
    >>> result.marginals[1:, 1].mean().round(2)
    np.float64(0.54)
    """

    cardinalities: np.ndarray
    conditional: Callable[..., None]
    data: Any
    statistics: Callable[..., Any] | None
    changed: Callable[..., None] | None
    neighbour_lists: tuple[np.ndarray, np.ndarray] | None  # where each list starts, and the lists
    vectorised: bool
    compiled: bool | None
    names: tuple[str, ...] | None
    state_names: tuple[tuple[str, ...], ...] | None
    evidence: np.ndarray

    # Zeros in a function cannot be seen in advance: an impossible start is detected on trial.
    has_hard_zeros: ClassVar[bool] = False
    zeros_tie_variables: ClassVar[bool] = True
    capabilities: ClassVar[ModelCapabilities] = ModelCapabilities(
        checks_states=True,
        has_start_temperature=True,
        suitable_methods='Gibbs(herd=64), Gibbs() or HerdedGibbs(weights="pooled", slack=4)',
    )

    def __init__(
        self,
        cardinalities: ArrayLike,
        conditional: Callable[..., None],
        *,
        data: object = (),
        statistics: Callable[..., Any] | None = None,
        changed: Callable[..., None] | None = None,
        neighbours: Sequence[ArrayLike] | None = None,
        vectorised: bool = False,
        compiled: bool | None = None,
        names: Sequence[str] | None = None,
        state_names: Sequence[Sequence[str]] | None = None,
    ) -> None:
        cards = check_cardinalities(cardinalities)
        for name, function in (("statistics", statistics), ("changed", changed)):
            if function is not None:
                _check_function(name, function)
        _check_function("conditional", conditional)
        if changed is not None and statistics is None:
            raise ModelError(
                "expected statistics= with changed=, which updates them, got none: pass both"
            )
        if not isinstance(vectorised, (bool, np.bool_)) or compiled not in (None, False, True):
            raise ModelError(
                "expected vectorised=True or False and compiled=None, True or False, got "
                f"{short_repr(vectorised)} and {short_repr(compiled)}"
            )
        lists = None if neighbours is None else _neighbour_lists(neighbours, len(cards))
        self.__dict__.update(
            cardinalities=read_only_copy(cards, np.int64),
            conditional=conditional,
            data=frozen_data(data),
            statistics=statistics,
            changed=changed,
            neighbour_lists=lists,
            vectorised=bool(vectorised),
            compiled=compiled,
            names=check_names(names, len(cards)),
            state_names=check_state_names(state_names, cards),
            evidence=read_only_copy(np.full(len(cards), -1), np.int64),
        )

    def __repr__(self) -> str:
        name = getattr(self.conditional, "__name__", type(self.conditional).__name__)
        return f"ConditionalModel({summary.one_line_summary(self)}, {name})"

    def __getstate__(self) -> dict[str, Any]:
        """Drop compiled functions and layouts, which stay in this process."""
        return {k: v for k, v in self.__dict__.items() if k in self.__dataclass_fields__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make arrays read-only again: pickling loses the flag, which is part of compiled types."""
        for array in arrays_in(list(state.values())):
            array.flags.writeable = False
        self.__dict__.update(state)

    @property
    def n_variables(self) -> int:
        """The number of variables, N."""
        return len(self.cardinalities)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a state, (N,)."""
        return (self.n_variables,)

    @cached_property
    def content_hash(self) -> str:
        """Sixteen hex digits, equal for equal numbers and functions on one version of Python."""
        functions = self.conditional, self.statistics, self.changed, self.vectorised
        numbers = self.cardinalities, self.data, self.neighbour_lists, self.evidence
        return Fingerprint(*functions, *numbers).hex[:16]

    @cached_property
    def start_temperature(self) -> float:
        """A temperature to anneal from."""
        return max(1.0, round(mean_logit_spread(self), 3))

    @cached_property
    def callbacks(self) -> CompiledCallbacks:
        """The functions as kernels call them, compiled if possible."""
        return compile_callbacks(self)

    def neighbours(self, i: int) -> np.ndarray:
        """Return the variables that the conditional of variable `i` depends on.

        Examples
        --------
        >>> def conditional(i, x, statistics, data, out):
        ...     out[:] = 0.0
        >>> hd.ConditionalModel([2, 2, 2], conditional).neighbours(1)
        array([0, 2])
        """
        i = range(self.n_variables)[i]
        if self.neighbour_lists is None:
            return np.delete(np.arange(self.n_variables), i)
        start, members = self.neighbour_lists
        return members[start[i] : start[i + 1]]

    def log_score(self, states: ArrayLike) -> Any:
        """Compute the log-probability of states, up to a constant, from conditionals alone.

        If the functions are the conditionals of one distribution, the ratio of the probabilities of
        two states is a product of ratios of conditionals along a path that changes one variable
        after another. The path starts where every unobserved variable is 0; the log-score of that
        state is 0.

        Parameters
        ----------
        states : array_like of int, shape (N,) or (..., N)
            One state or several.

        Returns
        -------
        float or ndarray of shape (...)
            -inf for states that are impossible or contradict the evidence.

        Raises
        ------
        ModelError
            If a path to a state leads through impossible states, so that its score is unknown.

        Examples
        --------
        >>> def conditional(i, x, statistics, data, out):
        ...     out[0], out[1] = 0.0, 0.5 + 1.5 * x[1 - i]
        >>> hd.ConditionalModel([2, 2], conditional).log_score([[0, 1], [1, 1]])
        array([0.5, 2.5])
        """
        x = check_states(self, states)
        scores = path_scores(self, x.reshape(-1, self.n_variables))
        return scores.reshape(x.shape[:-1]) if x.ndim > 1 else float(scores[0])

    def is_possible(self, state: np.ndarray) -> bool:
        """Return whether every variable's conditional allows its state in `state` (N,)."""
        return bool(allowed_states_mask(self, state[None])[0])

    def given(self, evidence: Mapping[Any, int | str]) -> Self:
        """Return the same model with more variables observed.

        Parameters
        ----------
        evidence : mapping
            From variables (by index or by name) to states.

        Returns
        -------
        ConditionalModel

        Examples
        --------
        >>> def conditional(i, x, statistics, data, out):
        ...     out[0], out[1] = 0.0, 0.5 + 1.5 * x[1 - i]
        >>> hd.ConditionalModel([2, 2], conditional).given({1: 0}).evidence
        array([-1,  0])
        """
        model = object.__new__(type(self))
        model.__dict__.update(self.__getstate__())
        object.__setattr__(
            model, "evidence", read_only_copy(_evidence.merge_evidence(self, evidence), np.int64)
        )
        return model


def _check_function(name: str, function: object) -> None:
    """Raise unless `function` takes the expected number of arguments."""
    expected = f"expected {name} as a function {name}{CALLBACK_ARGUMENTS[name]}"
    if not callable(function):
        raise ModelError(f"{expected}, got {short_repr(function)}")
    try:
        signature = inspect.signature(getattr(function, "py_func", function))
    except (TypeError, ValueError):  # written in C: the signature is unknown
        return
    try:
        signature.bind(*range(CALLBACK_ARGUMENTS[name].count(",") + 1))
    except TypeError as error:
        raise ModelError(f"{expected}, got one that takes {signature}") from error


def _neighbour_lists(neighbours: Sequence[ArrayLike], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Sort the lists of neighbours and join them end to end."""
    if not isinstance(neighbours, (Sequence, np.ndarray)) or len(neighbours) != n:
        raise ModelError(
            f"expected neighbours as {n} lists, one for each variable, got {short_repr(neighbours)}"
        )
    lists = []
    for i, given in enumerate(neighbours):
        found = np.unique(as_integer_array(f"the neighbours of variable {i}", given))
        wrong = (found < 0) | (found >= n) | (found == i)
        if wrong.any():
            raise ModelError(
                f"expected other variables from 0 to {n - 1} as neighbours of variable {i}, got "
                f"{found[wrong][0]}"
            )
        lists.append(found)
    counts = np.array([len(found) for found in lists])
    return read_only_copy(start_offsets(counts), np.int64), read_only_copy(
        np.concatenate(lists), np.int64
    )
