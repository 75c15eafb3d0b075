"""Draws: from a conditional to a value, at random or herded in time."""
