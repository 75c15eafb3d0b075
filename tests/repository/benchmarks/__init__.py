"""Tests of the benchmarks: short runs, their contenders and the tables they print."""
