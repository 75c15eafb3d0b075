"""Tests of the layout of Potts grids: single chains and herds."""
