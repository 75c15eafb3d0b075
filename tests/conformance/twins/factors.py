"""The factors of a model, and what a layout says of those of each variable."""

import itertools

import numpy as np


def scopes_and_tables(model):
    """(variables, shaped log-table) of every factor."""
    graph = model.as_factor_graph()
    pairs = [graph.factor(f) for f in range(graph.n_factors)]
    return [(tuple(map(int, scope)), table) for scope, table in pairs]


def naive_factors(model):
    """What `FactorArrays` says of the factors of each variable, as lists."""
    factors = scopes_and_tables(model)
    bases = list(itertools.accumulate((table.size for _, table in factors), initial=0))
    found = {
        "entry_start": [0], "table_base": [], "own_stride": [], "other_start": [0], "other": [],
        "other_ratio": [], "last_stride": [], "neighbour_start": [0], "neighbour": [],
    }  # fmt: skip
    for i in range(model.n_variables):
        around = set()
        for base, (scope, table) in zip(bases[:-1], factors, strict=True):
            if i not in scope:
                continue
            strides = [stride // table.itemsize for stride in np.empty(table.shape).strides]
            others = [(j, stride) for j, stride in zip(scope, strides, strict=True) if j != i]
            ratios = [before // after for (_, before), (_, after) in itertools.pairwise(others)]
            around |= {j for j, _ in others if model.evidence[j] < 0}
            found["table_base"].append(base)
            found["own_stride"].append(strides[list(scope).index(i)])
            found["other"] += [j for j, _ in others]
            found["other_ratio"] += [1, *ratios] if others else []
            found["other_start"].append(len(found["other"]))
            found["last_stride"].append(others[-1][1] if others else 1)
        found["neighbour"] += sorted(around)
        found["neighbour_start"].append(len(found["neighbour"]))
        found["entry_start"].append(len(found["table_base"]))
    return found
