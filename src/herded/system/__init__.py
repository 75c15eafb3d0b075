"""What the rest stands on: arithmetic whose bits are the same on every machine."""
