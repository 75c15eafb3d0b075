"""Plots of the page benchmarks and of the results of herds, from tables of results."""
