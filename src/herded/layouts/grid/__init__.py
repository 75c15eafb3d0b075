"""Grid."""
