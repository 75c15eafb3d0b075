"""The layout of lattices with two states and any number of dimensions, packed by colour.

The same idea as in `herded.layouts.grid`, with rows along the last axis and equal couplings.
`arrays.py` describes the packing; `layout.py` and `sweeps.py` are single chains; `herd.py`,
`herd_sweeps.py` and `herd_bit_kernels.py` are herds.

Start reading at `arrays.py`.
"""
