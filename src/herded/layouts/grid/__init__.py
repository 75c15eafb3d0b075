"""The layout of two-dimensional lattices with two states, packed by colour.

Sites of one colour of the checkerboard do not depend on each other, so a half-sweep is a straight
loop over rows. `arrays.py` computes the conditionals and packs them; `layout.py` is a single chain,
with the kernels in `sweeps.py`. In a herd (`herd.py`) members are bits of words: `herd_sweeps.py`
goes over the lattice and `herd_bit_kernels.py` draws the members at the sites of one cell.

Start reading at `arrays.py`, which describes the packing, then `sweeps.py`.
"""
