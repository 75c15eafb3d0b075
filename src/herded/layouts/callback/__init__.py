"""Callback."""
