"""Potts."""
