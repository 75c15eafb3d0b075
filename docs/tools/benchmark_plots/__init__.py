"""Plots and the leaderboard of docs/measured/benchmarks.md, from tables of pages."""
