"""Errors against known marginals."""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

from herded.errors import FileError
from herded.io.uai_results import read_marginals
from herded.models.protocol import Model
from herded.run.keep import ErrorCurve

ROUNDING_OF_SUMS = 0.01  # few digits are written


@dataclass(frozen=True)
class Errors:
    """How far marginals are from known ones, over the free variables."""

    mean_absolute: float  # over all entries
    largest: float  # of an entry
    hellinger: float  # the mean over variables of sqrt(sum_k (sqrt p_k - sqrt q_k)^2 / 2)


@dataclass(frozen=True)
class Reference:
    """Known marginals (N, K) of a model."""

    model: Any
    marginals: np.ndarray

    @classmethod
    def read(cls, options: argparse.Namespace, model: Model) -> "Reference":
        """Those of --reference, which must be of this model."""
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

    def errors(self, marginals: np.ndarray) -> Errors:
        """Of marginals as `Result.marginals` gives them."""
        free = self.model.evidence.reshape(-1) < 0
        found = marginals.reshape(self.marginals.shape)
        mean = ErrorCurve(self.marginals).error(self.model, found)
        gap = np.sqrt(found[free]) - np.sqrt(self.marginals[free])
        hellinger = np.sqrt((gap**2).sum(axis=1) / 2)
        return Errors(
            mean,
            float(np.abs(found - self.marginals)[free].max(initial=0.0)),
            float(hellinger.mean()) if free.any() else 0.0,
        )
