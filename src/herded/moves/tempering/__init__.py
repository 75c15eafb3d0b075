"""Tempering."""
