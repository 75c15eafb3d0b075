"""Variable selection."""
