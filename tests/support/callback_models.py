"""Factor graphs as functions of one's own: the same logits, from conditionals that keep something.

What is kept is where in its table each factor is: whole numbers, so that nothing is rounded.
"""

import numpy as np

import herded as hd


def conditional(i, x, statistics, data, out):
    """Sum the log-tables of the factors of variable i in their order, as layout "factor" does."""
    entry_start, factor, stride, table_start, tables = data
    out[:] = 0.0
    for e in range(entry_start[i], entry_start[i + 1]):
        f = factor[e]
        at = table_start[f] + statistics[f] - x[i] * stride[e]
        for k in range(len(out)):
            out[k] += tables[at + k * stride[e]]


def statistics(x, data):
    """Where each factor is in its table."""
    entry_start, factor, stride, table_start, _ = data
    places = np.zeros(len(table_start), np.int64)
    for i in range(len(x)):
        for e in range(entry_start[i], entry_start[i + 1]):
            places[factor[e]] += x[i] * stride[e]
    return places


def changed(i, old, new, x, statistics, data):
    entry_start, factor, stride, _, _ = data
    for e in range(entry_start[i], entry_start[i + 1]):
        statistics[factor[e]] += (new - old) * stride[e]


def all_conditionals(i, x, statistics, data, out):
    """The same for all members at once, in NumPy."""
    entry_start, factor, stride, table_start, tables = data
    out[:] = 0.0
    for e in range(entry_start[i], entry_start[i + 1]):
        at = table_start[factor[e]] + statistics[:, factor[e]] - x[:, i] * stride[e]
        out += tables[at[:, None] + stride[e] * np.arange(out.shape[1])]


def all_statistics(x, data):
    return np.stack([statistics(one, data) for one in x])


def all_changed(i, old, new, x, statistics, data):
    entry_start, factor, stride, _, _ = data
    for e in range(entry_start[i], entry_start[i + 1]):
        statistics[:, factor[e]] += (new - old) * stride[e]


def arrays_of(graph):
    """The factors of each variable, in their order."""
    arity = np.diff(graph.factor_start)
    owner = np.repeat(np.arange(len(arity)), arity)
    order = np.argsort(graph.factor_variables, kind="stable")
    counts = np.bincount(graph.factor_variables, minlength=graph.n_variables)
    start = np.concatenate([[0], np.cumsum(counts)])
    return start, owner[order], graph.factor_strides[order], graph.table_start, graph.log_tables


def as_functions(graph, *, vectorised=False, near=True, **options):
    """A factor graph as a model of functions, with its neighbours if they are to be known."""
    functions = (conditional, statistics, changed)
    if vectorised:
        functions = (all_conditionals, all_statistics, all_changed)
    lists = [graph.neighbours(i) for i in range(graph.n_variables)] if near else None
    model = hd.ConditionalModel(
        graph.cardinalities,
        functions[0],
        data=arrays_of(graph),
        statistics=functions[1],
        changed=functions[2],
        neighbours=lists,
        vectorised=vectorised,
        **options,
    )
    known = np.flatnonzero(graph.evidence >= 0)
    return model.given(dict(zip(known.tolist(), graph.evidence[known].tolist(), strict=True)))
