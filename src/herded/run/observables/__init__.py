"""Observables."""
