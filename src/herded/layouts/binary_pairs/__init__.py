"""Layouts for binary variables with pair interactions: a conditional is the sigmoid of a sum.

The sum of couplings and the variable's own bias, its field, is a whole number (`arrays.py`). A
single chain (`layout.py`) updates the fields of neighbours when a variable flips
(`incremental_fields.py`). Herds come in two kinds. `herd.py` puts variables of one colour side by
side and members in bits of words (`herd_arrays.py`, `herd_sweeps.py`); `herd_rounding.py` rounds
couplings and conditionals at random without bias, `herd_phases.py` moves the shared phase through
the members, and `shared_neighbour_fields.py` saves work where many variables have the same
neighbours. `dense_herd_sweeps.py` and `dense_herd_sweeps.py` put members side by side instead.

Start reading at `arrays.py` and `layout.py`.
"""
