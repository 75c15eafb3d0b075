"""The interface of every model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from herded.system.capabilities import Capabilities, declared_capabilities


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCapabilities(Capabilities):
    """What a model can do beyond the protocol, declared as its attribute `capabilities`.

    Parameters
    ----------
    has_factors
        Whether it has `as_factor_graph()`, which gives the model with its factors written out.
    checks_states
        Whether it has `is_possible(state)`, which is asked in place of `log_score`.
    has_start_temperature
        Whether it has `start_temperature`, at which annealing begins; else it begins at 1.
    preferred_scan
        The order of visits that suits it: what `scan="auto"` means.
    suitable_methods
        Of a model without factors: methods that can be used, as error messages name them.

    Examples
    --------
    >>> hd.ising_grid([[0.0, 1.0]]).capabilities.preferred_scan
    'checkerboard'
    """

    has_factors: bool = False
    checks_states: bool = False
    has_start_temperature: bool = False
    preferred_scan: str = "sequential"
    suitable_methods: str = "a sampler that works on such models"


DEFAULT_MODEL_CAPABILITIES = ModelCapabilities()


@runtime_checkable
class Model(Protocol):
    """The interface of every model: variables 0 .. N-1 with states 0 .. K_i - 1, some observed.

    `FactorGraph` and `Lattice` are models. Methods that need factors ask for a factor graph
    (`herded.models.factor_graph.to_factor_graph`). A model declares what it offers beyond this
    protocol as its attribute `capabilities`, a `ModelCapabilities`.

    Examples
    --------
    >>> isinstance(hd.ising_grid([[0.0, 1.0]]), hd.Model)
    True
    >>> isinstance([[0.0, 1.0]], hd.Model)
    False
    """

    @property
    def names(self) -> Sequence[str] | None:
        """The names of the variables, if they have any."""

    @property
    def state_names(self) -> Sequence[Sequence[str]] | None:
        """The names of the states of each variable, if they have any."""

    @property
    def n_variables(self) -> int:
        """The number of variables, N."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in which states are given and displayed, such as (H, W) for a lattice."""

    @property
    def cardinalities(self) -> np.ndarray:
        """The number of states of each variable, (N,)."""

    @property
    def evidence(self) -> np.ndarray:
        """The state of each observed variable, -1 elsewhere, (N,)."""

    @property
    def has_hard_zeros(self) -> bool:
        """Whether some joint state is impossible."""

    @property
    def zeros_tie_variables(self) -> bool:
        """Whether a hard zero may concern several variables at once, which may block moves."""

    @property
    def content_hash(self) -> str:
        """A name of the model's content: equal hashes mean equal models."""

    def neighbours(self, i: int) -> np.ndarray:
        """Return the variables that the conditional of variable `i` depends on."""

    def log_score(self, states: ArrayLike) -> Any:
        """Compute the unnormalised log-probability of a state, or of each of several."""

    def given(self, evidence: Mapping[Any, int | str]) -> Self:
        """Return the same model with more variables observed."""


def model_capabilities(model: Model) -> ModelCapabilities:
    """Return what a model declares, or the defaults if it declares nothing."""
    return declared_capabilities(model, DEFAULT_MODEL_CAPABILITIES)


def is_model(value: object) -> TypeGuard[Model]:
    """Return whether this is a model, by one of its properties: checking all takes far longer."""
    return hasattr(type(value), "content_hash") and not isinstance(value, type)
