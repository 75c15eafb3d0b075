"""How long does an update take, and how much memory does a run need?

`update_cost`, `many_models` and `scaling` are sections of the comparison with peers. `method_cost`
compares methods on one layout; `lattices`, `grids_3d`, `sparse_graphs`, `many_states` and
`callback_models` compare layouts with loops written by hand. `startup` and `compilation` measure
imports and compilers, `recording` the cost of recorders, `memory_estimates` and `large_lattices`
memory. Start at `lattices`.
"""
