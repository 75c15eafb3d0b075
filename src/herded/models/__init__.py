"""Models: variables and log-potentials, without any algorithm. They never change once built."""
