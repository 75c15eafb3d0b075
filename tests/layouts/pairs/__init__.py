"""Tests of the layout of pairwise models with many states: single chains and herds."""
