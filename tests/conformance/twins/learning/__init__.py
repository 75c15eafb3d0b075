"""Twins of `herded.learn` and `herded.ner`."""
