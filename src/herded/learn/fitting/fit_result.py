"""The result of `hd.learn.fit`."""

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
    """The result of `hd.learn.fit`: a fitted model, and how it was found.

    Attributes
    ----------
    model : FactorGraph or Lattice
        The model with the learned parameters, of the same kind as the given one.
    parameters : ndarray of shape (P,)
    groups : ndarray of int, shape (E,)
        The parameter of each entry of ``model.as_factor_graph().log_tables``, -1 if it is fixed.
    history : dict of ndarray
        By name, after every step: "value" (the objective, or NaN if only its gradient is known),
        "slope", and "held_out" (NaN if it was not measured).
    converged : bool
        Whether the gradient is zero as far as the fit can tell: an exact one has no component above
        1e-6, a noisy one has passed `gradient_test` with chains that mix.
    convergence : str
        A sentence about convergence.
    interrupted : bool
        Whether Ctrl-C ended it, so that it is the `result` of an `Interrupted`. `fit` with the same
        checkpoint resumes it. Noisy steps were then not compared with the start.
    steps : int
        The number of steps taken.
    chosen : {"start", "given", "average", "end", "held-out"}
        Which parameters these are: the first ones (the best pseudo-likelihood, if all states are
        known), those of the given model, the average of later steps, the last ones, or those of the
        best held-out score. Learning by likelihood starts from the given parameters if they are not
        all zero and are better than the best pseudo-likelihood. The results of noisy steps replace
        the start only if they are certainly better.
    criterion : {"exact", "bridge", "path", "ladders", "held-out", "none"}
        What decided the choice: the objective itself; ratios of log Z from draws of the herd; the
        slope along the line from the start, if unknown states are drawn too; log Z by tempered
        ladders, if the herd mixes slowly; or held-out rows. "none" means that ladders could not
        decide either, so that the start was returned, or that noisy steps were interrupted.
    gain : float
        How much higher the penalised objective is than at the start of the steps (the best
        pseudo-likelihood or the given parameters, whichever is better), in nats per row. With
        held-out rows, it is the gain of their likelihood without penalties, or of their
        pseudo-likelihood if that is unknown, as with a herd. NaN after an interruption of noisy
        steps.
    gain_half_width : float
        Half the width of the 99 % interval of `gain`, 0 if it is exact. The interval holds for the
        average and the end together. With held-out rows it comes from paired differences; the same
        rows chose the parameters, which makes `gain` optimistic.
    gains : dict of Gain
        For noisy steps, `value` and `half_width` of the gains of "average" and "end", including
        those that were not returned.
    gradient_test : GradientTest or None
        For noisy steps, the largest gradient and the smallest detectable one; None otherwise.
    mixing : Mixing or None
        How well chains mix at `parameters`, with `is_slow`; None if no chains were needed.
    warnings : tuple of str
        The reasons to doubt the result, also issued as `HerdedWarning`.

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
