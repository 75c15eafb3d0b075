"""Layouts for any graph: conditionals from tables or from factors, one variable at a time.

`table_layout.py` tabulates each conditional for every state of a variable's neighbours
(`table_arrays.py`); `factor_layout.py` sums log-tables at each visit and takes any model. Both
sweep with `site_sweeps.py`, which is Algorithm 1 step by step, and find their weights with
`context_weights.py`. `site_herd.py` and `site_herd_sweeps.py` are the same for herds.
`site_base.py` is what these layouts share, `pairwise_base.py` what layouts of pair interactions
share.

Start reading at `site_sweeps.py`.
"""
