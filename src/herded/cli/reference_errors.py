"""Errors against known marginals."""

import argparse
from dataclasses import dataclass

import numpy as np

from herded.errors import FileError
from herded.io.uai_results import read_marginals
from herded.models.naming import variable_text
from herded.models.protocol import Model
from herded.run.recording.recorders import ErrorCurve

ROUNDING_OF_SUMS = 0.01  # few digits are written
MAX_CERTAIN_PROBABILITY = 0.99  # a probability that few digits may show as 1
MAX_NAMED_VARIABLES = 3  # variables in a sentence


@dataclass(frozen=True)
class ReferenceErrors:
    """The distances of marginals from known ones, over the free variables."""

    mean_absolute: float  # over all entries
    largest: float  # of an entry
    hellinger: float  # the mean over variables of sqrt(sum_k (sqrt p_k - sqrt q_k)^2 / 2)


@dataclass(frozen=True)
class Reference:
    """Known marginals (N, K) of a model."""

    model: Model
    marginals: np.ndarray

    @classmethod
    def read(cls, options: argparse.Namespace, model: Model) -> "Reference":
        """Read the marginals of --reference, which must be of this model."""
        marginals, states = read_marginals(options.reference)
        if not np.array_equal(states, model.cardinalities):
            differ = len(states) == model.n_variables
            i = int(np.argmax(states != model.cardinalities)) if differ else 0
            expected = (
                f"{model.n_variables} variables"
                if not differ
                else (f"{model.cardinalities[i]} states for variable {i}")
            )
            raise FileError(
                f"expected marginals of {expected} in {options.reference}, got "
                f"{states[i] if differ else len(states)}: give the reference of this model"
            )
        sums = marginals.sum(axis=1)
        if (np.abs(sums - 1) > ROUNDING_OF_SUMS).any():
            i = int(np.abs(sums - 1).argmax())
            raise FileError(
                f"expected marginals that sum to 1 in {options.reference}, got {sums[i]:g} for "
                f"variable {i}: give a file of marginals"
            )
        return cls(model, marginals)

    def warnings(self, marginals: np.ndarray) -> list[str]:
        """Warn of signs that the reference has other evidence than these marginals."""
        model, known = self.model, self.model.evidence.reshape(-1)
        found = marginals.reshape(self.marginals.shape)
        observed = np.flatnonzero(known >= 0)
        certain = self.marginals[observed, known[observed]] >= 1 - ROUNDING_OF_SUMS
        sentences = []
        if not certain.all():
            sentences.append(
                f"the reference has other evidence: {_listed_names(model, observed[~certain])} "
                "observed here, and not certain there; its errors mean little"
            )
        fixed = (known < 0) & ((self.marginals == 1) & (found < MAX_CERTAIN_PROBABILITY)).any(
            axis=1
        )
        if fixed.any():
            names = _listed_names(model, np.flatnonzero(fixed))
            sentences.append(
                f"the reference fixes what nobody has observed: {names} certain there, and not "
                "here; was it made with more evidence?"
            )
        return sentences

    def errors(self, marginals: np.ndarray) -> ReferenceErrors:
        """Compute the errors of marginals as `Result.marginals` gives them."""
        free = self.model.evidence.reshape(-1) < 0
        found = marginals.reshape(self.marginals.shape)
        mean = ErrorCurve(self.marginals).error(self.model, found)
        gap = np.sqrt(found[free]) - np.sqrt(self.marginals[free])
        hellinger = np.sqrt((gap**2).sum(axis=1) / 2)
        return ReferenceErrors(
            mean,
            float(np.abs(found - self.marginals)[free].max(initial=0.0)),
            float(hellinger.mean()) if free.any() else 0.0,
        )


def _listed_names(model: Model, variables: np.ndarray) -> str:
    """List some of the variables, and how many more there are, with their verb."""
    names = ", ".join(variable_text(model, int(i)) for i in variables[:MAX_NAMED_VARIABLES])
    more = len(variables) - MAX_NAMED_VARIABLES
    rest = f" and {more} {'other' if more == 1 else 'others'}" if more > 0 else ""
    one = len(variables) == 1
    return f"{'variable' if one else 'variables'} {names}{rest} {'is' if one else 'are'}"
