"""Errors against known marginals."""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

from herded.errors import FileError
from herded.io.uai_results import read_mar
from herded.record import ErrorCurve


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
    def read(cls, options: argparse.Namespace, model: Any) -> "Reference":
        """Those of --reference, which must be of this model."""
        marginals = read_mar(options.reference)
        n, width = model.n_variables, int(model.cardinalities.max())
        if len(marginals) != n or marginals[:, width:].any():
            raise FileError(
                f"expected the marginals of {n} variables of at most {width} states in "
                f"{options.reference}, got {len(marginals)} of {marginals.shape[1]}: give the "
                "reference of this model"
            )
        table = np.zeros((n, width))
        table[:, : marginals.shape[1]] = marginals[:, :width]
        return cls(model, table)

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
