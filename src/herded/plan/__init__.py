"""Plans: a model compiled to flat, read-only arrays for one kind of kernel."""
