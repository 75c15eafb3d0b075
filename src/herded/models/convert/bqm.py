"""Binary quadratic models, E(x) = c + sum_i a_i x_i + sum_(i,j) b_ij x_i x_j, in both directions.

Quantum annealers and their simulators take them, here as objects of dimod. An energy is a
log-potential with the opposite sign: pi(x) is proportional to exp(-beta E(x)).
"""

from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.models.factor_graph import FactorGraph, to_factor_graph
from herded.models.protocol import Model
from herded.system.argument_checks import as_float, as_float_array

VALUES_BY_VARTYPE = {"SPIN": (-1, 1), "BINARY": (0, 1)}


def from_bqm(bqm: Any, *, beta: float = 1.0) -> FactorGraph:
    """Build the model pi(x) proportional to exp(-beta E(x)) from a binary quadratic model.

    Parameters
    ----------
    bqm : dimod.BinaryQuadraticModel
        Spin or binary. State 0 is the value -1 or 0, state 1 the value 1; labels become names.
    beta : float
        The inverse temperature.

    Returns
    -------
    FactorGraph

    Raises
    ------
    ModelError
        If `bqm` is something else, or a bias is not finite.

    Examples
    --------
    >>> import dimod
    >>> bqm = dimod.BinaryQuadraticModel({"a": -1.0}, {("a", "b"): 1.0}, 0.0, "SPIN")
    >>> model = hd.from_bqm(bqm)
    >>> hd.infer(model, hd.Exact()).best.state
    array([1, 0])
    >>> model.log_score([1, 0])
    2.0
    """
    if not hasattr(bqm, "to_numpy_vectors"):
        raise ModelError(f"expected a dimod.BinaryQuadraticModel, got {type(bqm).__name__}")
    values = VALUES_BY_VARTYPE[bqm.vartype.name]
    return drop_names(
        bqm,
        beta,
        names=[str(label) for label in bqm.variables],
        state_names=[[str(value) for value in values]] * bqm.num_variables,
    )


def drop_names(bqm: Any, beta: float, **names: Any) -> FactorGraph:
    """Build the same model without names, so that labels may read alike."""
    slope = -_checked_beta(beta)
    labels, values = list(bqm.variables), np.array(VALUES_BY_VARTYPE[bqm.vartype.name])
    linear, (rows, columns, quadratic), offset = bqm.to_numpy_vectors(variable_order=labels)
    n, n_pairs = len(labels), len(rows)
    energies = [
        np.multiply.outer(as_float_array("the linear biases", linear), values),
        np.multiply.outer(
            as_float_array("the quadratic biases", quadratic), np.outer(values, values)
        ),
        as_float_array("the offset", offset),
    ]

    def called(f: int) -> str:
        if f < n:
            return f"the bias of {labels[f]!r}"
        if f == n + n_pairs:
            return "the offset"
        return f"the coupling of {labels[rows[f - n]]!r} and {labels[columns[f - n]]!r}"

    pair_ends = n + 2 * np.arange(n_pairs + 1)
    return FactorGraph.from_arrays(
        np.full(n, 2),
        np.concatenate([np.arange(n), pair_ends, pair_ends[-1:]]),
        np.concatenate([np.arange(n), np.stack([rows, columns], axis=1).ravel()]),
        slope * np.concatenate([table.ravel() for table in energies]),
        called=called,
        **names,
    )


def to_bqm(model: Model, *, beta: float = 1.0, vartype: str = "BINARY") -> Any:
    """Write the energy E(x) = -log_score(x) / beta of a model as a binary quadratic model.

    Parameters
    ----------
    model : FactorGraph or Lattice
        With two states for every variable, factors of one or two variables, and no -inf.
    beta : float
        The inverse temperature, above 0.
    vartype : "BINARY" or "SPIN"
        The values of the result's variables.

    Returns
    -------
    dimod.BinaryQuadraticModel
        Over the variables that are not observed. Labels are the model's names, or indices if it has
        none.

    Raises
    ------
    ModelError
        If the model is not quadratic, or dimod is not installed.

    Examples
    --------
    >>> model = hd.ising_grid([[1.0, 0.0]], 0.5)
    >>> bqm = hd.qubo.to_bqm(model, vartype="SPIN")
    >>> float(bqm.linear[0]), float(bqm.quadratic[0, 1])
    (-1.0, -0.5)
    """
    dimod = _dimod()
    if vartype not in VALUES_BY_VARTYPE:
        raise ModelError(f'expected vartype="BINARY" or "SPIN", got {vartype!r}')
    scale = _checked_beta(beta)
    if scale <= 0:
        raise ModelError(f"expected beta above 0, got {beta}")
    graph = to_factor_graph(model)
    _check_quadratic(graph)
    n = graph.n_variables
    linear, quadratic, offset = np.zeros(n), [np.empty((0, 3))], 0.0
    for factors, variables, _ in graph.by_arity():
        arity = variables.shape[1]
        entries = graph.table_start[factors][:, None] + np.arange(2**arity)
        tables = -graph.log_tables[entries] / scale
        offset += tables[:, 0].sum()
        if arity >= 1:
            np.add.at(linear, variables[:, -1], tables[:, 1] - tables[:, 0])
        if arity == 2:
            np.add.at(linear, variables[:, 0], tables[:, 2] - tables[:, 0])
            both = tables[:, 3] - tables[:, 2] - tables[:, 1] + tables[:, 0]
            quadratic.append(np.column_stack([variables, both]))
    pairs = np.concatenate(quadratic)
    ends = pairs[:, :2].astype(np.int64)
    labels = list(graph.names or range(n))
    bqm = dimod.BinaryQuadraticModel.from_numpy_vectors(
        linear, (ends[:, 0], ends[:, 1], pairs[:, 2]), offset, "BINARY", variable_order=labels
    )
    clamped = np.flatnonzero(graph.evidence >= 0)
    bqm.fix_variables({labels[i]: int(graph.evidence[i]) for i in clamped})
    return bqm.change_vartype(vartype, inplace=True)


def _check_quadratic(graph: FactorGraph) -> None:
    if (graph.cardinalities != 2).any():
        i = int(np.argmax(graph.cardinalities != 2))
        raise ModelError(
            f"expected two states of every variable, got {graph.cardinalities[i]} of variable {i}: "
            "write each state as a variable of its own"
        )
    arity = np.diff(graph.factor_start)
    if (arity > 2).any():
        f = int(np.argmax(arity > 2))
        raise ModelError(f"expected factors of at most 2 variables, got {arity[f]} in factor {f}")
    if graph.has_hard_zeros:
        raise ModelError(
            "expected finite log-potentials, got -inf: use a low one, such as -50, as a penalty"
        )


def _checked_beta(beta: float) -> float:
    value = as_float("beta", beta)
    if not np.isfinite(value):
        raise ModelError(f"expected a finite beta, got {value}")
    return value


def _dimod() -> Any:
    try:
        import dimod
    except ImportError as error:
        raise ModelError(
            "expected dimod to make a BinaryQuadraticModel, but it is not installed: "
            "pip install 'herded[dimod]'"
        ) from error
    return dimod
