"""Numerics with the same bits on every machine, compiled or not.

`counter_rng.py` makes random numbers from a key and a counter, so that draws do not depend on their
order, on threads or on interruptions; `stream_purposes.py` is the table of their purposes.
`exp_log.py` has exp and log, with constants from `exp_log_tables.py`; `log_gamma.py` and
`argmax_kernel.py` have one function each. Kernels call these in their loops.

Start reading at `counter_rng.py`.
"""
