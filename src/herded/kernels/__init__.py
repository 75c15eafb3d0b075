"""Kernels: the compiled loops that advance a state. The only in-place code."""
