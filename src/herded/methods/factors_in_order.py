"""What message passing reads: the factors of a model, and an order of its free variables."""

from typing import NamedTuple

import numpy as np

from herded.layouts.factor_arrays import FactorArrays, compile_factors
from herded.layouts.scan import compile_scan
from herded.models.factor_graph import as_graph
from herded.models.protocol import Model


class FactorsInOrder(NamedTuple):
    """The arrays of mean field and belief propagation."""

    factors: FactorArrays
    order: np.ndarray  # of the free variables, component by component


def factors_in_order(model: Model, scan: str) -> FactorsInOrder:
    """Lay the factors of `model` out, and its variables in the order of `scan`."""
    graph = as_graph(model)
    factors = compile_factors(graph)
    return FactorsInOrder(factors, compile_scan(scan, factors, graph.evidence < 0, False).order)
