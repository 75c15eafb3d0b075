"""Draws: from a conditional to a value, at random, herded in time, or together across a herd."""
