"""Tests of `tools`, which is run once for each release."""
