"""The layout of models that are given by the user's own functions.

A conditional is computed by calling a compiled user function (`kernel_calls.py`) at each visit.
`layout.py` and `sweeps.py` are single chains, `herd.py` and `herd_sweeps.py` herds, whose members
visit a variable together. `consistency_checks.py` tests what the functions promise, when a chain
starts and now and then later.

Start reading at `layout.py`; the model itself is in `herded.models.callbacks`.
"""
