"""Fitting."""
