"""Tests of how results are shown, and of their tables and files."""
