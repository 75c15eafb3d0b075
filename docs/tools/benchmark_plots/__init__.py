"""Plots and the leaderboard of docs/benchmarks.md, from tables of pages."""
