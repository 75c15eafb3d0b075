"""Tests of recorders: samples, best states and observables."""
