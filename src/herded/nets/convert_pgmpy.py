"""Models of pgmpy: Bayes nets and Markov networks. pgmpy itself is not imported."""

from typing import Any

from herded.errors import ModelError
from herded.models.factor_graph import FactorGraph
from herded.nets.bayes_net import BayesNet
from herded.system.argument_checks import as_float_array
from herded.system.numerics.exp_log import log_array


def from_pgmpy(model: Any) -> FactorGraph:
    """Build the model of a pgmpy network, with the names of variables and states.

    Parameters
    ----------
    model : DiscreteBayesianNetwork, DiscreteMarkovNetwork or FactorGraph of pgmpy
        In a Bayes net every variable needs a TabularCPD; its factor is over the variable's parents
        and, last, the variable itself.

    Returns
    -------
    BayesNet or FactorGraph

    Raises
    ------
    ModelError
        If a variable has no table, tables disagree about states, or a value is negative.

    Examples
    --------
    >>> from pgmpy.factors.discrete import TabularCPD
    >>> from pgmpy.models import DiscreteBayesianNetwork
    >>> net = DiscreteBayesianNetwork([("rain", "wet")])
    >>> net.add_cpds(
    ...     TabularCPD("rain", 2, [[0.8], [0.2]]),
    ...     TabularCPD("wet", 2, [[0.9, 0.3], [0.1, 0.7]], ["rain"], [2]),
    ... )
    >>> model = hd.from_pgmpy(net)
    >>> hd.infer(model.given({"wet": 1}), hd.Exact()).marginals[0].round(3)
    array([0.364, 0.636])
    """
    if hasattr(model, "get_cpds"):
        nodes = list(model.nodes)
        tables, is_net = [_conditional(model, node) for node in nodes], True
    elif hasattr(model, "get_factors"):
        known = getattr(model, "get_variable_nodes", None)
        nodes = list(known() if known else model.nodes)
        tables, is_net = [(list(f.variables), f) for f in model.get_factors()], False
    else:
        raise ModelError(
            "expected a Bayes net, Markov network or factor graph of pgmpy, got "
            f"{type(model).__name__}"
        )
    states = _states(nodes, tables)
    index = {node: i for i, node in enumerate(nodes)}
    factors = []
    for scope, table in tables:
        order = [list(table.variables).index(node) for node in scope]
        values = as_float_array(f"the values over {scope}", table.values).transpose(order)
        if not (values >= 0).all():
            raise ModelError(f"expected values of 0 or more over {scope}, got others")
        factors.append(([index[node] for node in scope], log_array(values)))
    graph = FactorGraph(
        [len(states[node]) for node in nodes],
        factors,
        names=[str(node) for node in nodes],
        state_names=[states[node] for node in nodes],
    )
    return BayesNet.from_factor_graph(graph) if is_net else graph


def _conditional(model: Any, node: object) -> tuple[list[Any], Any]:
    """Return the variables of P(node | parents), the node last, and the table."""
    table = model.get_cpds(node)
    if not hasattr(table, "values"):
        raise ModelError(
            f"expected a table of probabilities for {node!r}, got {type(table).__name__}: add a "
            "TabularCPD"
        )
    child, *parents = table.variables
    return [*parents, child], table


def _states(nodes: list[Any], tables: list[tuple[list[Any], Any]]) -> dict[Any, list[str]]:
    """Return the names of every variable's states, which all tables must agree on."""
    found: dict[Any, list[str]] = {}
    for scope, table in tables:
        for node in scope:
            names = [str(state) for state in table.state_names[node]]
            if found.setdefault(node, names) != names:
                raise ModelError(
                    f"expected the same states of {node!r} in the same order everywhere, got "
                    f"{found[node]} and {names}"
                )
    missing = [node for node in nodes if node not in found]
    if missing:
        raise ModelError(f"expected a factor over every variable, got none over {missing[0]!r}")
    return found
