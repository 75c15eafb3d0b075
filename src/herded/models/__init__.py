"""Models: variables and log-potentials. Frozen; they know no algorithm."""
