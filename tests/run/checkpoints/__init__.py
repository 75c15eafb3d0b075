"""Tests of checkpoints: resumed runs, damaged files and killed processes."""
