"""What `fit` gives back."""

import math
from dataclasses import dataclass, field

import numpy as np

from herded.learn.assessment.gradient_test import GradientTest
from herded.learn.assessment.likelihood_gain import LikelihoodGain
from herded.learn.assessment.mixing import MixingReport
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
        Whether the gradient is zero as far as can be told: its largest part is below 1e-6 where it
        is exact, else `gradient_test` has passed and chains mix.
    convergence : str
        A sentence on it.
    interrupted : bool
        Whether Ctrl-C ended it: then it is the `result` of an `Interrupted`. `fit` with the same
        checkpoint resumes it. Noisy steps were then not compared with the start.
    steps : int
        Steps that were done.
    chosen : {"start", "given", "average", "end", "held-out"}
        Which parameters these are: the first ones (the best pseudo-likelihood, where all states are
        known), those of the given model, the average of later steps, the last ones, or those of the
        best held-out score. Learning by likelihood starts from the given parameters where they are
        not all zero and better than the best pseudo-likelihood. Noisy steps are preferred to the
        start only where they are certainly better.
    criterion : {"exact", "bridge", "path", "ladders", "held-out", "none"}
        What decided: the objective itself; ratios of log Z from draws of the herd; the slope along
        the line from the start, where unknown states are drawn too; log Z by tempered ladders,
        where the herd mixes slowly; or held-out rows. "none": ladders could not tell either, so the
        start was returned; or noisy steps were interrupted.
    gain : float
        By how much the penalised objective is higher than where the steps started (at the best
        pseudo-likelihood or the given parameters, whichever is better), in nats per row. Where
        rows are held out, the gain is of their likelihood, without penalties; where that is not
        known, as with a herd, of their pseudo-likelihood. NaN after an interruption of noisy steps.
    gain_half_width : float
        Half the width of the 99 % interval of `gain`: 0 where it is exact.
        The interval holds for the average and the end together. Of held-out rows it comes from
        paired differences; parameters were chosen by the same rows, which makes `gain` optimistic.
    gains : dict of Gain
        Of noisy steps, `value` and `half_width` of the gains of "average" and "end", also of those
        that were not returned.
    gradient_test : GradientTest or None
        Of noisy steps: the largest gradient, and which one would have been found; None otherwise.
    mixing : Mixing or None
        How well chains mix at `parameters`, with `is_slow`; None where none were needed.
    warnings : tuple of str
        What speaks against the result; also issued as `HerdedWarning`.

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
    chosen: str = "end"
    criterion: str = "exact"
    gain: float = math.nan
    gain_half_width: float = 0.0
    gradient_test: GradientTest | None = None
    mixing: MixingReport | None = None
    warnings: tuple[str, ...] = ()
    gains: dict[str, LikelihoodGain] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Fitted({len(self.parameters)} parameters of {self.model!r}; {self.convergence})"
