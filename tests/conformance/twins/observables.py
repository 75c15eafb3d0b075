"""Energies and magnetisations, variable by variable."""


def energy(graph, x):
    """Minus the log-potentials of all factors, added in their order."""
    score = 0.0
    for f in range(graph.n_factors):
        variables, table = graph.factor(f)
        score += table[tuple(int(x[i]) for i in variables)]
    return 0.0 - score


def magnetisation(x, k):
    """The mean spin of two states, Potts's order parameter of more."""
    counts = [sum(int(value) == state for value in x) for state in range(k)]
    if k == 2:
        return counts[1] / len(x) - counts[0] / len(x)
    return (k * max(count / len(x) for count in counts) - 1.0) / (k - 1.0)
