"""Exact inference by variable elimination: marginals, log Z and the best state.

Data pass through the modules in this order: `elimination_order.py` finds a cheap order,
`elimination_plan.py` fits it into memory (in segments, and in slices if need be),
`elimination_tables.py` multiplies tables block by block, and `elimination.py` sums or maximises
variables out and goes back for marginals or states. `solver.py` is the method `Exact`, with its
options, its state and its checkpoints.

Start reading at `solver.py`.
"""
