"""Which weights for this model? One rule, from how many contexts its variables have.

A weight helps when its context comes again: then the books of that context alone are balanced, and
the samples are better than draws. So where every variable has few contexts, each gets its weight
(Algorithm 1, strict). Where one has many, most would be met once or never, and weights are pooled
by bins of the conditional instead; contexts that share a bin are not exchangeable, so slack lets
chance, in proportion to the conditional, decide between them. Phases are random: where variables
are alike, weights that start alike move in step, and marginals can be off by a tenth.

`python -m benchmarks --only weights` prints what the rule gains over Gibbs sampling on random
models, `--only uai` on real ones.
"""

from typing import Any

from herded.layouts.factor import compile_factors
from herded.layouts.table import count_rows
from herded.methods.herded_gibbs import HerdedGibbs
from herded.models.factor_graph import as_graph
from herded.system import memory

FEW_CONTEXTS = 512  # of one variable: in 10,000 sweeps each is met some twenty times
SLACK = 4.0  # 2 to 8 do much the same


def recommended(model: Any, *, seed: int = 0, cap: float | None = None) -> HerdedGibbs:
    """Herded Gibbs with the weights and the slack that suit `model`.

    `cap` is the memory in bytes that tables may take, by default half of what is free.
    """
    graph = as_graph(model)
    rows = count_rows(compile_factors(graph), graph.evidence < 0)
    bytes_of_tables = 8.0 * float((rows * graph.cardinalities).sum())
    if rows.max(initial=0.0) <= FEW_CONTEXTS and bytes_of_tables <= memory.limit(cap):
        return HerdedGibbs(weights="blanket", phases="random", seed=seed)
    return HerdedGibbs(weights="pooled", slack=SLACK, phases="random", seed=seed)
