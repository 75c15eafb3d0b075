"""What `fit` gives back."""

from dataclasses import dataclass

import numpy as np

from herded.models.factor_graph import FactorGraph
from herded.models.lattice import Lattice


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """A fitted model, and how it was found: what `hd.learn.fit` gives.

    Attributes
    ----------
    model : FactorGraph or Lattice
        Of the kind that was given, with the parameters that were found.
    parameters : ndarray of shape (P,)
    groups : ndarray of int, shape (E,)
        The parameter of each entry of ``model.as_factor_graph().log_tables``, -1 where it is fixed.
    history : dict of ndarray
        By name, after every step: "value" (the objective, or NaN where only its gradient is known),
        "slope", and "held_out" where it was measured (else NaN).
    converged : bool
    convergence : str
        A sentence on it.
    interrupted : bool
        Whether Ctrl-C ended it; `fit` with the same checkpoint goes on.
    steps : int
        Steps that were done.

    Examples
    --------
    >>> data = [[0, 0], [1, 1], [0, 0], [1, 0], [0, 1], [1, 1]]
    >>> fitted = hd.learn.fit(hd.ising_grid(np.zeros((1, 2)), 0.0), data)
    >>> fitted.model.couplings[0].round(4)
    array([[0.3466]])
    >>> fitted.converged
    True
    """

    model: FactorGraph | Lattice
    parameters: np.ndarray
    groups: np.ndarray
    history: dict[str, np.ndarray]
    converged: bool
    convergence: str
    interrupted: bool
    steps: int

    def __repr__(self) -> str:
        return f"Fitted({len(self.parameters)} parameters of {self.model!r}; {self.convergence})"
