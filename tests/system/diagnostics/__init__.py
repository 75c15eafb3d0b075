"""Tests of diagnostics as values: their kinds, sentences and remedies."""
