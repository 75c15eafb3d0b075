"""Layouts: how a model lies in memory while it is sampled, and the kernels that sweep it."""
