"""Layouts: a model as it lies in memory while it is sampled, and the kernels that sweep it.

`choose.py` asks each kind of layout in turn whether it can lay out a task (`proposal.py`);
`herded.methods.layout_cache` keeps small layouts with their model. A layout (`base.py`) starts
chains, whose `State` (`state.py`) is all that changes, and advances them by sweeps in the order of
`visit_order.py`. `herd_base.py` is what layouts of herds share; `factor_arrays.py`,
`chain_arrays.py` and `hashed_weights.py` are arrays that kernels of several layouts read.

Each folder is a family of layouts: `grid`, `grid_nd` and `potts` for lattices, `binary_pairs` and
`pairs` for pair interactions, `general` for tables and factors, `callback` for models given by
functions, `blocks` for several variables at once. A folder has `layout.py` (the layout),
`arrays.py` (what kernels read) and `sweeps.py` (the kernels), and the same of its herds.

Start reading at `base.py` and `choose.py`, then `general/site_sweeps.py`, the plainest kernel.
"""
