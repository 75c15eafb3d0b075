"""Grid nd."""
