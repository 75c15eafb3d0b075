"""Slow, simple twins that compiled code must equal, bit for bit where a test says so.

This folder has models, their conditionals, random numbers and rules for draws. `samplers`,
`herds` and `learning` build on them. `advance` in `tests/support/kernel_runs.py` drives
compiled methods without `infer`.
"""
