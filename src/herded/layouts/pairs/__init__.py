"""Layouts for variables with any number of states and pair interactions.

A conditional is a product of tabulated rows, one for each neighbour (`arrays.py`). `layout.py` and
`sweeps.py` are single chains; in a herd (`herd.py`, `herd_sweeps.py`) members lie side by side as
bytes.

Start reading at `arrays.py`.
"""
