"""The default weights for a model: one rule, from how many contexts its variables have.

A weight helps when its context comes again: then the books of that context alone are balanced, and
the samples are better than draws. So where every variable has few contexts, each gets its weight
(Algorithm 1, strict). Where one has many, most would be met once or never, and weights are pooled
by bins of the conditional instead; contexts that share a bin are not exchangeable, so slack lets
chance, in proportion to the conditional, decide between them. Phases are random: where variables
are alike, weights that start alike move in step, and marginals can be off by a tenth.

`python -m benchmarks --only weights` prints what the rule gains over Gibbs sampling on random
models, `--only uai` on real ones.
"""

from herded.layouts.factor_arrays import compile_factors, count_table_rows
from herded.methods.herded_gibbs import HerdedGibbs
from herded.models.factor_graph import has_factors, to_factor_graph
from herded.models.protocol import Model
from herded.models.validation import check_model
from herded.system import memory_limits
from herded.system.memory_limits import Size

MAX_TABULATED_CONTEXTS = 512  # of one variable: in 10,000 sweeps each is met some twenty times
POOLED_SLACK = 4.0  # 2 to 8 do much the same


def default_weights(model: Model, *, seed: int = 0, max_memory: Size | None = None) -> HerdedGibbs:
    """Choose the weights and the slack of herding in time that suit a model.

    "blanket" weights (Algorithm 1) where every variable has at most 512 contexts, else "pooled"
    weights with slack 4.

    Examples
    --------
    >>> from herded.methods.default_weights import default_weights
    >>> default_weights(hd.ising_grid(np.zeros((10, 10)))).weights
    'blanket'

    In a complete graph of 30 variables each has 2^29 contexts:

    >>> edges = np.stack(np.triu_indices(30, k=1), axis=1)
    >>> model = hd.pairwise_model(np.zeros((30, 2)), edges, np.eye(2))
    >>> method = default_weights(model)
    >>> method.weights, method.slack
    ('pooled', 4.0)
    """
    check_model(model)
    if not has_factors(model):  # the number of contexts is unknown
        return HerdedGibbs(weights="pooled", slack=POOLED_SLACK, seed=seed)
    graph = to_factor_graph(model)
    rows = count_table_rows(compile_factors(graph), graph.evidence < 0)
    bytes_of_tables = 8.0 * float((rows * graph.cardinalities).sum())
    if rows.max(
        initial=0.0
    ) <= MAX_TABULATED_CONTEXTS and bytes_of_tables <= memory_limits.memory_limit(max_memory):
        return HerdedGibbs(weights="blanket", seed=seed)
    return HerdedGibbs(weights="pooled", slack=POOLED_SLACK, seed=seed)
