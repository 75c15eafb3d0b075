"""Methods: one word, one file, one shape."""
