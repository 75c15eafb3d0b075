"""Moves: what changes at once, given all the rest."""
