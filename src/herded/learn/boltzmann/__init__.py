"""Boltzmann."""
