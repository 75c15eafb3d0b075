"""Tests of the binary pairwise layouts: single chains and herds."""
