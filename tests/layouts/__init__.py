"""Tests of `herded.layouts`: choice, cache, visit order, weights and herds on any graph.

Kinds of layouts with kernels of their own have a folder each.
"""
