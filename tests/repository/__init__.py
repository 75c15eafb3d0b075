"""Checks of the repository itself: pages, site, examples, public names, types and sizes."""
