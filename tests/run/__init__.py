"""Tests of `herded.run`: `infer`, budgets, progress and interruption.

Checkpoints, selection of methods, recording, diagnostics, export and distributed runs have a
folder each.
"""
