"""Helpers that several test folders use: strategies, processes, timeouts and kernel runs."""
