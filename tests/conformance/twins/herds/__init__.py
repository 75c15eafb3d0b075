"""Twins of herds: one module for each kind of layout."""
