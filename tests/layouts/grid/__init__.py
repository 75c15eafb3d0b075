"""Tests of the layout of two-state grids: single chains and herds."""
