"""The layout of lattices with more than two states (Potts models), packed by colour.

`arrays.py`, `layout.py` and `sweeps.py` are single chains. In a herd (`herd.py`) members are bits
of words, and a site's state is written in several bit planes (`herd_arrays.py`). `herd_sweeps.py`
goes over the lattice, `herd_conditionals.py` computes conditionals and chooses the members' states,
and `member_order.py` shuffles the order in which members share the phase.

Start reading at `layout.py`, then `herd_arrays.py`.
"""
