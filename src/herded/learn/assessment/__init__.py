"""Assessment."""
