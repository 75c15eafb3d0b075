"""Layouts: a model as it lies in memory while it is sampled, and the kernels that sweep it.

`choose.py` asks each kind of layout in turn whether it can lay out a task (`proposal.py`);
`herded.methods.layout_cache` keeps small layouts with their model. A layout (`base.py`) starts
chains, whose `State` (`state.py`) is all that changes, and advances them by sweeps in the order of
`visit_order.py`. `herd_base.py` is what layouts of herds share; `factor_arrays.py`,
`chain_arrays.py` and `hashed_weights.py` are arrays that kernels of several layouts read.

Each folder is a family of layouts, with the `kind` by which `layout=` names them:

    grid, grid_nd, potts   "grid"               lattices of two states, of any dimension, of more
    binary_pairs           "field", "dense"     two states, pair couplings and fields
    pairs                  "pairs"              any states, factors of two variables
    general                "table", "factor"    any model: tabulated conditionals, or its factors
    callback               "function"           models given by functions
    blocks                 "blocks"             sets of variables at once

A folder has `layout.py` (the layout), `arrays.py` (what kernels read) and `sweeps.py` (the
kernels), and the same for its herds. The docstring of a method, such as `methods/gibbs.py`, lists
the functions in which each of its steps runs.

Start reading at `base.py` and `choose.py`, then `general/site_sweeps.py`, the plainest kernel.
"""
