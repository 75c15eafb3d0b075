"""Compilers, random streams, memory, threads, files and figures: what every room stands on."""
