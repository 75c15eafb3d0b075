"""Past one machine: many models on workers, and one lattice that no memory holds."""
