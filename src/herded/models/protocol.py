"""What every model offers, whatever it is made of."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike


@runtime_checkable
class Model(Protocol):
    """What every model offers: variables 0 .. N-1 with states 0 .. K_i - 1, some of them known.

    `FactorGraph` and `Lattice` are models. Methods ask for more where they need it: factor graphs
    answer what only factor graphs can (`herded.models.factor_graph.to_factor_graph`). A model may
    also name the order of visits that suits it, `preferred_scan`.

    Examples
    --------
    >>> isinstance(hd.ising_grid([[0.0, 1.0]]), hd.Model)
    True
    >>> isinstance([[0.0, 1.0]], hd.Model)
    False
    """

    @property
    def names(self) -> Sequence[str] | None:
        """Of the variables, if they have any."""

    @property
    def state_names(self) -> Sequence[Sequence[str]] | None:
        """Of the states of each variable, if they have any."""

    @property
    def n_variables(self) -> int:
        """N, the number of variables."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in which states are given and shown, such as (H, W) of a lattice."""

    @property
    def cardinalities(self) -> np.ndarray:
        """(N,) how many states each variable has."""

    @property
    def evidence(self) -> np.ndarray:
        """(N,) the state of each variable that is known, -1 elsewhere."""

    @property
    def has_hard_zeros(self) -> bool:
        """Whether some joint state is impossible."""

    @property
    def zeros_tie_variables(self) -> bool:
        """Whether hard zeros may be of several variables at once, so that moves may not pass."""

    @property
    def content_hash(self) -> str:
        """Names the model: equal hashes mean equal models."""

    def neighbours(self, i: int) -> np.ndarray:
        """The variables that the conditional of variable `i` depends on."""

    def log_score(self, states: ArrayLike) -> Any:
        """The unnormalised log-probability of a state, or of each of several."""

    def given(self, evidence: Mapping[Any, int | str]) -> Self:
        """The same model with more variables known."""
